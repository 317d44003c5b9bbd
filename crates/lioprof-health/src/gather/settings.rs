//! Settings that servers of the same kind should have in common.

use std::path::Path;

use lioprof_params::{OSDS, SERVICES, Tree, host};

use crate::facts::{Setting, TargetFacts};

/// Of the server.
const GLOBAL: [&str; 8] =
    ["timeout", "ldlm_timeout", "at_max", "at_min", "at_extra", "bulk_timeout", "jobid_var", "jobid_name"];
/// Of an OST (ofd `lproc_ofd.c`).
const OST: [&str; 9] = [
    "brw_size",
    "sync_journal",
    "sync_lock_cancel",
    "sync_on_lock_cancel",
    "soft_sync_limit",
    "no_create",
    "no_precreate",
    "precreate_batch",
    "checksum_t10pi_enforce",
];
/// Of a target's OSD (osd-ldiskfs `osd_lproc.c`).
const OSD: [&str; 7] = [
    "fstype",
    "nonrotational",
    "pdo",
    "read_cache_enable",
    "writethrough_cache_enable",
    "readcache_max_io_mb",
    "writethrough_max_io_mb",
];
/// Of a service.
const SERVICE: [&str; 2] = ["threads_max", "high_priority_ratio"];
/// Of network drivers, as parameters of their modules.
const MODULES: [(&str, [&str; 4]); 2] = [
    ("ko2iblnd", ["peer_credits", "credits", "concurrent_sends", "conns_per_peer"]),
    ("ksocklnd", ["peer_credits", "credits", "nscheds", "conns_per_peer"]),
];

pub(super) fn read(tree: &mut Tree, targets: &[TargetFacts]) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut put = |name: String, target: &str, value: Option<String>| {
        if let Some(value) = value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()) {
            settings.push(Setting { name, target: target.to_owned(), value });
        }
    };
    put("kernel".to_owned(), "", host::kernel_release(&tree.node_path("/")));
    put(
        "version".to_owned(),
        "",
        tree.read("version", "version").map(|text| text.lines().next().unwrap_or_default().to_owned()),
    );
    for name in GLOBAL {
        put(name.to_owned(), "", tree.read(name, name));
    }
    for target in targets {
        let own: &[&'static str] = if target.kind == "ost" { &OST } else { &[] };
        for file in own {
            put(
                format!("obdfilter.*.{file}"),
                &target.name,
                tree.read(file, &format!("obdfilter/{}/{file}", target.name)),
            );
        }
        for file in OSD {
            for osd in OSDS {
                put(format!("{osd}.*.{file}"), &target.name, tree.read(file, &format!("{osd}/{}/{file}", target.name)));
            }
        }
    }
    for dir in SERVICES {
        for service in tree.list(dir) {
            for file in SERVICE {
                let path = format!("{dir}/{service}/{file}");
                put(path.replace('/', "."), "", tree.read(file, &path));
            }
        }
    }
    for (module, parameters) in MODULES {
        for parameter in parameters {
            let path = tree.node_path(&format!("/sys/module/{module}/parameters/{parameter}"));
            put(format!("{module}.{parameter}"), "", read_existing(tree, &path));
        }
    }
    settings
}

fn read_existing(tree: &mut Tree, path: &Path) -> Option<String> {
    path.exists().then(|| tree.read_path(path)).flatten()
}
