//! `lioprof check` on simulated servers, over a real OpenSSH server as well.

use std::fs;
use std::net::{SocketAddr, TcpListener};

use lioprof_testkit::sshd::SshClient;
use serde_json::Value;

use super::node::Node;
use crate::util::{Run, lioprof};

fn server() -> Node {
    Node::in_scenario("busy", &["--speed", "max", "--rate", "1000", "--duration", "5"])
}

fn check(node: &Node, more: &[&str]) -> Run {
    let root = node.root().display().to_string();
    lioprof(&[&["check", "--root", &root], more].concat())
}

fn text(run: &Run) -> String {
    String::from_utf8(run.stdout.clone()).unwrap()
}

#[test]
fn a_server_that_is_well() {
    let node = server();
    let all = text(&check(&node, &[]).exits(0));
    assert!(all.contains("0 critical, 0 warnings, 0 unknown"), "{all}");
    let json: Value = serde_json::from_slice(&check(&node, &["--json"]).exits(0).stdout).unwrap();
    assert_eq!(json["schema"], "lioprof.check/1");
}

#[test]
fn facts_of_several_servers_are_judged_together() {
    let node = server();
    let facts = text(&check(&node, &["--facts"]).exits(0));
    let path = |name: &str| node.path(name).display().to_string();
    fs::write(path("a.json"), &facts).unwrap();
    fs::write(path("b.json"), facts.replace("\"2.17.57\"", "\"2.15.8\"")).unwrap();
    let both = text(&lioprof(&["check", &path("a.json"), &path("b.json")]).exits(1));
    assert!(both.lines().next().unwrap().starts_with("WARNING   versions and settings alike"), "{both}");
    lioprof(&["check", "--fail-on", "critical", &path("a.json"), &path("b.json")]).exits(0);
    fs::write(path("c.json"), "{").unwrap();
    lioprof(&["check", &path("c.json")]).exits(2).says(&["c.json", "--facts"]);
}

#[test]
fn servers_are_asked_over_ssh() {
    let node = server();
    let free = || -> SocketAddr { TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap() };
    let client = SshClient::new(&node.path("keep"));
    let _servers = ["oss1", "oss2"].map(|name| client.serve(name, free(), &[]));
    let ssh = client.command();
    let ask = |hosts: &str| {
        check(&node, &["--ssh", &ssh, "--remote-lioprof", env!("CARGO_BIN_EXE_lioprof"), "--hosts", hosts])
    };
    let both = text(&ask("oss[1-2]").exits(0));
    assert!(both.contains("2 servers: 17 checks"), "{both}");
    // One that is not there is named, and the others are judged without it.
    client.add("oss3", free(), &client.key());
    let without = text(&ask("oss[1-3]").exits(2));
    assert!(without.starts_with("unknown   oss3 was not checked"), "{without}");
    assert!(without.contains("2 servers: ") && without.contains("1 server not checked"), "{without}");
}
