//! Commands: what is accepted, what it means, which error it gives, by version.

use lioprof_sim::kernel::masks::{self, MaskKind, Parsed};
use lioprof_sim::kernel::{Flush, Kernel, KernelConfig, LustreVersion, Mask};
use rustix::io::Errno;
use tempfile::tempdir;

use crate::{kernel, numbered};

const OLD: LustreVersion = LustreVersion::V2_10;
const LTS: LustreVersion = LustreVersion::V2_15;
const NEW: LustreVersion = LustreVersion::V2_17;

/// warning, error, emerg, console.
const CANT: u32 = 0x0206_0400;
const RPCTRACE: u32 = 0x10_0000;
const DLMTRACE: u32 = 0x1_0000;
const NET: u32 = 0x200;

fn debug(text: &str, old: u32, version: LustreVersion) -> Option<u32> {
    match masks::parse(text, old, MaskKind::Debug, version) {
        Parsed::Set { mask, .. } => Some(mask),
        Parsed::Invalid(_) => None,
    }
}

#[test]
fn names_are_absolute_or_relative() {
    for version in [OLD, LTS, NEW] {
        assert_eq!(debug("rpctrace", CANT | NET, version), Some(CANT | RPCTRACE), "starts from the minimum");
        assert_eq!(debug("+rpctrace", CANT | NET, version), Some(CANT | NET | RPCTRACE));
        assert_eq!(debug("-net", CANT | NET, version), Some(CANT));
        assert_eq!(debug("+rpctrace +dlmtrace", NET, version), Some(NET | RPCTRACE | DLMTRACE));
        assert_eq!(debug("+RpcTrace -NET", NET, version), Some(RPCTRACE), "case does not matter");
        assert_eq!(debug("rpctrace -error", 0, version), Some(CANT & !0x2_0000 | RPCTRACE));
        assert_eq!(debug("all", 0, version), Some(u32::MAX));
        assert_eq!(debug("-all", u32::MAX, version), Some(CANT));
        assert_eq!(debug("+ rpctrace", 0, version), Some(RPCTRACE));
        for bad in ["rpctracy", "+", "rpctrace +", "+rpctrace nonsense", "rpc", "1 rpctrace"] {
            assert_eq!(debug(bad, 5, version), None, "{bad:?} on {version}");
        }
    }
}

#[test]
fn an_operator_sticks_up_to_2_16() {
    let both = NET | RPCTRACE;
    assert_eq!(debug("-net rpctrace", both, OLD), Some(0));
    assert_eq!(debug("-net rpctrace", both, LTS), Some(0));
    assert_eq!(debug("-net rpctrace", both, NEW), Some(RPCTRACE), "the operator was for `net` only");
}

#[test]
fn commas_default_and_none_came_later() {
    assert_eq!(debug("net,rpctrace", 0, OLD), None);
    assert_eq!(debug("net,rpctrace", 0, LTS), Some(CANT | NET | RPCTRACE));
    assert_eq!(debug("default", 0, LTS), None);
    assert_eq!(debug("default", 0, NEW), Some(CANT | 0x80 | 0x100 | 0x8_0000 | 0x100_0000 | 0x1000_0000));
    assert_eq!(debug("none", u32::MAX, LTS), None);
    assert_eq!(debug("none", u32::MAX, NEW), Some(CANT));
}

#[test]
fn numbers_are_absolute_and_in_any_base() {
    for (text, mask) in
        [("0", 0), ("-1", u32::MAX), ("0x100200", 0x10_0200), ("16", 16), ("010", 8), ("0x200\n", 0x200)]
    {
        assert_eq!(debug(text, 5, NEW), Some(mask), "{text:?}");
    }
    let numerical = |text| match masks::parse(text, 0, MaskKind::Debug, NEW) {
        Parsed::Set { numerical, .. } => numerical,
        Parsed::Invalid(_) => panic!("{text} is a number"),
    };
    assert!(numerical("0x200") && !numerical("0") && !numerical("-1"));
}

