//! What the kernel log says of the last day.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use lioprof_model::time::DAY_US;
use lioprof_params::{Kmsg, read_text};
use lustre_debuglog::kernel_log::Sentence;
use lustre_debuglog::vocab::EventKind;

use crate::facts::{Fact, KernelLogFacts, KernelMessages, MessageKind};

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
    let mut day = LogDay::new(uptime_us, Some(time_us));
    let mut oldest: Option<(u64, i64)> = None;
    for message in text.lines().filter_map(parse) {
        oldest.get_or_insert((message.sequence, message.uptime_us));
        day.message(message.uptime_us, message.text);
    }
    let (first, since_us) = oldest.unwrap_or((0, uptime_us));
    let cut = first > 0 && uptime_us.saturating_sub(since_us) < DAY_US;
    let from_us = if first == 0 { 0 } else { since_us };
    day.finish(from_us, cut)
}

/// What a kernel log says of the day before a moment, message by message.
pub struct LogDay {
    /// The moment by the log's clock.
    now_us: i64,
    /// The same, microseconds since the epoch, if that is known.
    time_us: Option<i64>,
    kinds: BTreeMap<MessageKind, KernelMessages>,
    /// Client of the last eviction, and when it was.
    evicted: Option<(String, i64)>,
    before: Option<MessageKind>,
}

impl LogDay {
    /// The day before `now_us` by the log's clock, which is `time_us` in microseconds since the epoch, if that is known.
    #[must_use]
    pub fn new(now_us: i64, time_us: Option<i64>) -> Self {
        Self { now_us, time_us, kinds: BTreeMap::new(), evicted: None, before: None }
    }

    /// Takes the kernel's text of a message that was logged at this time of the log's clock.
    pub fn message(&mut self, logged_us: i64, text: &str) {
        if self.now_us.saturating_sub(logged_us) > DAY_US {
            return;
        }
        let sentence = Sentence::of(text.as_bytes());
        if let Some(skipped) = sentence.skipped() {
            // Of an eviction there are two lines: how many of those left out are of others is not known.
            let like = self.before.filter(|kind| *kind != MessageKind::Eviction);
            if let Some(known) = like.and_then(|kind| self.kinds.get_mut(&kind)) {
                known.count += skipped;
            }
            return;
        }
        let event = sentence.event();
        self.before = event.and_then(|event| kind(event.kind, sentence));
        let Some(kind) = self.before else { return };
        if kind == MessageKind::Eviction {
            // For the same client a line for people and one for programmers.
            let client = event.and_then(|event| event.client).unwrap_or_default().escape_ascii().to_string();
            let again = self.evicted.as_ref().is_some_and(|(known, at)| {
                !client.is_empty() && *known == client && logged_us.saturating_sub(*at) <= SAME_EVICTION_US
            });
            self.evicted = Some((client, logged_us));
            if again {
                return;
            }
        }
        let before_end_us = self.now_us.saturating_sub(logged_us);
        let last_us = self.time_us.map(|time_us| time_us.saturating_sub(before_end_us));
        let last: String = text.chars().take(LONGEST).collect();
        let nothing = KernelMessages { kind, count: 0, last_us, before_end_us, last: String::new() };
        let known = self.kinds.entry(kind).or_insert(nothing);
        *known = KernelMessages { kind, count: known.count + 1, last_us, before_end_us, last };
    }

    /// What the log says; it goes back to `from_us` by its clock, and messages of the day are missing if it is `cut`.
    #[must_use]
    pub fn finish(self, from_us: i64, cut: bool) -> KernelLogFacts {
        let covers_us = self.now_us.saturating_sub(from_us).clamp(0, DAY_US);
        KernelLogFacts {
            covers_s: u64::try_from(covers_us / 1_000_000).unwrap_or(0),
            cut,
            messages: self.kinds.into_values().collect(),
        }
    }
}

/// The kind of a sentence that tells of this; remarks that are no errors count only where they are about clients or threads.
fn kind(event: EventKind, sentence: Sentence<'_>) -> Option<MessageKind> {
    let is_error = sentence.voice.is_some_and(|voice| voice.is_error);
    let is_lnet = sentence.voice.is_some_and(|voice| voice.is_lnet);
    match event {
        EventKind::Lbug => Some(MessageKind::Lbug),
        EventKind::TargetFailed => Some(MessageKind::Disk),
        EventKind::HungThread => Some(MessageKind::HungThread),
        EventKind::Eviction | EventKind::Evicted => Some(MessageKind::Eviction),
        _ if !is_error => None,
        _ if is_lnet => Some(MessageKind::Lnet),
        _ => Some(MessageKind::Lustre),
    }
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
        assert_eq!(log.messages[0].last_us, Some(80_500_000_000));
        assert_eq!(log.messages[0].before_end_us, UPTIME_US - 80_500_000_000);
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
            let sentence = Sentence::of(text.as_bytes());
            assert_eq!(sentence.event().and_then(|event| kind(event.kind, sentence)), expected, "{text}");
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
