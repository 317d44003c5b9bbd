//! The part that is being written.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use lioprof_model::{LockEvent, Mark, RpcRow, SentRpc, Symbols};

use super::facts::{ClosedPart, NodeInfo, Options, PartStats};
use super::table_writer::{PartFiles, TableWriter, discard};
use crate::error::StoreError;
use crate::files::{self, Files};
use crate::layout;
use crate::manifest::{MANIFEST_SCHEMA, Manifest, ManifestFacts, StoredMark, TableFile};
use crate::table::counters::{CounterColumns, CounterSample};
use crate::table::lock_events::LockEventColumns;
use crate::table::rpcs::RpcColumns;
use crate::table::sent_rpcs::SentRpcColumns;
use crate::table::texts::Texts;
use crate::table::{ROWS_SCHEMA, Table};
use crate::text;

/// Items between two looks at the memory: it grows by less than 300 bytes with each.
const LOOK_EVERY: u32 = 1024;
/// Memory of texts above which they are forgotten, all tables being written first.
const MAX_TEXTS_BYTES: usize = 8 << 20;
/// Bytes of a row before the first row group tells better.
const GUESSED_ROW_BYTES: u64 = 24;

/// Names of the part's files.
struct PartNames {
    fs: String,
    partition: PathBuf,
    stem: String,
}

/// The open part.
#[derive(Default)]
pub(crate) struct OpenPart {
    /// Time of the first item, or what stands for it: begun, and not named yet.
    begun_us: Option<i64>,
    names: Option<PartNames>,
    texts: Texts,
    rpcs: TableWriter<RpcColumns>,
    lock_events: TableWriter<LockEventColumns>,
    sent_rpcs: TableWriter<SentRpcColumns>,
    counters: TableWriter<CounterColumns>,
    marks: Vec<StoredMark>,
    first_us: Option<i64>,
    last_us: Option<i64>,
    since_look: u32,
    /// Files that have their final name, or were about to get it.
    published: Vec<PathBuf>,
}

impl OpenPart {
    /// Begins with an item of this time.
    #[inline]
    pub(crate) fn begin(&mut self, time_us: i64) {
        self.begun_us.get_or_insert(time_us);
    }

    /// Names the part by the time of its first item. Called when something is about to be written: whoever reads a log
    /// learns from its rows which file systems they are of.
    pub(crate) fn name(&mut self, node: &NodeInfo, number: u64) {
        if let (Some(time_us), None) = (self.begun_us, &self.names) {
            self.names = Some(PartNames {
                fs: node.fs.clone(),
                partition: layout::partition(&node.fs, &node.node, time_us),
                stem: layout::stem(time_us, &node.session.id, number),
            });
        }
    }

    pub(crate) fn rpc(&mut self, seq: i64, row: &RpcRow, symbols: &Symbols) {
        self.saw(row.end_us);
        self.rpcs.rows.push(seq, row, &mut self.texts, symbols);
    }

    pub(crate) fn lock_event(&mut self, seq: i64, event: &LockEvent, symbols: &Symbols) {
        self.saw(event.time_us);
        self.lock_events.rows.push(seq, event, &mut self.texts, symbols);
    }

    pub(crate) fn sent_rpc(&mut self, seq: i64, sent: &SentRpc, symbols: &Symbols) {
        self.saw(sent.time_us);
        self.sent_rpcs.rows.push(seq, sent, &mut self.texts, symbols);
    }

    pub(crate) fn counter(&mut self, seq: i64, sample: &CounterSample<'_>) {
        self.saw(sample.time_us);
        self.counters.rows.push(seq, sample, &mut self.texts);
    }

    pub(crate) fn mark(&mut self, seq: i64, mark: &Mark, symbols: &Symbols) {
        self.saw(mark.time_us);
        let text = text::encode(symbols.bytes(mark.text)).into_owned();
        self.marks.push(StoredMark { seq, time_us: mark.time_us, text });
    }

    #[inline]
    fn saw(&mut self, time_us: i64) {
        self.first_us = Some(self.first_us.map_or(time_us, |first| first.min(time_us)));
        self.last_us = Some(self.last_us.map_or(time_us, |last| last.max(time_us)));
        self.since_look += 1;
    }

