//! `lioprof check` on simulated servers, over a real OpenSSH server as well.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;

use lioprof_testkit::files::fixture;
use lioprof_testkit::sshd::SshClient;
use serde_json::Value;

use super::node::Node;
use crate::util::{Run, lioprof, lioprof_with};

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

/// A command as lustre-iokit has it: it writes what a real survey wrote where it is told to, with `slower` in place of a bandwidth.
fn survey_script(node: &Node, slower: Option<&str>) -> String {
    let bin = node.path("bin");
    fs::create_dir_all(&bin).unwrap();
    let dir = fixture("survey");
    let change = slower.map_or_else(String::new, |line| format!("| sed 's|133.526323/second|{line}/second|'"));
    let script = format!(
        "#!/bin/sh\n[ \"$case $size\" = 'disk 64' ] || exit 1\ncat '{0}/server1.summary' >$rslt.summary\ncat '{0}/server1.detail' {change} >$rslt.detail\n",
        dir.display()
    );
    fs::write(bin.join("obdfilter-survey"), script).unwrap();
    fs::set_permissions(bin.join("obdfilter-survey"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", bin.display(), std::env::var("PATH").unwrap())
}

#[test]
fn disks_are_surveyed_and_compared_with_last_time() {
    let node = server();
    let (path, kept) = (survey_script(&node, None), node.path("survey"));
    let survey = |path: &str, more: &[&str]| {
        let root = node.root().display().to_string();
        let kept = kept.display().to_string();
        let args =
            ["check", "--root", &root, "--survey", &kept, "--survey-settings", "size=64", "--survey-idle", "10ms"];
        lioprof_with(&[&args, more].concat(), &[("PATH", path)])
    };
    // Nobody is there to ask.
    survey(&path, &[]).exits(2).says(&["64.0 MiB", "--yes"]);
    let first = text(&survey(&path, &["--yes"]).exits(0));
    assert!(first.contains("least: write 134 MiB/s on lustre-OST0000"), "{first}");
    let names: Vec<String> =
        kept.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    // The same again, but for one OST that is slower than then; only the newer one is a baseline.
    let slower = survey_script(&node, Some("66.000000"));
    let second = text(&survey(&slower, &["--yes"]).exits(1));
    assert!(second.contains("bandwidth of disks against the last survey") && second.contains("less"), "{second}");
    let capture = fixture("captures/masks").display().to_string();
    let kept = kept.display().to_string();
    let json = lioprof(&["analyze", &capture, "--baseline", &kept, "--format", "json", "-q"]).exits(0).json();
    assert_eq!(json["baseline"]["surveys"].as_array().map(Vec::len), Some(1), "{}", json["baseline"]);
    // A site without the kit, and one that cannot be surveyed.
    let none = text(&survey("/nonexistent", &["--yes"]).exits(0));
    assert!(none.contains("install lustre-iokit"), "{none}");
}
