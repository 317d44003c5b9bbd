//! Commands, metrics, and clients that talk rubbish.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use lioprof_testkit::until;
use serde_json::Value;

use super::fixture::{analysis, analysis_with, assert_kept, logs, rich, speed};
use super::node::{NAME, Node};
use super::process::{free_port, http_get};
use crate::figures::number;

#[test]
fn the_status_is_true() {
    let log = rich();
    let node = Node::playing(&log.path);
    let daemon = node.daemon(&[]);
    node.wait_played();
    node.wait_written();
    let original = analysis(&[&log.path]);
    let written = node.account()["total"]["written"]["records"].as_u64().unwrap();
    let status =
        daemon.wait("all records to be decoded", |status| number(&status["totals"], "records") == Some(written));
    assert_eq!(status["schema"], "lioprof.status/1");
    assert_eq!((&status["node"], &status["state"]), (&NAME.into(), &"tracing".into()));
    assert_eq!(status["pid"], daemon.pid());
    assert_eq!(status["profile"], "full");
    let settings = node.settings();
    for (mask, text) in [("debug", &settings.debug), ("subsystem_debug", &settings.subsystem_debug)] {
        let names = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
        assert_eq!(names(status["masks"][mask].as_str().unwrap()), names(text), "{mask}");
    }
    assert_eq!(status["masks"]["debug_mb"].to_string(), settings.debug_mb);
    let targets: Vec<&Value> = original["targets"].as_array().unwrap().iter().map(|target| &target["name"]).collect();
    let told = status["targets"].as_array().unwrap();
    assert!(!told.is_empty() && targets.iter().all(|name| told.contains(name)), "{targets:?} {told:?}");
    // Rows come out once nothing more can come before them; the last one of a thread waits for the next event.
    let all = number(&original["totals"], "rpcs").unwrap();
    daemon.wait("the rows", |status| number(&status["totals"], "rpcs") > Some(all * 9 / 10));

    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    for part in [NAME, "tracing", "profile full", "none found", "lustre-OST"] {
        assert!(text.contains(part), "expected {part:?} in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(std::fs::metadata(node.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    let ended = daemon.stop().exits(0);
    assert!(ended.stdout.contains("RPC"), "{ended}");
    // Nobody is there any more.
    crate::util::lioprof(&["status", "--socket", &node.socket().display().to_string()]).exits(2).says(&["socket"]);
}

#[test]
fn a_client_shows_what_it_sent() {
    use std::fmt::Write as _;

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("client1.txt");
    let mut log = String::new();
    for number in 0..300_u32 {
        let (opcode, sec) = (if number % 3 == 0 { 3 } else { 4 }, 1_700_000_000 + number / 100);
        let ids = format!("dd:c0ffee00-1111-2222-3333-444455556666:77:17{number:04}:10.10.0.21@tcp:{opcode}:dd.0");
        for (line, what, usec) in [(930, "Sending", 100), (2110, "Completed", 900)] {
            let usec = number % 100 * 1000 + usec;
            writeln!(
                log,
                "00000100:00100000:0.0:{sec}.{usec:06}:0:77:0:(client.c:{line}:ptlrpc_send_new_req()) {what} RPC \
                 req@00000000cf20c915 pname:cluuid:pid:xid:nid:opc:job {ids}"
            )
            .unwrap();
        }
    }
    std::fs::write(&path, log).unwrap();
    let node = Node::playing(&path);
    let daemon = node.daemon(&[]);
    node.wait_played();
    let status = daemon.wait("what was sent", |status| number(&status["totals"], "sent_rpcs") == Some(300));
    let sent = |figure| number(&status["totals"], figure);
    assert_eq!((sent("sent_reads"), sent("sent_writes"), sent("rpcs")), (Some(100), Some(200), Some(0)), "{status}");
    let text = String::from_utf8(daemon.command(&["status"]).exits(0).stdout).unwrap();
    assert!(text.contains("  sent      300 RPCs (") && text.contains("100 reads and 200 writes of OSTs"), "{text}");
    daemon.stop().exits(0);
}

#[test]
fn an_idle_daemon_sleeps() {
    let log = rich();
    let node = Node::playing(&log.path);
    let daemon =
        node.daemon(&[("capture.rotate", "\"1s\""), ("counters.every", "\"10s\""), ("keep.file_age", "\"15m\"")]);
    node.wait_played();
    daemon.wait("the rows", |status| number(&status["totals"], "rpcs") > Some(0));
    // Of the drain thread: the main loop's also waits for the simulated server's files.
    let wake_ups = || -> u64 {
        let tasks = format!("/proc/{}/task", daemon.pid());
        let drain = std::fs::read_dir(tasks)
            .unwrap()
            .map(|task| task.unwrap().path())
            .find(|task| std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "drain"));
        let text = std::fs::read_to_string(drain.unwrap().join("status")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).unwrap();
        line.trim().parse().unwrap()
    };
    node.wait_written();
    let written = node.account()["total"]["written"]["records"].as_u64();
    daemon.wait("all records to be decoded", |status| number(&status["totals"], "records") == written);
    let before = wake_ups();
    // The time in which it should sleep.
    std::thread::sleep(Duration::from_secs(10));
    let woken = wake_ups() - before;
    // To look at the clock twice a second alone would be twenty.
    assert!(woken < 20, "{woken} times in ten seconds");
    daemon.stop().exits(0);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn it_answers_while_it_drains() {
    let log = logs().into_iter().max_by_key(|log| log.bytes).unwrap();
    let node = Node::playing(&log.path);
    let daemon = node.daemon(&[("capture.rotate", "\"1h\""), ("capture.segment_mib", "32")]);
    node.wait_played();
    daemon.signal(rustix::process::Signal::TERM);
    let status = daemon.wait("the state", |status| status["state"] == "stopping");
    assert!(status["totals"]["rpcs"].is_u64());
    daemon.command(&["mark", "too late"]).exits(2).says(&["ending"]);
    daemon.stop().exits(0);
    assert!(node.spooled().is_empty());
}

#[test]
fn marks_are_in_the_analysis() {
    for version in ["2.10", "2.15", "2.17"] {
        let log = rich();
        let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 3.0), "--version", version]);
        let lctl = format!("\"{}\"", node.root().join("bin/lctl").display());
        let daemon = node.daemon(&[("control.lctl", &lctl)]);
        let mark = |text: &str, after: u64| {
            until("some records", || (node.played() > after).then_some(()));
            node.ctl("pause");
            let run = daemon.command(&["mark", text]).exits(0);
            assert!(String::from_utf8_lossy(&run.stdout).contains(text), "{run}");
            node.ctl("resume");
        };
        let first = node.played();
        mark("job 4711 begins", first + 1000);
        mark("job 4711 ends", first + 4000);
        daemon.command(&["mark", "clear"]).exits(2).says(&["clear"]);
        daemon.command(&["mark", ""]).exits(2);
        node.wait_played();
        daemon.stop().exits(0);

        let whole = analysis(&[&node.keep()]);
        let marks: Vec<&str> =
            whole["markers"].as_array().unwrap().iter().filter_map(|mark| mark["text"].as_str()).collect();
        assert!(marks.contains(&"job 4711 begins") && marks.contains(&"job 4711 ends"), "{version}: {marks:?}");
        let rpcs = |options: &[&str]| number(&analysis_with(&[&node.keep()], options)["totals"], "rpcs").unwrap();
        let (begin, end) = (["--to", "job 4711 begins"], ["--from", "job 4711 ends"]);
        let within = rpcs(&["--from", "job 4711 begins", "--to", "job 4711 ends"]);
        let all = number(&whole["totals"], "rpcs").unwrap();
        assert!(within > 0 && within < all, "{version}: {within} of {all}");
        // A request that ends in the microsecond of a mark is on both sides.
        let sum = rpcs(&begin) + within + rpcs(&end);
        assert!((all..=all + 8).contains(&sum), "{version}: {sum} of {all}");
    }
}

