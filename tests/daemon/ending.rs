//! How a capture ends when it should: signals, `stop`, time, load, a lease.

use std::cell::Cell;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use lioprof_model::time::{now_us, utc};
use lioprof_testkit::eventually;
use lioprof_testkit::files::unpacked;
use rustix::mount::mount_bind;
use rustix::process::Signal;

use super::fixture::{assert_kept, rich};
use super::node::Node;

#[test]
fn by_a_signal() {
    for (signal, name) in [(Signal::TERM, "SIGTERM"), (Signal::INT, "SIGINT"), (Signal::HUP, "SIGHUP")] {
        let log = rich();
        let node = Node::playing(&log.path);
        let before = node.settings();
        let daemon = node.daemon(&[]);
        node.wait_played();
        daemon.signal(signal);
        let ended = daemon.ended().exits(0).says(&[name]);
        assert!(ended.stdout.contains(name), "{ended}");
        assert_eq!(node.settings(), before);
        assert!(node.spooled().is_empty() && !node.socket().exists());
        assert_kept(&log.name, &node.keep(), &log.path);
    }
}

#[test]
fn by_stop() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    node.wait_played();
    let run = daemon.command(&["stop"]).exits(0);
    assert!(String::from_utf8_lossy(&run.stdout).contains("stopped"), "{run}");
    // Everything is done when `stop` returns.
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);
    daemon.ended().exits(0);
}

#[test]
fn after_some_time() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    node.start(&[], &["--for", "3s"]).ended().exits(0).says(&["the time asked for is over"]);
    assert_eq!(node.settings(), before);
    node.wait_played();
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn at_some_time() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    let at_us = now_us() + 4_000_000;
    node.start(&[], &["--until", &utc(at_us)]).ended().exits(0).says(&["the time asked for is over"]);
    assert!(now_us() + 1_000_000 > at_us, "ended early");
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);

    // A time that is over.
    let ended = node.start(&[], &["--until", "2020-01-01T00:00:00Z"]).ended().exits(2);
    assert!(ended.log.contains("expected a time to come"), "{ended}");
    assert_eq!(node.settings(), before);
}

#[test]
fn load_starts_it_and_quiet_ends_it() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    // Counters that the test moves, in place of the simulator's.
    let dir = log.path.parent().unwrap();
    let truth = ["truth.txt", "truth.txt.zst"].map(|name| dir.join(name)).into_iter().find(|path| path.exists());
    let truth = String::from_utf8(unpacked(truth.unwrap())).unwrap();
    let name = truth.lines().find_map(|line| line.strip_prefix("obdfilter.")?.strip_suffix(".stats=")).unwrap();
    let place = node.root().join("sys/kernel/debug/lustre/obdfilter").join(name).join("stats");
    let counters = node.path("stats");
    let count = |rpcs: u64| {
        let text = format!(
            "snapshot_time 1700000000.000000000 secs.nsecs\nread_bytes {rpcs} samples [bytes] 4096 4096 {} {}\n",
            rpcs * 4096,
            rpcs * 4096 * 4096
        );
        fs::write(&counters, text).unwrap();
    };
    count(1000);
    mount_bind(&counters, &place).unwrap();

    let keys = [("trigger.start_rpcs_per_s", "1000"), ("trigger.every", "\"1s\""), ("trigger.stop_after", "\"2s\"")];
    let daemon = node.daemon(&keys);
    let waiting = daemon.wait("the trigger to be waited for", |status| status["state"] == "waiting_for_trigger");
    assert_eq!(node.settings(), before, "{waiting}");
    daemon.command(&["mark", "x"]).exits(2).says(&["trigger"]);
    let rpcs = Cell::new(1000);
    let load = || {
        daemon.wait("the load to start it", |status| {
            rpcs.set(rpcs.get() + 100_000);
            count(rpcs.get());
            status["state"] == "tracing"
        });
    };
    load();
    assert!(node.settings().debug.contains("rpctrace"));
    node.wait_played();
    daemon.wait("quiet to end it", |status| status["state"] == "waiting_for_trigger");
    assert_eq!(node.settings(), before);
    daemon.wait("the rows to be written", |status| status["files"]["written"].as_u64() > Some(0));
    assert_kept(&log.name, &node.keep(), &log.path);
    // And again.
    load();
    daemon.stop().exits(0);
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn when_nobody_renews_its_lease() {
    let log = rich();
    let node = Node::playing(&log.path);
    let before = node.settings();
    let daemon = node.daemon_with(&[], &["--lease", "5s"]);
    let started = std::time::Instant::now();
    // Renewed, it outlives its lease.
    eventually("the lease to be renewed often enough", || {
        let answer = ask(&node.socket(), r#"{"v":1,"command":"renew"}"#);
        assert!(answer.contains("renewed for 5s"), "{answer}");
        started.elapsed() > std::time::Duration::from_secs(6)
    });
    assert!(node.settings().debug.contains("rpctrace"));
    node.wait_played();
    daemon.ended().exits(0).says(&["nobody renewed the lease"]);
    assert_eq!(node.settings(), before);
    assert_kept(&log.name, &node.keep(), &log.path);

    let without = node.daemon(&[]);
    let answer = ask(&node.socket(), r#"{"v":1,"command":"renew"}"#);
    assert!(answer.contains("no lease"), "{answer}");
    without.stop().exits(0);
}

/// The answer to one request.
fn ask(socket: &Path, request: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    writeln!(stream, "{request}").unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer
}
