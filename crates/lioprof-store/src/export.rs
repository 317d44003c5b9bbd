//! Writes rows of several nodes as one dataset while they are read from logs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lioprof_model::time::DAY_US;
use lioprof_model::{LockEvent, LockHappening, Mark, RowSink, RpcRow, SentRpc, Symbol, Symbols, TraceSummary};
use lustre_debuglog::TargetName;

use crate::error::StoreError;
use crate::layout::fs_of;
use crate::manifest::{ManifestFacts, Session, Target};
use crate::write::{ClosedPart, DatasetWriter, NodeInfo, Options};

/// Size of a part after which another one begins: few files for engines, but none too large to copy.
const PART_BYTES: u64 = 256 << 20;
/// Number of rows between two checks of the size.
const LOOK_EVERY: u32 = 4096;

/// Counts of what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of parts of all nodes.
    pub parts: u64,
    /// Number of RPCs handled.
    pub rpcs: u64,
    /// Number of rows in all tables.
    pub rows: u64,
    /// Size of all files, bytes.
    pub bytes: u64,
}

/// The node whose rows are being written.
struct OpenNode {
    writer: DatasetWriter,
    targets: BTreeSet<TargetName>,
    /// Day of the open part.
    day: i64,
    since_look: u32,
}

/// Writes rows of any nodes, one node after the other, in the layout of the daemon: a session per node, a part per day or
/// 256 MiB. It is a [`RowSink`]; a node is complete with its [`RowSink::node_end`].
///
/// After an error it writes nothing more; [`Self::finish`] returns the error.
pub struct DatasetExport {
    dir: PathBuf,
    options: Options,
    node: Option<(Symbol, OpenNode)>,
    exported: Exported,
    error: Option<StoreError>,
}

impl DatasetExport {
    /// Id of the sessions, which is fixed so that the same log gives the same files.
    const SESSION: &str = "export";

    /// Writes into the dataset at `dir`.
    #[must_use]
    pub fn new(dir: &Path, options: Options) -> Self {
        Self { dir: dir.to_owned(), options, node: None, exported: Exported::default(), error: None }
    }

    /// What was written.
    ///
    /// # Errors
    /// If any file could not be written; complete parts stay.
    pub fn finish(self) -> Result<Exported, StoreError> {
        match self.error {
            Some(err) => Err(err),
            None => Ok(self.exported),
        }
    }

    fn open(&self, node: &str, start_us: i64) -> OpenNode {
        let session = Session { start_us, id: Self::SESSION.to_owned() };
        let info = NodeInfo { fs: fs_of([]), node: node.to_owned(), session };
        OpenNode {
            writer: DatasetWriter::new(&self.dir, info, self.options.clone()),
            targets: BTreeSet::new(),
            day: start_us.div_euclid(DAY_US),
            since_look: 0,
        }
    }

    /// The node's writer, with room in its part for an item of this time; `None` after an error.
    fn writer(&mut self, node: Symbol, time_us: i64, symbols: &Symbols) -> Option<&mut OpenNode> {
        if self.error.is_some() {
            return None;
        }
        if self.node.as_ref().is_none_or(|(open, _)| *open != node) {
            self.node = Some((node, self.open(&String::from_utf8_lossy(symbols.bytes(node)), time_us)));
        }
        let (_, open) = self.node.as_mut()?;
        open.since_look += 1;
        let day = time_us.div_euclid(DAY_US);
        let mut full = day > open.day;
        if open.since_look >= LOOK_EVERY {
            open.since_look = 0;
            full |= open.writer.part_stats().estimated_bytes >= PART_BYTES;
        }
        if full {
            open.day = day;
            // The log's other facts are known only at its end: they go into the last part.
            let closed = open.writer.close_part(ManifestFacts::default());
            Self::count(&mut self.exported, &mut self.error, closed);
        }
        self.node.as_mut().map(|(_, open)| open).filter(|_| self.error.is_none())
    }

    fn count(exported: &mut Exported, error: &mut Option<StoreError>, closed: Result<ClosedPart, StoreError>) {
        match closed {
            Ok(part) => {
                let rows = |table: &str| part.manifest.tables.get(table).map_or(0, |file| file.rows);
                exported.parts += 1;
                exported.rpcs += rows("rpcs");
                exported.rows += part.manifest.tables.values().map(|file| file.rows).sum::<u64>();
                exported.bytes += part.bytes;
            }
            Err(err) => *error = Some(err),
        }
    }
}

impl OpenNode {
    /// A target of the node: it tells the file system, which is in the names of the files.
    fn target(&mut self, target: Option<TargetName>) {
        if let Some(target) = target
            && self.targets.insert(target)
        {
            self.writer.set_fs(fs_of(&self.targets));
        }
    }
}

impl RowSink for DatasetExport {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        if let Some(open) = self.writer(row.node, row.end_us, symbols) {
            open.target(row.target);
            open.writer.rpc(row, symbols);
        }
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        if let Some(open) = self.writer(event.node, event.time_us, symbols) {
            if let LockHappening::Lock(_, state) = &event.happening {
                open.target(Some(state.target));
            }
            open.writer.lock_event(event, symbols);
        }
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        if let Some(open) = self.writer(sent.node, sent.time_us, symbols) {
            open.writer.sent_rpc(sent, symbols);
        }
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        if let Some(open) = self.writer(mark.node, mark.time_us, symbols) {
            open.writer.mark(mark, symbols);
        }
    }

    fn node_end(&mut self, node: &str, summary: &TraceSummary, _: &Symbols) {
        if self.error.is_some() {
            return;
        }
        // A log without rows has a part as well: its manifest says what was lost.
        let mut open = match self.node.take() {
            Some((_, open)) => open,
            None => self.open(node, summary.first_us.unwrap_or(0)),
        };
        for target in &summary.targets {
            open.target(Some(*target));
        }
        let target = |it: &TargetName| Target { name: it.to_string(), kind: it.kind().to_string(), uuid: None };
        let facts = ManifestFacts {
            summary: summary.clone(),
            traced_us: summary.traced_us.clone(),
            targets: summary.targets.iter().map(target).collect(),
            ..ManifestFacts::default()
        };
        let closed = open.writer.close_part(facts);
        Self::count(&mut self.exported, &mut self.error, closed);
        self.exported.nodes += 1;
    }
}
