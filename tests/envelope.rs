//! Logs in the forms in which people hand them in: each form, and forms in forms, gives the figures of the log as it was.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use lioprof_testkit::files::{fixture, folders_in};
use serde_json::Value;
use tempfile::TempDir;

use crate::util::{Run, analyze_run, lioprof};

/// Logs of all versions, and their names. Jobs have no blanks: of a broken line nobody knows whether a job went on.
fn logs() -> Vec<(String, String)> {
    let folders = folders_in(fixture("wordings"));
    assert!(folders.len() > 5);
    let read = |folder: &std::path::PathBuf| {
        let log = fs::read_to_string(folder.join("rpc.txt")).unwrap();
        log.replace("a job: with it's.1000", "ior.1000").replace("Request processed in 1us:9", "ior.9")
    };
    folders.iter().map(|folder| (folder.file_name().unwrap().to_string_lossy().into_owned(), read(folder))).collect()
}

fn each(log: &str, line: impl Fn(usize, &str) -> String) -> String {
    log.lines().enumerate().fold(String::new(), |mut out, (n, text)| {
        writeln!(out, "{}", line(n, text)).unwrap();
        out
    })
}

/// Where the character begins that is the `nth` of a line; its end, if it has fewer.
fn at_char(line: &str, nth: usize) -> usize {
    line.char_indices().nth(nth).map_or(line.len(), |(at, _)| at)
}

/// Broken at blanks, which are dropped or, as mail does with flowed text, kept at the end of the line.
fn broken_at_blanks(log: &str, width: usize, keep: bool) -> String {
    each(log, |_, mut line| {
        let mut out = String::new();
        while line.chars().count() > width {
            let end = at_char(line, width + 1);
            let in_width = line[..end].rfind(' ').filter(|at| *at > 0);
            let Some(at) = in_width.or_else(|| line[end..].find(' ').map(|at| at + end)) else { break };
            if at + 1 >= line.len() {
                break;
            }
            out.push_str(&line[..at + usize::from(keep)]);
            out.push('\n');
            line = &line[at + 1..];
        }
        out + line
    })
}

fn broken_in_words(log: &str, width: usize) -> String {
    each(log, |_, mut line| {
        let mut out = String::new();
        while line.chars().count() > width {
            let (first, rest) = line.split_at(at_char(line, width));
            out = out + first + "\n";
            line = rest;
        }
        out + line
    })
}

/// Broken after 75 characters, with a sign at the end of each line.
fn quoted_printable(log: &str) -> String {
    let quoted = |c: char| {
        let bytes = c.to_string().into_bytes();
        let is_plain = c.is_ascii() && c != '=';
        if is_plain { c.to_string() } else { bytes.iter().map(|byte| format!("={byte:02X}")).collect() }
    };
    each(log, |_, line| {
        let (mut out, mut width) = (String::new(), 0);
        for sign in line.chars().map(quoted) {
            if width + sign.len() > 75 {
                out.push_str("=\n");
                width = 0;
            }
            width += sign.len();
            out.push_str(&sign);
        }
        out
    })
}

fn html(log: &str) -> String {
    log.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// `@` between words, as list archives write it.
fn at(log: &str) -> String {
    let mut out = String::new();
    let chars: Vec<char> = log.chars().collect();
    let is_word = |c: Option<&char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || "-+,._".contains(*c));
    for (i, c) in chars.iter().enumerate() {
        let between = i > 0 && is_word(chars.get(i - 1)) && is_word(chars.get(i + 1));
        if *c == '@' && between { out.push_str(" at ") } else { out.push(*c) }
    }
    out
}

/// Broken at blanks and behind hyphens, and longer words in their middle, as word processors and scripts break.
fn broken_at_hyphens(log: &str, width: usize) -> String {
    each(log, |_, mut line| {
        let mut out = String::new();
        while line.chars().count() > width {
            let end = at_char(line, width);
            let blank = line[..at_char(line, width + 1)].rfind(' ').filter(|at| *at > 0);
            let hyphen = line[..end].rfind('-').map(|at| at + 1);
            let at = blank.max(hyphen).unwrap_or(end);
            out.push_str(&line[..at]);
            out.push('\n');
            line = line[at..].strip_prefix(' ').unwrap_or(&line[at..]);
        }
        out + line
    })
}

