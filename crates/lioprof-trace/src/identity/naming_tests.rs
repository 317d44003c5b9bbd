//! Ways in which people name the logs of several servers: each gives one node per server, called by its host.

use lioprof_model::NodeFrom;

use super::contents::Contents;
use super::decide::decide;
use super::evidence::{Decisions, Evidence};
use super::tests::server;

/// `HOST` is the server, `RANDOM` a word that differs from bundle to bundle.
const SCHEMES: [&str; 86] = [
    "HOST/dk.txt",
    "HOST/rpc.bin",
    "HOST/rpc.bin.1",
    "HOST/debug.log",
    "HOST/lctl_debug_kernel",
    "HOST/lctl_dk.txt",
    "HOST/lctl-dk.out",
    "HOST/debug_kernel",
    "HOST/2026-11-20-14:00:01",
    "HOST/2026-11-20_14-00-01.log",
    "HOST/20261120140001",
    "HOST/1795600000.txt",
    "HOST/lustre-log.1795600000.5432",
    "HOST/lustre.log",
    "HOST/debug.log-20261120.gz",
    "HOST/tmp/lustre-log.1795600000.5432",
    "HOST/var/log/lustre/debug.log",
    "HOST/var/log/lustre/debug.log.1.gz",
    "HOST/sos_commands/lustre/lctl_debug_kernel",
    "HOST/logs/dk.txt",
    "HOST/2026-11-20/dk.txt",
    "HOST/dumps/2026-11-20/dk.txt",
    "2026-11-20/HOST/dk.txt",
    "day1/HOST/rpc.bin",
    "debug-HOST.log",
    "debug_HOST.log",
    "debug_log.HOST.txt",
    "debug.HOST",
    "debug_kernel.HOST",
    "debug_kernel-HOST.txt",
    "lctl_debug_kernel.HOST",
    "lctl_debug_kernel_HOST.txt",
    "lctl-dk-HOST.txt",
    "lustre-log.HOST",
    "lustre-log.HOST.1795600000",
    "lustre-log.HOST.1795600000.5432",
    "lustre-log-HOST-20261120.txt",
    "lustre_debug_HOST.log",
    "lustre-debug.HOST.txt.gz",
    "rpc-HOST",
    "rpc-HOST.log",
    "rpctrace-HOST.txt",
    "dk.HOST",
    "dk-HOST.txt.zst",
    "dk_HOST_20261120T140001.txt",
    "HOST.txt",
    "HOST.log",
    "HOST.dk",
    "HOST_dk.txt",
    "HOST-lctl-dk.txt",
    "HOST.rpc.bin",
    "HOST.debug.log",
    "HOST_debug_kernel.txt",
    "HOST-2026-11-20.txt",
    "HOST-20261120-140001.log",
    "HOST_2026-11-20_14:00:01.txt",
    "20261120-HOST.txt",
    "2026-11-20_HOST_dk.txt",
    "sosreport-HOST-2026-11-25-RANDOM/sos_commands/lustre/lctl_debug_kernel",
    "sosreport-HOST-03412345-2026-11-25-RANDOM/sos_commands/lustre/lctl_debug_kernel",
    "sosreport-HOST.03412345-20261125094640-RANDOM/sos_commands/lustre/lctl_debug_kernel",
    "sos-HOST.tar.xz!sosreport-HOST-2026-11-25-RANDOM/sos_commands/lustre/lctl_debug_kernel",
    "crash-HOST-20261120-1400/debug.log",
    "bundle.tar.gz!HOST/var/log/lustre/debug.log",
    "HOST/dmesg",
    "HOST/dmesg.txt",
    "HOST/dmesg-T.txt",
    "HOST/vmcore-dmesg.txt",
    "HOST/var/log/dmesg",
    "HOST/var/log/messages-20261122.gz",
    "HOST/var/crash/127.0.0.1-2026-11-21-09:32:54/vmcore-dmesg.txt",
    "HOST/sos_commands/kernel/dmesg",
    "HOST/journalctl-k.json",
    "sosreport-HOST-2026-11-25-RANDOM/sos_commands/kernel/dmesg_-T",
    "dmesg-HOST.txt",
    "dmesg-T-HOST.txt",
    "dmesg.HOST",
    "HOST.dmesg",
    "HOST_dmesg.txt",
    "HOST-dmesg-T.log",
    "messages-HOST",
    "HOST.messages-20261122.xz",
    "HOST-kern.log",
    "kern.log.HOST",
    "syslog_HOST",
    "console.HOST",
];

/// Hosts of two or more servers, as sites name them.
const SITES: [&[&str]; 7] = [
    &["oss01", "oss02"],
    &["oss1", "oss2", "mds1", "mds2"],
    &["oss-01", "oss-02"],
    &["snx11000n004", "snx11000n005"],
    &["oss01.example.com", "oss02.example.com"],
    &["10.10.0.1", "10.10.0.2"],
    &["fs1-oss03", "fs1-mds00"],
];

