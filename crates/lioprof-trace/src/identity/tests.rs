//! Servers that are told apart, and pieces that are not.

use lioprof_model::NodeFrom;
use lustre_debuglog::TargetName;

use super::contents::{Contents, Window};
use super::decide::decide;
use super::evidence::{Decisions, Evidence};

/// A second of the logs, in microseconds.
const S: i64 = 1_000_000;
const START_US: i64 = 1_795_600_000 * S;

/// A log of a server: eight threads with pids from `pid` on, each of which handles a request of 8 ms every 10 ms in the seconds `from_s..until_s`,
/// for two targets of its own.
fn log(path: &str, pid: u32, number: u16, from_s: i64, until_s: i64) -> Evidence {
    let mut contents = Contents::default();
    let span = (START_US + from_s * S, START_US + until_s * S);
    for thread in 0..8 {
        let name = format!("ll_ost_io00_{thread:03}");
        contents.pids.entry(name.as_bytes().into()).or_default().insert(pid + thread, span);
        let windows = (0..(until_s - from_s) * 100).map(|n| {
            let from_us = span.0 + n * 10_000 + i64::from(number) * 700;
            let xid = (u64::from(number) << 48) | from_us.unsigned_abs();
            Window { from_us, until_us: from_us + 8000, xid: xid + u64::from(thread) }
        });
        contents.windows.insert(pid + thread, windows.collect());
    }
    for ost in 0..2 {
        contents.targets.insert(ost_of(2 * number + ost), span);
    }
    Evidence { components: components(path), contents, path: path.to_owned(), ..Evidence::default() }
}

fn components(path: &str) -> Vec<String> {
    crate::input::node::components(path.as_ref())
}

fn ost_of(index: u16) -> TargetName {
    TargetName::parse_bytes(format!("work1-OST{index:04x}").as_bytes()).unwrap()
}

/// A log of a second of a server.
pub(super) fn server(path: &str, pid: u32, number: u16) -> Evidence {
    log(path, pid, number, 0, 1)
}

/// Every so manyth request of a log, as `grep` and `split -n r/2` leave it.
fn part(whole: &Evidence, path: &str, which: usize, of: usize) -> Evidence {
    let mut contents = whole.contents.clone();
    for windows in contents.windows.values_mut() {
        *windows = std::mem::take(windows).into_iter().skip(which).step_by(of).collect();
    }
    Evidence { components: components(path), contents, path: path.to_owned(), ..Evidence::default() }
}

/// The part of a log that is about one target.
fn of_target(whole: &Evidence, path: &str, index: u16) -> Evidence {
    let mut part = part(whole, path, usize::from(index % 2), 2);
    part.contents.targets.retain(|target, _| target.index() == index);
    part
}

fn told(decisions: &Decisions) -> Vec<(&str, NodeFrom)> {
    decisions
        .nodes
        .iter()
        .map(|it| it.as_ref().map_or(("refused", NodeFrom::Name), |it| (it.node.as_str(), it.from)))
        .collect()
}

fn nodes(inputs: &[Evidence]) -> Vec<String> {
    told(&decide(inputs)).into_iter().map(|(node, _)| node.to_owned()).collect()
}

#[test]
fn the_same_file_name_in_two_folders_is_one_server_or_two() {
    // The folders are hosts.
    assert_eq!(nodes(&[server("oss01/run.txt", 4000, 0), server("oss02/run.txt", 5000, 1)]), ["oss01", "oss02"]);
    // They are not, and the logs may be of one server, on two days ..
    let second = |path| log(path, 6000, 0, 100, 101);
    assert_eq!(nodes(&[server("day1/oss03.txt", 4000, 0), second("day2/oss03.txt")]), ["oss03", "oss03"]);
    assert_eq!(nodes(&[server("day1/oss03/rpc.bin", 4000, 0), second("day2/oss03/rpc.bin")]), ["oss03", "oss03"]);
    // .. or cannot be.
    let two = decide(&[server("a/run.txt", 4000, 0), server("b/run.txt", 5000, 1)]);
    assert_eq!(told(&two), [("a", NodeFrom::Path), ("b", NodeFrom::Path)]);
    assert!(two.nodes[0].as_ref().unwrap().why.as_ref().unwrap().contains("has pids 4000 and 5000"), "{two:?}");
    let clusters = [server("siteA/oss03/rpc.bin", 4000, 0), server("siteB/oss03/rpc.bin", 5000, 1)];
    assert_eq!(nodes(&clusters), ["siteA-oss03", "siteB-oss03"]);
}

