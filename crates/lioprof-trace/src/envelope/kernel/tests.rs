//! A kernel log in the forms in which people hand it in gives the lines as they were logged.

use lustre_debuglog::kernel_log::{KernelLogForm, Stamp};

use super::{KernelLines, Style, before_sentences, detect};
use crate::envelope::kinds::Repairs;
use crate::envelope::prefix::Sender;
use crate::envelope::repair::lines;

/// What `dmesg` has printed on a real server.
const DMESG: &str = include_str!("../../../../../fixtures/kernel-logs/both/dmesg.txt");
const NOISE: &str = "[    1.000000] Linux version 5.14.0-427.el9.x86_64 (mockbuild@x) (gcc 11)\n\
    [    2.000003] Command line: BOOT_IMAGE=/vmlinuz ro\n\
    [ 3000.000012] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n";

type Line = (Option<Stamp>, Option<Sender>, String);

fn read(text: &str) -> (Vec<Line>, Repairs) {
    let mut kernel = KernelLines::new(Style::of(text.as_bytes()));
    let mut out = Vec::new();
    let mut take = |line: super::Logged<'_>| {
        out.push((line.stamp, line.sender.cloned(), String::from_utf8_lossy(line.text).into_owned()));
    };
    lines(text.as_bytes()).for_each(|line| kernel.line(line, &mut take));
    let repairs = kernel.finish(&mut take);
    (out, repairs)
}

fn kinds(repairs: Repairs) -> Vec<&'static str> {
    repairs.iter().map(|(kind, _)| kind.as_str()).collect()
}

/// The log with other lines before it, and as it was logged.
fn log() -> (String, Vec<Line>) {
    let log = format!("{NOISE}{DMESG}");
    let (lines, repairs) = read(&log);
    assert_eq!((lines.len(), kinds(repairs).len()), (12, 0));
    (log, lines)
}

fn each(log: &str, line: impl Fn(usize, &str) -> String) -> String {
    log.lines().zip(1..).map(|(text, n)| line(n, text) + "\n").collect()
}

/// Broken at blanks, which are dropped.
fn soft(log: &str, width: usize) -> String {
    each(log, |_, line| {
        let mut out = String::new();
        let mut len = 0;
        let mut rest = line;
        while !rest.is_empty() {
            let blanks = rest.len() - rest.trim_start_matches(' ').len();
            let end = rest[blanks..].find(' ').map_or(rest.len(), |at| blanks + at);
            if len > 0 && len + end > width {
                out.push('\n');
                len = end - blanks;
                out.push_str(&rest[blanks..end]);
            } else {
                len += end;
                out.push_str(&rest[..end]);
            }
            rest = &rest[end..];
        }
        out
    })
}

/// Broken after so many columns.
fn hard(log: &str, width: usize) -> String {
    each(log, |_, line| {
        let pieces: Vec<&str> =
            (0..line.len()).step_by(width).map(|at| &line[at..line.len().min(at + width)]).collect();
        pieces.join("\n")
    })
}

#[track_caller]
fn assert_reads(what: &str, arrived: &str, want: &[Line], kind: &[&str]) {
    let (got, repairs) = read(arrived);
    for (got, want) in got.iter().zip(want) {
        assert_eq!(got, want, "{what}: {arrived}");
    }
    assert_eq!(got.len(), want.len(), "{what}");
    assert_eq!(kinds(repairs), kind, "{what}");
    assert_eq!(detect(arrived.as_bytes()), Some(KernelLogForm::Dmesg), "{what}");
}

#[test]
fn whatever_stands_before_each_line_is_taken_off() {
    let (log, want) = log();
    let of =
        |sender: Option<Sender>| want.iter().cloned().map(|(s, _, text)| (s, sender.clone(), text)).collect::<Vec<_>>();
    for (prefix, sender) in [
        ("> ", None),
        (">> ", None),
        ("    ", None),
        ("\t", None),
        ("oss07: ", Some(Sender::Host("oss07".to_owned()))),
        ("> oss07: ", Some(Sender::Host("oss07".to_owned()))),
        ("logs/oss07.txt:", Some(Sender::File("logs/oss07.txt".to_owned()))),
    ] {
        assert_reads(prefix, &each(&log, |_, line| format!("{prefix}{line}")), &of(sender), &["prefix"]);
    }
    assert_reads("grep -n", &each(&log, |n, line| format!("{n}:{line}")), &want, &["prefix"]);
    assert_reads("cat -n", &each(&log, |n, line| format!("{n:6}\t{line}")), &want, &["prefix"]);
}

