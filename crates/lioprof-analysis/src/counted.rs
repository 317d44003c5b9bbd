//! Compares the server's own counters with the rows of the same time: what was counted but has no row is lost.
//!
//! The samples of one interval of tracing are joined to runs, which last as long as no counter was cleared or vanished.
//! Each run has the increase of its counter, which is compared with the rows that began in the run. A counter is read some
//! time after its sample began, so rows at the ends of a run are counted separately.

use std::collections::BTreeMap;

use lioprof_model::traffic::counted_service;
use lioprof_model::{
    Counted, CountedIo, CountedRpcs, CounterSnapshot, LockEvent, Mark, RowSink, RowSource, RpcRow, SentRpc, Symbol,
    Symbols,
};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;

/// Most runs kept for each counter: a capture that is switched on and off every minute reaches this in six weeks.
const MAX_RUNS: usize = 1 << 16;

/// Passes on all rows of a source, and compares them with its counters.
pub(crate) fn read(
    source: &mut dyn RowSource,
    symbols: &mut Symbols,
    sink: &mut dyn RowSink,
) -> (Result<(), String>, Counted) {
    let mut runs = Runs::default();
    let counters = source.counters(&mut |snapshot| runs.snapshot(snapshot));
    let mut tally = Tally::new(runs);
    let rows = if tally.is_empty() {
        source.read(symbols, sink)
    } else {
        source.read(symbols, &mut Tallied { tally: &mut tally, sink })
    };
    let result = match (rows, counters) {
        (Err(rows), Err(counters)) if rows != counters => Err(format!("{rows}; {counters}")),
        (Err(error), _) | (Ok(()), Err(error)) => Err(error),
        (Ok(()), Ok(())) => Ok(()),
    };
    (result, tally.finish())
}

/// When a sample was taken, microseconds: before the first counter was read, and after the last.
type SampleTime = (i64, i64);

/// Value of a counter: number of requests, or of RPCs and of bytes.
type Figure = (u64, u64);

/// A period from one sample to another in which the counter only went up.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: SampleTime,
    to: SampleTime,
    counted: Figure,
}

/// Where a row lies in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Inside,
    Edge,
}

impl Run {
    /// Where a request lies that is counted at some unknown moment between these times.
    fn place(&self, first_us: i64, last_us: i64) -> Option<Place> {
        if first_us > self.from.1 && last_us < self.to.0 {
            Some(Place::Inside)
        } else if last_us < self.from.0 || first_us > self.to.1 {
            None
        } else {
            Some(Place::Edge)
        }
    }
}

/// State of one counter while its samples come in.
#[derive(Clone, Debug, Default)]
struct Track {
    runs: Vec<Run>,
    /// The run at hand: its first sample and what the counter said then, the last one and what it said.
    open: Option<(SampleTime, Figure, SampleTime, Figure)>,
}

impl Track {
    fn close(&mut self) {
        if let Some((from, first, to, last)) = self.open.take()
            && from != to
            && self.runs.len() < MAX_RUNS
        {
            self.runs.push(Run { from, to, counted: (last.0 - first.0, last.1 - first.1) });
        }
    }

    fn sample(&mut self, time: SampleTime, value: Figure) {
        match &mut self.open {
            Some((_, _, to, last)) if value.0 >= last.0 && value.1 >= last.1 => (*to, *last) = (time, value),
            _ => {
                // The counter was cleared: its increase since the previous sample is lost.
                self.close();
                self.open = Some((time, value, time, value));
            }
        }
    }

    /// Notes that a sample lacks the counter.
    fn absent(&mut self, time: SampleTime) {
        match &mut self.open {
            // The kernel shows no counter that is 0.
            Some((_, _, to, (0, 0))) => *to = time,
            _ => self.close(),
        }
    }
}

/// Counters of a kind, by name.
#[derive(Clone, Debug, Default)]
struct Tracks(BTreeMap<String, Track>);

impl Tracks {
    fn snapshot(&mut self, began: SampleTime, begins: bool, now: SampleTime, values: &BTreeMap<String, Figure>) {
        for (name, track) in &mut self.0 {
            if begins {
                track.close();
                // A counter that is absent at the beginning is 0.
                let value = values.get(name).copied().unwrap_or_default();
                track.open = Some((now, value, now, value));
            } else if let Some(value) = values.get(name) {
                track.sample(now, *value);
            } else {
                track.absent(now);
            }
        }
        for (name, &value) in values {
            if !self.0.contains_key(name) {
                let mut track = Track::default();
                if !begins {
                    track.open = Some((began, (0, 0), began, (0, 0)));
                }
                track.sample(now, value);
                self.0.insert(name.clone(), track);
            }
        }
    }

