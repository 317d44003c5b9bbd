//! What a look at a log shows of the server that wrote it.

use std::collections::{BTreeMap, BTreeSet};

use lustre_debuglog::frame::{Form, binary, text};
use lustre_debuglog::{Message, Record, TargetName};

/// The longest name that the kernel keeps (`TASK_COMM_LEN` less the NUL): a longer one is cut.
const COMM_BYTES: usize = 15;

/// When something was seen for the first and for the last time, microseconds since the epoch.
pub(crate) type Span = (i64, i64);

/// A request that a thread handled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Window {
    /// When it began and ended, microseconds since the epoch.
    pub(crate) from_us: i64,
    pub(crate) until_us: i64,
    pub(crate) xid: u64,
}

/// What a look at a log shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// Service threads whose names are whole: their pids, and when these were seen.
    pub(crate) pids: BTreeMap<Box<[u8]>, BTreeMap<u32, Span>>,
    /// Requests that were handled, by pid.
    pub(crate) windows: BTreeMap<u32, Vec<Window>>,
    /// Targets that the server serves.
    pub(crate) targets: BTreeMap<TargetName, Span>,
}

impl Contents {
    /// Takes what a piece of a log shows; where it does not begin or end with a record, the rest is left out.
    pub(crate) fn add(&mut self, piece: &[u8], form: Form) {
        match form {
            Form::Text => text::TextRecords::new(piece).for_each(|item| {
                if let text::TextItem::Record(record, _) = item {
                    self.record(&record);
                }
            }),
            Form::Binary(layout) => {
                binary::BinaryRecords::new(piece, layout).flatten().for_each(|(record, _)| self.record(&record));
            }
        }
    }

    fn record(&mut self, record: &Record<'_>) {
        let time_us = record.time_us;
        match Message::parse(record) {
            Message::Handling(rpc) => self.thread(rpc.thread, record.pid, time_us),
            Message::Handled(handled) => {
                self.thread(handled.rpc.thread, record.pid, time_us);
                // Negative after a step of the clock.
                if handled.outcome.service_us >= 0 {
                    let from_us = time_us.saturating_sub(handled.outcome.service_us);
                    let window = Window { from_us, until_us: time_us, xid: handled.rpc.xid.0 };
                    self.windows.entry(record.pid).or_default().push(window);
                }
            }
            Message::RefreshRwLocks(refresh) => seen(&mut self.targets, refresh.target, time_us),
            Message::Ldlm(message) => {
                let target = message.lock.as_ref().and_then(|lock| TargetName::from_namespace(lock.namespace));
                if let Some(target) = target {
                    seen(&mut self.targets, target, time_us);
                }
            }
            _ => {}
        }
    }

    fn thread(&mut self, name: &[u8], pid: u32, time_us: i64) {
        if is_whole(name) {
            seen(self.pids.entry(name.into()).or_default(), pid, time_us);
        }
    }

    /// Whether a request that one has handled is in the other as well.
    pub(crate) fn shares_request(&self, other: &Self) -> bool {
        self.windows.iter().any(|(pid, mine)| {
            let theirs: BTreeSet<&Window> = other.windows.get(pid).into_iter().flatten().collect();
            mine.iter().any(|window| theirs.contains(window))
        })
    }

    /// Whether both have a target at the same time.
    pub(crate) fn shares_target(&self, other: &Self) -> bool {
        self.targets
            .iter()
            .any(|(target, mine)| other.targets.get(target).is_some_and(|theirs| overlap(*mine, *theirs)))
    }

    /// How many threads have a pid in both; `None` if one has none in common.
    pub(crate) fn equal_pids(&self, other: &Self) -> Option<usize> {
        let common = self.pids.iter().filter_map(|(name, mine)| Some((mine, other.pids.get(name)?)));
        let mut equal = 0;
        for (mine, theirs) in common {
            if !mine.keys().any(|pid| theirs.contains_key(pid)) {
                return None;
            }
            equal += 1;
        }
        Some(equal)
    }
}

/// Whether two spans have a moment in common.
pub(crate) fn overlap(a: Span, b: Span) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

fn seen<K: Ord>(spans: &mut BTreeMap<K, Span>, what: K, time_us: i64) {
    let span = spans.entry(what).or_insert((time_us, time_us));
    *span = (span.0.min(time_us), span.1.max(time_us));
}

/// Whether a service thread's name is as it was given, with its number at the end: `_NNN`, in old versions `_NN`. What fills all bytes
/// that the kernel keeps is whole only if its number has three digits.
pub(crate) fn is_whole(name: &[u8]) -> bool {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_numbered = name.len().checked_sub(digits + 1).is_some_and(|at| name[at] == b'_');
    is_numbered && if name.len() < COMM_BYTES { digits >= 2 } else { digits == 3 }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn names_that_the_kernel_cut() {
        for name in [
            "ll_ost_io00_000",
            "ll_ost00_002",
            "ll_mgs_0001",
            "ldlm_cn00_000",
            "mdt_rdpg00_002",
            "ll_ost_io_05",
            "mdt00_1000",
        ] {
            assert!(is_whole(name.as_bytes()), "{name}");
        }
        for name in ["ll_ost_create00", "ll_ost_seq00_00", "ll_ost_io100_00", "ll_ost_out00_00", "kworker", "", "_"] {
            assert!(!is_whole(name.as_bytes()), "{name}");
        }
    }
}