#[test]
fn characters_that_stand_for_others_are_put_back() {
    let (log, want) = log();
    for (what, arrived, kind) in [
        ("no-break spaces", log.replace(' ', "\u{a0}"), "characters"),
        ("entities", log.replace('>', "&gt;").replace('\'', "&#39;"), "characters"),
        (
            "colours",
            each(&log, |_, line| format!("\x1b[32m{}", line.replacen("] ", "] \x1b[0m\x1b[33m", 1))),
            "characters",
        ),
        ("at", log.replace('@', " at "), "at_sign"),
    ] {
        let is_event = |text: &str| text.contains('@') && text.contains("Lustre");
        let (got, repairs) = read(&arrived);
        let told = |lines: &[Line]| -> Vec<Line> { lines.iter().filter(|line| is_event(&line.2)).cloned().collect() };
        for (got, want) in told(&got).iter().zip(told(&want)) {
            assert_eq!(*got, want, "{what}");
        }
        assert_eq!(told(&got).len(), told(&want).len(), "{what}");
        assert_eq!((got.len(), kinds(repairs)), (want.len(), vec![kind]), "{what}");
        assert_eq!(detect(arrived.as_bytes()), Some(KernelLogForm::Dmesg), "{what}");
    }
}

#[test]
fn lines_broken_at_any_width_become_whole() {
    let (log, want) = log();
    let many: String = (0..300).map(|n| format!("[{n:5}.000000] usb 1-1: new device number {n}\n")).collect();
    let (many_lines, _) = read(&many);
    for width in 72..=240 {
        for (what, arrived) in [("soft", soft(&log, width)), ("hard", hard(&log, width))] {
            let what = format!("{what} {width}");
            assert_reads(&what, &arrived, &want, &["wrapped"]);
            let quoted = each(&arrived, |_, line| format!("> {line}"));
            assert_reads(&format!("quoted {what}"), &quoted, &want, &["prefix", "wrapped"]);
            let numbered = each(&arrived, |n, line| format!("{n}:{line}"));
            assert_reads(&format!("numbered {what}"), &numbered, &want, &["prefix", "wrapped"]);
            // The first lines of a text say little of the rest.
            let (got, _) = read(&format!("{many}{arrived}"));
            assert_eq!(got, [&many_lines[..], &want].concat(), "{what} behind many");
        }
    }
}

#[test]
fn hosts_are_told_apart() {
    let (log, want) = log();
    let of = |host: &str| {
        let sender = Some(Sender::Host(host.to_owned()));
        want.iter().cloned().map(|(stamp, _, text)| (stamp, sender.clone(), text)).collect::<Vec<_>>()
    };
    let rule = "-".repeat(15);
    let blocks = format!("{rule}\noss07\n{rule}\n{log}{rule}\noss08\n{rule}\n{log}");
    let files = format!("==> oss07 <==\n{log}\n==> oss08 <==\n{log}");
    let prompts = format!("[root@oss07 ~]# dmesg\n{log}[root@oss08 ~]# dmesg\n{log}");
    let in_turn: String = log.lines().map(|line| format!("oss07: {line}\noss08: {line}\n")).collect();
    let soft_blocks = format!("{rule}\noss07\n{rule}\n{0}{rule}\noss08\n{rule}\n{0}", soft(&log, 80));
    let hard_blocks = format!("{rule}\noss07\n{rule}\n{0}{rule}\noss08\n{rule}\n{0}", hard(&log, 80));
    for (what, arrived) in [
        ("blocks", blocks),
        ("files", files),
        ("prompts", prompts),
        ("in turn", in_turn),
        ("soft", soft_blocks),
        ("hard", hard_blocks),
    ] {
        let (got, _) = read(&arrived);
        for host in ["oss07", "oss08"] {
            let is_of = |line: &&Line| matches!(&line.1, Some(Sender::Host(name)) if name == host);
            let got: Vec<Line> = got.iter().filter(is_of).cloned().collect();
            assert_eq!(got, of(host), "{what}: {arrived}");
        }
        assert_eq!(got.len(), 2 * want.len(), "{what}");
    }
}

