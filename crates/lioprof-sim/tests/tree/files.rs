//! Control files: contents, modes, errors, the account, modules that go away.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::sync::Arc;

use lioprof_sim::kernel::LustreVersion;
use lioprof_sim::tree::{FixedStats, Tree};
use rustix::io::Errno;

use crate::reader::records;
use crate::{Server, record};

const LNET: &str = "sys/kernel/debug/lnet";
const PARAMETERS: &str = "sys/module/libcfs/parameters";

#[test]
fn a_capture_as_an_administrator_makes_it() {
    let server = Server::new(LustreVersion::V2_17);
    let lnet = |name: &str| format!("{LNET}/{name}");
    assert_eq!(server.read(&lnet("debug")), "ioctl neterror warning error emerg ha config console lfsck\n");
    assert_eq!(server.read(&lnet("daemon_file")), "");

    server.write(&lnet("debug_mb"), "200\n").unwrap();
    assert_eq!(server.read(&lnet("debug_mb")), "201\n");
    assert_eq!(server.read(&format!("{PARAMETERS}/libcfs_debug_mb")), "201\n");
    let file = server.scratch("rpc.bin");
    server.write(&lnet("daemon_file"), "size=20").unwrap();
    server.write(&lnet("daemon_file"), format!("{}\n", file.display())).unwrap();
    assert_eq!(server.read(&lnet("daemon_file")), format!("{}\n", file.display()));
    server.write(&lnet("subsystem_debug"), "rpc filter ldlm").unwrap();
    assert_eq!(server.read(&lnet("subsystem_debug")), "rpc filter ldlm\n");
    server.write(&lnet("debug"), "+rpctrace").unwrap();
    (0..10).for_each(|number| assert_eq!(server.kernel.log(&record(number)), lioprof_sim::kernel::Outcome::Logged));
    server.write(&lnet("debug_marker"), "end\0").unwrap();
    server.write(&lnet("debug"), "-rpctrace").unwrap();
    server.kernel.log(&record(10));
    server.write(&lnet("daemon_file"), "stop").unwrap();

    let written = records(&fs::read(&file).unwrap());
    assert_eq!(written.len(), 11);
    assert_eq!(written[10].text, "DEBUG MARKER: end\n");
    let writer = rustix::thread::gettid().as_raw_nonzero().get();
    assert_eq!(written[10].pid, writer.cast_unsigned(), "the marker's pid is that of the writing task");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let account: serde_json::Value = serde_json::from_str(&server.read("sim/account")).unwrap();
    assert_eq!(account["total"]["written"]["records"], 11);
    // The last record, and the two lines of mask trace around the marker.
    assert_eq!(account["masked_records"], 3);
}

#[test]
fn commands_fail_with_the_errors_of_the_kernel() {
    let server = Server::new(LustreVersion::V2_17);
    let write = |name: &str, text: &[u8]| server.write(&format!("{LNET}/{name}"), text);
    assert_eq!(write("debug", b"+nonsense"), Err(Errno::INVAL));
    assert_eq!(write("debug", &[b' '; 65_536]), Err(Errno::TOOBIG));
    assert_eq!(write("daemon_file", b"relative/path"), Err(Errno::INVAL));
    assert_eq!(write("daemon_file", &[b'/'; 1024]), Err(Errno::NAMETOOLONG));
    assert_eq!(write("daemon_file", b"size=ten"), Err(Errno::INVAL));
    assert_eq!(write("dump_kernel", b"relative"), Err(Errno::INVAL));
    assert_eq!(write("debug_marker", b"no NUL"), Err(Errno::INVAL));
    assert_eq!(write("debug_mb", b"much"), Err(Errno::INVAL));
    let dump = server.scratch("dump");
    assert_eq!(write("dump_kernel", dump.to_str().unwrap().as_bytes()), Ok(()));
    assert_eq!(write("dump_kernel", dump.to_str().unwrap().as_bytes()), Err(Errno::EXIST));
    assert_eq!(server.write("sim/ctl", "nonsense"), Err(Errno::INVAL));
}

