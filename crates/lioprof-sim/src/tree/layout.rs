//! Which files there are and where: `/proc`, `/sys`, debugfs by Lustre version.

use super::Stats;
use super::node::{FileContent, Flavour, Live, TreeNode, TreeNodes};
use super::{state, system};
use crate::kernel::{Kernel, LustreVersion, Mask, Parameter};

const DEBUGFS_LNET: &str = "sys/kernel/debug/lnet";
const PARAMETERS: &str = "sys/module/libcfs/parameters";
const DEBUGFS_LUSTRE: &str = "sys/kernel/debug/lustre";
const SYSFS_LUSTRE: &str = "sys/fs/lustre";
const PROC_LUSTRE: &str = "proc/fs/lustre";

/// Parameters of libcfs: name in the directory of LNet, name as a parameter of the module.
const LIBCFS_PARAMETERS: [(&str, &str, FileContent); 7] = [
    ("debug_mb", "libcfs_debug_mb", FileContent::DebugMb),
    ("debug_path", "libcfs_debug_file_path", FileContent::Parameter(Parameter::DebugPath)),
    ("console_ratelimit", "libcfs_console_ratelimit", FileContent::Parameter(Parameter::ConsoleRatelimit)),
    ("console_backoff", "libcfs_console_backoff", FileContent::Parameter(Parameter::ConsoleBackoff)),
    ("console_max_delay_centisecs", "libcfs_console_max_delay", FileContent::Parameter(Parameter::ConsoleMaxDelay)),
    ("console_min_delay_centisecs", "libcfs_console_min_delay", FileContent::Parameter(Parameter::ConsoleMinDelay)),
    ("panic_on_lbug", "libcfs_panic_on_lbug", FileContent::Parameter(Parameter::PanicOnLbug)),
];

/// All nodes as they are now.
pub(super) fn nodes(kernel: &Kernel, stats: &dyn Stats) -> TreeNodes {
    let mut nodes = TreeNodes::default();
    let names = stats.names();
    system::add(&mut nodes, kernel, &names);
    simulator(&mut nodes);
    if kernel.is_loaded() {
        let version = kernel.config.version;
        if version.lnet_in_debugfs() {
            debugfs_lnet(&mut nodes, kernel);
        } else {
            proc_lnet(&mut nodes, kernel);
        }
        parameters(&mut nodes, version);
        if kernel.has_lustre() {
            lustre(&mut nodes, version, &names);
        }
    }
    nodes
}

fn simulator(nodes: &mut TreeNodes) {
    nodes.file("dev/kmsg", 0o644, Flavour::Procfs, FileContent::Kmsg);
    nodes.file("sim/ctl", 0o644, Flavour::Debugfs, FileContent::Director);
    nodes.file("sim/account", 0o444, Flavour::Debugfs, FileContent::Live(Live::Account));
    let script = include_bytes!("lctl.sh").to_vec();
    nodes.file("bin/lctl", 0o755, Flavour::Procfs, FileContent::Text(script));
}

/// After the tables `lnet_table` and `lnet_debugfs_symlinks` of libcfs `module.c`.
fn debugfs_lnet(nodes: &mut TreeNodes, kernel: &Kernel) {
    let version = kernel.config.version;
    lnet_table(nodes, DEBUGFS_LNET, Flavour::Debugfs, kernel);
    let mut file = |name: &str, mode, content| {
        nodes.file(&format!("{DEBUGFS_LNET}/{name}"), mode, Flavour::Debugfs, content);
    };
    if version.has_subsystem_printk() {
        file("subsystem_printk", 0o644, FileContent::Mask(Mask::SubsystemPrintk));
    }
    if version.has_debug_marker() {
        file("debug_marker", 0o200, FileContent::DebugMarker);
    }
    for (name, parameter, _) in LIBCFS_PARAMETERS {
        nodes.link(&format!("{DEBUGFS_LNET}/{name}"), &format!("../../../module/libcfs/parameters/{parameter}"));
    }
}

/// `/proc/sys/lnet` of 2.10.
fn proc_lnet(nodes: &mut TreeNodes, kernel: &Kernel) {
    const DIRECTORY: &str = "proc/sys/lnet";
    lnet_table(nodes, DIRECTORY, Flavour::Sysfs, kernel);
    for (name, _, content) in LIBCFS_PARAMETERS {
        nodes.file(&format!("{DIRECTORY}/{name}"), 0o644, Flavour::Sysfs, content);
    }
}

/// Files that both places have.
fn lnet_table(nodes: &mut TreeNodes, directory: &str, flavour: Flavour, kernel: &Kernel) {
    let mut file = |name: &str, mode, content| nodes.file(&format!("{directory}/{name}"), mode, flavour, content);
    file("debug", 0o644, FileContent::Mask(Mask::Debug));
    file("subsystem_debug", 0o644, FileContent::Mask(Mask::SubsystemDebug));
    file("printk", 0o644, FileContent::Mask(Mask::Printk));
    file("daemon_file", 0o644, FileContent::DaemonFile);
    file("dump_kernel", 0o200, FileContent::DumpKernel);
    file("lnet_memused", 0o444, FileContent::Text(b"52428800\n".to_vec()));
    file("catastrophe", 0o444, FileContent::Text(b"0\n".to_vec()));
    let cpus: String = (0..kernel.config.cpus).map(|cpu| format!(" {cpu}")).collect();
    file("cpu_partition_table", 0o444, FileContent::Text(format!("0\t:{cpus}\n").into_bytes()));
    state::lnet(nodes, directory, flavour);
}

