//! Files of the node that are not Lustre's: modules, memory, CPUs, mounts; and the list of devices.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::node::{FileContent, Flavour, Live, TreeNodes};
use crate::kernel::Kernel;

/// Modules of an OSS and MDS in the order in which `/proc/modules` lists them, with the size and those that use them.
const MODULES: [(&str, u32, &str); 12] = [
    ("ofd", 458_752, ""),
    ("ost", 20_480, ""),
    ("osd_ldiskfs", 495_616, ""),
    ("ldiskfs", 995_328, "osd_ldiskfs"),
    ("mgc", 114_688, ""),
    ("lquota", 421_888, "osd_ldiskfs"),
    ("fid", 36_864, "ofd"),
    ("ptlrpc", 1_835_008, "ofd,ost,mgc,lquota,fid"),
    ("obdclass", 3_403_776, "ofd,ost,osd_ldiskfs,mgc,lquota,fid,ptlrpc"),
    ("ksocklnd", 212_992, ""),
    ("lnet", 974_848, "ptlrpc,obdclass,ksocklnd"),
    ("libcfs", 315_392, "ofd,ost,osd_ldiskfs,mgc,lquota,fid,ptlrpc,obdclass,ksocklnd,lnet"),
];

pub(super) fn add(nodes: &mut TreeNodes, kernel: &Kernel, names: &[String]) {
    let config = &kernel.config;
    for directory in ["sys/kernel/debug", "sys/module", "sys/fs", "proc/fs", "tmp"] {
        nodes.directory(directory);
    }
    nodes.text("proc/modules", Flavour::Procfs, modules(kernel));
    nodes.text("proc/sys/kernel/osrelease", Flavour::Sysfs, format!("{}\n", config.version.kernel_release()));
    nodes.text("sys/kernel/security/lockdown", Flavour::Sysfs, "[none] integrity confidentiality\n");
    nodes.text("proc/meminfo", Flavour::Procfs, meminfo(config.ram_mib as u64));
    nodes.text("proc/mounts", Flavour::Procfs, mounts(names, kernel.has_lustre()));
    nodes.text("proc/diskstats", Flavour::Procfs, diskstats(names));
    let possible = format!("0-{}\n", config.cpus - 1);
    nodes.text("sys/devices/system/cpu/possible", Flavour::Sysfs, possible.clone());
    nodes.text("sys/devices/system/cpu/online", Flavour::Sysfs, possible);
    nodes.file("proc/stat", 0o444, Flavour::Procfs, FileContent::Live(Live::ProcStat));
    nodes.file("proc/uptime", 0o444, Flavour::Procfs, FileContent::Live(Live::Uptime));
}

/// Modules that LNet needs: those at the end of the list.
const LNET: usize = 3;

fn modules(kernel: &Kernel) -> String {
    let skipped = match (kernel.is_loaded(), kernel.has_lustre()) {
        (_, true) => 0,
        (true, false) => MODULES.len() - LNET,
        (false, false) => MODULES.len(),
    };
    let mut text = String::new();
    let mut address = 0xffff_ffff_c0a0_0000_u64;
    for (name, size, used_by) in MODULES.iter().skip(skipped) {
        let users = used_by.split(',').filter(|user| !user.is_empty()).count();
        let list = if used_by.is_empty() { "-".to_owned() } else { format!("{used_by},") };
        writeln!(text, "{name} {size} {users} {list} Live 0x{address:016x} (OE)").unwrap_or_default();
        address += u64::from(*size);
    }
    text.push_str("ext4 983040 1 - Live 0xffffffffc0400000\nfuse 176128 1 - Live 0xffffffffc0300000\n");
    text
}

fn meminfo(ram_mib: u64) -> String {
    let kib = ram_mib << 10;
    format!("MemTotal:       {kib:>8} kB\nMemFree:        {:>8} kB\nMemAvailable:   {:>8} kB\n", kib / 2, kib / 4 * 3)
}

/// Targets of the node, `lustre-OST0000` and the like.
fn targets(names: &[String]) -> BTreeSet<&str> {
    let target = |name: &'static str| {
        names.iter().filter_map(move |path| path.strip_prefix(name)?.split('/').next()).collect::<BTreeSet<_>>()
    };
    target("obdfilter/").union(&target("mdt/")).copied().collect()
}

fn mounts(names: &[String], loaded: bool) -> String {
    let mut text = String::from("/dev/vda1 / ext4 rw,relatime 0 0\ndebugfs /sys/kernel/debug debugfs rw 0 0\n");
    for (disk, target) in (b'b'..=b'z').zip(targets(names)).filter(|_| loaded) {
        let disk = char::from(disk);
        writeln!(text, "/dev/vd{disk} /mnt/{target} lustre ro,svname={target},osd=osd-ldiskfs 0 0").unwrap_or_default();
    }
    text
}

fn diskstats(names: &[String]) -> String {
    let mut text = String::from(" 254       0 vda 1000 0 80000 900 500 0 40000 700 0 1200 1600\n");
    for (number, (disk, _)) in (b'b'..=b'z').zip(targets(names)).enumerate() {
        let (minor, disk) = ((number + 1) * 16, char::from(disk));
        writeln!(text, " 254 {minor:>7} vd{disk} 0 0 0 0 0 0 0 0 0 0 0").unwrap_or_default();
    }
    text
}

/// `/proc/stat` of a node that has been idle for so long, hundredths of a second.
pub(super) fn proc_stat(cpus: u16, ticks: u64) -> String {
    let mut text = format!("cpu  0 0 0 {} 0 0 0 0 0 0\n", ticks * u64::from(cpus));
    for cpu in 0..cpus {
        writeln!(text, "cpu{cpu} 0 0 0 {ticks} 0 0 0 0 0 0").unwrap_or_default();
    }
    text
}

/// What `lctl dl` prints: index, status, type, name, uuid, references.
pub(super) fn devices(names: &[String]) -> String {
    let mut rows: Vec<(&str, String, String, u32)> = Vec::new();
    let targets = targets(names);
    for target in &targets {
        let osd = format!("{target}-osd");
        rows.push(("osd-ldiskfs", osd.clone(), format!("{osd}_UUID"), 10));
    }
    if !targets.is_empty() {
        let uuid = "30c5a8b2-6f5d-4c79-9f0b-0a7d5b1e2c44".to_owned();
        rows.push(("mgc", "MGC10.10.0.1@tcp".to_owned(), uuid, 4));
    }
    if targets.iter().any(|target| target.contains("-MDT")) {
        rows.push(("mds", "MDS".to_owned(), "MDS_uuid".to_owned(), 2));
    }
    if targets.iter().any(|target| target.contains("-OST")) {
        rows.push(("ost", "OSS".to_owned(), "OSS_uuid".to_owned(), 2));
    }
    for target in &targets {
        let kind = if target.contains("-MDT") { "mdt" } else { "obdfilter" };
        rows.push((kind, (*target).to_owned(), format!("{target}_UUID"), 8));
        if let Some((fsname, index)) = target.split_once("-OST") {
            let lwp = format!("{fsname}-MDT0000-lwp-OST{index}");
            rows.push(("lwp", lwp.clone(), format!("{lwp}_UUID"), 4));
        }
    }
    let mut text = String::new();
    for (index, (kind, name, uuid, references)) in rows.into_iter().enumerate() {
        writeln!(text, "{index:>3} UP {kind} {name} {uuid} {references}").unwrap_or_default();
    }
    text
}