    fn finish(self) -> BTreeMap<String, Vec<Run>> {
        let runs = self.0.into_iter().map(|(name, mut track)| {
            track.close();
            (name, track.runs)
        });
        runs.filter(|(_, runs)| !runs.is_empty()).collect()
    }
}

/// Samples joined to runs.
#[derive(Clone, Debug, Default)]
struct Runs {
    services: Tracks,
    targets: Tracks,
    /// The stretch at hand, and its first sample.
    stretch: Option<(u64, SampleTime)>,
}

impl Runs {
    fn snapshot(&mut self, snapshot: &CounterSnapshot) {
        if snapshot.services.is_empty() && snapshot.targets.is_empty() && self.stretch.is_none() {
            // Nothing can begin here: an absent counter may be 0, or may not have been read.
            return;
        }
        let now = (snapshot.begun_us, snapshot.ended_us.max(snapshot.begun_us));
        let begins = self.stretch.is_none_or(|(stretch, _)| stretch != snapshot.stretch);
        if begins {
            self.stretch = Some((snapshot.stretch, now));
        }
        let (_, began) = self.stretch.unwrap_or((snapshot.stretch, now));
        let services = snapshot.services.iter().map(|(name, &requests)| (name.clone(), (requests, 0))).collect();
        self.services.snapshot(began, begins, now, &services);
        self.targets.snapshot(began, begins, now, &snapshot.targets);
    }
}

/// Rows counted per run.
#[derive(Debug, Default)]
struct Tally {
    services: Vec<(String, Vec<Run>, CountedRpcs)>,
    targets: Vec<(String, Vec<Run>, CountedIo)>,
    unattributed: CountedIo,
    /// Indexes of services that were looked up before.
    service_of: FxHashMap<Symbol, Option<usize>>,
    target_of: FxHashMap<TargetName, Option<usize>>,
}

impl Tally {
    fn new(runs: Runs) -> Self {
        let services = runs.services.finish().into_iter().map(|(name, runs)| {
            let counted = runs.iter().map(|run| run.counted.0).sum();
            (name, runs, CountedRpcs { counted, ..CountedRpcs::default() })
        });
        let targets = runs.targets.finish().into_iter().map(|(name, runs)| {
            let (counted_rpcs, counted_bytes) =
                runs.iter().fold((0, 0), |sum: Figure, run| (sum.0 + run.counted.0, sum.1 + run.counted.1));
            (name, runs, CountedIo { counted_rpcs, counted_bytes, ..CountedIo::default() })
        });
        Self { services: services.collect(), targets: targets.collect(), ..Self::default() }
    }

    fn is_empty(&self) -> bool {
        self.services.is_empty() && self.targets.is_empty()
    }

    fn row(&mut self, row: &RpcRow, symbols: &Symbols) {
        let thread = symbols.bytes(row.thread);
        let services = &self.services;
        let service = *self.service_of.entry(row.thread).or_insert_with(|| {
            let name = counted_service(thread)?;
            services.binary_search_by(|(other, ..)| other.as_str().cmp(name)).ok()
        });
        // `req_waittime` counts a request when its handling starts.
        let start_us = row.start_us().unwrap_or(row.end_us);
        if let Some(at) = service {
            let (_, runs, counted) = &mut self.services[at];
            match place(runs, start_us, start_us) {
                Some(Place::Inside) => counted.seen += 1,
                Some(Place::Edge) => counted.edge += 1,
                None => {}
            }
        }
        if row.direction().is_some() && !row.failed() {
            self.io(row, start_us, counted_service(thread) == Some("ost_io"));
        }
    }

    /// `read_bytes` and `write_bytes` count an RPC somewhere in its handling.
    fn io(&mut self, row: &RpcRow, start_us: i64, of_ost: bool) {
        let bytes = row.size.best_bytes().unwrap_or(0);
        let counted = match row.target {
            Some(target) => {
                let targets = &self.targets;
                let at = *self.target_of.entry(target).or_insert_with(|| {
                    let name = target.to_string();
                    targets.binary_search_by(|(other, ..)| other.cmp(&name)).ok()
                });
                let Some(at) = at else { return };
                let (_, runs, counted) = &mut self.targets[at];
                place(runs, start_us, row.end_us).map(|place| (place, counted))
            }
            None => {
                let Some((_, runs, _)) = self.targets.first().filter(|_| of_ost) else { return };
                place(runs, start_us, row.end_us).map(|place| (place, &mut self.unattributed))
            }
        };
        match counted {
            Some((Place::Inside, counted)) => {
                counted.seen_rpcs += 1;
                counted.seen_bytes += bytes;
            }
            Some((Place::Edge, counted)) => counted.edge_rpcs += 1,
            None => {}
        }
    }

