//! What is measured is a log like any other: everything joins, nothing is lost.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Analysis, Config, analyze};
use lioprof_bench::crowd::{self, CrowdOptions, Release};
use lioprof_bench::log_writer::{LogWriter, in_memory};
use lioprof_bench::replica::Replica;
use lioprof_bench::stage::Stage;
use lioprof_model::Client;
use lioprof_testkit::files::{self, unpacked};
use lioprof_trace::{Progress, decode_text};

/// Both forms of a log, in files.
struct Forms {
    dir: tempfile::TempDir,
}

impl Forms {
    fn write(fill: impl FnOnce(&mut LogWriter<&mut Vec<u8>>)) -> Self {
        let (text, binary) = in_memory(|out| {
            fill(out);
            Ok(())
        })
        .expect("memory is enough");
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::write(dir.path().join("rpc.txt"), text).expect("room on disk");
        fs::write(dir.path().join("rpc.bin"), binary).expect("room on disk");
        Self { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The analysis of both, which are the same.
    fn analyzed(&self) -> Analysis {
        let [text, binary] = ["rpc.txt", "rpc.bin"].map(|name| analyzed(&self.path(name)));
        assert_eq!(text.totals, binary.totals);
        assert_eq!(text.targets, binary.targets);
        assert_eq!(text.loss, binary.loss);
        text
    }
}

fn analyzed(path: &Path) -> Analysis {
    let outcome = analyze(&[path.to_owned()], &Config::default(), None).expect("a log");
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    assert_eq!(outcome.damage, 0.0);
    outcome.analysis
}

fn capture(name: &str) -> Vec<u8> {
    unpacked(files::capture(format!("{name}/server1/rpc.txt.zst")))
}

fn copies(log: &[u8], count: u64) -> Forms {
    let replica = Replica::of_text(log);
    Forms::write(|out| (0..count).for_each(|copy| replica.write_copy(copy, out).expect("memory is enough")))
}

#[test]
fn a_copy_is_the_capture_once_more() {
    for name in ["file_per_process", "shared_striped_write", "lock_pingpong", "masks"] {
        let log = capture(name);
        let (one, many) = (copies(&log, 1).analyzed(), copies(&log, 5).analyzed());
        assert!(one.totals.rpcs > 20, "{name}");
        assert_eq!(many.totals.rpcs, 5 * one.totals.rpcs, "{name}");
        assert_eq!(
            many.totals.read.bytes + many.totals.write.bytes,
            5 * (one.totals.read.bytes + one.totals.write.bytes)
        );
        let unattributed = |it: &Analysis| it.totals.unattributed.read.rpcs + it.totals.unattributed.write.rpcs;
        assert_eq!(unattributed(&many), 5 * unattributed(&one), "{name}");
        let halves = |it: &Analysis| (it.loss.missing_handled, it.loss.missing_handling);
        assert_eq!(halves(&many), (5 * halves(&one).0, 5 * halves(&one).1), "{name}");
        assert_eq!((one.loss.nrs_sequence_gaps, many.loss.nrs_sequence_gaps), (0, 0), "{name}");
        assert_eq!(many.loss.nrs_sequence_seen, 5 * one.loss.nrs_sequence_seen, "{name}");
        assert_eq!((many.loss.clock_steps, many.loss.discarded_heads, many.loss.streams_without_head), (0, 0, 0));
    }
}

#[test]
fn the_first_copy_is_the_capture() {
    let log = capture("file_per_process");
    let text = fs::read(copies(&log, 1).path("rpc.txt")).unwrap();
    let flag = |line: &str| line.replacen("F:", ":", 1);
    let lines = |log: &[u8]| String::from_utf8_lossy(log).lines().map(flag).collect::<Vec<_>>();
    assert_eq!(lines(&text), lines(&log));
}

#[test]
fn the_text_is_what_lctl_makes_of_the_binary() {
    let forms = copies(&capture("shared_striped_write"), 20);
    let mut decoded = Vec::new();
    let outcome = decode_text(&[forms.path("rpc.bin")], &[], 2, &Progress::default(), &mut decoded).unwrap();
    assert_eq!(outcome.bad_places, 0);
    let text = fs::read(forms.path("rpc.txt")).unwrap();
    // Records of equal time come in the order of the file, which differs.
    let sorted = |log: &[u8]| {
        let mut lines: Vec<Vec<u8>> = log.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&decoded), sorted(&text));
}

#[test]
fn a_log_is_written_up_to_a_size() {
    let log = capture("shared_striped_write");
    let replica = Replica::of_text(&log);
    let forms = Forms::write(|out| assert!(replica.write(2_000_000, out).unwrap() > 5));
    let size = fs::metadata(forms.path("rpc.bin")).unwrap().len();
    assert!((2_000_000..2_000_000 + log.len() as u64).contains(&size), "{size}");
}

#[test]
fn nothing_of_a_crowd_is_lost() {
    for (release, in_turn) in [(Release::V2_12, false), (Release::V2_17, false), (Release::V2_17, true)] {
        let crowd = CrowdOptions { clients: 300, osts: 50, jobs: 20, rpcs: 10_000, rate: 20_000, in_turn, release };
        let mut moved = (0, 0);
        let forms = Forms::write(|out| moved = crowd::write(&crowd, out).unwrap());
        let analysis = forms.analyzed();
        let totals = &analysis.totals;
        assert_eq!((totals.read.rpcs, totals.write.rpcs), moved);
        assert_eq!(totals.read.bytes + totals.write.bytes, 10_000 << 20);
        assert!(totals.read.is_exact() && totals.write.is_exact());
        assert_eq!(totals.unattributed.read.rpcs + totals.unattributed.write.rpcs, 0);
        assert_eq!(analysis.clients.len(), 300);
        assert_eq!(analysis.targets.len(), 50);
        let jobs = if release == Release::V2_12 { 1 } else { 20 };
        assert_eq!(analysis.jobs.len(), jobs, "{release:?}");
        let loss = &analysis.loss;
        assert_eq!((loss.missing_handled, loss.missing_handling, loss.nrs_sequence_gaps), (0, 0, 0));
        assert!(!loss.head_overwritten);
        let rpcs = |client: &Client| client.read.rpcs + client.write.rpcs;
        assert_eq!(analysis.clients.iter().all(|client| (33..=34).contains(&rpcs(client))), in_turn);
    }
}

#[test]
fn stages_find_what_an_analysis_finds() {
    for name in ["file_per_process", "masks"] {
        let forms = copies(&capture(name), 3);
        let [text, binary] = ["rpc.txt", "rpc.bin"].map(|name| forms.path(name));
        let count = |stage: Stage, log: &Path| stage.run(log).unwrap().1;
        assert_eq!(count(Stage::Bytes, &text), fs::metadata(&text).unwrap().len());
        let analysis = forms.analyzed();
        let records = analysis.inputs[0].records;
        assert!(count(Stage::Lines, &text) >= records);
        assert_eq!(count(Stage::Careless, &text), analysis.totals.rpcs, "{name}");
        for log in [&text, &binary] {
            assert_eq!((count(Stage::Records, log), count(Stage::Messages, log)), (records, records), "{name}");
            assert!((1..records).contains(&count(Stage::Events, log)));
            let rows = count(Stage::Rows, log);
            assert!(rows >= analysis.totals.rpcs);
            assert_eq!(count(Stage::Written, log), rows);
        }
        for stage in [Stage::Careless, Stage::Records, Stage::Messages, Stage::Events, Stage::Columns, Stage::Rows] {
            assert!(stage.run(forms.dir.path().join("nothing").as_path()).is_err(), "{stage:?}");
        }
    }
}