#[test]
fn a_mask_reads_as_names_that_can_be_written_back() {
    for version in [OLD, LTS, NEW] {
        for kind in [MaskKind::Debug, MaskKind::Subsystem] {
            for bit in 0..32 {
                let text = masks::render(1 << bit, kind, version);
                // Bits without a meaning read as nothing, as in the kernel.
                if !text.is_empty() {
                    let minimum = if kind == MaskKind::Debug { CANT } else { 0 };
                    let parsed = masks::parse(&text, u32::MAX, kind, version);
                    assert_eq!(parsed, Parsed::Set { mask: minimum | 1 << bit, numerical: false }, "{text}");
                }
            }
        }
    }
    assert_eq!(masks::render(0, MaskKind::Debug, NEW), "0");
    // As real servers of 2.15.8 and 2.17.57 print these two masks, blanks included.
    assert_eq!(
        masks::render(CANT | NET | DLMTRACE | RPCTRACE, MaskKind::Debug, NEW),
        "net warning dlmtrace error emerg rpctrace console"
    );
    assert_eq!(
        masks::render(u32::MAX, MaskKind::Subsystem, LTS),
        "undefined mdc mds osc ost class log llite rpc mgmt lnet lnd pinger filter libcfs echo ldlm lov lquota osd \
         lfsck snapshot  lmv  sec gss  mgc mgs fid fld"
    );
    assert_eq!(masks::render(8, MaskKind::Debug, OLD), "ext2");
}

#[test]
fn a_bad_write_leaves_the_mask_alone_and_says_why() {
    let kernel = Kernel::new(KernelConfig { flush: Flush::Manual, ..KernelConfig::default() });
    let before = kernel.mask(Mask::Debug);
    assert_eq!(kernel.write_mask(Mask::Debug, b"+rpctrace +nonsense\n"), Err(Errno::INVAL));
    assert_eq!(kernel.mask(Mask::Debug), before);
    assert!(kernel.kernel_log().texts()[0].contains("unknown mask 'nonsense'"));
    kernel.write_mask(Mask::Debug, b"0x200").unwrap();
    assert!(kernel.kernel_log().texts()[1].contains("numerical"));
}

#[test]
fn long_writes_fail_by_version() {
    let of = |version| Kernel::new(KernelConfig { version, flush: Flush::Manual, ..KernelConfig::default() });
    let blanks = |len: usize| [vec![b' '; len - 3], b"net".to_vec()].concat();
    let (old, new) = (of(OLD), of(NEW));
    assert_eq!(old.write_mask(Mask::Debug, &blanks(8191)), Ok(()));
    assert_eq!(old.write_mask(Mask::Debug, &blanks(8192)), Err(Errno::INVAL));
    assert_eq!(new.write_mask(Mask::Debug, &blanks(65_535)), Ok(()));
    assert_eq!(new.write_mask(Mask::Debug, &blanks(65_536)), Err(Errno::TOOBIG));
    assert_eq!(new.daemon_command(&[b'/'; 65_536]), Err(Errno::TOOBIG));
    assert_eq!(new.dump(&[b'/'; 4097]), Err(Errno::TOOBIG));
}

#[test]
fn daemon_file_takes_a_path_a_size_or_stop() {
    let directory = tempdir().unwrap();
    let path = |len: usize| {
        let start = directory.path().join("x").to_str().unwrap().to_owned();
        format!("{start}{}", "y".repeat(len - start.len())).into_bytes()
    };
    for version in [OLD, LTS, NEW] {
        let kernel = kernel(version, 1, Flush::Manual);
        let command = |text: &[u8]| kernel.daemon_command(text);
        for bad in ["relative", "", " \n", "Stop", "start", "size 10"] {
            assert_eq!(command(bad.as_bytes()), Err(Errno::INVAL), "{bad:?} on {version}");
        }
        assert_eq!(command(&path(1024)), Err(Errno::NAMETOOLONG));
        assert_eq!(command(&[b'x'; 1024]), Err(Errno::NAMETOOLONG), "that comes before the test for a slash");
        assert_eq!(command(&path(1023)), Ok(()));
        assert_eq!(kernel.daemon_file().len(), 1023);
        command(b"stop\n").unwrap();
        command(b"/tmp/with blanks \n\t").unwrap();
        assert_eq!(kernel.daemon_file(), b"/tmp/with blanks");
        command(b"stop").unwrap();
    }
}

#[test]
fn sizes_outside_of_10_to_20480_mean_500() {
    let max_kib = |kernel: &std::sync::Arc<Kernel>| {
        kernel.daemon_command(b"/dev/null").unwrap();
        kernel.daemon_command(b"stop").unwrap();
        let lines = kernel.kernel_log().texts();
        let line = lines.iter().rev().find(|line| line.contains("kB max")).unwrap().clone();
        line.rsplit_once('(').unwrap().1.trim_end_matches("kB max)").parse::<u64>().unwrap()
    };
    let new = kernel(NEW, 1, Flush::Manual);
    for (size, mib) in [("10", 10), ("9", 500), ("20480", 20480), ("20481", 500), ("0", 500), ("64\n", 64)] {
        new.daemon_command(format!("size={size}").as_bytes()).unwrap();
        assert_eq!(max_kib(&new), mib << 10, "{size:?}");
    }
    assert_eq!(new.daemon_command(b"size=12MB"), Err(Errno::INVAL));
    assert_eq!(new.daemon_command(b"size=-1"), Err(Errno::INVAL));
    assert_eq!(new.daemon_command(b"size="), Err(Errno::INVAL));
    assert_eq!(new.daemon_command(b"size=99999999999999999999"), Err(Errno::RANGE));
    assert_eq!(max_kib(&new), 64 << 10, "it stays for later starts");
    let old = kernel(OLD, 1, Flush::Manual);
    for (size, mib) in [("12MB", 12), ("0x20", 32), ("junk", 500)] {
        old.daemon_command(format!("size={size}").as_bytes()).unwrap();
        assert_eq!(max_kib(&old), mib << 10, "{size:?}");
    }
}