    fn finish(self) -> Counted {
        Counted {
            services: self.services.into_iter().map(|(name, _, counted)| (name, counted)).collect(),
            targets: self.targets.into_iter().map(|(name, _, counted)| (name, counted)).collect(),
            unattributed: self.unattributed,
        }
    }
}

/// Where a request lies in the runs of its counter, if it is counted at some moment between these times.
fn place(runs: &[Run], first_us: i64, last_us: i64) -> Option<Place> {
    // The last run that began before; at an edge of two runs it may be in either.
    let next = runs.partition_point(|run| run.from.0 <= last_us);
    let of = |at: usize| runs.get(at).and_then(|run| run.place(first_us, last_us));
    let here = next.checked_sub(1).and_then(of);
    here.or_else(|| next.checked_sub(2).and_then(of))
}

/// Counts rows per run while passing them on.
struct Tallied<'a> {
    tally: &'a mut Tally,
    sink: &'a mut dyn RowSink,
}

impl RowSink for Tallied<'_> {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.tally.row(row, symbols);
        self.sink.rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.sink.lock_event(event, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.sink.sent_rpc(sent, symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.sink.mark(mark, symbols);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(stretch: u64, at_us: i64, ost_io: Option<u64>) -> CounterSnapshot {
        let mut services = BTreeMap::from([("ost".to_owned(), 7)]);
        services.extend(ost_io.map(|requests| ("ost_io".to_owned(), requests)));
        CounterSnapshot { stretch, begun_us: at_us, ended_us: at_us + 5, services, ..CounterSnapshot::default() }
    }

    /// Runs of `ost_io`: from, to, counted.
    fn runs(snapshots: &[(u64, i64, Option<u64>)]) -> Vec<(i64, i64, u64)> {
        let mut runs = Runs::default();
        for &(stretch, at_us, ost_io) in snapshots {
            runs.snapshot(&snapshot(stretch, at_us, ost_io));
        }
        let runs = runs.services.finish();
        runs.get("ost_io").into_iter().flatten().map(|run| (run.from.0, run.to.0, run.counted.0)).collect()
    }

    #[test]
    fn samples_are_joined_as_long_as_the_counter_goes_up() {
        assert_eq!(runs(&[(0, 10, Some(100)), (0, 20, Some(150)), (0, 30, Some(170))]), [(10, 30, 70)]);
        // The kernel does not show a counter before its first request.
        assert_eq!(runs(&[(0, 10, None), (0, 20, None), (0, 30, Some(43)), (0, 40, Some(50))]), [(10, 40, 50)]);
    }

    #[test]
    fn what_a_cleared_or_vanished_counter_had_is_not_guessed() {
        assert_eq!(
            runs(&[(0, 10, Some(100)), (0, 20, Some(150)), (0, 30, Some(5)), (0, 40, Some(25))]),
            [(10, 20, 50), (30, 40, 20)]
        );
        assert_eq!(
            runs(&[(0, 10, Some(100)), (0, 20, Some(150)), (0, 30, None), (0, 40, Some(5)), (0, 50, Some(6))]),
            [(10, 20, 50), (40, 50, 1)]
        );
    }

    #[test]
    fn stretches_of_tracing_are_counted_apart() {
        let samples = [(0, 10, Some(100)), (0, 20, Some(150)), (1, 60, Some(900)), (1, 70, Some(910))];
        assert_eq!(runs(&samples), [(10, 20, 50), (60, 70, 10)]);
    }

    #[test]
    fn requests_at_the_ends_are_told_apart() {
        let run = Run { from: (10, 15), to: (100, 105), counted: (0, 0) };
        for (first_us, last_us, place) in [
            (16, 16, Some(Place::Inside)),
            (99, 99, Some(Place::Inside)),
            (10, 10, Some(Place::Edge)),
            (100, 100, Some(Place::Edge)),
            (14, 20, Some(Place::Edge)),
            (9, 9, None),
            (106, 106, None),
        ] {
            assert_eq!(super::place(&[run], first_us, last_us), place, "{first_us} to {last_us}");
        }
    }
}