#[test]
fn what_quotes_a_host_is_of_that_host() {
    let (one, other) = (server("oss01.txt", 4000, 0), server("oss02.txt", 5000, 1));
    let quote = |of: &Evidence| part(of, "ticket/message.txt", 40, 30);
    assert_eq!(nodes(&[one.clone(), other.clone(), quote(&one)]), ["oss01", "oss02", "oss01"]);
    assert_eq!(nodes(&[one.clone(), quote(&other)]), ["oss01", "ticket"]);
}

#[test]
fn equal_pids_do_not_hide_two_servers() {
    let two = decide(&[server("a/run.txt", 4000, 0), server("b/run.txt", 4000, 1)]);
    assert_eq!(told(&two), [("a", NodeFrom::Path), ("b", NodeFrom::Path)]);
    assert!(two.nodes[0].as_ref().unwrap().why.as_ref().unwrap().contains("two requests at the same time"), "{two:?}");
}

#[test]
fn where_no_path_tells_the_inputs_are_refused_with_what_to_give() {
    let two = decide(&[server("in/debug.log.1", 4000, 0), server("in/debug.log.2", 5000, 1), server("oss7/dk", 1, 2)]);
    assert_eq!(told(&two), [("refused", NodeFrom::Name), ("refused", NodeFrom::Name), ("oss7", NodeFrom::Folder)]);
    let [refusal] = &two.refusals[..] else { panic!("{two:?}") };
    assert_eq!(refusal.inputs, [0, 1]);
    for part in [
        "`in/debug.log.1` and `in/debug.log.2` are logs of different servers, but both would be node in",
        "thread ll_ost_io00_000 has pids 4000 and 5000 at the same time",
        "--node server1='in/debug.log.1' --node server2='in/debug.log.2'",
    ] {
        assert!(refusal.message.contains(part), "{}", refusal.message);
    }
    // With them they are read.
    let mut inputs = [server("in/debug.log.1", 4000, 0), server("in/debug.log.2", 5000, 1)];
    for (input, node) in inputs.iter_mut().zip(["server1", "server2"]) {
        input.fixed = Some((node.to_owned(), NodeFrom::Option));
    }
    assert_eq!(told(&decide(&inputs)), [("server1", NodeFrom::Option), ("server2", NodeFrom::Option)]);
}

#[test]
fn patterns_in_a_refusal_are_quoted_for_the_shell_and_the_pattern() {
    let inputs = [server("in/it's [1]/debug.log.1", 4000, 0), server("in/it's [1]/debug.log.2", 5000, 1)];
    let refusals = decide(&inputs).refusals;
    assert!(refusals[0].message.contains(r"--node server1='in/it'\''s [[]1[]]/debug.log.1'"), "{refusals:?}");
}

#[test]
fn pieces_of_one_log_are_one_node() {
    let whole = log("in/oss.txt", 4000, 0, 0, 4);
    let halves = |a, b| [log(a, 4000, 0, 0, 2), log(b, 4000, 0, 2, 4)];
    let lines = |a, b| [part(&whole, a, 0, 2), part(&whole, b, 1, 2)];
    let targets = |a, b| [of_target(&whole, a, 0), of_target(&whole, b, 1)];
    for (inputs, node) in [
        // split
        (halves("in/xaa", "in/xab"), "in"),
        (halves("oss01/xaa", "oss01/xab"), "oss01"),
        (halves("in/oss01.txt.aa", "in/oss01.txt.ab"), "oss01"),
        (halves("oss01/rpc.txt.aa", "oss01/rpc.txt.ab"), "oss01"),
        (halves("oss01/part-00", "oss01/part-01"), "oss01"),
        (halves("oss01/rpc.part1", "oss01/rpc.part2"), "oss01"),
        // split -n r/2
        (lines("oss01/xaa", "oss01/xab"), "oss01"),
        (lines("in/x00", "in/x01"), "in"),
        // grep by opcode
        (lines("in/oss01-read.txt", "in/oss01-write.txt"), "oss01"),
        (lines("oss01/read.txt", "oss01/write.txt"), "oss01"),
        (lines("in/ost_read.txt", "in/ost_write.txt"), "in"),
        // grep by target
        (targets("oss01/OST0000.txt", "oss01/OST0001.txt"), "oss01"),
        (targets("in/work1-OST0000.log", "in/work1-OST0001.log"), "in"),
        // rotation
        (halves("oss01/debug.log.1", "oss01/debug.log"), "oss01"),
        (halves("var/log/oss01-20261120.log", "var/log/oss01-20261121.log"), "oss01"),
        (halves("oss01/debug.log-20261120.gz", "oss01/debug.log-20261121.gz"), "oss01"),
    ] {
        let decisions = decide(&inputs);
        let nodes: Vec<&str> = told(&decisions).into_iter().map(|(node, _)| node).collect();
        assert_eq!(nodes, [node, node], "{}, {}: {decisions:?}", inputs[0].path, inputs[1].path);
    }
}