const RANDOM: [&str; 4] = ["abcdefg", "hqzvnwk", "k3j2h1g", "zzyyxxw"];

/// The logs of all servers of a site, laid out as `scheme` below `top`. All servers use the same pids at the same time.
fn laid_out(scheme: &str, hosts: &[&str], top: &str) -> Vec<Evidence> {
    let logs = hosts.iter().zip(RANDOM).zip(0..).map(|((host, random), number)| {
        let path = format!("{top}{}", scheme.replace("HOST", host).replace("RANDOM", random));
        server(&path, 4000, number)
    });
    logs.collect()
}

fn nodes(decisions: &Decisions) -> Vec<&str> {
    decisions.nodes.iter().map(|node| node.as_ref().map_or("refused", |node| node.node.as_str())).collect()
}

#[test]
fn each_server_is_a_node_of_its_own_called_by_its_host() {
    for top in ["", "case12345/", "/data/tickets/LU-17000/from customer/", "/tmp/upload/2026-11-26/"] {
        for scheme in SCHEMES {
            for hosts in SITES {
                let decisions = decide(&laid_out(scheme, hosts, top));
                assert_eq!(nodes(&decisions), hosts, "{top}{scheme}: {decisions:?}");
            }
        }
    }
}

#[test]
fn hosts_whose_names_are_plain_words() {
    // Where nothing but the host is in a name, or the inputs are compared.
    let schemes = SCHEMES.iter().filter(|scheme| !scheme.starts_with("crash") && !scheme.contains("sos-HOST"));
    for scheme in schemes {
        let decisions = decide(&laid_out(scheme, &["alpha", "beta"], "case12345/"));
        let nodes = nodes(&decisions);
        assert!(nodes[0].contains("alpha") && nodes[1].contains("beta"), "{scheme}: {decisions:?}");
    }
}

#[test]
fn one_log_alone_is_named_as_among_others() {
    for scheme in SCHEMES {
        for host in ["oss01", "snx11000n004", "10.10.0.1"] {
            let decisions = decide(&laid_out(scheme, &[host], "case12345/"));
            assert_eq!(nodes(&decisions), [host], "{scheme}");
        }
    }
}

/// Nothing in kernel logs proves that they are of one server, or of two.
#[test]
fn kernel_logs_of_one_name_are_of_their_folders() {
    let log = |path: &str| Evidence { is_kernel_log: true, contents: Contents::default(), ..server(path, 4000, 0) };
    for (paths, want) in [
        (["a/run.txt", "b/run.txt"], ["a", "b"]),
        (["x/oss01/run.txt", "x/oss02/run.txt"], ["oss01", "oss02"]),
        (["day1/run.txt", "day2/run.txt"], ["run", "run"]),
        (["2026-11-20/run.txt", "2026-11-21/run.txt"], ["run", "run"]),
        (["a/oss01.txt", "b/oss01.txt"], ["oss01", "oss01"]),
        (["a/run.txt", "a/run.txt.1"], ["run", "run"]),
    ] {
        assert_eq!(nodes(&decide(&paths.map(log))), want, "{paths:?}");
    }
}

#[test]
fn what_is_documented_stays() {
    for (path, node, from) in [
        ("logs/rpc-oss03", "oss03", NodeFrom::Name),
        ("logs/oss03.rpc.bin.zst", "oss03", NodeFrom::Name),
        ("logs/oss03.txt", "oss03", NodeFrom::Name),
        ("oss03/rpc.bin", "oss03", NodeFrom::Folder),
        ("oss03/rpc.bin.1", "oss03", NodeFrom::Folder),
        ("oss03/lustre-log.1795250608.2546", "oss03", NodeFrom::Folder),
        ("logs/oss03-20261121T101500.bin", "oss03", NodeFrom::Name),
        ("logs/oss03-0001.bin", "oss03", NodeFrom::Name),
        ("day1/oss03/rpc.bin", "oss03", NodeFrom::Folder),
        ("captures/slow_ost_run2/rpc.bin", "slow_ost_run2", NodeFrom::Folder),
        ("a/trace-a.txt", "trace-a", NodeFrom::Name),
        ("a/debug.log", "a", NodeFrom::Folder),
        ("2026-11-20/debug.log", "2026-11-20", NodeFrom::Folder),
        ("a/debug-after-crash.log", "a", NodeFrom::Folder),
    ] {
        let decisions = decide(&[server(path, 4000, 0)]);
        let decision = decisions.nodes[0].as_ref().unwrap();
        assert_eq!((decision.node.as_str(), decision.from), (node, from), "{path}");
    }
}
