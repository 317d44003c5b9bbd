//! Real servers whose buffer overflowed: `fixtures/overloads`.

use std::path::{Path, PathBuf};

use lioprof_analysis::{Config, analyze, analyze_with_stores};
use lioprof_model::counted::ledger::IoAccount;
use lioprof_model::{CounterSnapshot, Ledger, Loss, LossEvidence, RowSink, RowStores as _, RpcRow, Symbols};
use lioprof_store::Datasets;
use lioprof_testkit::files;

/// A capture, what it really lost, and what the analysis says.
pub(crate) struct Real {
    pub(crate) name: &'static str,
    pub(crate) truth: f64,
    pub(crate) with: Option<Loss>,
    pub(crate) without: Option<Loss>,
}

fn fixture(name: &str) -> PathBuf {
    files::fixture("overloads").join(name)
}

#[test]
fn policies_of_the_scheduler_are_no_loss() {
    let analysis = analyze(&[files::fixture("schedulers/nrs_policies")], &Config::default(), None).unwrap().analysis;
    let loss = &analysis.loss;
    assert_eq!((loss.lost_fraction_min, loss.lost_fraction_max), (Some(0.0), Some(0.0)), "{loss:?}");
    assert_eq!(loss.estimated_lost_fraction, Some(0.0));
    for input in &analysis.inputs {
        assert!(input.malformed.is_empty(), "{}: {:?}", input.path, input.malformed);
    }
}

fn of_rows(dir: &Path) -> Loss {
    analyze_with_stores(&[dir.to_owned()], &Datasets, &Config::default(), None).unwrap().analysis.loss
}

/// 4,028 requests counted between the first and the last sample, of which 4,000 are writes; 2,716 RPCs in the rows of that
/// time, of which 2,694 are writes.
fn o_freeze() -> Loss {
    of_rows(&fixture("o_freeze/data"))
}

/// `ost.OSS.*.stats` in `truth.txt` count 3,200 writes, 18 requests of `ost_create` and 4 of `ost` before the log was
/// stopped; 2,551 writes and 16 others are there.
fn overflow_burst() -> Loss {
    analyze(&[fixture("overflow_burst")], &Config::default(), None).unwrap().analysis.loss
}

/// Rows that a daemon kept on a real server. `truth.txt` beside them has what the clients issued; all of it was counted.
fn kept(name: &'static str, rows: &str, truth: f64) -> Real {
    let rows = fixture(rows);
    Real { name, truth, with: Some(of_rows(&rows)), without: Some(without_counters(&rows)) }
}

fn without_counters(rows: &Path) -> Loss {
    let dir = tempfile::tempdir().unwrap();
    copy(rows, dir.path());
    std::fs::remove_dir_all(dir.path().join("counters")).unwrap();
    of_rows(dir.path())
}

pub(crate) fn captures() -> Vec<Real> {
    vec![
        Real { name: "a real OSS, `lioprof daemon`", truth: 1312.0 / 4028.0, with: Some(o_freeze()), without: None },
        kept("a real server, spool frozen for 12 s", "frozen_spool/data", 588.0 / 4263.0),
        kept("a real server, spool full for 33 s", "full_spool/data", 1196.0 / 1574.0),
        Real { name: "a real OSS, log only", truth: 649.0 / 3200.0, with: None, without: Some(overflow_burst()) },
    ]
}

#[test]
fn a_third_of_the_writes_is_lost() {
    let loss = o_freeze();
    let io = loss.by_service.iter().find(|it| it.service == "ost_io").unwrap();
    assert_eq!((io.counted_rpcs, io.seen_rpcs, io.lost_rpcs, io.edge_rpcs), (4000, 2694, 1306, 0));
    assert!((io.lost_fraction - 0.3265).abs() < 1e-9, "{io:?}");
    let targets: Vec<_> =
        loss.by_target.iter().map(|it| (it.target.as_str(), it.counted_rpcs, it.counted_bytes)).collect();
    assert_eq!(targets, [("lustre-OST0002", 2000, 32_768_000), ("lustre-OST0003", 2000, 32_768_000)]);
    // Nine writes name no OST.
    for it in &loss.by_target {
        assert_eq!(it.lost_rpcs_max - it.lost_rpcs_min, 9, "{it:?}");
    }
    assert_eq!(loss.by_target.iter().map(|it| it.lost_rpcs_max).sum::<u64>(), 1306 + 9);
}