#[test]
fn clients_that_talk_rubbish() {
    let log = rich();
    let node = Node::playing(&log.path);
    let daemon = node.daemon(&[]);
    let connect = || {
        let client = UnixStream::connect(node.socket()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        client
    };
    let answer = |text: &[u8]| -> Value {
        let mut client = connect();
        // The daemon may hang up on a line without end.
        drop(client.write_all(text));
        let mut line = String::new();
        BufReader::new(client).read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|err| panic!("{err}: {line:?}"))
    };
    let bytes: Vec<u8> = (0..=255_u8).cycle().take(4000).chain([b'\n']).collect();
    let rubbish: [&[u8]; 8] = [
        b"\n",
        b"hello\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"{\"v\":1,\"command\":\"frobnicate\"}\n",
        b"{\"v\":1}\n",
        b"{\"v\":1,\"command\":\"mark\"}\n",
        b"\xff\xfe\n",
        &bytes,
    ];
    for text in rubbish {
        let answer = answer(text);
        assert_eq!((&answer["reply"], &answer["kind"]), (&"error".into(), &"bad_request".into()), "{answer}");
    }
    let newer = answer(b"{\"v\":2,\"command\":\"status\"}\n");
    assert_eq!(newer["kind"], "unsupported_version");
    let deep = [vec![b'['; 15_000], vec![b'\n']].concat();
    assert_eq!(answer(&deep)["reply"], "error");
    // A line without end.
    let endless = answer(&vec![b'x'; 4 << 20]);
    assert_eq!(endless["reply"], "error");
    // Clients that say nothing, half of something, or do not listen; more of them than the daemon hears.
    let silent: Vec<UnixStream> = (0..20)
        .map(|number| {
            let mut client = connect();
            if number % 2 == 0 {
                drop(client.write_all(b"{\"v\":1,\"comm"));
            }
            client
        })
        .collect();
    until("the silent ones to be sent away", || daemon.status());
    drop(silent);
    node.wait_played();
    daemon.stop().exits(0);
    assert_kept(&log.name, &node.keep(), &log.path);
}

#[test]
fn metrics_on_loopback() {
    let log = rich();
    let node = Node::playing(&log.path);
    let port = free_port();
    let daemon = node.daemon(&[("talk.metrics", &format!("\"{port}\""))]);
    node.wait_played();
    node.wait_written();
    let written = node.account()["total"]["written"]["records"].as_u64();
    daemon.wait("all records to be decoded", |status| number(&status["totals"], "records") == written);
    let get = |path: &str| http_get(port, path);
    assert!(get("/healthz").starts_with("HTTP/1.1 200"), "{}", get("/healthz"));
    assert!(get("/nothing").starts_with("HTTP/1.1 404"));
    let value = |text: &str, name: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.rsplit(' ').next()?.parse().ok()
    };
    let status = daemon.status().unwrap();
    let text = until("the metrics to show all records", || {
        let text = get("/metrics");
        let shown = value(&text, "lioprof_records_total")?;
        let records = status["totals"]["records"].as_f64()?;
        // Rows come out once nothing more can come before them.
        ((shown - records).abs() < 0.5 && text.contains("target=\"lustre-OST")).then_some(text)
    });
    for part in ["lioprof_build_info", "lioprof_state{", "lioprof_process_cpu_seconds"] {
        assert!(text.contains(part), "expected {part:?} in\n{text}");
    }
    // What is no HTTP is sent away.
    let mut stream = TcpStream::connect(port).unwrap();
    drop(stream.write_all(&[0xff; 100_000]));
    drop(stream);
    assert!(get("/healthz").starts_with("HTTP/1.1 200"));
    daemon.stop().exits(0);
}