#[test]
fn what_cannot_be_read_or_written_is_refused_even_to_root() {
    let server = Server::new(LustreVersion::V2_17);
    let kind = |result: std::io::Result<usize>| Errno::from_io_error(&result.unwrap_err()).unwrap();
    // debugfs lets root open a file and fails then, sysfs does not let it open.
    let mut marker = File::open(server.path(&format!("{LNET}/debug_marker"))).unwrap();
    assert_eq!(kind(marker.read(&mut [0; 10])), Errno::INVAL);
    assert_eq!(server.write(&format!("{LNET}/catastrophe"), "1"), Err(Errno::INVAL));
    assert_eq!(server.write("sys/fs/lustre/version", "3"), Err(Errno::ACCESS));
    for (path, mode) in [
        (format!("{LNET}/debug"), 0o644),
        (format!("{LNET}/daemon_file"), 0o644),
        (format!("{LNET}/dump_kernel"), 0o200),
        (format!("{LNET}/debug_marker"), 0o200),
        (format!("{PARAMETERS}/libcfs_debug_mb"), 0o644),
        ("sys/fs/lustre/version".to_owned(), 0o444),
        ("bin/lctl".to_owned(), 0o755),
    ] {
        assert_eq!(fs::metadata(server.path(&path)).unwrap().permissions().mode() & 0o7777, mode, "{path}");
    }
    let created = File::create(server.path(&format!("{LNET}/new")));
    assert_eq!(created.unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert!(fs::remove_file(server.path(&format!("{LNET}/debug"))).is_err());
    assert!(fs::create_dir(server.path("sys/new")).is_err());
}

#[test]
fn links_lead_to_the_module_parameters() {
    let server = Server::new(LustreVersion::V2_17);
    for (name, target) in [("debug_mb", "libcfs_debug_mb"), ("debug_path", "libcfs_debug_file_path")] {
        let link = fs::read_link(server.path(&format!("{LNET}/{name}"))).unwrap();
        assert_eq!(link.to_str().unwrap(), format!("../../../module/libcfs/parameters/{target}"));
    }
    assert_eq!(server.read(&format!("{LNET}/debug_path")), "/tmp/lustre-log\n");
    server.write(&format!("{PARAMETERS}/libcfs_debug"), "0x100200").unwrap();
    assert_eq!(server.read(&format!("{LNET}/debug")), "net rpctrace\n");
    server.write(&format!("{PARAMETERS}/libcfs_subsystem_debug"), "-1").unwrap();
    assert_eq!(server.read(&format!("{PARAMETERS}/libcfs_subsystem_debug")), "-1\n");
    assert_eq!(server.read(&format!("{PARAMETERS}/libcfs_debug")), "1049088\n");
}

#[test]
fn a_file_can_be_read_in_pieces_and_again() {
    let server = Server::new(LustreVersion::V2_17);
    let file = File::open(server.path(&format!("{LNET}/subsystem_debug"))).unwrap();
    let mut pieces = Vec::new();
    let mut piece = [0; 7];
    loop {
        let read = file.read_at(&mut piece, pieces.len() as u64).unwrap();
        if read == 0 {
            break;
        }
        pieces.extend_from_slice(&piece[..read]);
    }
    assert_eq!(String::from_utf8(pieces).unwrap(), server.read(&format!("{LNET}/subsystem_debug")));
    server.write(&format!("{LNET}/subsystem_debug"), "rpc").unwrap();
    let read = file.read_at(&mut piece, 0).unwrap();
    assert_eq!(&piece[..read], b"rpc\n", "reading from the start again shows what is there now");
}

#[test]
fn when_the_modules_are_unloaded_their_files_are_gone() {
    let server = Server::new(LustreVersion::V2_17);
    let mut open = OpenOptions::new().read(true).open(server.path(&format!("{LNET}/debug"))).unwrap();
    assert!(server.read("proc/modules").lines().any(|line| line.starts_with("ptlrpc ") && line.ends_with("(OE)")));
    server.write("sim/ctl", "unload").unwrap();
    assert_eq!(server.write("sim/ctl", "unload"), Err(Errno::NOENT));
    for gone in [LNET, PARAMETERS, "sys/fs/lustre", "proc/fs/lustre", "sys/kernel/debug/lustre/devices"] {
        assert_eq!(fs::metadata(server.path(gone)).unwrap_err().kind(), ErrorKind::NotFound, "{gone}");
    }
    assert_eq!(server.write(&format!("{LNET}/debug"), "0"), Err(Errno::NOENT));
    assert_eq!(Errno::from_io_error(&open.read(&mut [0; 10]).unwrap_err()), Some(Errno::IO));
    assert!(!server.read("proc/modules").contains("ptlrpc"));
    assert!(!server.read("proc/mounts").contains("svname"));
    // First LNet, then the rest: as at boot.
    server.write("sim/ctl", "load lnet").unwrap();
    assert_eq!(server.write("sim/ctl", "load lnet"), Err(Errno::EXIST));
    assert_eq!(server.read(&format!("{LNET}/debug")), "ioctl neterror warning error emerg ha config console lfsck\n");
    let modules = server.read("proc/modules");
    assert!(modules.contains("libcfs ") && modules.contains("lnet ") && !modules.contains("obdclass "), "{modules}");
    for missing in ["sys/fs/lustre", "sys/kernel/debug/lustre/devices"] {
        assert_eq!(fs::metadata(server.path(missing)).unwrap_err().kind(), ErrorKind::NotFound, "{missing}");
    }
    server.write(&format!("{LNET}/debug"), "+rpctrace").unwrap();
    server.write("sim/ctl", "load").unwrap();
    assert_eq!(server.write("sim/ctl", "load"), Err(Errno::EXIST));
    assert!(server.read(&format!("{LNET}/debug")).contains("rpctrace"), "LNet's settings stay");
    assert!(server.read("proc/modules").contains("obdclass ") && server.read("proc/mounts").contains("svname"));
}

#[test]
fn the_directors_commands_reach_the_kernel() {
    let server = Server::new(LustreVersion::V2_17);
    let file = server.scratch("rpc.bin");
    server.write(&format!("{LNET}/debug"), "+rpctrace").unwrap();
    server.write("sim/ctl", "stall on").unwrap();
    server.write(&format!("{LNET}/daemon_file"), file.to_str().unwrap()).unwrap();
    server.write("sim/ctl", "burst 100000").unwrap();
    server.write("sim/ctl", "enospc 5000").unwrap();
    server.write("sim/ctl", "stall off").unwrap();
    lioprof_testkit::eventually("the disk is full", || server.read("sim/account").contains("\"torn_bytes\": 9"));
    server.write("sim/ctl", "enospc off").unwrap();
    server.write("sim/ctl", "clockstep -3000000").unwrap();
    server.write(&format!("{LNET}/daemon_file"), "stop").unwrap();
    let account = server.kernel.account();
    assert_eq!(account.total.logged.records, 100_000);
    assert!(account.total.lost.overflow.records > 0);
    assert_eq!(account.total.written.records + account.total.lost.overflow.records, 100_000);
    assert!(server.read("sim/ctl").contains("\"daemon_runs\":false"));
}

#[test]
fn a_buffer_full_of_old_records_comes_first_into_the_daemons_file() {
    let server = Server::new(LustreVersion::V2_17);
    server.write("sim/ctl", "old 1000").unwrap();
    assert_eq!(server.write("sim/ctl", "old many"), Err(Errno::INVAL));
    assert_eq!(server.kernel.account().total.pending.records, 1000);
    let file = server.scratch("rpc.bin");
    server.write(&format!("{LNET}/daemon_file"), file.to_str().unwrap()).unwrap();
    server.write(&format!("{LNET}/daemon_file"), "stop").unwrap();
    let records = records(&fs::read(&file).unwrap());
    assert_eq!(records.len(), 1000);
    let times = || records.iter().map(|record| record.time_us);
    let span_s = (times().max().unwrap() - times().min().unwrap()) / 1_000_000;
    assert!((3590..=3600).contains(&span_s), "over the hour before: {span_s} s");
    assert!(records.iter().any(|record| record.cpu == 1), "on all CPUs");
}

#[test]
fn counters_of_a_real_server_are_where_its_version_has_them() {
    let truth = fs::read_to_string(lioprof_testkit::files::capture("masks/server1/truth.txt")).unwrap();
    let server = Server::with_stats(LustreVersion::V2_17, FixedStats::from_get_param(&truth));
    let ost = "sys/kernel/debug/lustre/obdfilter/lustre-OST0001";
    // Nothing between `NAME=` and the next name is lost or added.
    let after = truth.split_once("obdfilter.lustre-OST0001.stats=\n").unwrap().1;
    assert_eq!(server.read(&format!("{ost}/stats")), after.split_once("obdfilter.").unwrap().0);
    assert!(server.read(&format!("{ost}/job_stats")).starts_with("job_stats:\n- job_id:"));
    let mut nids: Vec<_> = fs::read_dir(server.path(&format!("{ost}/exports")))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    nids.sort();
    assert_eq!(nids, ["0@lo", "10.10.0.11@tcp", "10.10.0.12@tcp", "10.10.0.13@tcp"]);
    assert_eq!(server.read("sys/fs/lustre/obdfilter/lustre-OST0001/num_exports"), "4\n");
    assert_eq!(server.read(&format!("{ost}/exports/10.10.0.11@tcp/uuid")).len(), 37);
    assert!(server.read("sys/kernel/debug/lustre/ost/OSS/ost_io/stats").contains("ost_write"));
    assert_eq!(server.write(&format!("{ost}/stats"), "clear"), Ok(()));
    let devices = server.read("sys/kernel/debug/lustre/devices");
    assert!(devices.contains(" UP obdfilter lustre-OST0001 lustre-OST0001_UUID "), "{devices}");
    assert!(devices.lines().enumerate().all(|(index, line)| line.starts_with(&format!("{index:>3} UP "))));
}

#[test]
fn a_tree_that_cannot_be_mounted_says_where_and_why() {
    let kernel = lioprof_sim::kernel::Kernel::new(lioprof_sim::kernel::KernelConfig::default());
    let directory = std::path::Path::new("/no/such/directory");
    let err = Tree::mount(directory, kernel, Arc::new(FixedStats::new()), Arc::default()).unwrap_err();
    assert!(err.to_string().contains("`/no/such/directory`"), "{err}");
    assert_eq!(err.err.kind(), ErrorKind::NotFound);
}