/// What the clients issued, and what is there: nothing of this was known when the rules were made.
#[test]
fn writes_that_a_frozen_and_a_full_spool_lost_are_counted() {
    for (rows, issued, there) in [("frozen_spool/data", 2 * 2048, 3512), ("full_spool/data", 1536, 353)] {
        let loss = of_rows(&fixture(rows));
        let io = loss.by_service.iter().find(|it| it.service == "ost_io").unwrap();
        assert_eq!((io.counted_rpcs, io.seen_rpcs, io.lost_rpcs), (issued, there, issued - there), "{rows}");
    }
}

#[test]
fn rows_of_an_older_version_without_counters_do_not_pretend() {
    // As that version wrote them: it excused the largest hole, and kept nothing of it.
    let loss = without_counters(&fixture("o_freeze/data"));
    assert_eq!((loss.decided_by, loss.estimated_lost_fraction), (LossEvidence::Unknown, None), "{loss:?}");
    assert_eq!(loss.lost_fraction_max, None);
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Rows of a dataset, and the samples beside them.
#[derive(Default)]
struct Beside {
    samples: Vec<CounterSnapshot>,
    rows: Vec<RpcRow>,
    symbols: Symbols,
}

impl RowSink for Beside {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        // Symbols are only added.
        for text in symbols.since(self.symbols.len()) {
            self.symbols.intern(text);
        }
        self.rows.push(row.clone());
    }
}

/// What a server counted from one of its samples to another, under load and while the kernel lost records: never less than what the
/// trace certainly has of that time, and where nothing was lost no more than what it may have.
#[test]
fn between_any_two_samples_the_rule_for_the_edges_holds() {
    let (mut figures, mut whole, mut edges) = (0, 0, 0);
    for name in ["o_freeze", "frozen_spool", "full_spool"] {
        let mut beside = Beside::default();
        for source in &mut Datasets.open(&[fixture(name).join("data")]).sources {
            source.counters(&mut |sample| beside.samples.push(sample.clone())).unwrap();
            source.read(&mut Symbols::default(), &mut beside).unwrap();
        }
        let Beside { mut samples, rows, symbols } = beside;
        // The thread that took it began later than the daemon noted then: it counted two requests that began after its end.
        samples.retain(|sample| sample.at.begun_us != 1_795_455_497_315_344);
        for (at, from) in samples.iter().enumerate() {
            for to in samples[at + 1..].iter().filter(|to| to.stretch == from.stretch) {
                let mut ledger = Ledger::default();
                ledger.sample(from);
                ledger.sample(to);
                ledger.end();
                rows.iter().for_each(|row| ledger.rpc(row, &symbols));
                let services = ledger.services.by_key.values().map(|it| [it.counted, it.inside, it.edge]);
                let io = |it: &IoAccount| [it.counted.both().rpcs, it.inside.both().rpcs, it.edge.both().rpcs];
                for [counted, inside, edge] in services.chain(ledger.targets.by_key.values().map(io)) {
                    assert!(inside <= counted, "{name}, {:?} to {:?}: {inside} {counted} {edge}", from.at, to.at);
                    figures += u64::from(counted > 0);
                    whole += u64::from(counted > 0 && counted <= inside + edge);
                    edges += edge;
                }
            }
        }
    }
    assert!(figures > 300 && whole > 100 && edges > 1000, "{figures} figures, {whole} without loss, {edges} at edges");
}
