//! Words of file and folder names: what tells a host, and what any log's name may have.
//!
//! The words are those that logs are named by: LIOProf (`rpc-<host>`, `dk`), Lustre's `lctl dk`, `lctl debug_file` and `lctl debug_daemon`,
//! `/tmp/lustre-log.<time>.<pid>` (libcfs `debug.c`, all versions), sos's plugin for Lustre (`sos_commands/lustre/lctl_debug_kernel`,
//! `sosreport-HOST[-CASE]-DATE-RANDOM`), and what people add to them by hand.

use lustre_debuglog::{Opcode, TargetName};

use super::endings::{strip_segment, strip_stamp_in_front};

/// What separates the words of a name.
pub(super) const SIGNS: [char; 3] = ['-', '_', '.'];

/// Words for logs and where they lie. A name of nothing but these and numbers names no host. Those of kernel logs are what `dmesg`, syslog
/// daemons, the journal, kdump (`vmcore-dmesg.txt`) and consoles' recorders call their files.
const LOG_WORDS: [&str; 69] = [
    "rpc",
    "rpctrace",
    "dlmtrace",
    "dk",
    "log",
    "logs",
    "trace",
    "traces",
    "capture",
    "captures",
    "dump",
    "dumps",
    "lctl",
    "lustre",
    "debug",
    "kernel",
    "file",
    "daemon",
    "debugfile",
    "debuglog",
    "debuglogs",
    "debugdaemon",
    "sos",
    "sosreport",
    "report",
    "crash",
    "commands",
    "var",
    "tmp",
    "part",
    "seg",
    "segment",
    "chunk",
    "piece",
    "text",
    "txt",
    "raw",
    "out",
    "output",
    "bin",
    "buffer",
    "proc",
    "sys",
    "plugins",
    "home",
    "dmesg",
    "messages",
    "kern",
    "klog",
    "kmsg",
    "syslog",
    "rsyslog",
    "journal",
    "journalctl",
    "journald",
    "console",
    "consoles",
    "conman",
    "vmcore",
    "json",
    "export",
    "message",
    "mail",
    "mails",
    "mbox",
    "inbox",
    "forwarded",
    "attachment",
    "attachments",
];

/// Programs that people call files by together with an option: `dmesg-T.txt`, `journalctl-k.txt`.
const PROGRAMS: [&str; 2] = ["dmesg", "journalctl"];
const OPTIONS: [&str; 10] = ["T", "H", "x", "e", "xT", "Tx", "ctime", "iso", "k", "kb"];

/// Words that pieces of one server's log differ by: not those of hosts, and not those of captures that are to be compared (`before`).
const PIECE_WORDS: [&str; 41] = [
    "read", "reads", "write", "writes", "get", "put", "punch", "setattr", "getattr", "destroy", "create", "statfs",
    "sync", "connect", "ping", "enqueue", "cancel", "lock", "locks", "ldlm", "io", "bulk", "meta", "metadata", "data",
    "other", "others", "rest", "start", "begin", "end", "stop", "first", "last", "head", "tail", "even", "odd", "left",
    "right", "handling",
];

/// Words by which captures of one server differ that are to be compared with each other.
const CONTRASTS: [&str; 23] = [
    "before",
    "after",
    "during",
    "old",
    "new",
    "good",
    "bad",
    "sick",
    "cured",
    "healthy",
    "slow",
    "fast",
    "fixed",
    "broken",
    "baseline",
    "morning",
    "evening",
    "night",
    "today",
    "yesterday",
    "second",
    "third",
    "without",
];

/// Words that are counted and are no hosts: `run2`, `day1`.
const SERIES: [&str; 56] = [
    "day", "run", "dump", "part", "seg", "segment", "chunk", "piece", "test", "try", "case", "capture", "log", "trace",
    "step", "phase", "iter", "pass", "round", "file", "copy", "set", "batch", "job", "sample", "snap", "v", "rev",
    "ver", "version", "build", "week", "attempt", "dk", "rpc", "debug", "lctl", "out", "t", "x", "k", "p", "part",
    "take", "ticket", "issue", "lu", "dmesg", "messages", "kern", "kernel", "kmsg", "syslog", "journal", "console",
    "vmcore",
];

/// Servers and their like, alone or with a number or a letter.
const HOST_WORDS: [&str; 20] = [
    "oss", "mds", "mgs", "ost", "mdt", "osd", "server", "srv", "client", "cli", "node", "host", "nid", "compute",
    "login", "router", "lnet", "storage", "stor", "nfs",
];

