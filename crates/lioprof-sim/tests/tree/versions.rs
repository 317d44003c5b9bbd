//! Where the files are, by Lustre version.

use lioprof_sim::kernel::LustreVersion;
use rustix::io::Errno;

use crate::Server;

#[test]
fn files_are_where_each_version_has_them() {
    let lnet = [
        "debug",
        "subsystem_debug",
        "printk",
        "daemon_file",
        "dump_kernel",
        "debug_mb",
        "debug_path",
        "console_ratelimit",
        "cpu_partition_table",
    ];
    let ost = "obdfilter/lustre-OST0000";
    for (version, lnet_at, stats_at, values_at) in [
        (LustreVersion::V2_10, "proc/sys/lnet", "proc/fs/lustre", "proc/fs/lustre"),
        (LustreVersion::V2_15, "sys/kernel/debug/lnet", "proc/fs/lustre", "sys/fs/lustre"),
        (LustreVersion::V2_17, "sys/kernel/debug/lnet", "sys/kernel/debug/lustre", "sys/fs/lustre"),
    ] {
        let server = Server::new(version);
        for name in lnet {
            assert!(server.path(&format!("{lnet_at}/{name}")).exists(), "{version}: {lnet_at}/{name}");
        }
        for (path, exists) in [
            ("proc/sys/lnet", version == LustreVersion::V2_10),
            ("sys/kernel/debug/lnet", version != LustreVersion::V2_10),
            ("sys/kernel/debug/lnet/debug_marker", version == LustreVersion::V2_17),
            ("sys/kernel/debug/lnet/subsystem_printk", version == LustreVersion::V2_17),
            (&format!("{stats_at}/{ost}/stats"), true),
            (&format!("{stats_at}/{ost}/job_stats"), true),
            (&format!("{values_at}/{ost}/kbytesfree"), true),
        ] {
            assert_eq!(server.path(path).exists(), exists, "{version}: {path}");
        }
        assert_eq!(server.read("sys/fs/lustre/version"), format!("{}\n", version.full()));
        assert!(version.full().starts_with(&version.to_string()));
        assert_eq!(server.read("sys/fs/lustre/health_check"), "healthy\n");
        server.write(&format!("{lnet_at}/debug"), "rpctrace").unwrap();
        assert_eq!(server.read(&format!("{lnet_at}/debug")), "warning error emerg rpctrace console\n");
        server.write(&format!("{lnet_at}/debug_mb"), "200").unwrap();
        assert_eq!(server.read(&format!("{lnet_at}/debug_mb")), "201\n");
    }
}

#[test]
fn proc_of_2_10_refuses_what_sysctl_refuses() {
    let server = Server::new(LustreVersion::V2_10);
    assert_eq!(server.write("proc/sys/lnet/catastrophe", "1"), Err(Errno::ACCESS));
    assert_eq!(server.write("proc/sys/lnet/debug", vec![b' '; 8192]), Err(Errno::INVAL));
    assert_eq!(server.write("proc/sys/lnet/daemon_file", " /tmp/x"), Err(Errno::INVAL), "leading blanks stay");
    server.write("sim/ctl", "mark before 2.15.62 this is an ioctl").unwrap();
    let line = "DEBUG MARKER: before 2.15.62 this is an ioctl";
    assert!(server.kernel.kernel_log().texts().iter().any(|text| text.ends_with(line)));
}

#[test]
fn the_node_looks_like_one() {
    let server = Server::new(LustreVersion::V2_15);
    assert_eq!(server.read("proc/sys/kernel/osrelease"), "5.10.0-32-amd64\n");
    assert!(server.read("sys/kernel/security/lockdown").starts_with("[none]"));
    assert!(server.read("proc/meminfo").starts_with("MemTotal:       67108864 kB\n"));
    assert_eq!(server.read("sys/devices/system/cpu/possible"), "0-1\n");
    assert_eq!(server.read("proc/stat").lines().count(), 3);
    assert!(server.read("proc/mounts").contains("svname=lustre-OST0001"));
    assert!(server.read("proc/diskstats").lines().all(|line| line.split_whitespace().count() == 14));
    for line in server.read("proc/modules").lines() {
        let fields: Vec<_> = line.split(' ').collect();
        assert!(fields.len() >= 6 && fields[1].parse::<u64>().is_ok() && fields[2].parse::<u32>().is_ok(), "{line}");
        assert!(fields[4] == "Live" && fields[5].starts_with("0xffffffffc"), "{line}");
    }
}