    pub(crate) fn forget_symbols(&mut self) {
        self.texts.forget_symbols();
    }

    pub(crate) fn stats(&self) -> PartStats {
        let tables = [
            (self.rpcs.total_rows(), self.rpcs.written()),
            (self.lock_events.total_rows(), self.lock_events.written()),
            (self.sent_rpcs.total_rows(), self.sent_rpcs.written()),
            (self.counters.total_rows(), self.counters.written()),
        ];
        let estimate = |(rows, (bytes, written)): (u64, (u64, u64))| {
            // What is still in memory will pack like what is not.
            let per_row = if written == 0 { GUESSED_ROW_BYTES } else { bytes.div_ceil(written) };
            bytes + (rows - written) * per_row
        };
        let texts = self.marks.iter().map(|mark| mark.text.len() as u64 + 80).sum::<u64>();
        PartStats {
            rpcs: tables[0].0,
            lock_events: tables[1].0,
            sent_rpcs: tables[2].0,
            counters: tables[3].0,
            marks: self.marks.len() as u64,
            estimated_bytes: tables.into_iter().map(estimate).sum::<u64>() + texts,
            buffered_bytes: self.buffered(),
            first_us: self.first_us,
            last_us: self.last_us,
        }
    }

    fn buffered(&self) -> usize {
        self.rpcs.rows.bytes()
            + self.lock_events.rows.bytes()
            + self.sent_rpcs.rows.bytes()
            + self.counters.rows.bytes()
    }

    /// Whether a row group is full, or memory is.
    #[inline]
    pub(crate) fn needs_flush(&mut self, options: &Options) -> bool {
        if self.since_look < LOOK_EVERY.min(u32::try_from(options.row_group_rows).unwrap_or(u32::MAX)) {
            return false;
        }
        self.since_look = 0;
        self.largest() >= options.row_group_rows
            || self.buffered() > options.buffer_bytes
            || self.texts.memory() > MAX_TEXTS_BYTES
    }

    fn largest(&self) -> usize {
        let rows = [
            self.rpcs.rows.rows(),
            self.lock_events.rows.rows(),
            self.sent_rpcs.rows.rows(),
            self.counters.rows.rows(),
        ];
        rows.into_iter().max().unwrap_or(0)
    }

    /// Writes row groups: of full tables, of the largest if memory is full, of all if there are too many texts.
    pub(crate) fn flush(&mut self, dir: &Path, options: &Options, files: &dyn Files) -> Result<(), StoreError> {
        let all = self.texts.memory() > MAX_TEXTS_BYTES;
        let full = if self.buffered() > options.buffer_bytes { self.largest() } else { options.row_group_rows };
        self.write_groups(if all { 1 } else { full }, dir, options, files)?;
        if all {
            self.texts = Texts::default();
        }
        Ok(())
    }

    /// Writes a row group of each table with so many rows.
    fn write_groups(
        &mut self,
        at_least: usize,
        dir: &Path,
        options: &Options,
        files: &dyn Files,
    ) -> Result<(), StoreError> {
        let Some(PartNames { partition, stem, .. }) = &self.names else { return Ok(()) };
        let to = PartFiles { files, dir, partition, stem, options };
        let texts = &mut self.texts;
        if self.rpcs.rows.rows() >= at_least {
            self.rpcs.flush(&to, texts)?;
        }
        if self.lock_events.rows.rows() >= at_least {
            self.lock_events.flush(&to, texts)?;
        }
        if self.sent_rpcs.rows.rows() >= at_least {
            self.sent_rpcs.flush(&to, texts)?;
        }
        if self.counters.rows.rows() >= at_least {
            self.counters.flush(&to, texts)?;
        }
        Ok(())
    }

