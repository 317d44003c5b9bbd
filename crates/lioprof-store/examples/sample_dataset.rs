//! Writes a dataset for `scripts/check-parquet`: `sample_dataset DIR`, rows of real captures, and any lock events, sent RPCs and
//! counters. Prints what is in it, added up from the rows before they were written, as JSON.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use lioprof_model::{LockEvent, LockHappening, LockStep, RowSink, RpcRow, RpcSize, SentRpc, Symbols};
use lioprof_store::{CounterSample, DatasetWriter, ManifestFacts, NodeInfo, Options, Session};
use serde::Serialize;

#[path = "../tests/store/support/mod.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod support;

use support::random::Random;
use support::traffic::{BULK, NODE, Traffic};

/// RPCs of each part.
const RPCS: usize = 20_000;
const PARTS: u64 = 3;
const START_US: i64 = 1_795_251_082_000_000;

/// What was written.
#[derive(Default, Serialize)]
struct Truth {
    rpcs: u64,
    rpcs_by_opcode: BTreeMap<String, u64>,
    /// Sums of the least, best and largest sizes.
    bytes: [u64; 3],
    bytes_by_nid: BTreeMap<String, u64>,
    bytes_by_target: BTreeMap<String, u64>,
    objects: u64,
    service_us: u64,
    queue_us: u64,
    /// Nearest rank: p50, p90, p99 of the service time.
    service_percentiles_us: [u64; 3],
    lock_events: u64,
    locks_created: u64,
    sent_rpcs: u64,
    answered: u64,
    counters: u64,
    last_counter: u64,
    /// The last values of all entities.
    last_counters: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: sample DIR")?;
    let mut symbols = Symbols::default();
    let mut traffic = Traffic::new(BULK, 24, &mut symbols);
    let node = symbols.intern(NODE);
    let session = Session { start_us: START_US, id: "sample".to_owned() };
    let info = NodeInfo { fs: "lustre".to_owned(), node: "oss1".to_owned(), session };
    let mut writer = DatasetWriter::new(Path::new(&dir), info, Options::default());
    let mut random = Random(5);
    let mut truth = Truth::default();
    let mut times = Vec::new();
    let mut objects = std::collections::HashSet::new();
    for part in 0..PARTS {
        for n in 0..RPCS {
            let row = traffic.next(&symbols);
            truth.add(&row, &symbols);
            times.extend(row.service_us);
            objects.extend(row.object.map(|object| (row.target, object)));
            writer.rpc(&row, &symbols);
            if n % 10 == 0 {
                let time_us = row.end_us;
                let event = LockEvent { time_us, ..random.lock_event(node, &mut symbols) };
                truth.lock_events += 1;
                truth.locks_created += u64::from(matches!(event.happening, LockHappening::Lock(LockStep::Created, _)));
                writer.lock_event(&event, &symbols);
                let sent = SentRpc { time_us, ..random.sent_rpc(node, &mut symbols) };
                truth.sent_rpcs += 1;
                truth.answered += u64::from(sent.round_trip_us.is_some());
                writer.sent_rpc(&sent, &symbols);
            }
            if n % 1000 == 0 {
                // Two clients of one target, read at the same moments: a query that forgets the entity finds one of them.
                truth.last_counter = part * 1000 + n as u64;
                truth.last_counters = 0;
                for (entity, value) in [("10.0.0.1@tcp", truth.last_counter), ("10.0.0.2@tcp", truth.last_counter / 2)]
                {
                    truth.counters += 1;
                    truth.last_counters += value;
                    writer.counter(&CounterSample {
                        time_us: START_US + i64::try_from(truth.last_counter)?,
                        source: "export_stats",
                        target: Some("lustre-OST0000"),
                        entity: Some(entity),
                        counter: "write_bytes.sum",
                        value,
                    });
                }
            }
        }
        writer.close_part(ManifestFacts::default())?;
    }
    times.sort_unstable();
    truth.service_percentiles_us = [50, 90, 99].map(|percent| times[(times.len() * percent).div_ceil(100) - 1]);
    truth.objects = objects.len() as u64;
    println!("{}", serde_json::to_string_pretty(&truth)?);
    Ok(())
}

impl Truth {
    fn add(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.rpcs += 1;
        *self.rpcs_by_opcode.entry(row.opcode.to_string()).or_default() += 1;
        let sizes = match row.size {
            RpcSize::Exact(bytes) => [bytes; 3],
            RpcSize::Bounded { best, min, max } => [min, best, max],
            RpcSize::Unknown => [0; 3],
        };
        for (sum, bytes) in self.bytes.iter_mut().zip(sizes) {
            *sum += bytes;
        }
        *self.bytes_by_nid.entry(symbols.text(row.nid)).or_default() += sizes[1];
        if let Some(target) = row.target {
            *self.bytes_by_target.entry(target.to_string()).or_default() += sizes[1];
        }
        self.service_us += row.service_us.unwrap_or(0);
        self.queue_us += row.queue_us().unwrap_or(0);
    }
}