/// What tickets are called by.
const TICKETS: [&str; 18] = [
    "case", "ticket", "sr", "inc", "lu", "issue", "bug", "req", "cs", "support", "sf", "sfdc", "rt", "jira", "ex",
    "ddn", "call", "problem",
];

/// A host in the name of a file (without endings) or folder: the name without log words, dates and numbers at both ends; empty if there is
/// no more to it.
pub(crate) fn core(name: &str) -> &str {
    if let Some(host) = of_sos_report(name) {
        return host;
    }
    let (mut rest, mut stripped) = (name, false);
    loop {
        rest = rest.trim_matches(SIGNS);
        let shorter = front(rest, stripped).or_else(|| back(rest, stripped));
        match shorter {
            Some(shorter) => (rest, stripped) = (shorter, true),
            None => break,
        }
    }
    if is_log_word(rest) || is_number(rest) { "" } else { rest }
}

/// Whether a host's name is that of any host: kdump names its folders `127.0.0.1-2026-11-21-09:32:54`.
pub(super) fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// `oss01` of `sosreport-oss01-03412345-2026-11-25-abcdefg` (sos `sos/policies/__init__.py`) and of `sosreport-oss01.03412345-20261125094640`.
fn of_sos_report(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("sosreport-")?;
    let at = rest.match_indices('-').map(|(at, _)| at).find(|&at| {
        let date = &rest[at + 1..];
        date.split(['-', '.']).next().is_some_and(|word| matches!(word.len(), 4 | 8 | 12 | 14) && is_year(word))
    });
    let mut host = &rest[..at.unwrap_or(rest.len())];
    while let Some((before, number)) = host.rsplit_once(['-', '.'])
        && number.len() >= 5
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        host = before;
    }
    Some(host).filter(|host| !host.is_empty() && !is_number(host))
}

fn is_year(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_digit()) && matches!(digits.get(..2), Some("19" | "20"))
}

/// Without a log word at its beginning. `lustre` may be a part of a host's name, unless other log words were there.
fn front(name: &str, stripped: bool) -> Option<&str> {
    if let Some(rest) = strip_stamp_in_front(name) {
        return Some(rest);
    }
    let (word, rest) = name.split_once(SIGNS)?;
    let is_log = is_log_word(word) && (stripped || !word.eq_ignore_ascii_case("lustre") || starts_with_log_word(rest));
    // Seconds since the epoch.
    let is_time = word.len() >= 10 && word.bytes().all(|byte| byte.is_ascii_digit());
    (is_log || is_time || is_clock(word)).then(|| without_option(word, rest))
}

/// What stands behind a word, without the option that belongs to it.
fn without_option<'a>(word: &str, rest: &'a str) -> &'a str {
    let bare = rest.trim_start_matches(SIGNS);
    let (option, behind) = bare.split_once(SIGNS).unwrap_or((bare, ""));
    if is_program(word) && OPTIONS.contains(&option) { behind } else { rest }
}

fn is_program(word: &str) -> bool {
    PROGRAMS.iter().any(|program| program.eq_ignore_ascii_case(word))
}

fn starts_with_log_word(name: &str) -> bool {
    name.split(SIGNS).next().is_some_and(is_log_word)
}

/// Without a log word, a date or a number of a segment at its end.
fn back(name: &str, stripped: bool) -> Option<&str> {
    if let Some(rest) = strip_segment(name) {
        return Some(rest);
    }
    let (rest, word) = name.rsplit_once(SIGNS)?;
    let is_log = is_log_word(word) && (stripped || !word.eq_ignore_ascii_case("lustre"));
    // What bundles add to their date: a random word.
    let is_random = (4..=10).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && strip_segment(rest).is_some_and(|before| rest.len() - before.len() > "-20261125".len() - 1);
    let is_option = OPTIONS.contains(&word) && rest.rsplit(SIGNS).next().is_some_and(is_program);
    (is_log || is_random || is_clock(word) || is_option).then_some(rest)
}

fn is_log_word(word: &str) -> bool {
    LOG_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// `14:00:01`, `14:00`.
fn is_clock(word: &str) -> bool {
    word.contains(':') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
}

/// Digits and what stands between those of dates; no address.
pub(crate) fn is_number(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | ':' | 'T' | 'Z' | '+' | ' ');
    !name.is_empty() && name.chars().all(is_part) && name.contains(|c: char| c.is_ascii_digit()) && !is_address(name)
}

/// A dotted IPv4 address, with or without a network.
fn is_address(name: &str) -> bool {
    name.split('@').next().unwrap_or(name).parse::<std::net::Ipv4Addr>().is_ok()
}

