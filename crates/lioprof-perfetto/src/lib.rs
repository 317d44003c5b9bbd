//! Rows of lioprof as traces for the [Perfetto UI](https://ui.perfetto.dev).
//!
//! ```text
//! RowSink calls ── PerfettoWriter ──> FILE, FILE-2, ..: TracePackets of one sequence each
//! ```
//!
//! * `proto`: the few messages of Perfetto's format that are needed.
//! * `packets`: a file: packets, interned texts, flags of the sequence.
//! * `tracks`, `lanes`: what is drawn where.
//! * `operations`: clients' operations with their RPCs, as a trace of its own.
//! * `rpcs`, `locks`, `counters`: what is drawn. `docs/export.md` shows it.
//!
//! # Design constraints
//!
//! * Rows are written as they come; Perfetto sorts. Only lock lives and counters wait for their end. Memory depends on
//!   the locks that are alive, the threads and the targets, not on the length of the log.
//! * Slices of a track nest: what overlaps is put on different tracks.
//! * The same rows give the same bytes.
#![forbid(unsafe_code)]

mod counters;
mod lanes;
mod locks;
mod operations;
mod packets;
mod proto;
mod rpcs;
mod tracks;

use std::io;
use std::path::{Path, PathBuf};

use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbol, Symbols, TraceSummary};

pub use operations::write_operations;

use locks::LockLives;
use packets::{Label, TraceFile, ns};
use rpcs::Drawn;
use tracks::NodeTracks;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Files, in their order.
    pub files: Vec<PathBuf>,
    /// Bytes of all files.
    pub bytes: u64,
    /// RPCs drawn on their targets.
    pub rpcs: u64,
    /// Of these, without a duration: the clock stepped while they were handled.
    pub rpcs_without_duration: u64,
    /// RPCs that are on their threads and in the counters only: all lanes of the target were taken.
    pub rpcs_not_drawn: u64,
    /// Waits for locks.
    pub lock_waits: u64,
    /// Locks held, of those that somebody waited for or that were called back.
    pub lock_holds: u64,
    /// Blocking callbacks.
    pub blocking_asts: u64,
    /// Locks for which all lanes were taken.
    pub locks_not_drawn: u64,
}

/// A trace could not be written.
#[derive(Debug, thiserror::Error)]
#[error("failed to write `{}`", path.display())]
pub struct PerfettoError {
    /// File.
    pub path: PathBuf,
    /// Cause.
    #[source]
    pub source: io::Error,
}

/// A node whose rows come.
struct Node {
    symbol: Symbol,
    tracks: NodeTracks,
    locks: LockLives,
}

/// Writes rows of any nodes, one node after the other, as Perfetto traces. It is a [`RowSink`].
///
/// An error is kept and returned by [`Self::finish`]; nothing is written after it.
pub struct PerfettoWriter {
    path: PathBuf,
    max_bytes: u64,
    file: TraceFile,
    node: Option<Node>,
    nodes: i32,
    written: Written,
    error: Option<PerfettoError>,
}

impl PerfettoWriter {
    /// Creates `path`. Once a file has `max_bytes`, the next is begun: `NAME-2.EXT`, `NAME-3.EXT`, ..
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path, max_bytes: u64) -> Result<Self, PerfettoError> {
        let file = create(path)?;
        Ok(Self {
            path: path.to_owned(),
            max_bytes,
            file,
            node: None,
            nodes: 0,
            written: Written { files: vec![path.to_owned()], ..Written::default() },
            error: None,
        })
    }

    /// Completes the last file.
    ///
    /// # Errors
    /// If anything could not be written.
    pub fn finish(self) -> Result<Written, PerfettoError> {
        let Self { mut written, file, error, .. } = self;
        if let Some(err) = error {
            return Err(err);
        }
        let path = written.files.last().cloned().unwrap_or_default();
        written.bytes += file.finish().map_err(|source| PerfettoError { path, source })?;
        Ok(written)
    }
}

impl PerfettoWriter {
    /// The node of a row, and the file that it goes to; `None` after an error.
    fn at(&mut self, node: Symbol, symbols: &Symbols) -> Option<(&mut Node, &mut TraceFile)> {
        if self.error.is_some() || self.file.failed() {
            return None;
        }
        if self.file.bytes >= self.max_bytes {
            self.next_file(symbols);
        }
        if self.node.as_ref().is_none_or(|open| open.symbol != node) {
            self.nodes += 1;
            let tracks = NodeTracks::new(&symbols.text(node), self.nodes, &mut self.file);
            self.node = Some(Node { symbol: node, tracks, locks: LockLives::default() });
        }
        self.node.as_mut().map(|node| (node, &mut self.file)).filter(|_| self.error.is_none())
    }

    /// Goes on in another file. Locks that are alive are drawn where they end.
    fn next_file(&mut self, symbols: &Symbols) {
        if let Some(node) = &mut self.node {
            node.tracks.write_series(&mut self.file);
        }
        let path = numbered(&self.path, self.written.files.len() + 1);
        match create(&path) {
            Ok(file) => {
                let full = std::mem::replace(&mut self.file, file);
                let name = self.written.files.last().cloned().unwrap_or_default();
                match full.finish() {
                    Ok(bytes) => self.written.bytes += bytes,
                    Err(source) => self.error = Some(PerfettoError { path: name, source }),
                }
                self.written.files.push(path);
                if let Some(node) = &mut self.node {
                    node.tracks = NodeTracks::new(&symbols.text(node.symbol), self.nodes, &mut self.file);
                }
            }
            Err(err) => self.error = Some(err),
        }
    }
}

impl RowSink for PerfettoWriter {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        let Some((node, file)) = self.at(row.node, symbols) else { return };
        let drawn = rpcs::draw(row, symbols, &mut node.tracks, file);
        self.written.rpcs += u64::from(drawn != Drawn::Not);
        self.written.rpcs_without_duration += u64::from(drawn == Drawn::Instant);
        self.written.rpcs_not_drawn += u64::from(drawn == Drawn::Not);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        let Some((node, file)) = self.at(event.node, symbols) else { return };
        node.locks.event(event, symbols, &mut node.tracks, file);
    }

    fn sent_rpc(&mut self, _: &SentRpc, _: &Symbols) {
        // Lock callbacks are drawn with their locks.
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        let Some((node, file)) = self.at(mark.node, symbols) else { return };
        let text = symbols.text(mark.text);
        if let Some(at) = ns(mark.time_us) {
            let track = node.tracks.marks(file);
            file.instant(track, at, &Label { category: "mark", name: &text, ..Label::default() });
        }
    }

    fn node_end(&mut self, _: &str, _: &TraceSummary, symbols: &Symbols) {
        let Some(mut node) = self.node.take() else { return };
        node.locks.finish(symbols, &mut node.tracks, &mut self.file);
        node.tracks.write_series(&mut self.file);
        self.written.lock_waits += node.locks.counts.waits;
        self.written.lock_holds += node.locks.counts.holds;
        self.written.blocking_asts += node.locks.counts.blocking_asts;
        self.written.locks_not_drawn += node.locks.counts.not_drawn;
    }
}

fn create(path: &Path) -> Result<TraceFile, PerfettoError> {
    TraceFile::create(path).map_err(|source| PerfettoError { path: path.to_owned(), source })
}

/// `NAME-2.EXT`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}-{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    path.with_file_name(name)
}

#[cfg(test)]
mod tests;
