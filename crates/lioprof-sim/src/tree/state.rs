//! Files that say how targets, services and LNet are: those of a healthy server.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::node::{Flavour, TreeNodes};

/// Flags and settings of an OST (ofd `lproc_ofd.c`), as a server with 2.17 has them.
const OST: [(&str, &str); 8] = [
    ("degraded", "0"),
    ("readonly", "0"),
    ("brw_size", "4"),
    ("sync_journal", "0"),
    ("sync_lock_cancel", "never"),
    ("soft_sync_limit", "16"),
    ("no_create", "0"),
    ("no_precreate", "0"),
];
/// Of an MDT (mdt `mdt_lproc.c`).
const MDT: [(&str, &str); 2] = [("readonly", "0"), ("no_create", "0")];
/// Of an OSD (osd-ldiskfs `osd_lproc.c`).
const OSD: [(&str, &str); 5] = [
    ("fstype", "ldiskfs"),
    ("nonrotational", "0"),
    ("pdo", "ON"),
    ("read_cache_enable", "1"),
    ("writethrough_cache_enable", "1"),
];
/// Of the node.
const GLOBAL: [(&str, &str); 6] = [
    ("timeout", "100"),
    ("ldlm_timeout", "20"),
    ("at_max", "600"),
    ("at_min", "5"),
    ("at_extra", "30"),
    ("bulk_timeout", "100"),
];
/// Threads of a service (ptlrpc `lproc_ptlrpc.c`).
const THREADS: [(&str, &str); 4] =
    [("threads_min", "3"), ("threads_started", "8"), ("threads_max", "74"), ("high_priority_ratio", "10")];
/// `nrs_policies` while nothing but fifo was ever started (ptlrpc `lproc_ptlrpc.c`).
const POLICIES: &str = "\nregular_requests:\n  - name: fifo\n    state: started\n    fallback: yes\n    queued: 0                   \n    \
                        active: 0                   \n\n  - name: crrn\n    state: stopped\n    fallback: no\n    \
                        queued: 0                   \n    active: 0                   \n\n";
/// `recovery_status` some time after the mount (obdclass `lprocfs_status_server.c`).
const RECOVERY: &str = "status: COMPLETE\nrecovery_start: 1795540856\nrecovery_duration: 12\ncompleted_clients: 2/2\n\
                        replayed_requests: 0\nlast_transno: 4294968666\nVBR: DISABLED\nIR: ENABLED\n";

/// A file by name, and what it holds; where it is depends on the version.
pub(super) fn files(names: &[String]) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = GLOBAL.map(|(name, value)| (name.to_owned(), format!("{value}\n"))).into();
    let mut put = |dir: &str, values: &[(&str, &str)]| {
        files.extend(values.iter().map(|(name, value)| (format!("{dir}/{name}"), format!("{value}\n"))));
    };
    let parts = |name: &String| name.split('/').map(str::to_owned).collect::<Vec<String>>();
    let mut dirs: BTreeSet<String> = BTreeSet::new();
    let mut texts = Vec::new();
    for parts in names.iter().map(parts) {
        let [kind, name, rest @ ..] = &parts[..] else { continue };
        let target = |dir: &str| format!("{dir}/{name}");
        match (kind.as_str(), rest) {
            ("obdfilter", _) if dirs.insert(target(kind)) => {
                put(&target(kind), &OST);
                put(&target("osd-ldiskfs"), &OSD);
                texts.push((format!("{}/recovery_status", target(kind)), RECOVERY.to_owned()));
            }
            ("mdt", _) if dirs.insert(target(kind)) => {
                put(&target(kind), &MDT);
                put(&target("osd-ldiskfs"), &OSD);
                texts.push((format!("{}/recovery_status", target(kind)), RECOVERY.to_owned()));
            }
            ("ost" | "mds" | "ldlm", [service, _, ..]) if name != "namespaces" => {
                if kind != "ldlm" && dirs.insert(format!("{kind}/{name}")) {
                    texts.push((format!("{kind}/{name}/uuid"), format!("{name}_uuid\n")));
                }
                let dir = format!("{kind}/{name}/{service}");
                if dirs.insert(dir.clone()) {
                    put(&dir, &THREADS);
                    texts.push((format!("{dir}/nrs_policies"), POLICIES.to_owned()));
                }
            }
            _ => {}
        }
    }
    files.extend(texts);
    files
}

/// LNet's own files (lnet `lnet_debugfs.c`).
pub(super) fn lnet(nodes: &mut TreeNodes, directory: &str, flavour: Flavour) {
    let mut nis = format!(
        "{:<24} {:>6} {:>5} {:>4} {:>4} {:>4} {:>5} {:>5} {:>5}\n",
        "nid", "status", "alive", "refs", "peer", "rtr", "max", "tx", "min"
    );
    for (nid, refs, peer, credits) in [("0@lo", 2, 0, 0), ("10.10.0.1@tcp", 1, 8, 256)] {
        writeln!(
            nis,
            "{nid:<24} {:>6} {:>5} {refs:>4} {peer:>4} {:>4} {credits:>5} {credits:>5} {credits:>5}",
            "up", 0, 0
        )
        .unwrap_or_default();
    }
    nodes.text(&format!("{directory}/nis"), flavour, nis);
    let peers = "nid                      refs state  last   max   rtr   min    tx   min queue\n\
                 10.10.0.11@tcp              1    NA    -1     8     8     8     8    -3 0\n";
    nodes.text(&format!("{directory}/peers"), flavour, peers);
    nodes.text(&format!("{directory}/stats"), flavour, "0 12 0 4101 4094 0 2 219376256 637407304 0 1040\n");
}
