//! Logs with pseudonyms: the same analysis, and none of the names.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use lioprof_testkit::files::{files_under, fixture, unpacked};
use serde_json::{Value, json};

use crate::captures::captures;
use crate::util::{Run, analyze, assert_same, lioprof, lioprof_fed};

const KEY: &str = "a key for tests, which nobody else has";

/// The table of names that `--mapping` writes, by kind.
struct Table(BTreeMap<String, BTreeMap<String, String>>);

impl Table {
    fn read(path: &Path) -> Self {
        let mut kinds: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for line in fs::read_to_string(path).unwrap().lines().skip(1) {
            let [kind, name, pseudonym] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
            kinds.entry(kind.to_owned()).or_default().insert(name.to_owned(), pseudonym.to_owned());
        }
        Self(kinds)
    }

    fn get(&self, kind: &str, name: &str) -> Option<&String> {
        self.0.get(kind)?.get(name)
    }

    /// A text of an analysis with the names replaced, word by word.
    fn replace(&self, text: &str) -> String {
        if let Some(mark) = self.get("mark", text) {
            return mark.clone();
        }
        if let Some(job) = self.job(text) {
            return job;
        }
        let mut text = text.to_owned();
        for (uuid, pseudonym) in self.0.get("uuid").into_iter().flatten() {
            text = text.replace(uuid, pseudonym);
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let part = is_part(first);
            let len = rest.find(|c| is_part(c) != part).unwrap_or(rest.len());
            let word = rest[..len].trim_end_matches('.');
            let len = if part && !word.is_empty() { word.len() } else { len };
            let (word, behind) = rest.split_at(len);
            out.push_str(&self.word(word, behind));
            rest = behind;
        }
        out
    }

    fn job(&self, job: &str) -> Option<String> {
        let (program, uid) = job.rsplit_once('.')?;
        Some(format!("{}.{}", self.get("program", program)?, self.get("uid", uid)?))
    }

    fn word(&self, word: &str, behind: &str) -> String {
        let is_target = ["-OST", "-MDT"].iter().any(|target| behind.starts_with(target));
        // `osp.lustre-OST0000`: what stands before the dot is a parameter's.
        let (parameter, name) =
            word.rsplit_once('.').map_or(("", word), |(before, name)| (&word[..=before.len()], name));
        let fs = is_target.then(|| self.get("file system", name)).flatten().map(|fs| format!("{parameter}{fs}"));
        let alone = ["IPv4 address", "host", "program"].into_iter().find_map(|kind| self.get(kind, word));
        fs.or_else(|| alone.cloned()).or_else(|| self.job(word)).unwrap_or_else(|| word.to_owned())
    }
}

/// An analysis without what may differ: sizes and paths of inputs, samples, predictions (the replay takes clients in the order of
/// their names where several send at the same time); lists sorted.
fn comparable(json: Value, replace: &dyn Fn(&str) -> String) -> Value {
    const DIFFER: [&str; 12] = [
        "sample",
        "what_if",
        "saves_s",
        "saves_s_min",
        "saves_s_max",
        "path",
        "bytes",
        "compression",
        "bad_places",
        "warnings",
        "log_bytes_lost_share",
        "generator",
    ];
    match json {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(key, value)| !DIFFER.contains(&key.as_str()) || key == "bytes" && value.is_object())
            .map(|(key, value)| (key, comparable(value, replace)))
            .collect(),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(|item| comparable(item, replace)).collect();
            items.sort_by_cached_key(Value::to_string);
            items.into()
        }
        Value::String(text) => replace(without_savings(&text)).into(),
        other => other,
    }
}

/// A sentence without what a remedy would save: like `saves_s_min`, its bounds rest on draws that depend on the order of names.
fn without_savings(text: &str) -> &str {
    text.split(" A remedy ").next().unwrap_or_default()
}

