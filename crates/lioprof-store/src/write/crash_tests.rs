//! A writer that is killed, or whose disk is full, at every possible moment.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use lioprof_model::{LockEvent, LockHappening, Mark, RowSink, RpcRow, SentRpc, Symbol, Symbols};
use lustre_debuglog::{Opcode, Xid};

use super::{DatasetWriter, NodeInfo, Options};
use crate::files::{Files, OsFiles, OutFile};
use crate::{CounterSample, Dataset, ManifestFacts, Session, StoreError, clean_leftovers};

const NODE: &str = "oss1";

/// Does what the operating system does until a number of steps is used up; then every step fails, as after a kill.
#[derive(Clone)]
struct Dying {
    steps: Arc<AtomicU64>,
    dies_after: u64,
}

impl Dying {
    fn after(steps: u64) -> Self {
        Self { steps: Arc::default(), dies_after: steps }
    }

    fn step(&self) -> io::Result<()> {
        if self.steps.fetch_add(1, Ordering::Relaxed) < self.dies_after {
            Ok(())
        } else {
            Err(io::Error::other("killed"))
        }
    }
}

impl Files for Dying {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        OsFiles.create_dir(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn OutFile>> {
        self.step()?;
        Ok(Box::new(DyingFile { file: OsFiles.create(path)?, life: self.clone() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        OsFiles.rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        OsFiles.sync_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        OsFiles.remove(path)
    }
}

struct DyingFile {
    file: Box<dyn OutFile>,
    life: Dying,
}

impl Write for DyingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.life.step()?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl OutFile for DyingFile {
    fn sync(&mut self) -> io::Result<()> {
        self.life.step()?;
        self.file.sync()
    }
}

/// A file system with so many bytes left.
struct Full {
    left: Arc<Mutex<usize>>,
}

impl Files for Full {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        OsFiles.create_dir(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn OutFile>> {
        Ok(Box::new(FullFile { file: OsFiles.create(path)?, left: Arc::clone(&self.left) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        OsFiles.rename(from, to)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        OsFiles.sync_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        OsFiles.remove(path)
    }
}

struct FullFile {
    file: Box<dyn OutFile>,
    left: Arc<Mutex<usize>>,
}

impl Write for FullFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = self.left.lock().unwrap();
        if *left == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        // As a kernel does it: as much as fits.
        let len = self.file.write(&bytes[..bytes.len().min(*left)])?;
        *left -= len;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl OutFile for FullFile {
    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

fn info() -> NodeInfo {
    NodeInfo { fs: "lustre".into(), node: NODE.into(), session: Session { start_us: 1, id: "s".into() } }
}

fn rpc(node: Symbol, xid: u64) -> RpcRow {
    RpcRow { xid: Xid(xid), ..RpcRow::made_up(node, Opcode::OST_READ, 1_795_251_082_000_000) }
}

/// Rows of a part: one of each kind, and more RPCs than fit a row group.
fn fill(writer: &mut DatasetWriter, part: u64) {
    let mut symbols = Symbols::default();
    writer.forget_symbols();
    let node = symbols.intern(NODE.as_bytes());
    let time_us = 1_795_251_082_000_000;
    writer.mark(&Mark { node, time_us, text: node }, &symbols);
    let happening = LockHappening::EnqueueStart;
    writer.lock_event(&LockEvent { node, time_us, pid: 1, window: None, happening }, &symbols);
    let sent = SentRpc {
        node,
        time_us,
        pid: 1,
        opcode: Opcode::LDLM_BL_CALLBACK,
        device: node,
        nid: node,
        xid: Xid(part),
        window: None,
        round_trip_us: None,
    };
    writer.sent_rpc(&sent, &symbols);
    let sample = CounterSample { time_us, source: "cpu", target: None, entity: None, counter: "busy_us", value: part };
    writer.counter(&sample);
    for n in 0..20 {
        writer.rpc(&rpc(node, part * 100 + n), &symbols);
    }
}

fn writer(dir: &Path, files: impl Files + 'static) -> DatasetWriter {
    let options = Options { row_group_rows: 8, ..Options::default() };
    DatasetWriter::with_files(dir, info(), options, Box::new(files))
}

/// Transfer ids of the RPCs that a reader gets, and what all it gets.
#[derive(Default)]
struct Seen {
    xids: Vec<u64>,
    others: usize,
}

impl RowSink for Seen {
    fn rpc(&mut self, row: &RpcRow, _: &Symbols) {
        self.xids.push(row.xid.0);
    }

    fn lock_event(&mut self, _: &LockEvent, _: &Symbols) {
        self.others += 1;
    }

    fn sent_rpc(&mut self, _: &SentRpc, _: &Symbols) {
        self.others += 1;
    }

    fn mark(&mut self, _: &Mark, _: &Symbols) {
        self.others += 1;
    }
}

/// Reads the dataset; all of it must be sound.
fn read(dir: &Path) -> Seen {
    let dataset = Dataset::open(dir).unwrap();
    assert!(dataset.problems().is_empty(), "{:?}", dataset.problems());
    let mut seen = Seen::default();
    for source in &mut dataset.node_sources() {
        source.read(&mut Symbols::default(), &mut seen).unwrap();
    }
    let mut samples = 0;
    assert!(dataset.counters(NODE, |_| samples += 1).is_empty());
    seen.others += samples;
    seen
}

fn expected(parts: &[u64]) -> Vec<u64> {
    parts.iter().flat_map(|part| (0..20).map(move |n| part * 100 + n)).collect()
}

/// All files below a folder.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn a_writer_killed_at_any_step_leaves_whole_parts_only() {
    let mut steps = 0;
    loop {
        let dir = tempfile::tempdir().unwrap();
        let mut whole = Vec::new();
        let mut dying = writer(dir.path(), Dying::after(steps));
        for part in 1..=2 {
            fill(&mut dying, part);
            if dying.close_part(ManifestFacts::default()).is_ok() {
                whole.push(part);
            }
        }
        drop(dying);
        let survived = whole.len();
        let seen = read(dir.path());
        // A part whose last step failed is there or not, but never half.
        let parts = seen.xids.len() / 20;
        assert!(parts == survived || parts == survived + 1, "killed after {steps} steps");
        assert_eq!(seen.xids, expected(&(1..=parts as u64).collect::<Vec<_>>()), "killed after {steps} steps");
        assert_eq!(seen.others, 4 * parts, "killed after {steps} steps");

        clean_leftovers(dir.path(), NODE).unwrap();
        assert_eq!(files_below(dir.path()).len(), 5 * parts, "killed after {steps} steps");
        // The next session goes on beside what is there.
        let mut next = NodeInfo { session: Session { start_us: 2, id: "t".into() }, ..info() };
        next.fs = "lustre".into();
        let mut again = DatasetWriter::new(dir.path(), next, Options::default());
        fill(&mut again, 9);
        again.close_part(ManifestFacts::default()).unwrap();
        let mut all: Vec<u64> = (1..=parts as u64).collect();
        all.push(9);
        assert_eq!(read(dir.path()).xids, expected(&all));

        if survived == 2 {
            assert!(steps > 50, "only {steps} steps were tried");
            break;
        }
        steps += 1;
    }
}

#[test]
fn a_full_disk_costs_one_part_and_is_named() {
    // Each size stops the first part somewhere else; the last one holds it.
    let (mut first_failed, mut first_written) = (0, 0);
    for room in (0..40_000).step_by(397) {
        let dir = tempfile::tempdir().unwrap();
        let left = Arc::new(Mutex::new(room));
        let mut writer = writer(dir.path(), Full { left: Arc::clone(&left) });
        fill(&mut writer, 1);
        match writer.close_part(ManifestFacts::default()) {
            Ok(_) => {
                first_written += 1;
                assert_eq!(read(dir.path()).xids, expected(&[1]));
            }
            Err(err) => {
                first_failed += 1;
                let text = err.chain();
                assert!(text.contains(dir.path().to_str().unwrap()), "{text}");
                assert!(text.contains("full") || text.contains("no storage space"), "{text}");
                assert_eq!(files_below(dir.path()), Vec::<PathBuf>::new(), "{text}");
                assert_eq!(read(dir.path()).xids, Vec::<u64>::new());
            }
        }
        *left.lock().unwrap() = usize::MAX;
        fill(&mut writer, 2);
        writer.close_part(ManifestFacts::default()).unwrap();
        assert_eq!(read(dir.path()).xids.last(), Some(&219));
    }
    assert!(first_failed > 10 && first_written > 0, "{first_failed} failed, {first_written} written");
}

#[test]
fn rows_of_another_node_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::new(dir.path(), info(), Options::default());
    let mut symbols = Symbols::default();
    let other = symbols.intern(b"oss2");
    writer.rpc(&rpc(other, 1), &symbols);
    assert!(writer.error().is_some());
    let err = writer.close_part(ManifestFacts::default()).unwrap_err();
    assert!(matches!(&err, StoreError::OtherNode(expected, found) if expected == "oss1" && found == "oss2"), "{err}");
    assert_eq!(files_below(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn symbols_of_another_table_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = DatasetWriter::new(dir.path(), info(), Options::default());
    for name in ["a", "b"] {
        let mut symbols = Symbols::default();
        writer.forget_symbols();
        let node = symbols.intern(NODE.as_bytes());
        let nid = symbols.intern(name.as_bytes());
        writer.rpc(&RpcRow { nid, ..rpc(node, 1) }, &symbols);
    }
    writer.close_part(ManifestFacts::default()).unwrap();
    struct Nids(Vec<String>);
    impl RowSink for Nids {
        fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
            self.0.push(symbols.text(row.nid));
        }
    }
    let mut nids = Nids(Vec::new());
    let dataset = Dataset::open(dir.path()).unwrap();
    dataset.node_sources()[0].read(&mut Symbols::default(), &mut nids).unwrap();
    assert_eq!(nids.0, ["a", "b"]);
}