#[test]
fn pieces_of_several_servers_are_not_one_node() {
    let (one, other) = (log("", 4000, 0, 0, 4), log("", 5000, 1, 0, 4));
    let osts = [
        of_target(&one, "in/OST0000.txt", 0),
        of_target(&one, "in/OST0001.txt", 1),
        of_target(&other, "in/OST0002.txt", 2),
        of_target(&other, "in/OST0003.txt", 3),
    ];
    assert_eq!(nodes(&osts), ["OST0000", "OST0000", "OST0002", "OST0002"]);
    // Servers made of one image, down to the pids.
    let clone = log("", 4000, 1, 0, 4);
    assert_eq!(
        nodes(&[of_target(&one, "in/OST0000.txt", 0), of_target(&clone, "in/OST0002.txt", 2)]),
        ["OST0000", "OST0002"]
    );
    let reads = [part(&one, "in/oss01-read.txt", 0, 2), part(&other, "in/oss02-read.txt", 0, 2)];
    assert_eq!(nodes(&reads), ["oss01-read", "oss02-read"]);
    let all = [
        part(&one, "in/oss01-read.txt", 0, 2),
        part(&one, "in/oss01-write.txt", 1, 2),
        part(&other, "in/oss02-read.txt", 0, 2),
        part(&other, "in/oss02-write.txt", 1, 2),
    ];
    assert_eq!(nodes(&all), ["oss01", "oss01", "oss02", "oss02"]);
}

#[test]
fn overlapping_dumps_of_one_server_are_one_node() {
    let dumps = |a, b| [log(a, 4000, 0, 0, 3), log(b, 4000, 0, 2, 5)];
    for (inputs, node) in [
        (dumps("oss01/lustre-log.1795600003.1", "oss01/lustre-log.1795600005.1"), "oss01"),
        (dumps("in/dump1.txt", "in/dump2.txt"), "in"),
        (dumps("in/first look.txt", "in/again.txt"), "in"),
    ] {
        assert_eq!(nodes(&inputs), [node, node], "{}", inputs[0].path);
    }
    // Hosts' names stand, and sides of a comparison.
    assert_eq!(nodes(&dumps("in/oss01.txt", "in/oss02.txt")), ["oss01", "oss02"]);
    assert_eq!(nodes(&dumps("in/before.txt", "in/after.txt")), ["before", "after"]);
}

#[test]
fn a_failover_leaves_two_nodes_and_a_restart_one() {
    // The target moves while both trace.
    let (mut one, mut other) = (log("oss01/dk.txt", 4000, 0, 0, 4), log("oss02/dk.txt", 5000, 1, 0, 4));
    let moved = ost_of(9);
    one.contents.targets.insert(moved, (START_US, START_US + S));
    other.contents.targets.insert(moved, (START_US + 2 * S, START_US + 4 * S));
    assert_eq!(nodes(&[one, other]), ["oss01", "oss02"]);
    // The services are started anew: the same names, other pids, later.
    let restarted = [log("oss01/debug.log.1", 4000, 0, 0, 2), log("oss01/debug.log", 7000, 0, 3, 5)];
    assert_eq!(nodes(&restarted), ["oss01", "oss01"]);
}

#[test]
fn a_given_node_is_not_judged() {
    let mut inputs = [server("a/dk.txt", 4000, 0), server("b/dk.txt", 5000, 1)];
    inputs[0].fixed = Some(("b".to_owned(), NodeFrom::Option));
    assert_eq!(told(&decide(&inputs)), [("b", NodeFrom::Option), ("b", NodeFrom::Folder)]);
}

#[test]
fn the_order_of_the_inputs_does_not_matter() {
    let whole = log("", 4000, 0, 0, 4);
    let mut inputs = vec![
        server("a/run.txt", 4000, 0),
        server("b/run.txt", 5000, 1),
        part(&whole, "in/OST0000.txt", 0, 2),
        part(&whole, "in/OST0001.txt", 1, 2),
        server("oss01/debug.log", 1, 3),
        server("oss02/debug.log", 1, 4),
    ];
    let sorted = |inputs: &[Evidence]| {
        let mut found: Vec<(String, String)> = inputs.iter().map(|it| it.path.clone()).zip(nodes(inputs)).collect();
        found.sort();
        found
    };
    let want = sorted(&inputs);
    for _ in 0..inputs.len() {
        inputs.rotate_left(1);
        assert_eq!(sorted(&inputs), want);
    }
    inputs.reverse();
    assert_eq!(sorted(&inputs), want);
}
