//! `lioprof top`: figures against the server's counters, the screen in a real terminal, many servers over ssh.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::time::{SystemTime, UNIX_EPOCH};

use lioprof_testkit::sshd::SshClient;
use lioprof_testkit::{Patience, eventually, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::node::Node;
use super::process::{Daemon, spawn};
use super::tmux::Tmux;

/// A server under a steady load, for longer than any test.
fn busy(rate: &str) -> Node {
    Node::in_scenario("busy", &["--speed", "1", "--rate", rate, "--duration", "600", "--osts", "4"])
}

fn top(daemon: &Daemon) -> Option<Value> {
    let run = daemon.command(&["top", "--once", "--json"]);
    (run.code == Some(0)).then(|| run.json())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("expected a number, found {value}"))
}

fn rows<'a>(live: &'a Value, list: &str) -> &'a Vec<Value> {
    live[list]["rows"].as_array().unwrap_or_else(|| panic!("no list {list} in {live}"))
}

/// Waits until the whole window was traced.
fn full_window(daemon: &Daemon) -> Value {
    until("a full window", || top(daemon).filter(|live| number(&live["servers"][0]["traced_s"]) == 10.0))
}

#[test]
fn rates_are_those_of_the_counters() {
    let node = busy("500");
    let daemon = node.start(&[("live.window", "\"2s\"")], &[]);
    // The counters at many times; between two of them they are taken to grow evenly.
    let mut samples: Vec<(f64, f64, f64)> = Vec::new();
    let patience = Patience::new();
    let live = loop {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let counted = |line| f64::from(u32::try_from(node.counted(line)).unwrap());
        samples.push((now, counted("read_bytes"), counted("write_bytes")));
        let inside = |live: &Value| {
            let server = &live["servers"][0];
            number(&server["traced_s"]) == 10.0 && number(&server["from"]) >= samples[0].0
        };
        if let Some(live) = top(&daemon).filter(inside) {
            break live;
        }
        assert!(patience.nap(), "no full window; log:\n{}", daemon.log());
    };
    let at = |time: f64| {
        let after = samples.iter().position(|sample| sample.0 >= time).unwrap_or(samples.len() - 1).max(1);
        let ((t0, reads0, writes0), (t1, reads1, writes1)) = (samples[after - 1], samples[after]);
        let part = (time - t0) / (t1 - t0);
        (part.mul_add(reads1 - reads0, reads0), part.mul_add(writes1 - writes0, writes0))
    };
    let server = &live["servers"][0];
    let ((r0, w0), (r1, w1)) = (at(number(&server["from"])), at(number(&server["to"])));
    for (direction, counted) in [("read", r1 - r0), ("write", w1 - w0)] {
        let traced = 10.0 * number(&server[direction]["rpcs_per_s"]);
        assert!(
            (traced - counted).abs() <= 0.08 * counted + 20.0 && counted > 100.0,
            "{direction}: traced {traced}, counted {counted}, {server}"
        );
        // Each list adds up to the same.
        for list in ["targets", "clients", "jobs", "flows", "accesses"] {
            let others = &live[list]["others"];
            let others = if others.is_null() { 0.0 } else { number(&others[direction]["rpcs_per_s"]) };
            let all: f64 = rows(&live, list).iter().map(|row| number(&row[direction]["rpcs_per_s"])).sum();
            assert!((10.0 * (all + others) - traced).abs() < 0.5, "{direction} of {list}: {all} + {others}, {traced}");
        }
    }
    assert_eq!(rows(&live, "targets").iter().filter(|row| row["kind"] == "ost").count(), 4, "{live}");
    let status = daemon.wait("a verdict", |status| status["verdict"]["text"].is_string());
    assert!(number(&status["verdict"]["to"]) - number(&status["verdict"]["from"]) >= 2.0, "{status}");
    daemon.command(&["top", "--sort", "no such", "--once"]).exits(2).says(&["no such", "read MiB/s"]);
    daemon.stop().exits(0);
}

