//! The commands of `docs/capture.md` and of `lioprof --help`, run on a simulated server.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use lioprof_testkit::files::repository;

use super::fixture::{analysis, rich};
use super::node::Node;
use crate::figures::number;
use crate::util::lioprof;

/// The commands under "By hand".
fn commands() -> String {
    let text = fs::read_to_string(repository("docs/capture.md")).unwrap();
    let (_, section) = text.split_once("## By hand\n").unwrap();
    let (_, block) = section.split_once("```sh\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

/// The commands at the end of `lioprof --help`.
fn commands_of_help() -> String {
    let help = String::from_utf8(lioprof(&["--help"]).exits(0).stdout).unwrap();
    let (_, recipe) = help.split_once("with lctl alone").unwrap();
    let lines = recipe.lines().skip(1).take_while(|line| line.starts_with("  ")).collect::<Vec<_>>();
    assert!(lines.len() > 10, "{help}");
    lines.join("\n").replace("/var/tmp/rpc.bin", "/var/tmp/help.bin")
}

#[test]
fn every_bit_is_put_back() {
    // The largest part of the table below the commands.
    const STEP_3: &str = "lctl set_param debug=\"+rpctrace\"";
    const ALL: &str =
        "lctl set_param subsystem_debug=\"rpc filter ldlm\"; lctl set_param debug=\"+rpctrace +dlmtrace +net\"";
    for (version, commands) in
        ["2.10", "2.15", "2.17"].map(|version| (version, commands())).into_iter().chain([("2.17", commands_of_help())])
    {
        let node = Node::playing_with(&rich().path, &["--speed", "max", "--version", version]);
        let masks = || {
            ["libcfs_debug", "libcfs_subsystem_debug"].map(|name| {
                fs::read_to_string(node.root().join("sys/module/libcfs/parameters").join(name))
                    .unwrap()
                    .trim()
                    .to_owned()
            })
        };
        let (before, settings) = (masks(), node.settings());
        assert_eq!(before[1], "-1", "all ones, with and without names");
        fs::create_dir(node.path("home")).unwrap();
        let (root, home) = (node.root().display().to_string(), node.path("home").display().to_string());
        let script = commands
            .replace("/root/", &format!("{home}/"))
            .replace("/sys/module", &format!("{root}/sys/module"))
            .replace("/var/tmp/", &format!("{home}/"))
            .replace(STEP_3, ALL)
            // The I/O in question: as long as the log is played.
            .replace("sleep 60", &format!("until grep -q '\"phase\":\"played\"' {root}/sim/ctl; do sleep 0.1; done"))
            .replace("lioprof analyze \"$log\" -o report", "echo \"log=$log\"")
            .replace(&format!("lioprof analyze {home}/help.bin -o report"), &format!("echo \"log={home}/help.bin\""));
        let of_help = script.contains("help.bin");
        assert!(
            (of_help || script.contains(ALL)) && script.contains("until grep") && script.contains("echo \"log="),
            "{script}"
        );
        let run = Command::new("sh")
            .args(["-euc", &script])
            .env("PATH", format!("{root}/bin:{}", std::env::var("PATH").unwrap()))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (said, wrong) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success() && wrong.is_empty(), "{version}: {said}\n{wrong}\n{script}");
        assert_eq!(masks(), before, "{version}");
        assert_eq!(node.settings(), settings, "{version}");
        let log = said.lines().find_map(|line| line.strip_prefix("log=")).unwrap();
        assert!(number(&analysis(&[Path::new(log)])["totals"], "rpcs") > Some(0), "{version}");
    }
}