fn anonymise(input: &Path, dir: &Path) -> (PathBuf, Table, Run) {
    let (key, to, table) = (dir.join("key"), dir.join("to"), dir.join("names.tsv"));
    fs::write(&key, KEY).unwrap();
    let args: [&Path; 8] =
        ["anonymise".as_ref(), input, "-o".as_ref(), &to, "--key".as_ref(), &key, "--mapping".as_ref(), &table];
    let run = lioprof(&args).exits(0);
    (to, Table::read(&table), run)
}

/// Names that are found in the unpacked files below `dir`, as words of their own.
fn names_left(dir: &Path, table: &Table) -> Vec<String> {
    let mut bytes = Vec::new();
    for path in files_under(dir) {
        bytes.extend_from_slice(path.strip_prefix(dir).unwrap().as_os_str().as_encoded_bytes());
        bytes.push(b'\n');
        bytes.extend(unpacked(&path));
    }
    let mut left = Vec::new();
    for (kind, names) in &table.0 {
        // A number may be any number. Of a binary log, one letter may be any byte.
        if matches!(kind.as_str(), "uid" | "gid" | "projid" | "job number" | "NID number") {
            continue;
        }
        for (name, pseudonym) in names.iter().filter(|(name, pseudonym)| name != pseudonym && name.len() > 2) {
            assert_ne!(name, pseudonym);
            // Programs may be called like words of messages (`stat`): a uid follows those that are names of jobs.
            let mut needles = vec![if kind == "program" { format!("{name}.0") } else { name.clone() }];
            if kind == "file system" {
                // As the resource of the lock of its configuration spells it.
                needles.push(name.bytes().rev().fold("0x".to_owned(), |number, byte| format!("{number}{byte:02x}")));
            }
            let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            for needle in needles {
                let found = memchr::memmem::find_iter(&bytes, &needle).find(|&at| {
                    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
                    !is_part(before) && before != Some(&b'.') && !is_part(bytes.get(at + needle.len()))
                });
                left.extend(found.map(|at| format!("{kind} {name} as {needle} at {at}")));
            }
        }
    }
    left
}

#[test]
fn the_analysis_is_the_same_and_no_name_is_left() {
    for capture in captures() {
        let dir = tempfile::tempdir().unwrap();
        let (to, table, _) = anonymise(&capture.dir, dir.path());
        let original = comparable(analyze(&[&capture.dir], &[]), &|text| table.replace(text));
        let anonymous = comparable(analyze(&[&to], &[]), &|text| text.to_owned());
        assert_same(&capture.name, &anonymous, &original);
        assert_eq!(names_left(&to, &table), Vec::<String>::new(), "{}", capture.name);
    }
}

#[test]
fn text_stays_text_and_has_the_pseudonyms_of_the_binary_log() {
    let capture = captures().into_iter().find(|capture| capture.name == "ops_mix").unwrap();
    let server = &capture.servers[0];
    let (text, binary) = (server.text().unwrap(), server.binary().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let [of_text, of_binary] = [("text", text), ("binary", binary)].map(|(name, path)| {
        let dir = dir.path().join(name);
        fs::create_dir(&dir).unwrap();
        anonymise(&path, &dir).0
    });
    let [text] = &files_under(&of_text)[..] else { panic!() };
    assert!(text.to_str().unwrap().ends_with("rpc.txt.zst"), "{}", text.display());
    let decoded = lioprof(&["decode".as_ref(), of_binary.as_os_str()]).exits(0).stdout;
    let sorted = |text: &[u8]| {
        let mut lines: Vec<String> = String::from_utf8_lossy(text).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&unpacked(text)), sorted(&decoded));
}