#[test]
fn a_fight_for_locks_is_seen_while_it_lasts() {
    let node = Node::in_scenario(
        "false-sharing",
        &["--speed", "1", "--clients", "6", "--osts", "2", "--size", "5000", "--duration", "600"],
    );
    let metrics = super::process::free_port();
    let address = format!("\"{metrics}\"");
    let daemon = node.start(&[("live.window", "\"4s\""), ("talk.metrics", &address)], &[]);
    let live = until("a fight", || {
        top(&daemon).filter(|live| {
            !rows(live, "waits").is_empty()
                && rows(live, "objects").first().is_some_and(|object| number(&object["conflicts_per_s"]) > 0.0)
        })
    });
    let conflicts = |list: &str| -> f64 { rows(&live, list).iter().map(|row| number(&row["conflicts_per_s"])).sum() };
    assert_eq!(
        rows(&live, "targets").iter().filter(|row| row["kind"] == "ost").count(),
        2,
        "the idle one, too: {live}"
    );
    let all = conflicts("targets");
    assert!((conflicts("waits") - all).abs() < 1e-6 && (conflicts("objects") - all).abs() < 1e-6, "{live}");
    assert!((conflicts("clients") - 2.0 * all).abs() < 1e-6, "each conflict has two parties: {live}");
    let is_fight = |finding: &Value| finding["id"] == "lock-ping-pong";
    let status = daemon.wait("the finding", |status| {
        status["verdict"]["findings"].as_array().is_some_and(|findings| findings.iter().any(is_fight))
    });
    let finding = status["verdict"]["findings"].as_array().unwrap().iter().find(|it| is_fight(it)).unwrap();
    let target = finding["targets"][0].as_str().unwrap();
    let labels = format!("id=\"lock-ping-pong\",severity={},target=\"{target}\"", finding["severity"]);
    eventually("the metric", || {
        super::process::http_get(metrics, "/metrics").contains(&format!("lioprof_finding{{{labels}}} 1"))
    });
    let text = String::from_utf8(daemon.command(&["top", "--once", "--view", "waits"]).exits(0).stdout).unwrap();
    assert!(text.contains("Who waits for whose locks") && text.contains("confl/s"), "{text}");
    daemon.stop().exits(0);
}

#[test]
fn without_a_view_or_a_daemon_it_is_said() {
    let node = busy("100");
    let daemon = node.start(&[("live.window", "\"off\"")], &[]);
    daemon.wait_ready();
    daemon.command(&["top", "--once"]).exits(2).says(&["live.window"]);
    let socket = daemon.socket.display().to_string();
    daemon.stop().exits(0);
    crate::util::lioprof(&["top", "--socket", &socket]).exits(2).says(&["no daemon is listening"]);
}

#[test]
fn the_screen_follows_keys_and_gives_the_terminal_back() {
    let node = busy("300");
    let daemon = node.start(&[("live.window", "\"2s\"")], &[]);
    full_window(&daemon);
    let tmux = Tmux::start(&node.path("tmux"), (120, 30));
    let command = format!("{} top --socket {}", env!("CARGO_BIN_EXE_lioprof"), daemon.socket.display());
    let before = tmux.settings();
    tmux.line(&command);
    tmux.wait(
        "the OSTs",
        &["lioprof top  oss7", "lustre-OST0000", "lustre-OST0003", "read MiB/s", "clients", "1 OSTs"],
    );
    tmux.keys(&["2"]);
    tmux.wait("the clients", &["client ", "waiting", "@tcp"]);
    tmux.keys(&["1", "Enter"]);
    tmux.wait("an OST's clients", &["> Clients of lustre-OST", "@tcp"]);
    tmux.keys(&["Enter"]);
    tmux.wait("a client's objects", &["> Objects of lustre-OST", "[0x"]);
    // Escape and what follows it at once is one key for a terminal.
    tmux.keys(&["Escape"]);
    tmux.wait_screen("the OST's clients again", |screen| {
        screen.contains("> Clients of lustre-OST") && !screen.contains("> Objects of")
    });
    tmux.keys(&["Escape"]);
    tmux.wait_screen("the OSTs again", |screen| screen.contains("lustre-OST0003") && !screen.contains("> Clients of"));
    tmux.keys(&["/", "0", "0", "0", "2", "Enter"]);
    tmux.wait_screen("only one OST", |screen| screen.contains("lustre-OST0002") && !screen.contains("lustre-OST0001"));
    tmux.keys(&["Escape"]);
    tmux.wait("all OSTs", &["lustre-OST0001"]);
    tmux.keys(&["Space"]);
    tmux.wait("it to freeze", &["FROZEN", "lustre-OST0001"]);
    tmux.keys(&["Space", "?"]);
    tmux.wait("the help", &["reverse the order", "Ctrl-C"]);
    tmux.keys(&["x"]);
    tmux.resize(60, 12);
    tmux.wait_screen("the small screen", |screen| screen.contains("write MiB/s") && !screen.contains("server"));
    tmux.keys(&["q"]);
    tmux.wait_restored(&before);
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        tmux.line(&command);
        tmux.wait("the OSTs", &["lioprof top  oss7", "lustre-OST0000"]);
        kill_process(Pid::from_raw(tmux.child()).unwrap(), signal).unwrap();
        tmux.wait_restored(&before);
    }
    // Without its terminal it does not stay.
    let lost = Tmux::start(&node.path("lost"), (80, 24));
    lost.line(&command);
    lost.wait("the OSTs", &["lioprof top  oss7", "lustre-OST0000"]);
    let stat = format!("/proc/{}/stat", lost.child());
    drop(lost);
    // Nobody may be there to collect it.
    eventually("top to end with its terminal", || fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z ")));
    // A panic, on whatever thread, as well.
    let harness = std::env::current_exe().unwrap();
    tmux.line(&format!(
        "RUST_BACKTRACE=0 {} --exact daemon::top::panics_on_the_screen --ignored --nocapture",
        harness.display()
    ));
    tmux.wait_screen("the panic", |screen| screen.contains("meant to be seen") && screen.contains("test result"));
    tmux.wait_restored(&before);
    daemon.stop().exits(0);
}

