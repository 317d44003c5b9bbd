//! The control tree through real file operations, and replay end to end. Needs root and `/dev/fuse`.
#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "tests: helpers, too, panic where something is wrong; the numbers are small"
)]

mod files;
mod kmsg;
mod lctl;
mod live;
#[path = "../kernel/reader.rs"]
mod reader;
mod replay;
mod versions;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lioprof_sim::SimRecord;
use lioprof_sim::kernel::{Flush, Kernel, KernelConfig, LustreVersion};
use lioprof_sim::tree::{Director, FixedStats, Tree};
use rustix::io::Errno;
use tempfile::TempDir;

/// A mounted server.
struct Server {
    kernel: Arc<Kernel>,
    // Unmounted before the directory is removed.
    _tree: Tree,
    mount: TempDir,
    /// A directory on a real file system.
    scratch: TempDir,
}

impl Server {
    fn new(version: LustreVersion) -> Self {
        Self::with_stats(version, FixedStats::for_targets(&["lustre-OST0000", "lustre-OST0001"]))
    }

    fn with_stats(version: LustreVersion, stats: FixedStats) -> Self {
        let kernel = Kernel::new(KernelConfig { version, flush: Flush::Thread, ..KernelConfig::default() });
        let mount = TempDir::new().unwrap();
        let director = Arc::new(Director::default());
        let tree = Tree::mount(mount.path(), Arc::clone(&kernel), Arc::new(stats), director).unwrap();
        Self { kernel, _tree: tree, mount, scratch: TempDir::new().unwrap() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.mount.path().join(path)
    }

    fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|err| panic!("{path}: {err}"))
    }

    /// One write, as a shell's `printf TEXT > FILE` does it.
    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> Result<(), Errno> {
        write_once(&self.path(path), text.as_ref())
    }
}

fn write_once(path: &Path, text: &[u8]) -> Result<(), Errno> {
    let errno = |err: std::io::Error| Errno::from_io_error(&err).unwrap();
    let mut file = OpenOptions::new().write(true).truncate(true).open(path).map_err(errno)?;
    let written = file.write(text).map_err(errno)?;
    assert_eq!(written, text.len());
    Ok(())
}

fn record(number: usize) -> SimRecord {
    SimRecord {
        time_us: 1_700_000_000_000_000 + i64::try_from(number).unwrap(),
        subsystem: 0x100,
        mask: 0x10_0000,
        pid: 7,
        file: b"a.c".to_vec(),
        line: 1,
        function: b"f".to_vec(),
        text: format!("record {number}\n").into_bytes(),
        ..SimRecord::default()
    }
}
