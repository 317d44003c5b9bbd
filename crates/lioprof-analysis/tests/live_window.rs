//! What is said of a server while it is traced is what an analysis says afterwards.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

use std::time::Duration;

use lioprof_analysis::{Config, LiveWindow, analyze};
use lioprof_model::live::{LiveIo, LiveRow, Top};
use lioprof_model::{Analysis, Direction, Io, Live, LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols, TraceSummary};
use lioprof_testkit::files::fixture;

/// Longer than any capture.
const WINDOW: Duration = Duration::from_secs(500);

/// A window, and what goes into it.
struct Watch {
    window: LiveWindow,
    length_us: i64,
    /// When the first thing happened.
    begun_us: Option<i64>,
    /// End, direction, and size of each row.
    io: Vec<(i64, Direction, Io)>,
    live: Live,
    analysis: Option<Analysis>,
}

impl RowSink for Watch {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.begun_us.get_or_insert(row.end_us);
        if let Some(direction) = row.direction() {
            let mut io = Io::default();
            io.add(row.size, row.failed());
            self.io.push((row.end_us, direction, io));
        }
        self.window.rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.begun_us.get_or_insert(event.time_us);
        self.window.lock_event(event, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.begun_us.get_or_insert(sent.time_us);
        self.window.sent_rpc(sent, symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.window.mark(mark, symbols);
    }

    fn node_end(&mut self, _: &str, summary: &TraceSummary, symbols: &Symbols) {
        let last_us = summary.last_us.unwrap();
        assert!(self.window.handed_on(last_us, symbols).is_none(), "the window is not full");
        self.live = self.window.look(&|from_us, to_us| to_us - from_us, symbols);
        self.analysis = self.window.handed_on(self.begun_us.unwrap() + self.length_us, symbols);
    }
}

/// A server's log, watched while it is analyzed, with windows of this length.
fn watched(capture: &str, server: &str, length: Duration) -> (Watch, Analysis) {
    let log = fixture("captures").join(capture).join(server);
    let window = LiveWindow::new(server, length);
    let length_us = i64::try_from(length.as_micros()).unwrap();
    let mut watch = Watch { window, length_us, begun_us: None, io: Vec::new(), live: Live::default(), analysis: None };
    let outcome = analyze(&[log], &Config::default(), Some(&mut watch)).unwrap();
    (watch, outcome.analysis)
}

#[test]
fn a_full_window_is_the_analysis_of_the_log() {
    for (capture, server) in
        [("file_per_process", "server2"), ("lock_pingpong_dlm", "server1"), ("metadata", "server2")]
    {
        let (watch, expected) = watched(capture, server, WINDOW);
        same_figures(&watch.analysis.unwrap(), &expected, capture);
    }
}

#[test]
fn two_halves_are_a_window() {
    for (capture, server) in
        [("file_per_process", "server2"), ("lock_pingpong_dlm", "server1"), ("metadata", "server2")]
    {
        // The log ends at two thirds of the window.
        let (_, whole) = watched(capture, server, WINDOW);
        let length = Duration::from_secs_f64(1.5 * (whole.window.end - whole.window.start));
        let (watch, expected) = watched(capture, server, length);
        let found = watch.analysis.unwrap();
        same_figures(&found, &expected, capture);
        assert_eq!(found.services, expected.services, "{capture}");
        assert_eq!(found.time_account, expected.time_account, "{capture}");
    }
}

#[track_caller]
fn same_figures(found: &Analysis, expected: &Analysis, capture: &str) {
    assert!(found.totals.rpcs > 50, "{capture}");
    let known = |totals: &lioprof_model::Totals| lioprof_model::Totals {
        // Not in rows, but in the summary of the log.
        dropped_rpcs: 0,
        sent_timed_out: 0,
        evictions: 0,
        target_evidence: Default::default(),
        unattributed: Default::default(),
        ..totals.clone()
    };
    assert_eq!(known(&found.totals), known(&expected.totals), "{capture}");
    assert_eq!(found.clients, expected.clients, "{capture}");
    assert_eq!(found.jobs, expected.jobs, "{capture}");
    assert_eq!(found.objects, expected.objects, "{capture}");
    let locks = |analysis: &Analysis| analysis.locks.as_ref().map(|locks| (locks.totals.clone(), locks.pairs.clone()));
    assert_eq!(locks(found), locks(expected), "{capture}");
}

#[test]
fn rates_are_of_the_last_ten_seconds() {
    let (watch, _) = watched("file_per_process", "server2", WINDOW);
    let server = &watch.live.servers[0];
    assert_eq!((server.to - server.from, server.traced_s), (10.0, 10.0));
    let mut rpcs = 0;
    for (direction, rates) in [(Direction::Read, &server.read), (Direction::Write, &server.write)] {
        let inside = |end_us: i64| {
            let end = lioprof_model::units::seconds(end_us);
            server.from <= end && end < server.to
        };
        let mut sum = Io::default();
        watch.io.iter().filter(|row| row.1 == direction && inside(row.0)).for_each(|row| sum.merge(&row.2));
        rpcs += sum.rpcs;
        assert_eq!(*rates, LiveIo::of(&sum, 10.0), "{direction:?}");
        let of = |io: (&LiveIo, &LiveIo)| *if direction == Direction::Read { io.0 } else { io.1 };
        same(&watch.live.targets, rates, |row| of((&row.read, &row.write)));
        same(&watch.live.clients, rates, |row| of((&row.read, &row.write)));
        same(&watch.live.jobs, rates, |row| of((&row.read, &row.write)));
        same(&watch.live.flows, rates, |row| of((&row.read, &row.write)));
        same(&watch.live.accesses, rates, |row| of((&row.read, &row.write)));
    }
    assert!(rpcs > 10, "{rpcs} reads and writes");
}

/// A list adds up to all.
#[track_caller]
fn same<T: LiveRow>(top: &Top<T>, all: &LiveIo, io: impl Fn(&T) -> LiveIo) {
    let mut sum = LiveIo { bytes_per_s: Some(0.0), ..LiveIo::default() };
    top.rows.iter().chain(&top.others).for_each(|row| sum.add(&io(row)));
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
    assert!(near(sum.rpcs_per_s, all.rpcs_per_s), "{sum:?} {all:?}");
    assert!(near(sum.bytes_per_s.unwrap(), all.bytes_per_s.unwrap()), "{sum:?} {all:?}");
}

#[test]
fn a_clock_that_is_set_begins_anew() {
    let symbols = Symbols::default();
    let mut window = LiveWindow::new("oss1", WINDOW);
    let look = |window: &LiveWindow| window.look(&|from_us, to_us| to_us - from_us, &symbols).servers[0].to;
    window.handed_on(2_000_000_000, &symbols);
    // A little back is disorder.
    window.handed_on(1_990_000_000, &symbols);
    assert_eq!(look(&window), 2000.0);
    window.handed_on(1_000_000_000, &symbols);
    assert_eq!(look(&window), 1000.0);
}