/// Cut after so many columns, with the same before the rest of a line or behind what comes before it.
fn marked(log: &str, width: usize, behind: &str, before: &str) -> String {
    each(log, |_, line| {
        let pieces = broken_in_words(line, width);
        pieces.trim_end().replace('\n', &format!("{behind}\n{before}"))
    })
}

type Form = fn(&str) -> String;

/// What becomes of the lines themselves.
const CHANGED: [(&str, Form); 30] = [
    ("broken at hyphens, 76", |log| broken_at_hyphens(log, 76)),
    ("broken at hyphens, 100", |log| broken_at_hyphens(log, 100)),
    ("indented rest", |log| marked(log, 80, "", "    ")),
    ("marked rest", |log| marked(log, 100, "", "> ")),
    ("marked break", |log| marked(log, 90, "\\", "")),
    ("doubled blanks", |log| log.replace(' ', "  ")),
    ("dashes", |log| log.replace('-', "\u{2013}")),
    ("at, in brackets", |log| log.replace('@', " [at] ")),
    ("broken at 72", |log| broken_at_blanks(log, 72, false)),
    ("broken at 78", |log| broken_at_blanks(log, 78, false)),
    ("broken at 100", |log| broken_at_blanks(log, 100, false)),
    ("flowed", |log| broken_at_blanks(log, 78, true)),
    ("cut at 60", |log| broken_in_words(log, 60)),
    ("cut at 72", |log| broken_in_words(log, 72)),
    ("cut at 80", |log| broken_in_words(log, 80)),
    ("cut at 132", |log| broken_in_words(log, 132)),
    ("cut at 200", |log| broken_in_words(log, 200)),
    ("quoted-printable", quoted_printable),
    ("quoted-printable of no-break spaces", |log| quoted_printable(&log.replace(' ', "\u{a0}"))),
    ("at, everywhere", |log| log.replace('@', " at ")),
    ("no-break spaces", |log| log.replace(' ', "\u{a0}")),
    ("no-break and other", |log| each(log, |_, line| line.replace(' ', "\u{a0} "))),
    ("at", at),
    ("HTML", |log| format!("<html><body><pre>\n{}</pre></body></html>\n", html(log))),
    ("HTML, a tag a line", |log| each(&html(log), |_, line| format!("{line}<br>"))),
    ("colours", |log| {
        let red = |word: &str| format!("\x1b[01;31m\x1b[K{word}\x1b[m\x1b[K");
        log.replace("Handling RPC", &red("Handling RPC")).replace("refresh", &red("refresh"))
    }),
    ("Windows", |log| log.replace('\n', "\r\n")),
    ("doubled line ends", |log| log.replace('\n', "\n\n")),
    ("a word behind the end", |log| {
        each(log, |_, line| if line.contains("Handled RPC") { format!("{line} qos 6") } else { line.to_owned() })
    }),
    ("no last line end", |log| log.trim_end().to_owned()),
];

