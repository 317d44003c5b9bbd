//! Made-up nodes: many clients, disks, none of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::counters::rows::Source;
use crate::counters::{Sampler, SamplerOptions};

#[test]
fn many_clients_cost_little() {
    const CLIENTS: u64 = 3000;
    let root = tempfile::tempdir().unwrap();
    let exports = root.path().join("sys/kernel/debug/lustre/obdfilter/fs-OST0000/exports");
    let nid = |at: u64| format!("10.0.{}.{}@o2ib", at / 256, at % 256);
    let set = |at: u64, bytes: u64| {
        fs::create_dir_all(exports.join(nid(at))).unwrap();
        let stats = format!("snapshot_time 9.0 secs.nsecs\nread_bytes 1 samples [bytes] {bytes} {bytes} {bytes}\n");
        fs::write(exports.join(nid(at)).join("stats"), stats).unwrap();
        fs::write(exports.join(nid(at)).join("ldlm_stats"), "ldlm_cancel 3 samples [reqs]\n").unwrap();
        fs::write(exports.join(nid(at)).join("uuid"), format!("uuid-{at}\nsecond-{at}\n")).unwrap();
    };
    (0..CLIENTS).for_each(|at| set(at, 1000 + at));
    fs::write(exports.join("clear"), "").unwrap();

    let options = SamplerOptions { clients_every: 3, top_clients: 5, ..SamplerOptions::default() };
    let mut sampler = Sampler::new(root.path(), options);
    let mut busiest = Vec::new();
    for round in 0..4 {
        // Client 7 becomes busy after the first sample.
        if round == 1 {
            set(7, 50_000);
        }
        let sample = sampler.sample(round);
        let files = sample.cost.files;
        if round % 3 == 0 {
            assert!((CLIENTS..CLIENTS + 30).contains(&files), "one file for each client and few more: {files}");
            assert_eq!(sample.cost.reads, 2 * files, "one call for the text, one to see its end");
            assert_eq!(sample.totals.clients.as_ref().unwrap().len(), 3000);
        } else {
            assert!(files < 10, "{files}");
            assert_eq!(sample.totals.clients, None);
        }
        let named =
            sample.values.iter().filter(|it| it.source == Source::ExportStats && it.counter == "read_bytes.sum");
        let rows: Vec<_> = named.map(|it| (it.entity.to_string(), it.value)).collect();
        if round % 3 == 0 {
            assert_eq!(rows.len(), 6, "five and the others: {rows:?}");
            let all: u64 = (0..CLIENTS).map(|at| if round > 0 && at == 7 { 50_000 } else { 1000 + at }).sum();
            assert_eq!(rows.iter().map(|(_, sum)| sum).sum::<u64>(), all);
            busiest.push(rows[0].0.clone());
        }
    }
    assert_eq!(busiest, [nid(CLIENTS - 1), nid(7)]);

    let cut = SamplerOptions { max_exports: 100, ..options };
    let sample = Sampler::new(root.path(), cut).sample(0);
    assert!(sample.totals.clients_cut && sample.cost.files < 130);
    let count = sample.values.iter().find(|it| it.counter == "export_nids");
    assert_eq!(count.map(|it| it.value), Some(3000));
}

#[test]
fn the_machine_and_the_disks_of_the_targets() {
    let root = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("proc/stat", "cpu  100 0 50 1000 25 0 5 0 0 0\ncpu0 100 0 50 1000 25 0 5 0 0 0\nintr 1 2 3\n");
    put("proc/meminfo", "MemTotal:       16384 kB\nMemFree:         1024 kB\nHugePages_Total:       0\n");
    let disk = |name: &str, sectors: u64| format!("   8 0 {name} 10 0 {sectors} 30 4 0 16 5 0 40 50 0 0 0 0 0 0\n");
    put("proc/diskstats", &(disk("sda", 8) + &disk("dm-3", 800) + &disk("loop0", 1)));
    put("proc/net/dev", "Inter-|\n face |bytes\n  ib0: 7 1 0 0 0 0 0 0 9 2 0 0 0 0 0 0\n");
    put("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "25\n");
    put("sys/fs/lustre/obdfilter/fs-OST0000/num_exports", "3\n");
    put("sys/fs/lustre/osd-ldiskfs/fs-OST0000/mntdev", "/dev/mapper/ost0\n");
    put("sys/fs/lustre/osd-ldiskfs/fs-OST0000/kbytesavail", "77\n");
    put("dev/dm-3", "");
    fs::create_dir_all(root.path().join("dev/mapper")).unwrap();
    std::os::unix::fs::symlink("../dm-3", root.path().join("dev/mapper/ost0")).unwrap();

    let figures = |root: &Path| -> BTreeMap<(String, String, String), u64> {
        let values = Sampler::new(root, SamplerOptions::default()).sample(0).values;
        let rows = values.into_iter().filter(|it| it.source != Source::Sampler);
        rows.map(|it| ((<&str>::from(it.source).to_owned(), it.entity.to_string(), it.counter.into_owned()), it.value))
            .collect()
    };
    let found = figures(root.path());
    let value = |source: &str, entity: &str, counter: &str| {
        found.get(&(source.to_owned(), entity.to_owned(), counter.to_owned())).copied()
    };
    // 155 ticks of 10 ms: user, system, softirq.
    assert_eq!(value("cpu", "cpu0", "busy_ms"), Some(1550));
    assert_eq!(value("cpu", "cpu", "iowait_ms"), Some(250));
    assert_eq!(value("memory", "", "total_bytes"), Some(16 << 20));
    assert_eq!(value("disk", "dm-3", "read_bytes"), Some(800 * 512));
    assert_eq!(value("disk", "dm-3", "io_ms"), Some(40));
    assert_eq!(value("disk", "sda", "reads"), None, "no disk of a target");
    assert_eq!((value("network", "ib0", "rx_bytes"), value("network", "ib0", "tx_bytes")), (Some(7), Some(9)));
    assert_eq!(value("infiniband", "mlx5_0/1", "rx_bytes"), Some(100));
    assert_eq!(value("target", "", "kbytesavail"), Some(77));

    put("sys/fs/lustre/osd-ldiskfs/fs-OST0000/mntdev", "pool/ost0\n");
    let disks: Vec<String> =
        figures(root.path()).into_keys().filter(|it| it.0 == "disk" && it.2 == "reads").map(|it| it.1).collect();
    assert_eq!(disks, ["dm-3", "sda"], "a pool does not name its disks, so all are taken");
}

#[test]
fn a_node_without_anything() {
    let root = tempfile::tempdir().unwrap();
    let sample = Sampler::new(root.path(), SamplerOptions::default()).sample(0);
    assert_eq!(sample.totals.targets.len(), 0);
    assert!(sample.values.iter().all(|it| it.source == Source::Sampler), "{:?}", sample.values);
}