#[test]
fn remarks_are_none_of_a_line() {
    let (log, want) = log();
    let (got, _) = read(&format!("Hi,\nwe see this on our OSS:\n\n{log}\nany idea?\n-- \nAnna\n"));
    assert_eq!(got, want);
    let (got, _) = read(&format!("{log}any idea?\n"));
    assert_eq!(got, want);
    let short = "The server said:\n\n[ 1.0] Lustre: x: Aborting recovery\n\nWhat now?\n";
    assert_eq!(read(short).0[0].2, "Lustre: x: Aborting recovery");
    // A document that quotes one.
    assert_eq!(detect(short.as_bytes()), None);
}

#[test]
fn documents_are_no_kernel_logs() {
    for text in [
        "Dear all,\n\nour server said\n  Lustre: x\nand then nothing more.\nWhat is it?\nIt was fine before.\n",
        "# Notes\n\n1. see [1]\n2. see [2]\n",
        "oss07: ok\noss08: ok\n",
        "2026-11-25 07:00:01 started\n2026-11-25 07:00:02 stopped\n",
        "",
    ] {
        assert_eq!(detect(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn what_cannot_be_taken_off_is_told() {
    let text = "#1=Lustre: a\n#2=LustreError: b\n\n";
    assert_eq!(before_sentences(text.as_bytes()), Some(&b"#1="[..]));
    assert_eq!(before_sentences(b"a\nb\nc\nd\nand Lustre: x\n"), None);
}

/// Bytes cut out, put in and moved: nothing panics, and no text is longer than what arrived.
#[test]
fn damage_makes_nothing_up() {
    let (log, _) = log();
    let forms = [log.clone(), soft(&log, 80), hard(&log, 100), each(&log, |_, line| format!("> oss07: {line}"))];
    let mut state: u64 = 7;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..300 {
        let mut text = forms[random(forms.len())].clone().into_bytes();
        for _ in 0..=random(20) {
            let at = random(text.len());
            match random(4) {
                0 => drop(text.drain(at..text.len().min(at + random(200)))),
                1 => text.insert(at, b"\n >[]:&\x1b\xa0=-\0"[random(12)]),
                2 => text[at] = u8::try_from(random(256)).unwrap(),
                _ => text.truncate(at.max(1)),
            }
            if text.is_empty() {
                break;
            }
        }
        let mut kernel = KernelLines::new(Style::of(&text));
        let mut out = 0;
        let letters = |text: &[u8]| text.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
        let mut take = |line: super::Logged<'_>| out += letters(line.text);
        lines(&text).for_each(|line| kernel.line(line, &mut take));
        let _: Repairs = kernel.finish(&mut take);
        assert!(out <= letters(&text), "{}", String::from_utf8_lossy(&text));
        let _: Option<KernelLogForm> = detect(&text);
    }
}

/// What is no log takes no longer than a log of its length, and no more memory than its longest lines.
#[test]
fn texts_without_end_are_bounded() {
    let one = "[ 1.0] LustreError: @@@ x\n";
    for text in [
        format!("{one}{}", "and so on req@\n".repeat(20_000)),
        format!("[ 1.0] Lustre: {}\n", "@@@ \u{a0}".repeat(100_000)),
        "[[[[[[[[ 1.0".repeat(50_000),
        (0..3000).map(|n| format!("h{n}: {one}")).collect(),
        "> ".repeat(200_000),
    ] {
        let (got, _) = read(&text);
        assert!(got.len() <= 3000);
        assert!(got.iter().all(|line| line.2.len() <= 8 << 10));
    }
}
