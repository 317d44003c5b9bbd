//! What the kernel log says of the last day.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use lioprof_params::{Kmsg, read_text};

use crate::facts::{Fact, KernelLogFacts, KernelMessages, MessageKind};

const DAY_US: i64 = 86_400_000_000;
/// Records that are read at most: a ring of 16 MiB has a quarter of that.
const MAX_RECORDS: usize = 1 << 20;
/// Two messages about the same eviction follow each other within this time.
const SAME_EVICTION_US: i64 = 1_000_000;
/// Longest text of a message that is kept, in characters.
const LONGEST: usize = 200;

/// A message.
struct Message<'a> {
    sequence: u64,
    uptime_us: i64,
    text: &'a str,
}

pub(super) fn read(root: &Path, time_us: i64) -> Fact<KernelLogFacts> {
    let uptime_us = read_text(root, "proc/uptime")
        .ok()
        .and_then(|text| lioprof_model::time::unix_seconds(text.split_ascii_whitespace().next()?));
    let Some(uptime_us) = uptime_us else { return Fact::Unknown("cannot read `/proc/uptime`".to_owned()) };
    match records(root) {
        Ok(text) => Fact::Known(summary(&text, uptime_us, time_us)),
        Err(error) => Fact::Unknown(format!(
            "cannot read `/dev/kmsg`: {error}; it takes root, and CAP_SYSLOG where kernel.dmesg_restrict is 1"
        )),
    }
}

/// All that the ring holds, as lines.
fn records(root: &Path) -> io::Result<String> {
    let mut log = Kmsg::open(root)?;
    let mut all = Vec::new();
    for _ in 0..MAX_RECORDS {
        let Some(record) = log.read()? else { break };
        all.extend_from_slice(record);
    }
    Ok(String::from_utf8_lossy(&all).into_owned())
}

/// `4,1234,56789,-;text`: priority, sequence, microseconds since boot, flags. Lines that begin with a space belong to the one before.
fn parse(line: &str) -> Option<Message<'_>> {
    let (head, text) = line.split_once(';')?;
    let mut fields = head.split(',').skip(1);
    let (sequence, uptime_us) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Message { sequence, uptime_us, text })
}

fn summary(text: &str, uptime_us: i64, time_us: i64) -> KernelLogFacts {
    let mut kinds: BTreeMap<MessageKind, KernelMessages> = BTreeMap::new();
    let mut oldest: Option<(u64, i64)> = None;
    let mut evicted: Option<(String, i64)> = None;
    let mut before: Option<MessageKind> = None;
    for message in text.lines().filter_map(parse) {
        oldest.get_or_insert((message.sequence, message.uptime_us));
        if uptime_us.saturating_sub(message.uptime_us) > DAY_US {
            continue;
        }
        if let Some(skipped) = skipped(message.text) {
            // Of an eviction there are two lines: how many of those left out are of others is not known.
            let like = before.filter(|kind| *kind != MessageKind::Eviction);
            if let Some(known) = like.and_then(|kind| kinds.get_mut(&kind)) {
                known.count += skipped;
            }
            continue;
        }
        before = kind(message.text);
        let Some(kind) = before else { continue };
        if kind == MessageKind::Eviction {
            // For the same client a line for people and one for programmers.
            let client = client(message.text).to_owned();
            let again = evicted.as_ref().is_some_and(|(known, at)| {
                !client.is_empty() && *known == client && message.uptime_us.saturating_sub(*at) <= SAME_EVICTION_US
            });
            evicted = Some((client, message.uptime_us));
            if again {
                continue;
            }
        }
        let last_us = time_us.saturating_sub(uptime_us.saturating_sub(message.uptime_us));
        let last: String = message.text.chars().take(LONGEST).collect();
        let known = kinds.entry(kind).or_insert(KernelMessages { kind, count: 0, last_us, last: String::new() });
        (known.count, known.last_us, known.last) = (known.count + 1, last_us, last);
    }
    let (first, since_us) = oldest.unwrap_or((0, uptime_us));
    let cut = first > 0 && uptime_us.saturating_sub(since_us) < DAY_US;
    let from_us = if first == 0 { 0 } else { since_us };
    let covers_us = uptime_us.saturating_sub(from_us).clamp(0, DAY_US);
    KernelLogFacts {
        covers_s: u64::try_from(covers_us / 1_000_000).unwrap_or(0),
        cut,
        messages: kinds.into_values().collect(),
    }
}

/// What a message is about: wordings of ldlm `ldlm_lockd.c`, ptlrpc `pinger.c` and `service.c`, obdclass `genops.c` (2.15 to 2.17), and
/// of the kernel's block layer, ext4, jbd2 and md.
fn kind(text: &str) -> Option<MessageKind> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["DEBUG MARKER:"]) {
        return None;
    }
    let lustre = text.starts_with("Lustre");
    if (lustre || text.starts_with("LNetError")) && has(&["LBUG", "ASSERTION("]) {
        return Some(MessageKind::Lbug);
    }
    if has(&[
        "LDISKFS-fs error",
        "LDISKFS-fs: error",
        "I/O error, dev ",
        "Buffer I/O error",
        "Remounting filesystem read-only",
        "Aborting journal",
    ]) || (text.starts_with("md/") && has(&["Disk failure"]))
    {
        return Some(MessageKind::Disk);
    }
    if (lustre && has(&["was inactive for"])) || (text.starts_with("INFO: task ") && has(&["blocked for more than"])) {
        return Some(MessageKind::HungThread);
    }
    if lustre
        && has(&[
            "was evicted",
            "evicting client at",
            "I am evicting it",
            "by administrative request",
            "at adminstrative request",
        ])
    {
        return Some(MessageKind::Eviction);
    }
    if text.starts_with("LNetError") {
        return Some(MessageKind::Lnet);
    }
    text.starts_with("LustreError").then_some(MessageKind::Lustre)
}

