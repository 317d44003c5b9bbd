//! Writes rows as the parts of a dataset.

use std::path::{Path, PathBuf};

use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbol, Symbols};

use super::facts::{ClosedPart, NodeInfo, Options, PartStats};
use super::part::OpenPart;
use crate::error::StoreError;
use crate::files::{Files, OsFiles};
use crate::manifest::ManifestFacts;
use crate::table::counters::CounterSample;

/// Writes one node's rows, part by part. It is a [`RowSink`].
///
/// A part is complete when [`Self::close_part`] returns; until then no reader sees any of it. `close_part` also returns
/// an error that occurred while rows came in; the whole part is then given up and the next one begins.
///
/// All symbols of a writer belong to one [`Symbols`] table; see [`Self::forget_symbols`].
pub struct DatasetWriter {
    pub(super) dir: PathBuf,
    pub(super) node: NodeInfo,
    pub(super) options: Options,
    pub(super) files: Box<dyn Files>,
    pub(super) part: OpenPart,
    pub(super) part_number: u64,
    pub(super) next_seq: i64,
    /// Symbol of the node's name, once known.
    pub(super) node_symbol: Option<Symbol>,
    pub(super) error: Option<StoreError>,
}

impl DatasetWriter {
    /// A writer into the dataset at `dir`. It writes nothing before it gets rows.
    #[must_use]
    pub fn new(dir: &Path, node: NodeInfo, options: Options) -> Self {
        Self::with_files(dir, node, options, Box::new(OsFiles))
    }

    pub(crate) fn with_files(dir: &Path, node: NodeInfo, options: Options, files: Box<dyn Files>) -> Self {
        Self {
            dir: dir.to_owned(),
            node,
            options,
            files,
            part: OpenPart::default(),
            part_number: 1,
            next_seq: 0,
            node_symbol: None,
            error: None,
        }
    }

    /// Sets the file systems of the node once its targets are known. Applies to the open part if all of it is still in memory,
    /// otherwise from the next part on.
    pub fn set_fs(&mut self, fs: String) {
        self.node.fs = fs;
    }

    /// From now on, symbols belong to another [`Symbols`] table.
    pub fn forget_symbols(&mut self) {
        self.node_symbol = None;
        self.part.forget_symbols();
    }

    /// Adds a sample of one of the server's own counters.
    pub fn counter(&mut self, sample: &CounterSample<'_>) {
        self.add(sample.time_us, |part, seq| part.counter(seq, sample));
    }

    /// Contents of the open part.
    #[must_use]
    pub fn part_stats(&self) -> PartStats {
        self.part.stats()
    }

    /// The error since the last part, which `close_part` will return; `None` if there is none.
    #[must_use]
    pub fn error(&self) -> Option<&StoreError> {
        self.error.as_ref()
    }

    /// Completes the part and begins another. A part without rows is written as well: its manifest holds the facts.
    ///
    /// # Errors
    /// If any file of the part could not be written. Then none of the part exists, and the writer goes on with the next.
    pub fn close_part(&mut self, facts: ManifestFacts) -> Result<ClosedPart, StoreError> {
        let result = match self.error.take() {
            Some(err) => Err(err),
            None => self.write_part(facts),
        };
        if result.is_err() {
            self.part.abandon(&*self.files);
        }
        self.part = OpenPart::default();
        self.part_number += 1;
        result
    }

    pub(super) fn write_part(&mut self, facts: ManifestFacts) -> Result<ClosedPart, StoreError> {
        let start_us = facts.through_us.or(facts.summary.first_us).unwrap_or(self.node.session.start_us);
        self.part.begin(start_us);
        self.part.name(&self.node, self.part_number);
        self.part.close(&self.dir, &self.node, self.part_number, &self.options, &*self.files, facts)
    }

    /// Adds an item, and writes row groups when enough rows are buffered.
    #[inline]
    pub(super) fn add(&mut self, time_us: i64, push: impl FnOnce(&mut OpenPart, i64)) {
        if self.error.is_some() {
            return;
        }
        self.part.begin(time_us);
        push(&mut self.part, self.next_seq);
        self.next_seq += 1;
        if self.part.needs_flush(&self.options) {
            self.part.name(&self.node, self.part_number);
            if let Err(err) = self.part.flush(&self.dir, &self.options, &*self.files) {
                self.error = Some(err);
                self.part.abandon(&*self.files);
            }
        }
    }

    /// Whether an item belongs to the node; keeps an error if not.
    #[inline]
    pub(super) fn is_own(&mut self, node: Symbol, symbols: &Symbols) -> bool {
        if self.node_symbol == Some(node) {
            return true;
        }
        if symbols.bytes(node) == self.node.node.as_bytes() {
            self.node_symbol = Some(node);
            return true;
        }
        let (expected, found) = (self.node.node.clone(), symbols.text(node));
        self.error.get_or_insert(StoreError::OtherNode(expected, found));
        false
    }
}

impl RowSink for DatasetWriter {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        if self.is_own(row.node, symbols) {
            self.add(row.end_us, |part, seq| part.rpc(seq, row, symbols));
        }
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        if self.is_own(event.node, symbols) {
            self.add(event.time_us, |part, seq| part.lock_event(seq, event, symbols));
        }
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        if self.is_own(sent.node, symbols) {
            self.add(sent.time_us, |part, seq| part.sent_rpc(seq, sent, symbols));
        }
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        if self.is_own(mark.node, symbols) {
            self.add(mark.time_us, |part, seq| part.mark(seq, mark, symbols));
        }
    }
}

/// Gives up an open part: without a manifest it would be useless.
impl Drop for DatasetWriter {
    fn drop(&mut self) {
        self.part.abandon(&*self.files);
    }
}
