//! Which counter files a scenario's server has.

use std::collections::BTreeMap;

use crate::cluster::Simulation;
use crate::tree::DISK;

/// What is behind a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CounterFile {
    /// Something that does not change.
    Text(String),
    /// Counters of a target.
    Target(String, TargetFile),
    /// Counters of a service.
    Service(&'static str),
}

/// A target's file, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TargetFile {
    Stats,
    MdStats,
    JobStats,
    BrwStats,
    Evictions,
    Locks,
    LockResources,
    ExportStats(String),
    ExportLockStats(String),
    ExportUuid(String),
}

/// Directories of services, called as these; those that a scenario never uses are there all the same.
const OST_SERVICES: [&str; 5] =
    ["ost/OSS/ost", "ost/OSS/ost_create", "ost/OSS/ost_io", "ost/OSS/ost_out", "ost/OSS/ost_seq"];
const MDT_SERVICES: [&str; 3] = ["mds/MDS/mdt", "mds/MDS/mdt_io", "mds/MDS/mdt_readpage"];
const LOCK_SERVICES: [&str; 2] = ["ldlm/services/ldlm_canceld", "ldlm/services/ldlm_cbd"];

/// All files of a server.
pub(super) fn all(
    simulation: &Simulation,
    node: usize,
    clients: &BTreeMap<String, Vec<String>>,
) -> BTreeMap<String, CounterFile> {
    let mut names = BTreeMap::new();
    let mounts: usize = clients.values().map(Vec::len).sum();
    let (mut osts, mut mdts) = (false, false);
    for (disk, target) in (b'b'..=b'z').cycle().zip(simulation.targets_of(node)) {
        let mdt = target.contains("-MDT");
        (osts, mdts) = (osts || !mdt, mdts || mdt);
        let (kind, namespace) = if mdt { ("mdt", "mdt") } else { ("obdfilter", "filter") };
        let of = |file: TargetFile| CounterFile::Target(target.to_owned(), file);
        let base = format!("{kind}/{target}");
        names.insert(format!("{base}/job_stats"), of(TargetFile::JobStats));
        names.insert(format!("{base}/eviction_count"), of(TargetFile::Evictions));
        names.insert(format!("{base}/num_exports"), CounterFile::Text(format!("{mounts}\n")));
        if mdt {
            names.insert(format!("{base}/md_stats"), of(TargetFile::MdStats));
        } else {
            names.insert(format!("{base}/stats"), of(TargetFile::Stats));
        }
        let osd = format!("osd-ldiskfs/{target}");
        names.insert(format!("{osd}/brw_stats"), of(TargetFile::BrwStats));
        names.insert(format!("{osd}/mntdev"), CounterFile::Text(format!("/dev/vd{}\n", char::from(disk))));
        for (file, value) in DISK {
            for directory in [&base, &osd] {
                names.insert(format!("{directory}/{file}"), CounterFile::Text(format!("{value}\n")));
            }
        }
        let locks = format!("ldlm/namespaces/{namespace}-{target}_UUID");
        names.insert(format!("{locks}/lock_count"), of(TargetFile::Locks));
        names.insert(format!("{locks}/resource_count"), of(TargetFile::LockResources));
        for nid in clients.keys() {
            let export = format!("{base}/exports/{nid}");
            names.insert(format!("{export}/stats"), of(TargetFile::ExportStats(nid.clone())));
            names.insert(format!("{export}/ldlm_stats"), of(TargetFile::ExportLockStats(nid.clone())));
            names.insert(format!("{export}/uuid"), of(TargetFile::ExportUuid(nid.clone())));
        }
    }
    let services = LOCK_SERVICES.iter();
    let services = services.chain(OST_SERVICES.iter().filter(|_| osts)).chain(MDT_SERVICES.iter().filter(|_| mdts));
    for directory in services {
        let service = directory.rsplit('/').next().unwrap_or_default();
        names.insert(format!("{directory}/stats"), CounterFile::Service(service));
    }
    names
}
