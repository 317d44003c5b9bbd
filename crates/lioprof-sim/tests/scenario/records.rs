//! Records of real captures and of simulations in one form.

use lioprof_sim::cluster::Simulation;
use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{Counters, SimRecord, Workload as _};
use lioprof_testkit::files::{self, unpacked};

/// One message.
pub(crate) struct Rec {
    pub(crate) subsystem: u32,
    pub(crate) mask: u32,
    pub(crate) time_us: i64,
    pub(crate) pid: u32,
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) function: String,
    pub(crate) text: String,
}

impl From<&SimRecord> for Rec {
    fn from(record: &SimRecord) -> Self {
        Self {
            subsystem: record.subsystem,
            mask: record.mask,
            time_us: record.time_us,
            pid: record.pid,
            file: text(&record.file),
            line: record.line,
            function: text(&record.function),
            text: text(&record.text),
        }
    }
}

/// What a server with `subsystem_debug="rpc filter ldlm"` logs, and what is always logged.
pub(crate) fn is_wanted(rec: &Rec) -> bool {
    rec.subsystem & 0x1_2100 != 0
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The records of a capture's binary file, in time order. Its layout: 48 bytes, file, function, text.
pub(crate) fn capture(name: &str, server: &str) -> Vec<Rec> {
    let bytes = unpacked(files::capture(format!("{name}/{server}/rpc.bin.zst")));
    let mut recs = Vec::new();
    let mut at = 0;
    while at + 48 < bytes.len() {
        let len = usize::try_from(word(&bytes, at)).unwrap();
        let rest = &bytes[at + 48..at + len];
        let file_end = rest.iter().position(|&byte| byte == 0).unwrap();
        let function_end = file_end + 1 + rest[file_end + 1..].iter().position(|&byte| byte == 0).unwrap();
        recs.push(Rec {
            subsystem: word(&bytes, at + 8),
            mask: word(&bytes, at + 12),
            time_us: i64::from(word(&bytes, at + 20)) * 1_000_000 + i64::from(word(&bytes, at + 24)),
            pid: word(&bytes, at + 36),
            line: word(&bytes, at + 44),
            file: text(&rest[..file_end]),
            function: text(&rest[file_end + 1..function_end]),
            text: text(&rest[function_end + 1..]),
        });
        at += len;
    }
    assert!(recs.len() > 100, "{name} has hardly any records");
    recs.sort_by_key(|rec| rec.time_us);
    recs
}

/// All records of a simulation.
pub(crate) fn drain(mut simulation: Simulation) -> Vec<Rec> {
    let mut recs = Vec::new();
    collect(&mut simulation, &mut recs);
    recs
}

fn collect(simulation: &mut Simulation, recs: &mut Vec<Rec>) {
    let mut record = SimRecord::default();
    while simulation.next(&mut record) {
        recs.push(Rec::from(&record));
    }
    assert_eq!(simulation.running(), 0, "processes hang");
}

/// A scenario's records and its truth at the end.
pub(crate) fn simulated(name: &str, options: &Options) -> (Vec<Rec>, Counters) {
    let mut simulation = Scenario::named(name, options).unwrap();
    let mut recs = Vec::new();
    collect(&mut simulation, &mut recs);
    (recs, simulation.counters())
}

/// Small versions of all scenarios.
pub(crate) fn small() -> Options {
    Options { duration_s: 6, rate: 200, ..Options::default() }
}