/// How many messages like the one before Lustre has left out, if it says so (libcfs `debug.c`: `Skipped %d previous similar message%s`).
fn skipped(text: &str) -> Option<u64> {
    let (before, after) = text.split_once("Skipped ")?;
    let is_lustre = before.starts_with("Lustre") || before.starts_with("LNet");
    let (number, _) = after.split_once(" previous similar message").filter(|_| is_lustre)?;
    number.parse().ok()
}

/// NID of the client that a message about an eviction names; empty if it names none.
fn client(text: &str) -> &str {
    let nid = |word: &&str| word.contains('@') && word.starts_with(|c: char| c.is_ascii_alphanumeric());
    text.split([' ', '(', ')', ',']).find(nid).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A day and an hour after boot.
    const UPTIME_US: i64 = DAY_US + 3_600_000_000;

    fn summary_of(lines: &[(u64, i64, &str)]) -> KernelLogFacts {
        let text: String = lines
            .iter()
            .map(|(sequence, second, text)| format!("3,{sequence},{},-;{text}\n", second * 1_000_000))
            .collect();
        summary(&text, UPTIME_US, UPTIME_US)
    }

    #[test]
    fn an_eviction_that_is_told_twice_counts_once() {
        // From an OSS with 2.17.57.
        let log = summary_of(&[
            (
                0,
                80_000,
                "LustreError: lustre-OST0003: A client on nid 10.10.0.13@tcp was evicted due to a lock blocking callback time out: rc -110",
            ),
            (
                1,
                80_000,
                "LustreError: 2194:0:(ldlm_lockd.c:251:expired_lock_main()) ### lock callback timer expired after 11s: evicting client at 10.10.0.13@tcp  ns: filter-lustre-OST0003_UUID lock: 00000000c9fe2ded",
            ),
            (
                2,
                80_400,
                "LustreError: 2194:0:(ldlm_lockd.c:251:expired_lock_main()) ### lock callback timer expired after 156s: evicting client at 10.10.0.13@tcp  ns: filter-lustre-OST0002_UUID lock",
            ),
            (
                3,
                80_500,
                "Lustre: lustre-OST0003: haven't heard from client f795f7df (at 10.10.0.12@tcp) in 160 seconds. I think it's dead, and I am evicting it. exp 0",
            ),
            (4, 80_501, "Lustre: DEBUG MARKER: PHASE eviction EVICT was evicted"),
        ]);
        assert_eq!(log.messages.len(), 1);
        assert_eq!((log.messages[0].kind, log.messages[0].count), (MessageKind::Eviction, 3));
        assert_eq!(log.messages[0].last_us, 80_500_000_000);
        assert_eq!((log.covers_s, log.cut), (86_400, false));
    }

    #[test]
    fn kinds_of_messages() {
        for (text, expected) in [
            ("LustreError: 1:0:(a.c:1:f()) ASSERTION( x ) failed: ", Some(MessageKind::Lbug)),
            ("LDISKFS-fs error (device vdb): ldiskfs_lookup: bad inode", Some(MessageKind::Disk)),
            ("blk_update_request: I/O error, dev sdb, sector 1", Some(MessageKind::Disk)),
            (
                "Lustre: ll_ost_io: service thread pid 12 was inactive for 40.001 seconds.",
                Some(MessageKind::HungThread),
            ),
            ("LNetError: 5:0:(lib-move.c:1:f()) no route to 1@o2ib", Some(MessageKind::Lnet)),
            ("LustreError: 9:0:(ofd_obd.c:1324:ofd_iocontrol()) unrecognized: rc = -25", Some(MessageKind::Lustre)),
            ("Lustre: lustre-OST0003: Aborting recovery", None),
            ("eth0: link up", None),
            ("", None),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn messages_that_were_left_out_count_and_are_no_messages() {
        // From an OSS with 2.17.57.
        let last = "LustreError: 2188:0:(ofd_obd.c:1324:ofd_iocontrol()) lustre-OST0000: unrecognized cmd: rc = -25";
        let skipped = "LustreError: 2188:0:(ofd_obd.c:1324:ofd_iocontrol()) Skipped 3 previous similar messages";
        let log = summary_of(&[
            (0, 80_000, skipped),
            (1, 80_001, last),
            (2, 80_001, skipped),
            (3, 80_002, "Lustre: lustre-OST0003: Aborting recovery"),
            (4, 80_002, "Lustre: Skipped 1 previous similar message"),
        ]);
        assert_eq!(log.messages.len(), 1);
        assert_eq!((log.messages[0].count, log.messages[0].last.as_str()), (4, last));
    }

    #[test]
    fn a_log_that_was_overwritten_says_so_and_yesterday_does_not_count() {
        let log = summary_of(&[(900, 80_000, "LustreError: a"), (901, 80_001, "eth0: link up")]);
        assert!(log.cut);
        assert_eq!(log.covers_s, 86_400 + 3_600 - 80_000);
        let old = summary_of(&[(900, 5, "LustreError: a"), (901, 80_001, "eth0: link up")]);
        assert_eq!((old.cut, old.covers_s, old.messages.len()), (false, 86_400, 0));
        let nothing = summary("rubbish\n;\n,,;\n", UPTIME_US, UPTIME_US);
        assert_eq!(nothing.messages, []);
    }
}