/// What stands before lines and around them. All name the host `oss07` or nobody.
const AROUND: [(&str, Form); 22] = [
    ("pdsh", |log| each(log, |_, line| format!("oss07: {line}"))),
    ("quote", |log| each(log, |_, line| format!("> {line}"))),
    ("quote of a quote", |log| each(log, |_, line| format!(">> {line}"))),
    ("indent", |log| each(log, |_, line| format!("    {line}"))),
    ("tab", |log| each(log, |_, line| format!("\t{line}"))),
    ("grep -n", |log| each(log, |n, line| format!("{}:{line}", n + 1))),
    ("grep -H", |log| each(log, |_, line| format!("oss07.txt:{line}"))),
    ("grep -Hn", |log| each(log, |n, line| format!("logs/oss07.txt:{}:{line}", n + 1))),
    ("cat -n", |log| each(log, |n, line| format!("{:6}\t{line}", n + 1))),
    ("syslog", |log| each(log, |n, line| format!("Nov  5 09:46:{:02} oss07 lctl[4242]: {line}", n / 50 % 60))),
    ("syslog, ISO", |log| each(log, |n, line| format!("2026-11-25T09:46:40.{n:06}+01:00 oss07 lctl: {line}"))),
    ("syslog, RFC 5424", |log| {
        each(log, |n, line| format!("<14>1 2026-11-25T09:46:40.{n:06}Z oss07 lctl 42 - - {line}"))
    }),
    ("brackets", |log| each(log, |_, line| format!("[oss07] {line}"))),
    ("bar", |log| each(log, |_, line| format!("oss07 | {line}"))),
    ("clush -b", |log| format!("---------------\noss07\n---------------\n{log}")),
    ("tail", |log| format!("==> oss07.txt <==\n{log}")),
    ("ansible", |log| format!("oss07 | CHANGED | rc=0 >>\n{log}")),
    ("prompt", |log| format!("[root@oss07 ~]# lctl dk\n{log}Debug log: 5 lines, 5 kept, 0 dropped, 0 bad.\n")),
    ("fence", |log| format!("Hello,\nthis is our log:\n```\n{log}```\nThanks\n")),
    ("added lines", |log| each(log, |_, line| format!("+{line}"))),
    ("byte order mark", |log| format!("\u{feff}{log}")),
    ("nothing", str::to_owned),
];

/// What stands around every line, also behind it.
const FRAMED: [(&str, Form); 12] = [
    ("links", |log| log.replace("10.1.2.3@o2ib", "10.1.2.3@o2ib<mailto:10.1.2.3@o2ib>")),
    ("links of a chat", |log| log.replace("10.1.2.3@o2ib", "<mailto:10.1.2.3@o2ib|10.1.2.3@o2ib>")),
    ("Markdown", |log| log.replace('_', "\\_").replace('*', "\\*")),
    ("filled up", |log| each(log, |_, line| format!("{line:400}"))),
    ("coloured headers", |log| {
        each(log, |_, line| match line.split_once(':') {
            Some((first, rest)) => format!("\x1b[32m{first}\x1b[0m:{rest}"),
            None => line.to_owned(),
        })
    }),
    ("log store", |log| {
        each(log, |_, line| serde_json::json!({"result": {"_raw": line, "_time": "2026-11-25"}}).to_string())
    }),
    ("twice", |log| each(log, |_, line| format!("{line}\n{line}"))),
    ("cat -A", |log| each(log, |_, line| format!("{line}$"))),
    ("table", |log| each(log, |_, line| format!("<tr><td>{line}</td></tr>"))),
    ("RTF", |log| format!("{{\\rtf1\\ansi\n{}}}", each(log, |_, line| format!("{line}\\par")))),
    ("CSV", |log| each(log, |_, line| format!("oss07,\"{line}\",info"))),
    ("container", |log| {
        each(log, |_, line| serde_json::json!({"log": format!("{line}\n"), "stream": "stdout"}).to_string())
    }),
];

fn without_nodes(json: &mut Value) {
    match json {
        Value::Object(fields) => {
            fields.remove("node");
            fields.values_mut().for_each(without_nodes);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nodes),
        _ => {}
    }
}

/// What must be the same: all that does not tell where it comes from.
fn figures(run: &Run) -> BTreeMap<&'static str, Value> {
    let mut json = run.json();
    without_nodes(&mut json);
    ["totals", "flows", "clients", "jobs", "operations", "targets", "objects", "locks"]
        .into_iter()
        .map(|key| (key, json[key].take()))
        .collect()
}

fn write_and_analyze(dir: &TempDir, bytes: &[u8]) -> Run {
    let path = dir.path().join("mail.txt");
    fs::write(&path, bytes).unwrap();
    analyze_run(&[&path], &["-q"])
}

