//! Opens, closes, stats and fsyncs that the client's version does not log, against what the programs measured and against logs that have them.

use std::cell::Cell;
use std::collections::BTreeMap;

use lioprof_model::{Asked, BeginEvidence, Evidence, OperationRow, Operations};
use lioprof_testkit::blessed_table;
use lioprof_testkit::files::{fixture, unpacked};
use lioprof_testkit::fuzz::for_each_seed;
use lioprof_trace::{Progress, decode_text};
use lustre_debuglog::vocab::OperationKind;

use super::removed::{left, logs};
use super::truth::{Call, calls};
use super::{contained, operations};

/// Functions whose `START` and `COMPLETED` lines clients of 2.15 do not log.
const SINCE_2_16: [&str; 4] = [":ll_file_open()) ", ":ll_file_release()) ", ":ll_fsync()) ", ":ll_getattr_dentry()) "];

fn has(line: &[u8], words: &str) -> bool {
    line.windows(words.len()).any(|window| window == words.as_bytes())
}

fn is_edge(line: &[u8]) -> bool {
    has(line, ") START file") || has(line, ") COMPLETED")
}

fn kind_of(row: &OperationRow) -> Option<OperationKind> {
    match row.asked {
        Asked::Operation(kind) | Asked::Inferred(kind) => Some(kind),
        Asked::Rpc(_) => None,
    }
}

/// The log of 2.17 without these lines tells the same operations, as inferred ones, with the same RPCs; each lies within the system call.
#[test]
fn without_their_lines_the_same_operations_are_inferred() {
    let logs = logs();
    let dir = tempfile::tempdir().unwrap();
    let whole = left(&logs, dir.path(), |_| false);
    assert_eq!(whole.inferred(), 0);
    let only_since = |line: &[u8]| SINCE_2_16.iter().any(|function| has(line, function));
    for (what, found) in [
        ("those that 2.15 lacks", left(&logs, dir.path(), |line| is_edge(line) && only_since(line))),
        ("all first and last lines", left(&logs, dir.path(), is_edge)),
    ] {
        for kind in [OperationKind::Open, OperationKind::Stat, OperationKind::Fsync] {
            compare(what, kind, &whole, &found);
        }
        // Those without a request of their own cannot be seen.
        let closes = |it: &Operations, asked| it.rows.iter().filter(|row| row.asked == asked && row.rpcs > 0).count();
        let (all, inferred) = (Asked::Operation(OperationKind::Close), Asked::Inferred(OperationKind::Close));
        assert_eq!(closes(&found, inferred), closes(&whole, all), "{what}");
        for client in &found.clients {
            let of_none: u64 = client.no_operation.values().map(|sum| sum.rpcs).sum();
            assert_eq!(client.logged_rpcs + client.inferred_rpcs + of_none, client.rpcs);
        }
    }
}

fn compare(what: &str, kind: OperationKind, whole: &Operations, found: &Operations) {
    let rows = |it: &Operations, asked| -> Vec<OperationRow> {
        it.rows.iter().filter(|row| row.asked == asked).cloned().collect()
    };
    let (logged, inferred) = (rows(whole, Asked::Operation(kind)), rows(found, Asked::Inferred(kind)));
    assert_eq!(logged.len(), inferred.len(), "{what}: {kind}");
    let mut shorter_us = 0;
    for (logged, inferred) in logged.iter().zip(&inferred) {
        assert_eq!((&logged.node, logged.pid), (&inferred.node, inferred.pid));
        assert_eq!((logged.rpcs, logged.joined_rpcs), (inferred.rpcs, inferred.joined_rpcs), "{what}: {inferred:?}");
        // Where the client has to connect again within a walk, the logged one begins later than its call.
        let is_late = logged.begin_evidence == BeginEvidence::FirstLine;
        assert!(is_late || inferred.begin_us >= logged.begin_us, "{what}: {logged:?} {inferred:?}");
        assert_ne!(inferred.evidence, Evidence::Logged);
        assert_eq!(inferred.parts.sum(), inferred.duration_us);
        shorter_us += i64::try_from(logged.duration_us).unwrap() - i64::try_from(inferred.duration_us).unwrap();
    }
    // On the emulated machines up to 6 ms pass between a call's own line and its next one.
    let mean_us = shorter_us / i64::try_from(logged.len()).unwrap();
    println!("{what}: {} of {kind}, {mean_us} us shorter in the mean", logged.len());
    assert!((0..6_000).contains(&mean_us), "{what}: {kind} is {mean_us} us shorter");
    // None is longer than its system call.
    for client in ["clientA", "clientB"] {
        let of_client: Vec<&OperationRow> = inferred.iter().filter(|row| *row.node == *client).collect();
        for call in calls(client).iter().filter(|call| super::truth::kind(&call.name) == Some(kind)) {
            assert_eq!(contained(&of_client, call).len(), 1, "{what}: {client} {} at {}", call.name, call.start_us);
        }
    }
}

/// The system calls of a real client of 2.15.8: kind, begin, end.
fn sys(name: &str) -> Vec<Call> {
    let text = String::from_utf8(unpacked(fixture(format!("clients/v215_operations/{name}")))).unwrap();
    let us = |seconds: &str| {
        let (seconds, fraction) = seconds.split_once('.').unwrap();
        seconds.parse::<f64>().unwrap() * 1e6 + fraction.parse::<f64>().unwrap()
    };
    let call = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        Call { name: fields[0].to_owned(), pid: 0, start_us: us(fields[1]), end_us: us(fields[2]) }
    };
    text.lines().map(call).collect()
}

