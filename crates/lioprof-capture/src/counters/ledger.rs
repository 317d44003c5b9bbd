//! What the counters counted over an interval, whatever happened to them meanwhile.
//!
//! Counters are cleared by administrators, targets fail over, jobs expire, clients reconnect. A difference between the
//! last sample and the first would be wrong after any of these, without a sign. So each sample is entered, and what
//! cannot be known is written down beside the figure.

use std::collections::BTreeMap;
use std::sync::Arc;

use lioprof_model::ReadWrite;
use serde::{Deserialize, Serialize};

use super::totals::{Count, Key, Reading, Totals, since};

/// Why a count may be too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Doubt {
    /// The counters were cleared between two samples; what they counted after the one before is gone.
    Reset,
    /// They vanished between two samples (a job expired, a target or client left).
    Vanished,
    /// They were seen late, and had counted before the interval began.
    SeenLate,
}

/// What was counted since the interval began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// Reads and writes, at least.
    pub(crate) rw: ReadWrite<Count>,
    /// Why there may be more; `None`: this is all.
    pub(crate) doubt: Option<Doubt>,
}

/// One set of counters.
#[derive(Clone, Copy, Debug, Default)]
struct Track {
    counted: Counted,
    last: Option<Reading>,
}

impl Track {
    fn observe(&mut self, reading: Reading) {
        let last = self.last.replace(reading).unwrap_or_default();
        let cleared = last.start_us != reading.start_us;
        let grown = if cleared { None } else { since(reading.rw, last.rw) };
        self.counted.rw.merge(&grown.unwrap_or(reading.rw));
        // Counters that had counted nothing lose nothing by being cleared.
        if grown.is_none() && last != Reading::default() {
            self.counted.doubt = self.counted.doubt.max(Some(Doubt::Reset));
        }
    }

    fn gone(&mut self) {
        if self.last.take().is_some() {
            self.counted.doubt = self.counted.doubt.max(Some(Doubt::Vanished));
        }
    }
}

/// Tracks by key.
#[derive(Clone, Debug, Default)]
struct Tracks<K>(BTreeMap<K, Track>);

impl<K: Ord + Clone> Tracks<K> {
    /// A new beginning: what the counters show now counts for nothing.
    fn rebase(&mut self, now: &BTreeMap<K, Reading>) {
        for track in self.0.values_mut() {
            track.last = None;
        }
        for (key, reading) in now {
            self.0.entry(key.clone()).or_default().last = Some(*reading);
        }
    }

    /// `began_us` is when the interval began.
    fn observe(&mut self, now: &BTreeMap<K, Reading>, began_us: i64) {
        for (key, track) in &mut self.0 {
            if !now.contains_key(key) {
                track.gone();
            }
        }
        for (key, reading) in now {
            let track = self.0.entry(key.clone()).or_default();
            let late = track.last.is_none() && reading.start_us.is_some_and(|start| start < began_us);
            if late {
                track.last = Some(*reading);
                track.counted.doubt = track.counted.doubt.max(Some(Doubt::SeenLate));
            } else {
                track.observe(*reading);
            }
        }
    }
}

/// Those of clients or jobs, which are read less often.
#[derive(Clone, Debug, Default)]
struct OfMany {
    tracks: Tracks<Key>,
    /// Not all were read: too many, or not at an end of the interval.
    cut: bool,
}

impl OfMany {
    fn observe(&mut self, now: Option<&BTreeMap<Key, Reading>>, cut: bool, began_us: i64) {
        self.cut |= cut;
        if let Some(now) = now {
            self.tracks.observe(now, began_us);
        }
    }

    fn rebase(&mut self, now: Option<&BTreeMap<Key, Reading>>, cut: bool) {
        self.cut |= cut || now.is_none();
        if let Some(now) = now {
            self.tracks.rebase(now);
        }
    }

    /// By name, over all targets; `None` if not all were read.
    fn over_targets(&self) -> Option<BTreeMap<String, Counted>> {
        let mut sums: BTreeMap<String, Counted> = BTreeMap::new();
        for ((_, name), track) in &self.tracks.0 {
            let sum = sums.entry(name.to_string()).or_default();
            sum.rw.merge(&track.counted.rw);
            sum.doubt = sum.doubt.max(track.counted.doubt);
        }
        (!self.cut).then_some(sums)
    }
}

/// The counters of an interval.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// When it began, microseconds since the epoch.
    began_us: Option<i64>,
    ended_us: Option<i64>,
    targets: Tracks<Arc<str>>,
    clients: OfMany,
    jobs: OfMany,
}

impl Ledger {
    /// Enters a sample. The first one begins the interval and must hold clients and jobs if these are to be compared.
    pub(crate) fn observe(&mut self, totals: &Totals) {
        let Some(began_us) = self.began_us else {
            self.began_us = Some(totals.time_us);
            return self.resume(totals);
        };
        self.ended_us = Some(totals.time_us);
        self.targets.observe(&totals.targets, began_us);
        self.clients.observe(totals.clients.as_ref(), !totals.clients_cut.is_empty(), began_us);
        self.jobs.observe(totals.jobs.as_ref(), !totals.jobs_cut.is_empty(), began_us);
    }

    /// Enters a sample without counting what happened since the one before: tracing was switched off between them.
    /// Clients and jobs that the sample does not hold cannot be compared any more.
    pub(crate) fn resume(&mut self, totals: &Totals) {
        self.ended_us = Some(totals.time_us);
        self.targets.rebase(&totals.targets);
        self.clients.rebase(totals.clients.as_ref(), !totals.clients_cut.is_empty());
        self.jobs.rebase(totals.jobs.as_ref(), !totals.jobs_cut.is_empty());
    }

    /// First and last sample, microseconds since the epoch.
    pub(crate) fn interval_us(&self) -> Option<(i64, i64)> {
        self.began_us.zip(self.ended_us)
    }

    /// Reads and writes of all OSTs.
    pub(crate) fn total(&self) -> Count {
        let mut total = Count::default();
        for Track { counted: Counted { rw, .. }, .. } in self.targets.0.values() {
            total.merge(&rw.read);
            total.merge(&rw.write);
        }
        total
    }

    /// By OST.
    pub(crate) fn targets(&self) -> BTreeMap<String, Counted> {
        self.targets.0.iter().map(|(target, track)| (target.to_string(), track.counted)).collect()
    }

    /// By NID, over all OSTs; `None` if not all were read.
    pub(crate) fn clients(&self) -> Option<BTreeMap<String, Counted>> {
        self.clients.over_targets()
    }

    /// By job, over all OSTs; `None` if not all were read.
    pub(crate) fn jobs(&self) -> Option<BTreeMap<String, Counted>> {
        self.jobs.over_targets()
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