#[test]
fn debug_mb_is_clipped_and_reads_one_more() {
    let kernel = Kernel::new(KernelConfig { cpus: 4, ram_mib: 1000, flush: Flush::Manual, ..KernelConfig::default() });
    assert_eq!(kernel.debug_mb(), 20 + 1);
    kernel.set_debug_mb(b"200\n").unwrap();
    assert_eq!(kernel.debug_mb(), 201);
    kernel.set_debug_mb(b"3").unwrap();
    assert_eq!(kernel.debug_mb(), 4, "254 pages for each of 4 CPUs are less than 4 MiB");
    kernel.set_debug_mb(b"0x10").unwrap();
    assert_eq!(kernel.debug_mb(), 16);
    kernel.set_debug_mb(b"5000").unwrap();
    assert_eq!(kernel.debug_mb(), 801);
    let lines = kernel.kernel_log().texts();
    assert_eq!(lines[0], "Lustre: 3 MB is too small for debug buffer size, setting it to 4 MB.");
    assert_eq!(lines[1], "Lustre: 5000 MB is too large for debug buffer size, setting it to 800 MB.");
    for bad in ["", "many", "-5", "12 MB"] {
        assert_eq!(kernel.set_debug_mb(bad.as_bytes()), Err(Errno::INVAL), "{bad:?}");
    }
}

#[test]
fn dump_wants_an_absolute_path_that_does_not_exist() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("dump");
    let kernel = kernel(NEW, 1, Flush::Manual);
    let dump = || kernel.dump(format!("{}\n", path.display()).as_bytes());
    assert_eq!(kernel.dump(b"dump"), Err(Errno::INVAL));
    dump().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"", "no records, an empty file");
    kernel.log(&numbered(0));
    assert_eq!(dump(), Err(Errno::EXIST));
    assert_eq!(kernel.account().total.pending.records, 1, "a failed dump keeps the records");
    assert_eq!(kernel.dump(b"/no/such/directory/dump"), Err(Errno::NOENT));
}

#[test]
fn a_marker_is_logged_whatever_the_masks_say() {
    let directory = tempdir().unwrap();
    let path = directory.path().join("dump");
    let kernel = kernel(NEW, 1, Flush::Manual);
    kernel.set_mask(Mask::Debug, 0);
    kernel.set_mask(Mask::SubsystemDebug, 0);
    kernel.write_marker(b"CAPTURE-START x\0", 42).unwrap();
    assert_eq!(kernel.write_marker(b"without the NUL that lctl writes", 42), Err(Errno::INVAL));
    let long = [vec![b'm'; 5000], vec![0]].concat();
    assert_eq!(kernel.write_marker(&long, 42), Err(Errno::INVAL), "no NUL in the 4000 bytes used");
    kernel.dump(path.to_str().unwrap().as_bytes()).unwrap();
    let written = crate::reader::records(&std::fs::read(path).unwrap());
    assert_eq!(written.len(), 1);
    let marker = &written[0];
    assert_eq!(marker.text, "DEBUG MARKER: CAPTURE-START x\n");
    assert_eq!((marker.subsystem, marker.mask, marker.pid), (1, 0x0200_0400, 42));
    assert_eq!((marker.file.as_str(), marker.function.as_str()), ("debug.c", "libcfs_debug_mark_buffer"));
    assert!(kernel.kernel_log().texts().contains(&"Lustre: DEBUG MARKER: CAPTURE-START x".to_owned()));
    kernel.log(&numbered(1));
    kernel.write_mask(Mask::Debug, b"-1").unwrap();
    kernel.set_mask(Mask::SubsystemDebug, u32::MAX);
    kernel.log(&numbered(2));
    kernel.write_marker(b"clear\0", 42).unwrap();
    assert_eq!(kernel.account().total.pending.records, 0);
}