    /// Completes all files, the manifest last.
    pub(crate) fn close(
        &mut self,
        dir: &Path,
        node: &NodeInfo,
        number: u64,
        options: &Options,
        files: &dyn Files,
        facts: ManifestFacts,
    ) -> Result<ClosedPart, StoreError> {
        self.write_groups(1, dir, options, files)?;
        let fs = self.names.as_ref().map_or_else(|| node.fs.clone(), |names| names.fs.clone());
        let keys = footer_facts(&fs, node, number, &facts);
        let published = &mut self.published;
        let mut tables = BTreeMap::new();
        let mut add = |name: &str, file: Option<TableFile>| tables.extend(file.map(|file| (name.to_owned(), file)));
        add(RpcColumns::NAME, self.rpcs.publish(&keys, files, published)?);
        add(LockEventColumns::NAME, self.lock_events.publish(&keys, files, published)?);
        add(SentRpcColumns::NAME, self.sent_rpcs.publish(&keys, files, published)?);
        add(CounterColumns::NAME, self.counters.publish(&keys, files, published)?);

        let manifest = Manifest {
            schema: MANIFEST_SCHEMA.to_owned(),
            rows_schema: ROWS_SCHEMA.to_owned(),
            lioprof_version: env!("CARGO_PKG_VERSION").to_owned(),
            fs,
            node: node.node.clone(),
            session: node.session.clone(),
            part: number,
            first_us: self.first_us,
            last_us: self.last_us,
            tables,
            marks: std::mem::take(&mut self.marks),
            facts,
        };
        let (manifest_path, manifest_bytes) = self.publish_manifest(&manifest, dir, files)?;
        let files = std::mem::take(&mut self.published);
        let bytes = manifest_bytes + manifest.tables.values().map(|table| table.bytes).sum::<u64>();
        Ok(ClosedPart { manifest, manifest_path, files, bytes })
    }

    fn publish_manifest(
        &self,
        manifest: &Manifest,
        dir: &Path,
        files: &dyn Files,
    ) -> Result<(PathBuf, u64), StoreError> {
        let PartNames { partition, stem, .. } = self.names.as_ref().expect("a part that is closed was begun");
        let path = dir.join(layout::MANIFESTS).join(partition).join(format!("{stem}.json"));
        let json = manifest.to_json().map_err(|source| StoreError::Manifest(path.clone(), source))?;
        let written = files::create(files, &path).and_then(|mut file| {
            let temporary = files::temporary(&path);
            file.write_all(&json).map_err(StoreError::io("write", temporary))?;
            files::publish(files, file, &path)
        });
        match written {
            Ok(written) => Ok((path, written.bytes)),
            Err(err) => {
                discard(files, &files::temporary(&path));
                // If the folder could not be synced after the rename: better no part than one that may vanish.
                discard(files, &path);
                Err(err)
            }
        }
    }

    /// Forgets the part and deletes its files.
    pub(crate) fn abandon(&mut self, files: &dyn Files) {
        self.rpcs.abandon(files);
        self.lock_events.abandon(files);
        self.sent_rpcs.abandon(files);
        self.counters.abandon(files);
        for path in self.published.drain(..) {
            discard(files, &files::temporary(&path));
            discard(files, &path);
        }
    }
}

/// What each Parquet file says about itself.
fn footer_facts(fs: &str, node: &NodeInfo, number: u64, facts: &ManifestFacts) -> Vec<(&'static str, String)> {
    let mut keys = vec![
        ("lioprof.schema", ROWS_SCHEMA.to_owned()),
        ("lioprof.version", env!("CARGO_PKG_VERSION").to_owned()),
        ("lioprof.fs", fs.to_owned()),
        ("lioprof.node", node.node.clone()),
        ("lioprof.session", node.session.id.clone()),
        ("lioprof.session_start_us", node.session.start_us.to_string()),
        ("lioprof.part", number.to_string()),
    ];
    let known = [
        ("lioprof.lustre_version", &facts.lustre_version),
        ("lioprof.debug", &facts.debug),
        ("lioprof.subsystem_debug", &facts.subsystem_debug),
        ("lioprof.profile", &facts.profile),
    ];
    keys.extend(known.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))));
    if let Ok(loss) = serde_json::to_string(&facts.summary.loss) {
        keys.push(("lioprof.loss", loss));
    }
    keys
}
