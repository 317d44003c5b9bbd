//! CPU, memory, disks and network of the node.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use lioprof_params::{Tree, base_name};

use super::rows::{Rows, Source, Value};

/// Memory figures that matter to a server, as `/proc/meminfo` names them, and as bytes.
const MEMORY: [(&str, &str); 9] = [
    ("MemTotal", "total_bytes"),
    ("MemFree", "free_bytes"),
    ("MemAvailable", "available_bytes"),
    ("Buffers", "buffers_bytes"),
    ("Cached", "cached_bytes"),
    ("Dirty", "dirty_bytes"),
    ("Writeback", "writeback_bytes"),
    ("Slab", "slab_bytes"),
    ("SReclaimable", "slab_reclaimable_bytes"),
];
/// Columns of `/proc/net/dev` after the interface.
const NETWORK: [(usize, &str); 8] = [
    (0, "rx_bytes"),
    (1, "rx_packets"),
    (2, "rx_errors"),
    (3, "rx_dropped"),
    (8, "tx_bytes"),
    (9, "tx_packets"),
    (10, "tx_errors"),
    (11, "tx_dropped"),
];
/// Files of an InfiniBand port, names here, and the factor to bytes (data is counted in words of 4 bytes).
const INFINIBAND: [(&str, &str, u64); 6] = [
    ("port_rcv_data", "rx_bytes", 4),
    ("port_xmit_data", "tx_bytes", 4),
    ("port_rcv_errors", "rx_errors", 1),
    ("port_xmit_discards", "tx_discards", 1),
    ("port_xmit_wait", "tx_wait_ticks", 1),
    ("link_downed", "link_downed", 1),
];
/// `/proc/diskstats` counts sectors of this size, whatever the device's.
const SECTOR_BYTES: u64 = 512;
/// Disks that are sampled at most.
const MAX_DISKS: usize = 256;

/// CPU time since boot, in milliseconds: `ticks_per_s` is the unit of `/proc/stat`.
pub(super) fn cpu(tree: &mut Tree, ticks_per_s: u64, values: &mut Vec<Value>) {
    let path = tree.node_path("/proc/stat");
    let Some(text) = tree.read_path(&path) else { return };
    let mut rows = Rows::of_node(values, Source::Cpu);
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(entity) = words.next().filter(|name| name.starts_with("cpu")) else { continue };
        // user nice system idle iowait irq softirq steal; guest time is in user time already.
        let ticks: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
        let [user, nice, system, idle, iowait, rest @ ..] = &ticks[..] else { continue };
        let busy = [user, nice, system].into_iter().chain(rest).fold(0_u64, |sum, &part| sum.saturating_add(part));
        let entity = Arc::from(entity);
        for (name, ticks) in [("busy_ms", busy), ("iowait_ms", *iowait), ("idle_ms", *idle)] {
            rows.push(&entity, name, ticks.saturating_mul(1000) / ticks_per_s.max(1));
        }
    }
}

pub(super) fn memory(tree: &mut Tree, values: &mut Vec<Value>) {
    let path = tree.node_path("/proc/meminfo");
    let Some(text) = tree.read_path(&path) else { return };
    let mut rows = Rows::of_node(values, Source::Memory);
    let none = Arc::from("");
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else { continue };
        let Some((_, counter)) = MEMORY.iter().find(|(known, _)| *known == name) else { continue };
        let kilobytes = rest.split_ascii_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        if let Some(kilobytes) = kilobytes {
            rows.push(&none, *counter, kilobytes.saturating_mul(1024));
        }
    }
}

/// The disks behind `devices` (as `mntdev` names them), or all whole disks if these cannot be told (ZFS names a pool).
pub(super) fn disks(tree: &mut Tree, devices: &[String], values: &mut Vec<Value>) {
    let path = tree.node_path("/proc/diskstats");
    let Some(text) = tree.read_path(&path) else { return };
    let wanted: BTreeSet<String> = devices.iter().filter_map(|device| kernel_name(tree, device)).collect();
    let known = |name: &str| text.lines().any(|line| line.split_ascii_whitespace().nth(2) == Some(name));
    let told = !devices.is_empty() && devices.len() <= wanted.len() && wanted.iter().all(|name| known(name));

    let mut rows = Rows::of_node(values, Source::Disk);
    let mut disks = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, _, name, figures @ ..] = &words[..] else { continue };
        let figures: Vec<u64> = figures.iter().map_while(|word| word.parse().ok()).collect();
        let [reads, _, read_sectors, read_ms, writes, _, written_sectors, write_ms, in_flight, io_ms, weighted_ms, ..] =
            figures[..]
        else {
            continue;
        };
        let virtual_disk = ["loop", "ram", "zram", "sr", "fd"].iter().any(|prefix| name.starts_with(prefix));
        let skip = if told { !wanted.contains(*name) } else { virtual_disk };
        if skip || disks == MAX_DISKS {
            continue;
        }
        disks += 1;
        let entity = Arc::from(*name);
        let figures = [
            ("reads", reads),
            ("read_bytes", read_sectors.saturating_mul(SECTOR_BYTES)),
            ("read_ms", read_ms),
            ("writes", writes),
            ("write_bytes", written_sectors.saturating_mul(SECTOR_BYTES)),
            ("write_ms", write_ms),
            ("in_flight", in_flight),
            ("io_ms", io_ms),
            ("weighted_io_ms", weighted_ms),
        ];
        for (counter, value) in figures {
            rows.push(&entity, counter, value);
        }
    }
}

/// What the kernel calls a device: `dm-3` for `/dev/mapper/ost3`.
fn kernel_name(tree: &Tree, device: &str) -> Option<String> {
    if !device.starts_with('/') {
        return None;
    }
    let path = tree.node_path(device);
    let real = fs::canonicalize(&path).unwrap_or(path);
    base_name(&real).map(str::to_owned)
}

pub(super) fn network(tree: &mut Tree, values: &mut Vec<Value>) {
    let path = tree.node_path("/proc/net/dev");
    let Some(text) = tree.read_path(&path) else { return };
    let mut rows = Rows::of_node(values, Source::Network);
    for line in text.lines() {
        let Some((name, figures)) = line.rsplit_once(':') else { continue };
        let figures: Vec<u64> = figures.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
        let entity = Arc::from(name.trim());
        for (at, counter) in NETWORK {
            if let Some(&value) = figures.get(at) {
                rows.push(&entity, counter, value);
            }
        }
    }
}

pub(super) fn infiniband(tree: &mut Tree, values: &mut Vec<Value>) {
    let devices = tree.node_path("/sys/class/infiniband");
    for device in sorted(tree, &devices) {
        let ports = devices.join(&device).join("ports");
        for port in sorted(tree, &ports) {
            let entity = Arc::from(format!("{device}/{port}"));
            for (file, counter, factor) in INFINIBAND {
                let text = tree.read_path(&ports.join(&port).join("counters").join(file));
                if let Some(value) = text.and_then(|text| text.trim().parse::<u64>().ok()) {
                    Rows::of_node(values, Source::Infiniband).push(&entity, counter, value.saturating_mul(factor));
                }
            }
        }
    }
}

fn sorted(tree: &mut Tree, dir: &Path) -> BTreeSet<String> {
    tree.list_path(dir).into_iter().collect()
}
