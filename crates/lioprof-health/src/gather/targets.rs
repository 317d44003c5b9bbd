//! The targets: obdfilter, mdt, osd, lod.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_params::{OSDS, Target, Tree, targets_of};

use super::disk;
use crate::facts::{Fact, OstOfMdt, Recovery, Space, TargetFacts};

/// All targets that the list of devices or a directory of parameters shows.
pub(super) fn read(tree: &mut Tree) -> Fact<Vec<TargetFacts>> {
    let devices = tree.read("devices", "devices").map(|text| targets_of(&text));
    let mut targets: BTreeMap<String, Target> =
        devices.into_iter().flatten().map(|target| (target.name.clone(), target)).collect();
    for (dir, mark) in [("obdfilter", "-OST"), ("mdt", "-MDT")] {
        for name in names(tree, dir, mark) {
            if !targets.contains_key(&name)
                && let Some(target) = Target::new(&name, None)
            {
                targets.insert(name, target);
            }
        }
    }
    if targets.is_empty() && tree.list("").is_empty() {
        return Fact::Unknown(
            "there are no Lustre parameters under /proc or /sys: is Lustre loaded, and is this root?".to_owned(),
        );
    }
    let mounts = tree.read_path(&tree.node_path("/proc/mounts"));
    Fact::Known(targets.into_values().map(|target| one(tree, target, mounts.as_deref())).collect())
}

/// Targets that have a directory of parameters.
pub(super) fn names(tree: &mut Tree, dir: &str, mark: &str) -> BTreeSet<String> {
    tree.list(dir).into_iter().filter(|name| name.contains(mark)).collect()
}

fn one(tree: &mut Tree, target: Target, mounts: Option<&str>) -> TargetFacts {
    let Target { name, kind, fsname, state, .. } = target;
    let ost = kind == "ost";
    let dir = if ost { "obdfilter" } else { "mdt" };
    let of = |file: &str| format!("{dir}/{name}/{file}");
    let flag = |tree: &mut Tree, file: &'static str| {
        let value = tree.number(file, &of(file));
        Fact::or(value.map(|value| value != 0), &format!("no file `{file}` in this version"))
    };
    let not_of_it = |what: &str| format!("an {kind} has no {what}");
    let is_mgs = kind == "mgs";
    TargetFacts {
        mounted: Fact::or(mounts.map(|mounts| is_mounted(mounts, &name)), "cannot read `/proc/mounts`"),
        degraded: if ost { flag(tree, "degraded") } else { Fact::Unknown(not_of_it("`degraded`")) },
        read_only: if is_mgs { Fact::Unknown(not_of_it("`readonly`")) } else { flag(tree, "readonly") },
        recovery: if is_mgs {
            Fact::Unknown(not_of_it("`recovery_status`"))
        } else {
            let text = tree.read("recovery_status", &of("recovery_status"));
            Fact::or(text.and_then(|text| recovery(&text)), "cannot read `recovery_status`")
        },
        space: if is_mgs {
            Fact::Unknown(not_of_it("space of its own"))
        } else {
            Fact::or(space(tree, dir, &name), NO_SPACE)
        },
        disk_io: if ost {
            Fact::or(disk::read(tree, &name), "no `brw_stats`")
        } else {
            Fact::Unknown(not_of_it("bulk I/O counted here"))
        },
        watched: None,
        osts: if kind == "mdt" { osts(tree, &name) } else { Vec::new() },
        name,
        kind,
        fsname,
        state,
    }
}

const NO_SPACE: &str = "cannot read `kbytestotal`, `kbytesavail`, `filestotal` and `filesfree`";

/// `/dev/vdb /mnt/ost2 lustre rw,svname=lustre-OST0002,..`; the type is `lustre_tgt` if it was mounted so. The MGS may share a
/// target's mount, `svname=lustre-MDT0000,mgs`.
fn is_mounted(mounts: &str, name: &str) -> bool {
    mounts.lines().any(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, _, kind, options, ..] = words[..] else { return false };
        let served = |option: &str| option.strip_prefix("svname=") == Some(name) || (name == "MGS" && option == "mgs");
        kind.starts_with("lustre") && options.split(',').any(served)
    })
}

/// `status: COMPLETE` and more lines (obdclass `lprocfs_status_server.c`, `lprocfs_recovery_status_seq_show`).
fn recovery(text: &str) -> Option<Recovery> {
    let field = |name: &str| {
        text.lines().find_map(|line| {
            line.split_once(':').filter(|(key, _)| key.trim() == name).map(|it| it.1.trim().to_owned())
        })
    };
    let clients = field("connected_clients").or_else(|| field("completed_clients"));
    Some(Recovery {
        status: field("status").filter(|status| !status.is_empty())?,
        time_remaining_s: field("time_remaining").and_then(|text| text.parse().ok()),
        clients,
    })
}

/// An OST's own figures subtract what clients were granted; an MDT's are those of its OSD.
fn space(tree: &mut Tree, dir: &'static str, name: &str) -> Option<Space> {
    [dir].into_iter().chain(OSDS).find_map(|dir| {
        let mut number = |file: &'static str| tree.number(file, &format!("{dir}/{name}/{file}"));
        Some(Space {
            total_kib: number("kbytestotal")?,
            available_kib: number("kbytesavail")?,
            inodes: number("filestotal")?,
            free_inodes: number("filesfree")?,
        })
    })
}

/// `0: lustre-OST0000_UUID ACTIVE` (lod `lproc_lod.c`, `lod_tgts_seq_show`). It stays ACTIVE when the OST is gone; `state: DISCONN` of the
/// connection tells (obdclass `lprocfs_status.c`, `ldebugfs_import_seq_show`; seen on 2.17).
fn osts(tree: &mut Tree, mdt: &str) -> Vec<OstOfMdt> {
    let Some(text) = tree.read("target_obd", &format!("lod/{mdt}-mdtlov/target_obd")) else { return Vec::new() };
    let line = |line: &str| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let name = words.next()?.trim_end_matches("_UUID").to_owned();
        Some(OstOfMdt { name, active: words.next()? == "ACTIVE", connection: None })
    };
    let mut osts: Vec<OstOfMdt> = text.lines().filter_map(line).collect();
    let of_mdt = mdt.rsplit('-').next().unwrap_or(mdt);
    for ost in &mut osts {
        let import = tree.read("import", &format!("osp/{}-osc-{of_mdt}/import", ost.name));
        let state =
            |text: String| Some(text.lines().find_map(|line| line.trim().strip_prefix("state:"))?.trim().to_owned());
        ost.connection = import.and_then(state);
    }
    osts
}