fn parameters(nodes: &mut TreeNodes, version: LustreVersion) {
    let mut file = |name: &str, content| nodes.file(&format!("{PARAMETERS}/{name}"), 0o644, Flavour::Sysfs, content);
    file("libcfs_debug", FileContent::MaskNumber(Mask::Debug, true));
    file("libcfs_subsystem_debug", FileContent::MaskNumber(Mask::SubsystemDebug, true));
    file("libcfs_printk", FileContent::MaskNumber(Mask::Printk, false));
    for (_, name, content) in LIBCFS_PARAMETERS {
        file(name, content);
    }
    if version.has_subsystem_printk() {
        file("libcfs_subsystem_printk", FileContent::MaskNumber(Mask::SubsystemPrintk, false));
        file("libcfs_debug_raw_pointers", FileContent::Parameter(Parameter::RawPointers));
    }
    nodes.text(&format!("{PARAMETERS}/cpu_npartitions"), Flavour::Sysfs, "0\n");
    nodes.text(&format!("{PARAMETERS}/cpu_pattern"), Flavour::Sysfs, "N\n");
}

fn lustre(nodes: &mut TreeNodes, version: LustreVersion, names: &[String]) {
    for directory in [DEBUGFS_LUSTRE, SYSFS_LUSTRE, PROC_LUSTRE] {
        nodes.directory(directory);
    }
    nodes.text(&format!("{SYSFS_LUSTRE}/version"), Flavour::Sysfs, format!("{}\n", version.full()));
    nodes.text(&format!("{SYSFS_LUSTRE}/health_check"), Flavour::Sysfs, "healthy\n");
    nodes.text(&format!("{SYSFS_LUSTRE}/pinger"), Flavour::Sysfs, "on\n");
    nodes.text(&format!("{SYSFS_LUSTRE}/jobid_var"), Flavour::Sysfs, "disable\n");
    nodes.text(&format!("{SYSFS_LUSTRE}/jobid_name"), Flavour::Sysfs, "%e.%u\n");
    nodes.text(&format!("{DEBUGFS_LUSTRE}/devices"), Flavour::Debugfs, system::devices(names));
    for name in names {
        let (directory, flavour) = place(name, version);
        let mode = if name.ends_with("stats") { 0o644 } else { 0o444 };
        nodes.file(&format!("{directory}/{name}"), mode, flavour, FileContent::Stats(name.clone()));
        // The statistics of disk I/O moved to the OSD; the old place is a link.
        if let Some(target) = name.strip_suffix("/brw_stats").and_then(|name| name.strip_prefix("osd-ldiskfs/"))
            && version >= LustreVersion::V2_15
            && target.contains("-OST")
        {
            let path = format!("{DEBUGFS_LUSTRE}/obdfilter/{target}/brw_stats");
            if !matches!(nodes.get(&path), Some(TreeNode::File { .. })) {
                nodes.link(&path, &format!("../../osd-ldiskfs/{target}/brw_stats"));
            }
        }
    }
    state_files(nodes, version, names);
}

/// Files that no counters are in, where a capture did not bring them along.
fn state_files(nodes: &mut TreeNodes, version: LustreVersion, names: &[String]) {
    for (name, text) in state::files(names) {
        let (directory, flavour) = place(&name, version);
        let path = format!("{directory}/{name}");
        if nodes.get(&path).is_none() {
            nodes.text(&path, flavour, text);
        }
    }
}

/// Where a parameter of this name is.
fn place(name: &str, version: LustreVersion) -> (&'static str, Flavour) {
    const PROC: (&str, Flavour) = (PROC_LUSTRE, Flavour::Procfs);
    const DEBUGFS: (&str, Flavour) = (DEBUGFS_LUSTRE, Flavour::Debugfs);
    const SYSFS: (&str, Flavour) = (SYSFS_LUSTRE, Flavour::Sysfs);
    if version < LustreVersion::V2_15 {
        return PROC;
    }
    let (kind, rest) = name.split_once('/').unwrap_or((name, ""));
    let leaf = rest.rsplit('/').next().unwrap_or_default();
    let table =
        leaf.ends_with("stats") || rest.contains("/exports/") || ["req_history", "recovery_status"].contains(&leaf);
    match kind {
        "obdfilter" | "mdt" | "mgs" if table && !version.target_counters_in_debugfs() => PROC,
        "ldlm" if rest.starts_with("namespaces/") => SYSFS,
        "ost" | "mds" | "ldlm" if leaf.starts_with("threads_") || leaf == "high_priority_ratio" => SYSFS,
        "ost" | "mds" | "ldlm" => DEBUGFS,
        _ if table => DEBUGFS,
        _ => SYSFS,
    }
}
