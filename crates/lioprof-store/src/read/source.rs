//! A node's parts as one source of rows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lioprof_model::{CounterSnapshot, Mark, RowSink, RowSource, Symbol, Symbols, TraceSummary};

use super::cursor::{AnyCursor, TableCursor};
use super::part::Part;
use super::samples::counters;
use super::snapshots::Snapshots;
use super::traced;
use crate::error::StoreError;
use crate::manifest::StoredMark;
use crate::rollup::Rollups;
use crate::table::lock_events::LockEventView;
use crate::table::rpcs::RpcView;
use crate::table::sent_rpcs::SentRpcView;
use crate::table::view::{NodeRows, Rows as _};
use crate::text;

/// The parts of a node.
pub(crate) struct NodeSource {
    node: String,
    path: PathBuf,
    parts: Vec<Part>,
    /// RPCs of each part that are in its manifest, but could not be read.
    unread_rpcs: Vec<u64>,
}

impl NodeSource {
    pub(crate) fn new(node: String, path: PathBuf, parts: Vec<Part>) -> Self {
        Self { node, path, unread_rpcs: vec![0; parts.len()], parts }
    }
}

impl RowSource for NodeSource {
    fn node(&self) -> &str {
        &self.node
    }

    /// Damaged parts are passed over, as far as they are damaged; the error names all of them, and the summary has how many RPCs they held.
    fn read(&mut self, symbols: &mut Symbols, sink: &mut dyn RowSink) -> Result<(), String> {
        let node = symbols.intern(self.node.as_bytes());
        let mut problems = Vec::new();
        for (part, unread_rpcs) in self.parts.iter().zip(&mut self.unread_rpcs) {
            let rpcs = read_part(part, node, symbols, sink, &mut problems);
            *unread_rpcs = part.rows(RpcView::TABLE).saturating_sub(rpcs);
        }
        all_read(&problems)
    }

    fn summary(&self) -> TraceSummary {
        let mut sum = TraceSummary::default();
        for part in &self.parts {
            let facts = &part.manifest.facts;
            sum.merge(&facts.summary);
            for stretch in &facts.dropped {
                *sum.loss.dropped_reasons.entry(stretch.reason.clone()).or_default() += 1;
            }
        }
        sum.loss.unread_parts = self.unread_rpcs.iter().filter(|rpcs| **rpcs > 0).count() as u64;
        sum.loss.unread_rpcs = self.unread_rpcs.iter().sum();
        sum.traced_us = traced::in_part(&self.parts);
        if sum.loss.unread_parts > 0 && !sum.traced_us.is_empty() {
            // What is known of the rest holds for the times of the parts that are there.
            let there = self.parts.iter().zip(&self.unread_rpcs).filter(|(_, unread)| **unread == 0);
            sum.traced_us = traced::in_part(&there.map(|(part, _)| part.clone()).collect::<Vec<_>>());
        }
        sum
    }

    fn counters(&mut self, to: &mut dyn FnMut(&CounterSnapshot)) -> Result<(), String> {
        let mut snapshots = Snapshots::new(traced::stretches(&self.parts), to);
        let mut problems = Vec::new();
        for part in &self.parts {
            let session = &part.manifest.session;
            problems.extend(counters(part, &mut |sample| snapshots.sample(session, sample)).err());
        }
        snapshots.finish();
        all_read(&problems)
    }

    fn sums(&self, schema: &str) -> Option<Vec<u8>> {
        let file = Rollups::new(&self.path).sums(&self.node).ok()??;
        let is_of = file.header.schema == schema && file.header.node == self.node;
        let parts: BTreeSet<String> = self.parts.iter().map(Part::name).collect();
        (is_of && file.header.parts == parts).then_some(file.sums)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// An error that names all problems, if there are any.
fn all_read(problems: &[StoreError]) -> Result<(), String> {
    if problems.is_empty() {
        return Ok(());
    }
    Err(problems.iter().map(StoreError::chain).collect::<Vec<_>>().join("; "))
}

/// Hands on the rows and marks of a part in the order of `seq`; how many RPCs.
fn read_part(
    part: &Part,
    node: Symbol,
    symbols: &mut Symbols,
    sink: &mut dyn RowSink,
    problems: &mut Vec<StoreError>,
) -> u64 {
    let mut tables: [Box<dyn AnyCursor>; 3] =
        [open::<RpcView>(part, problems), open::<LockEventView>(part, problems), open::<SentRpcView>(part, problems)];
    let mut marks = part.manifest.marks.clone();
    marks.sort_by_key(|mark| mark.seq);
    let mut marks = marks.iter().peekable();
    loop {
        // The table that comes next, and how far it may go before another does.
        let mut first: Option<(i64, Option<usize>)> = marks.peek().map(|mark| (mark.seq, None));
        let mut limit = i64::MAX;
        for (number, table) in tables.iter_mut().enumerate() {
            let seq = match table.peek(symbols) {
                Ok(Some(seq)) => seq,
                Ok(None) => continue,
                Err(err) => {
                    problems.push(err);
                    table.stop();
                    continue;
                }
            };
            match first {
                Some((earlier, _)) if earlier <= seq => limit = limit.min(seq),
                _ => {
                    limit = limit.min(first.map_or(i64::MAX, |(later, _)| later));
                    first = Some((seq, Some(number)));
                }
            }
        }
        match first {
            None => return tables[0].given(),
            Some((_, None)) => {
                if let Some(mark) = marks.next() {
                    give_mark(mark, node, symbols, sink);
                }
            }
            // No other has this `seq`, unless the dataset is damaged; one row at least, so that it ends.
            Some((seq, Some(number))) => {
                let limit = limit.max(seq.saturating_add(1));
                if let Err(err) = tables[number].give_below(limit, node, symbols, sink) {
                    problems.push(err);
                    tables[number].stop();
                }
            }
        }
    }
}

fn open<R: NodeRows + 'static>(part: &Part, problems: &mut Vec<StoreError>) -> Box<dyn AnyCursor> {
    let cursor = TableCursor::<R>::open(part).unwrap_or_else(|err| {
        problems.push(err);
        TableCursor::empty()
    });
    Box::new(cursor)
}

fn give_mark(mark: &StoredMark, node: Symbol, symbols: &mut Symbols, sink: &mut dyn RowSink) {
    let text = symbols.intern(&text::decode(&mark.text));
    sink.mark(&Mark { node, time_us: mark.time_us, text }, symbols);
}