/// What `pdsh` made of two servers' logs: each becomes a log of its own, and the hosts before the lines are gone.
#[test]
fn lines_of_two_hosts_become_two_logs() {
    let dir = tempfile::tempdir().unwrap();
    let log = |version: &str| fs::read_to_string(fixture(format!("wordings/{version}/rpc.txt"))).unwrap();
    let of_host = |host: &str, log: &str| log.lines().map(|line| format!("{host}: {line}\n")).collect::<String>();
    let logs = [log("2.12.9"), log("2.15.8")];
    let file = dir.path().join("all.txt");
    fs::write(&file, of_host("oss01", &logs[0]) + &of_host("oss02", &logs[1])).unwrap();
    let (to, table, _) = anonymise(&file, dir.path());
    let written = files_under(&to);
    assert_eq!(written.len(), 2, "{written:?}");
    for (written, log) in written.iter().zip(&logs) {
        assert_eq!(fs::read_to_string(written).unwrap().lines().count(), log.lines().count());
    }
    assert_eq!(names_left(&to, &table), Vec::<String>::new());
    let original = analyze(&[&file], &[]);
    let anonymous = analyze(&[&to], &[]);
    assert_eq!(anonymous["totals"], original["totals"]);
    assert!(original["inputs"][0]["envelope"]["prefix"].is_u64() && anonymous["inputs"][0]["envelope"] == json!({}));
}

/// What stands before the log, and no-break spaces in it: a mail.
#[test]
fn what_stands_around_a_log_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let log = fs::read_to_string(fixture("wordings/2.15.8/rpc.txt")).unwrap();
    let file = dir.path().join("mail.txt");
    let quoted: String = log.lines().map(|line| format!("> {}\n", line.replace(' ', "\u{a0}"))).collect();
    fs::write(&file, format!("Dear Alice,\n{quoted}")).unwrap();
    let (to, ..) = anonymise(&file, dir.path());
    let [written] = &files_under(&to)[..] else { panic!() };
    let text = fs::read_to_string(written).unwrap();
    assert!(!text.contains("Alice"));
    assert_eq!(text.lines().filter(|line| line.contains("service.c")).count(), log.matches("service.c").count());
    assert_eq!(analyze(&[&to], &[])["totals"], analyze(&[&file], &[])["totals"]);
}

/// More logs than files can be open at a time.
#[test]
fn logs_are_opened_one_after_the_other() {
    const LOGS: usize = 80;
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("from"), dir.path().join("to"));
    fs::create_dir(&from).unwrap();
    let head = "00000100:00100000:1.0:1700000000.000001:0:7:0:(service.c:1:f())";
    for n in 0..LOGS {
        fs::write(from.join(format!("oss{n:03}.txt")), format!("{head} got req x{n}\n")).unwrap();
    }
    let output = Command::new("sh")
        .args(["-c", "ulimit -n 40 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_lioprof"), "anonymise"])
        .args([from.as_os_str(), "-o".as_ref(), to.as_os_str()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(files_under(&to).len(), LOGS);
}

#[test]
fn an_archive_may_come_from_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    let servers = fixture("two-servers");
    let tar = Command::new("tar").args(["czf", "-", "oss01.txt", "oss02.txt"]).current_dir(servers).output().unwrap();
    let to = dir.path().join("to");
    let args = [OsStr::new("anonymise"), "-".as_ref(), "-o".as_ref(), to.as_os_str()];
    let run = lioprof_fed(&args, |stdin| stdin.write_all(&tar.stdout)).exits(0);
    assert!(String::from_utf8_lossy(&run.stdout).starts_with("-!oss01.txt -> "));
    assert_eq!(files_under(&to).len(), 2);
}

#[test]
fn the_same_key_gives_the_same_bytes_and_no_key_gives_others() {
    let capture = captures().into_iter().find(|capture| capture.name == "lock_pingpong_small").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let bytes = |dir: &Path| {
        files_under(dir)
            .iter()
            .map(|path| (path.strip_prefix(dir).unwrap().to_owned(), unpacked(path)))
            .collect::<Vec<_>>()
    };
    let [first, second] = ["a", "b"].map(|name| {
        let dir = dir.path().join(name);
        fs::create_dir(&dir).unwrap();
        bytes(&anonymise(&capture.dir, &dir).0)
    });
    assert_eq!(first, second);
    let random = dir.path().join("random");
    lioprof(&["anonymise".as_ref(), capture.dir.as_os_str(), "-o".as_ref(), random.as_os_str()]).exits(0);
    assert_ne!(bytes(&random), first);
}