/// `case12345`, `LU-17000`.
pub(super) fn is_ticket(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    TICKETS.iter().any(|word| {
        let number = lower.strip_prefix(word).map(|rest| rest.trim_start_matches(['-', '_', '#']));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Whether a name looks like that of a host: an address, a name in a domain, a server's word alone or with a number, any word with a number
/// that is not one of a series.
pub(crate) fn is_host_like(name: &str) -> bool {
    if is_address(name) || is_in_domain(name) {
        return true;
    }
    if is_ticket(name) || is_target(name) {
        return false;
    }
    let words: Vec<String> = name.split(SIGNS).map(str::to_ascii_lowercase).collect();
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let of_server = words.iter().any(|word| is_server(word, words.len() == 1));
    let numbered = || {
        let letters = words[0].trim_end_matches(|c: char| c.is_ascii_digit());
        let has_digits = letters.len() < words[0].len() || words.get(1).is_some_and(|word| is_number(word));
        let begins = letters.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
        begins && has_digits && ![&SERIES[..], &PIECE_WORDS, &CONTRASTS].iter().any(|words| words.contains(&letters))
    };
    of_server || (words.len() <= 2 && numbered())
}

/// `oss01`, `clientA`; alone also `mds`.
fn is_server(word: &str, alone: bool) -> bool {
    let rest = HOST_WORDS.iter().find_map(|known| word.strip_prefix(known));
    rest.is_some_and(|rest| match rest.len() {
        0 => alone,
        1 => true,
        _ => rest.bytes().all(|byte| byte.is_ascii_digit()),
    })
}

/// `oss01.example.com`, of which only the first word has to have a number.
fn is_in_domain(name: &str) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    labels.len() >= 3
        && labels
            .iter()
            .all(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
        && labels[labels.len() - 1].bytes().all(|byte| byte.is_ascii_alphabetic())
        && !is_log_word(labels[labels.len() - 1])
}

/// `OST0000`, `work1-OST0003`.
fn is_target(word: &str) -> bool {
    let upper = word.to_ascii_uppercase();
    let index = ["OST", "MDT"].iter().find_map(|kind| upper.strip_prefix(kind));
    index.is_some_and(|index| index.len() == 4 && index.bytes().all(|byte| byte.is_ascii_hexdigit()))
        || TargetName::parse_bytes(word.as_bytes()).is_some()
}

/// A file's name without the words that pieces of one log differ by, if it has any: what pieces of one log have in common.
pub(crate) fn without_pieces(stem: &str) -> Option<String> {
    if Opcode::parse_bytes(stem.to_ascii_uppercase().as_bytes()).is_some() {
        return Some(String::new());
    }
    let (mut kept, mut words): (Vec<&str>, usize) = (Vec::new(), 0);
    for word in stem.split(SIGNS) {
        words += 1;
        if is_target(word) {
            // The file system, but for a host.
            kept.pop_if(|before| !is_server(&before.to_ascii_lowercase(), true));
        } else if !is_piece(word) {
            kept.push(word);
        }
    }
    (kept.len() < words).then(|| kept.join("-"))
}

/// Whether a name says that it is one side of a comparison.
pub(crate) fn is_contrast(stem: &str) -> bool {
    stem.split(SIGNS).any(|word| CONTRASTS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

fn is_piece(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let letters = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    // `OST` and `MDS` are the beginnings of operations' names, too, but of hosts' first of all.
    PIECE_WORDS.contains(&lower.as_str())
        || letters.is_empty()
        || (letters.len() < lower.len() && SERIES.contains(&letters))
}

/// The name without what `split` has added to it (`xaa`, `rpc.txt.aa`); the suffix.
pub(crate) fn split_suffix(name: &str) -> Option<(&str, &str)> {
    let is_suffix = |it: &str| matches!(it.len(), 2 | 3) && it.bytes().all(|byte| byte.is_ascii_lowercase());
    if let Some(suffix) = name.strip_prefix('x').filter(|it| is_suffix(it)) {
        return Some(("", suffix));
    }
    let (before, suffix) = name.rsplit_once(SIGNS)?;
    is_suffix(suffix).then_some((before, suffix))
}

/// Whether these are the first suffixes that `split` uses, in order, without a hole: `aa`, `ab`, ..
pub(crate) fn are_split_suffixes<'a>(sorted: impl IntoIterator<Item = &'a str>) -> bool {
    sorted.into_iter().enumerate().all(|(number, suffix)| {
        let value = suffix
            .bytes()
            .try_fold(0, |value: usize, byte| byte.is_ascii_lowercase().then(|| value * 26 + usize::from(byte - b'a')));
        value == Some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_inside_names_of_logs() {
        for (name, host) in [
            ("sosreport-oss01-2026-11-25-abcdefg", "oss01"),
            ("sosreport-oss01-03412345-2026-11-25-abcdefg", "oss01"),
            ("sosreport-oss-01.03412345-20261125094640", "oss-01"),
            ("sosreport-alpha-2026-11-25-abcdefg-obfuscated", "alpha"),
            ("sosreport-oss01", "oss01"),
            ("sos-oss01", "oss01"),
            ("debug-oss01", "oss01"),
            ("debug_log.oss01", "oss01"),
            ("lustre-log.oss01.1795600000", "oss01"),
            ("lustre-log.oss01.1795600000.5432", "oss01"),
            ("lustre-log-oss01", "oss01"),
            ("debug_kernel.oss01", "oss01"),
            ("lctl_debug_kernel.oss01", "oss01"),
            ("oss01_lctl_dk", "oss01"),
            ("oss01-2026-11-20-14:00:01", "oss01"),
            ("2026-11-20-oss01", "oss01"),
            ("20261120_oss01", "oss01"),
            ("crash-oss01-20261125-0946", "oss01"),
            ("bundle-20261125-k3j2h1g", "bundle"),
            ("lustre-oss01", "lustre-oss01"),
            ("lustre-log.10.10.0.1.1795600000", "10.10.0.1"),
            ("lctl_debug_kernel", ""),
            ("2026-11-20-14:00:01", ""),
            ("1795600000.5432", ""),
            ("lustre", ""),
            ("lustre-log", ""),
            ("sos_commands", ""),
            ("debug_file", ""),
            ("part-00", ""),
            ("dmesg-oss02", "oss02"),
            ("dmesg.oss02", "oss02"),
            ("oss02.dmesg", "oss02"),
            ("oss02_dmesg", "oss02"),
            ("oss02-dmesg-T", "oss02"),
            ("dmesg-T-oss02", "oss02"),
            ("messages-oss02", "oss02"),
            ("messages-oss02-20261122", "oss02"),
            ("oss02-kern", "oss02"),
            ("kern.log.oss02", "oss02"),
            ("oss02-var-log-messages", "oss02"),
            ("console.oss02", "oss02"),
            ("journalctl-k-oss02", "oss02"),
            ("oss02-journal.json", "oss02"),
            ("dmesg-a", "a"),
            ("dmesg-T", ""),
            ("dmesg_-T", ""),
            ("vmcore-dmesg", ""),
            ("messages-20261122", ""),
            ("", ""),
        ] {
            assert_eq!(core(name), host, "{name}");
        }
    }

    #[test]
    fn what_looks_like_a_host() {
        for name in [
            "oss01",
            "oss-03",
            "snx11000n004",
            "server1",
            "clientA",
            "mds",
            "10.10.0.1",
            "10.10.0.1@tcp",
            "n17",
            "a.example.com",
        ] {
            assert!(is_host_like(name), "{name}");
        }
        for name in [
            "day1",
            "run2",
            "OST0003",
            "work1-OST0003",
            "monday",
            "case12345",
            "LU-17000",
            "alpha",
            "v215_slow_ost_cured_run2",
            "dump3",
        ] {
            assert!(!is_host_like(name), "{name}");
        }
    }

    #[test]
    fn pieces_of_one_log() {
        for (name, rest) in [
            ("oss01-read", Some("oss01")),
            ("oss01_write", Some("oss01")),
            ("OST0000", Some("")),
            ("work1-OST0003", Some("")),
            ("oss01-OST0003", Some("oss01")),
            ("oss01-work1-OST0003", Some("oss01")),
            ("ost_write", Some("")),
            ("dump1", Some("")),
            ("oss01-before-fix", None),
            ("oss01", None),
            ("alpha", None),
        ] {
            assert_eq!(without_pieces(name).as_deref(), rest, "{name}");
        }
    }

    #[test]
    fn suffixes_of_split() {
        assert_eq!(split_suffix("xaa"), Some(("", "aa")));
        assert_eq!(split_suffix("rpc.txt.ab"), Some(("rpc.txt", "ab")));
        assert_eq!(split_suffix("oss01.txt"), Some(("oss01", "txt")));
        assert_eq!(split_suffix("oss01"), None);
        assert!(are_split_suffixes(["aa", "ab", "ac"]));
        assert!(are_split_suffixes(["aaa", "aab"]));
        assert!(!are_split_suffixes(["aa", "ac"]));
        assert!(!are_split_suffixes(["txt"]));
    }
}