#[test]
fn every_form_of_every_version_gives_the_figures_of_the_log() {
    let dir = TempDir::new().unwrap();
    let mut wrong = Vec::new();
    for (version, log) in logs() {
        let want = figures(&write_and_analyze(&dir, log.as_bytes()));
        assert!(want["totals"]["rpcs"].as_u64() > Some(10));
        for (name, form) in CHANGED.iter().chain(&AROUND).chain(&FRAMED) {
            let run = write_and_analyze(&dir, form(&log).as_bytes());
            if run.code != Some(0) || figures(&run) != want {
                wrong.push(format!("{version}: {name} (exit code {:?})", run.code));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Of compositions a sixth of all, another one for each version. What is not read right must not pass for a log without requests, nor for one
/// that was read right.
#[test]
fn forms_in_forms_are_read_or_named() {
    let dir = TempDir::new().unwrap();
    let (mut wrong, mut silent, mut all) = (Vec::new(), Vec::new(), 0);
    for (at, (version, log)) in logs().into_iter().enumerate() {
        let want = figures(&write_and_analyze(&dir, log.as_bytes()));
        let pairs = CHANGED.iter().flat_map(|change| AROUND.iter().map(move |around| (change, around)));
        let both_ways = pairs.flat_map(|(change, around)| [(change, around), (around, change)]);
        // An ending is known by its being at the end of all lines: so a frame is what came last.
        let framed = AROUND.iter().flat_map(|around| FRAMED.iter().map(move |frame| (around, frame)));
        let both_ways = both_ways.chain(framed);
        // So long a prefix leaves no room for the beginning of a header: nothing is read, and that is said.
        let has_header = |inner: &str, outer: &str| outer != "cut at 60" || !inner.starts_with("syslog,");
        let readable = both_ways.filter(|((inner, _), (outer, _))| has_header(inner, outer));
        for ((inner, first), (outer, second)) in readable.skip(at % 6).step_by(6) {
            all += 1;
            let path = dir.path().join("mail.txt");
            fs::write(&path, second(&first(&log))).unwrap();
            let run =
                lioprof(&["analyze".as_ref(), path.as_os_str(), "--format".as_ref(), "json".as_ref(), "-q".as_ref()]);
            let is_read = run.code != Some(2) && figures(&run) == want;
            if !is_read {
                wrong.push(format!("{version}: {inner} in {outer}"));
                // Refused, or with a warning; and none that blames how the log was made.
                let said = String::from_utf8_lossy(&run.stdout);
                let is_doubted = said.contains("may be missing from the figures") || said.contains("could not parse");
                let is_blamed = || run.json()["totals"]["rpcs"] == 0 && said.contains("debug=+rpctrace");
                if run.code != Some(2) && (!is_doubted || is_blamed()) {
                    silent.push(wrong.last().cloned());
                }
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
    // What is left: lines whose blanks became two characters each before they were cut.
    assert!(wrong.len() * 200 <= all, "{} of {all} are not read right: {wrong:#?}", wrong.len());
}

#[test]
fn utf_16_is_read_with_and_without_a_mark() {
    let dir = TempDir::new().unwrap();
    let (_, log) = logs().pop().unwrap();
    let want = figures(&write_and_analyze(&dir, log.as_bytes()));
    for (mark, is_big) in [("\u{feff}", false), ("\u{feff}", true), ("", false), ("", true)] {
        let units = format!("{mark}{log}").encode_utf16().collect::<Vec<u16>>();
        let bytes = units.iter().flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        let run = write_and_analyze(&dir, &bytes.collect::<Vec<u8>>());
        assert_eq!(figures(&run), want, "{mark:?} {is_big}");
        let envelope = &run.json()["inputs"][0]["envelope"];
        assert_eq!(envelope["utf16"], run.json()["inputs"][0]["records"]);
    }
}

/// Lines of two hosts, mixed or in blocks, are two nodes, each with the figures of its own log.
#[test]
fn lines_of_two_hosts_are_two_nodes() {
    let dir = TempDir::new().unwrap();
    let hosts = ["oss01", "oss02"];
    let logs = hosts.map(|host| fs::read_to_string(fixture(format!("two-servers/{host}.txt"))).unwrap());
    let rpcs = |run: &Run| run.json()["totals"]["rpcs"].as_u64().unwrap();
    let alone = logs.each_ref().map(|log| rpcs(&write_and_analyze(&dir, log.as_bytes())));
    let mut mixed: Vec<String> =
        (0..2).flat_map(|at| logs[at].lines().map(move |line| format!("{}: {line}\n", hosts[at]))).collect();
    mixed.sort_by_key(|line| line.split(':').nth(4).unwrap_or_default().to_owned());
    let blocks = |before: fn(&str) -> String| format!("{}{}{}{}", before("oss01"), logs[0], before("oss02"), logs[1]);
    for (form, text) in [
        ("pdsh", mixed.concat()),
        ("clush -b", blocks(|host| format!("---------------\n{host}\n---------------\n"))),
        ("tail", blocks(|host| format!("==> {host} <==\n"))),
        ("ansible", blocks(|host| format!("{host} | CHANGED | rc=0 >>\n"))),
        ("heading", blocks(|host| format!("### {host} ###\n"))),
        ("salt", blocks(|host| format!("{host}:\n"))),
        ("prompt", blocks(|host| format!("[root@{host} ~]# lctl dk\n"))),
    ] {
        let run = write_and_analyze(&dir, text.as_bytes()).exits(0);
        let json = run.json();
        let nodes: Vec<(&str, u64)> = json["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| (node["name"].as_str().unwrap(), node["rpcs"].as_u64().unwrap()))
            .collect();
        assert_eq!(nodes, [("oss01", alone[0]), ("oss02", alone[1])], "{form}");
        assert_eq!(json["loss"]["estimated_lost_fraction"].as_f64().unwrap_or(0.0), 0.0, "{form}");
        assert_eq!(json["inputs"][0]["node_from"], "prefix", "{form}");
    }
}

/// What is changed only behind 10 MB of clean log is met as at the beginning.
#[test]
fn damage_behind_much_clean_log_is_met() {
    let dir = TempDir::new().unwrap();
    let (_, log) = logs().pop().unwrap();
    // No record of a request: the figures are those of what comes behind it.
    let filler = "00000020:00000001:1.0:1500000000.000001:0:7:0:(genops.c:1:class_conn2export()) Process entered\n";
    let clean = filler.repeat((10 << 20) / filler.len());
    let want = figures(&write_and_analyze(&dir, format!("{clean}{log}").as_bytes()));
    for (name, form) in CHANGED.iter().chain(&AROUND[..6]).filter(|(name, _)| !name.contains("doubled")) {
        let run = write_and_analyze(&dir, format!("{clean}{}", form(&log)).as_bytes());
        assert!(figures(&run) == want, "{name}: {run}");
    }
}

#[test]
fn what_was_filtered_is_said_and_nothing_is_advised_that_was_done() {
    let dir = TempDir::new().unwrap();
    let (_, log) = logs().into_iter().find(|(version, _)| version == "2.17.57").unwrap();
    let only = |word: &str| {
        each(&log, |_, line| line.to_owned())
            .lines()
            .filter(|line| line.contains(word))
            .fold(String::new(), |out, line| out + line + "\n")
    };
    let without =
        |word: &str| log.lines().filter(|line| !line.contains(word)).fold(String::new(), |out, line| out + line + "\n");
    for (text, says) in [
        (only("Handling RPC"), "only the beginnings of"),
        (only("Handled RPC"), "only the ends of"),
        (only("refresh rw locks"), "No request could be read"),
        (only("10.1.2.3@o2ib"), "no line of a request's arrival"),
        (only("ior.1000"), "no line of a request's arrival"),
        (without("Handled RPC"), "only the beginnings of"),
        (log.replace("Handling RPC", "Hantling RPC").replace("Handled RPC", "Hantled RPC"), "no request can be read"),
    ] {
        let path = dir.path().join("grep.txt");
        fs::write(&path, text).unwrap();
        let run = lioprof(&["analyze".as_ref(), path.as_os_str()]);
        let shown =
            format!("{}{}", run.stderr, String::from_utf8_lossy(&run.stdout)).replace("\n  ", " ").replace('\n', " ");
        assert!(shown.contains(says), "{says}: {run}");
        assert!(!shown.contains("debug=+rpctrace"), "{says}: {run}");
        assert!(!shown.contains("overwritten."), "{says}: {run}");
        // What somebody left out was not lost.
        assert!(!shown.contains("debug_mb") && run.code != Some(3), "{says}: {run}");
    }
}