#[test]
fn what_is_dropped_is_told_and_nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("rpc-oss01.txt");
    let head = "00000100:00100000:1.0:1700000000.000001:0:7:0:(service.c:1:f())";
    fs::write(&log, format!("{head} got req x17\n{head} alice was here\n{head} Handled RPC of a newer Lustre\n"))
        .unwrap();
    let to = dir.path().join("to");
    let args = ["anonymise".as_ref(), log.as_os_str(), "-o".as_ref(), to.as_os_str()];
    let run = lioprof(&args).exits(0);
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    for part in ["service.c:f", "dropped (the records stay): 1 record", "but for their first words: 1 record"] {
        assert!(said.contains(part), "expected {part:?} in {said}");
    }
    let [written] = &files_under(&to)[..] else { panic!() };
    let text = fs::read_to_string(written).unwrap();
    let want = format!("{head} got req x17\n{head} (text removed)\n{head} Handled RPC (text removed)\n");
    assert_eq!(text, want);
    assert!(!written.to_str().unwrap().contains("oss01"));
    lioprof(&args).exits(2).says(&["is not empty", "nothing is overwritten"]);
}

#[test]
fn bad_keys_and_foreign_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (key, foreign, to) = (dir.path().join("key"), dir.path().join("notes.md"), dir.path().join("to"));
    fs::write(&key, "short").unwrap();
    fs::write(&foreign, "# Notes of alice\n").unwrap();
    let args = ["anonymise".as_ref(), foreign.as_os_str(), "-o".as_ref(), to.as_os_str()];
    lioprof(&args).exits(2).says(&["notes.md", "not a Lustre debug log"]);
    lioprof(&[&args[..], &["--key".as_ref(), key.as_os_str()]].concat()).exits(2).says(&["16"]);
    assert!(!to.exists() || files_under(&to).is_empty());
}

#[cfg(feature = "export")]
#[test]
fn rows_have_pseudonyms_too() {
    // Among them one with what the servers say of evictions.
    for name in ["masks", "eviction_clean"] {
        let capture = captures().into_iter().find(|capture| capture.name == name).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let rows = dir.path().join("rows");
        lioprof(&["export".as_ref(), capture.dir.as_os_str(), "--parquet".as_ref(), rows.as_os_str()]).exits(0);
        let (to, table, _) = anonymise(&rows, dir.path());
        let original = comparable(analyze(&[&rows], &[]), &|text| table.replace(text));
        let anonymous = comparable(analyze(&[&to], &[]), &|text| text.to_owned());
        assert_eq!(original["events"].as_array().is_some_and(|events| !events.is_empty()), name == "eviction_clean");
        assert_same(name, &anonymous, &original);
        assert_eq!(names_left(&to, &table), Vec::<String>::new(), "{name}");
    }
}

/// Halves of names are no names that could be known: texts that are not read are dropped where a line was broken in them.
#[test]
fn no_half_of_a_broken_name_is_left() {
    let log = String::from_utf8(unpacked(fixture("captures/masks/server1/rpc.txt.zst"))).unwrap();
    let broken = log.lines().take(6_000).fold(String::new(), |out, line| {
        let pieces = line.as_bytes().chunks(120).map(|piece| std::str::from_utf8(piece).unwrap());
        out + &pieces.collect::<Vec<_>>().join("\n") + "\n"
    });
    let is_half = |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').starts_with("@tcp");
    assert!(broken.lines().any(|line| is_half(&line)));
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("mail.txt"), dir.path().join("out"));
    fs::write(&from, &broken).unwrap();
    lioprof(&["anonymise".as_ref(), from.as_os_str(), "-o".as_ref(), to.as_os_str()]).exits(0);
    let written: Vec<String> =
        files_under(&to).iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect();
    let halves: Vec<&str> = written.iter().flat_map(|text| text.lines()).filter(is_half).collect();
    assert!(halves.is_empty() && written.iter().any(|text| text.contains("Handled RPC")), "{halves:?}");
}