#[derive(Default)]
struct Sums {
    evidence: BTreeMap<&'static str, u64>,
    calls: u64,
    calls_us: f64,
    found_us: u64,
    rpcs: u32,
}

/// Each system call of the client of 2.15.8 is one operation, no longer than the call; and there are no others.
#[test]
fn a_client_of_2_15_against_its_programs_clock() {
    let found = operations(&[fixture("clients/v215_operations")]);
    assert!(found.from_clients && found.clocks_known);
    let rows: Vec<&OperationRow> = found.rows.iter().collect();
    let mut matched = 0;
    let mut table = String::from(
        "\n| | | known by | calls | found | RPCs | program, mean ms | found, mean ms |\n|---|---|---|---|---|---|---|---|\n",
    );
    for (disk, file) in [("ldiskfs", "sys_ldiskfs.csv"), ("ZFS", "sys_zfs.csv")] {
        let mut sums: BTreeMap<OperationKind, Sums> = BTreeMap::new();
        for call in sys(file) {
            let kind = super::truth::kind(&call.name).unwrap();
            let during: Vec<&OperationRow> =
                contained(&rows, &call).into_iter().filter(|row| kind_of(row) == Some(kind)).collect();
            assert_eq!(during.len(), 1, "{disk} {} at {}: {during:?}", call.name, call.start_us);
            matched += 1;
            let sum = sums.entry(kind).or_default();
            *sum.evidence.entry(during[0].evidence.name()).or_default() += 1;
            sum.calls += 1;
            sum.calls_us += call.end_us - call.start_us;
            sum.found_us += during[0].duration_us;
            sum.rpcs += during[0].rpcs;
        }
        for (kind, sum) in sums {
            let evidence: Vec<&str> = sum.evidence.into_keys().collect();
            #[expect(clippy::cast_precision_loss, reason = "some seconds")]
            let mean_ms = |us: f64| us / sum.calls as f64 / 1e3;
            #[expect(clippy::cast_precision_loss, reason = "some seconds")]
            let (program_ms, found_ms) = (mean_ms(sum.calls_us), mean_ms(sum.found_us as f64));
            let (calls, rpcs) = (sum.calls, sum.rpcs);
            table += &format!(
                "| {disk} | {kind} | {} | {calls} | {calls} | {rpcs} | {program_ms:.2} | {found_ms:.2} |\n",
                evidence.join(", ")
            );
        }
    }
    assert_eq!(matched, found.rows.len());
    blessed_table("docs/operations.md", ("<!-- by the program's clock -->\n", "\n<!-- end -->"), &table);
    // What is left is nothing that a program waits for.
    let of_none: Vec<String> = found.no_operation().keys().map(ToString::to_string).collect();
    assert_eq!(of_none, ["OST_CONNECT", "OST_DISCONNECT", "LDLM_CANCEL", "OBD_PING"]);
    assert_eq!(found.owned_rpcs, found.joined_rpcs);
}

/// Where lines are lost, calls may be missed, but none is longer than the system call that it is, or of another kind: of ten thousand calls
/// one. Where each line that ends a stat and begins the next call is lost, nothing is left that could tell one from the other.
#[test]
fn lost_lines_make_no_wrong_calls() {
    let mut text = Vec::new();
    let log = fixture("clients/v215_operations/clientA/rpc.bin.zst");
    decode_text(&[log], &[], 2, &Progress::default(), &mut text).unwrap();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let all: Vec<Call> = sys("sys_ldiskfs.csv").into_iter().chain(sys("sys_zfs.csv")).collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("clientA");
    std::fs::create_dir(&path).unwrap();
    let whole = {
        std::fs::write(path.join("rpc.txt"), &text).unwrap();
        operations(std::slice::from_ref(&path)).rows.len()
    };
    let (wrong_calls, all_calls) = (Cell::new(0), Cell::new(0));
    for_each_seed(40, |random| {
        let n = random.pick(&[30, 100, 300, 1000, 3000]);
        let kept: Vec<&[u8]> = lines.iter().copied().filter(|_| !random.one_in(n)).collect();
        std::fs::write(path.join("rpc.txt"), kept.concat()).unwrap();
        let found = operations(std::slice::from_ref(&path));
        let wrong: Vec<&OperationRow> = found
            .rows
            .iter()
            .filter(|row| {
                let is_its = |call: &&Call| super::truth::kind(&call.name) == kind_of(row);
                !all.iter().filter(is_its).any(|call| !contained(&[row], call).is_empty())
            })
            .collect();
        wrong_calls.set(wrong_calls.get() + wrong.len());
        all_calls.set(all_calls.get() + found.rows.len());
        let allowed = 1 + all_calls.get() / 10_000;
        assert!(wrong_calls.get() <= allowed, "one line in {n}: {} of {}: {wrong:?}", wrong.len(), found.rows.len());
        assert!(found.rows.len() * 10 > whole * 8, "one line in {n}: {} of {whole}", found.rows.len());
    });
}