/// What the test above starts in its terminal.
#[test]
#[ignore = "takes the terminal"]
fn panics_on_the_screen() {
    // Without room for it, an update is sent once the screen takes it.
    let (updates, to_show) = std::sync::mpsc::sync_channel(0);
    std::thread::spawn(move || {
        updates.send(lioprof_top::Update::Live(Box::default())).unwrap();
        panic!("meant to be seen");
    });
    let ended = lioprof_top::run(lioprof_top::State::new(lioprof_top::View::Osts), &to_show);
    assert!(ended.is_err());
}

#[test]
fn many_servers_are_shown_together() {
    let nodes = [busy("200"), busy("400")];
    let names = ["oss1", "oss2"];
    let daemons: Vec<Daemon> = nodes
        .iter()
        .zip(names)
        .map(|(node, name)| node.start(&[("node.name", &format!("\"{name}\"")), ("live.window", "\"2s\"")], &[]))
        .collect();
    let single: Vec<Value> = daemons.iter().map(full_window).collect();
    let client = SshClient::new(&nodes[0].path("keep"));
    let addresses = names.map(|_| TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let [first, second] = [0, 1].map(|at| client.serve(names[at], addresses[at], &[]));
    // Both servers are this machine: the port tells which of the daemons is meant.
    let wrapper = nodes[0].path("lioprof-of-port");
    let sockets = daemons.iter().map(|daemon| daemon.socket.display().to_string());
    let cases: String = addresses
        .iter()
        .zip(sockets)
        .map(|(address, socket)| format!("*' {}') socket={socket} ;;\n", SocketAddr::port(address)))
        .collect();
    let program = env!("CARGO_BIN_EXE_lioprof");
    fs::write(
        &wrapper,
        format!("#!/bin/sh\ncase \"$SSH_CONNECTION\" in\n{cases}esac\nexec {program} \"$@\" --socket $socket\n"),
    )
    .unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let ssh = client.command();
    let options = |hosts: &str| -> Vec<String> {
        let remote = wrapper.display().to_string();
        ["top", "--hosts", hosts, "--ssh", &ssh, "--remote-lioprof", &remote, "--json"].map(str::to_owned).to_vec()
    };
    let once = |hosts: &str| crate::util::lioprof(&[options(hosts), vec!["--once".to_owned()]].concat());
    let both = once("oss[1-2]").exits(0).json();
    let found: Vec<&str> = both["servers"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(found, names);
    assert_eq!(rows(&both, "targets").iter().filter(|row| row["kind"] == "ost").count(), 8);
    // The same clients use both: each has one row.
    assert_eq!(rows(&both, "clients").len(), rows(&single[0], "clients").len());

    let out = nodes[0].path("follow");
    let mut follower = spawn(&options("oss[1-2]"), &out);
    let last = || -> Option<Value> {
        let text = fs::read_to_string(out.with_extension("out")).unwrap();
        let (whole, _) = text.rsplit_once('\n')?;
        serde_json::from_str(whole.rsplit('\n').next()?).ok()
    };
    let errors = |live: &Value| -> usize {
        live["servers"].as_array().unwrap().iter().filter(|server| !server["error"].is_null()).count()
    };
    until("both servers", || last().filter(|live| errors(live) == 0));
    // A server that goes away is named, and the other one stays.
    drop(second);
    let mut daemons = daemons.into_iter();
    daemons.next_back().unwrap().stop().exits(0);
    let one = until("the loss of a server", || last().filter(|live| errors(live) == 1));
    assert!(one["servers"][1]["name"] == "oss2" && one["servers"][0]["error"].is_null(), "{one}");
    assert_eq!(rows(&one, "targets").iter().filter(|row| row["kind"] == "ost").count(), 4);
    kill_process(Pid::from_child(&follower), Signal::TERM).unwrap();
    follower.wait().unwrap();
    once("oss[1-2]").exits(2);
    drop(first);
    daemons.next().unwrap().stop().exits(0);
}
