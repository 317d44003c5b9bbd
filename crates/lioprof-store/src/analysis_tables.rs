//! Complete tables of an analysis whose JSON has only their largest rows.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use lioprof_model::bounded::lists;
use lioprof_model::{
    Analysis, Client, ClientEnqueues, ClientParts, EnqueueSplit, Failure, Flow, Job, Owner, RpcPhases, SentRpcs,
    ServiceSplit, TargetSeries, Throttled, TimeOf,
};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::plain_rows::{self, Columns, plain};

/// Folder of the tables beside `analysis.json`.
pub const ANALYSIS_TABLES: &str = "tables";

/// Tables that are there if bins of the series were joined or the account of the time was cut.
const SERIES: &str = "series.targets";
const ACCOUNT_OF_CLIENTS: &str = "time_account.clients";
const ACCOUNT_OF_JOBS: &str = "time_account.jobs";

plain!(Client, Failure, Flow, Job, Owner, SentRpcs, RpcPhases, TargetSeries, Throttled, TimeOf, PartsRow, EnqueuesRow);

/// [`ClientParts`] as columns.
#[derive(Clone, Serialize, Deserialize)]
struct PartsRow {
    nid: String,
    targets: u64,
    parts: ServiceSplit,
}

/// [`ClientEnqueues`] as columns.
#[derive(Clone, Serialize, Deserialize)]
struct EnqueuesRow {
    nid: String,
    parts: EnqueueSplit,
}

fn parts_row(it: &ClientParts) -> PartsRow {
    PartsRow { nid: it.nid.clone(), targets: it.targets, parts: it.parts.clone() }
}

fn enqueues_row(it: &ClientEnqueues) -> EnqueuesRow {
    EnqueuesRow { nid: it.nid.clone(), parts: it.parts.clone() }
}

fn file(dir: &Path, table: &str) -> PathBuf {
    dir.join(ANALYSIS_TABLES).join(format!("{table}.parquet"))
}

/// Writes what `bounded` lacks of `complete` into `dir`, and removes tables of an earlier analysis there. Returns the names of the tables.
///
/// # Errors
/// If a file cannot be written or deleted.
pub fn write_analysis_tables(
    complete: &Analysis,
    bounded: &Analysis,
    dir: &Path,
) -> Result<Vec<&'static str>, StoreError> {
    let mut written = Vec::new();
    let mut write = Writer { dir, written: &mut written };
    let cut = |name: &str| bounded.others.contains_key(name);
    write.table(lists::CLIENTS, cut(lists::CLIENTS), || (&complete.clients).into())?;
    write.table(lists::FLOWS, cut(lists::FLOWS), || (&complete.flows).into())?;
    write.table(lists::JOBS, cut(lists::JOBS), || (&complete.jobs).into())?;
    write.table(lists::OWNERS, cut(lists::OWNERS), || (&complete.owners).into())?;
    write.table(lists::SENT, cut(lists::SENT), || (&complete.sent).into())?;
    write.table(lists::THROTTLED, cut(lists::THROTTLED), || (&complete.throttled).into())?;
    write.table(lists::FAILURES, cut(lists::FAILURES), || (&complete.failures).into())?;
    write.table(lists::RPC_PHASES, cut(lists::RPC_PHASES), || (&complete.rpc_phases).into())?;
    let parts = || complete.service_parts.clients.iter().map(parts_row).collect();
    write.table(lists::SERVICE_PARTS, cut(lists::SERVICE_PARTS), parts)?;
    let enqueues = || complete.enqueue_parts.clients.iter().map(enqueues_row).collect();
    write.table(lists::ENQUEUE_PARTS, cut(lists::ENQUEUE_PARTS), enqueues)?;
    let (all, few) = (&complete.time_account, &bounded.time_account);
    write.table(ACCOUNT_OF_CLIENTS, all.clients != few.clients, || (&all.clients).into())?;
    write.table(ACCOUNT_OF_JOBS, all.jobs != few.jobs, || (&all.jobs).into())?;
    write.table(SERIES, complete.series.bins != bounded.series.bins, || (&complete.series.targets).into())?;
    Ok(written)
}

struct Writer<'a> {
    dir: &'a Path,
    written: &'a mut Vec<&'static str>,
}

impl Writer<'_> {
    fn table<'r, T: Columns + Clone + 'r>(
        &mut self,
        name: &'static str,
        wanted: bool,
        rows: impl FnOnce() -> Cow<'r, [T]>,
    ) -> Result<(), StoreError> {
        let path = file(self.dir, name);
        if !wanted {
            return plain_rows::remove(&path);
        }
        self.written.push(name);
        plain_rows::write(&path, &rows())
    }
}

/// Puts complete tables that are beside `analysis.json` in `dir` in the place of the lists that it cuts. Bins stay joined. Returns the
/// lists that remain cut because their tables are not there.
///
/// # Errors
/// If a table is there and cannot be read.
pub fn complete_analysis(analysis: &mut Analysis, dir: &Path) -> Result<Vec<String>, StoreError> {
    let mut missing = Vec::new();
    for (name, others) in std::mem::take(&mut analysis.others) {
        let path = file(dir, &name);
        if !path.is_file() {
            analysis.others.insert(name.clone(), others);
            missing.push(name);
            continue;
        }
        match name.as_str() {
            lists::CLIENTS => analysis.clients = plain_rows::read(&path)?,
            lists::FLOWS => analysis.flows = plain_rows::read(&path)?,
            lists::JOBS => analysis.jobs = plain_rows::read(&path)?,
            lists::OWNERS => analysis.owners = plain_rows::read(&path)?,
            lists::SENT => analysis.sent = plain_rows::read(&path)?,
            lists::THROTTLED => analysis.throttled = plain_rows::read(&path)?,
            lists::FAILURES => analysis.failures = plain_rows::read(&path)?,
            lists::RPC_PHASES => analysis.rpc_phases = plain_rows::read(&path)?,
            lists::SERVICE_PARTS => {
                let parts = |row: PartsRow| ClientParts { nid: row.nid, targets: row.targets, parts: row.parts };
                analysis.service_parts.clients = plain_rows::read(&path)?.into_iter().map(parts).collect();
            }
            lists::ENQUEUE_PARTS => {
                let parts = |row: EnqueuesRow| ClientEnqueues { nid: row.nid, parts: row.parts };
                analysis.enqueue_parts.clients = plain_rows::read(&path)?.into_iter().map(parts).collect();
            }
            // Of a later version: it stays as it is.
            _ => {
                analysis.others.insert(name.clone(), others);
                missing.push(name);
            }
        }
    }
    for (name, list) in
        [(ACCOUNT_OF_CLIENTS, &mut analysis.time_account.clients), (ACCOUNT_OF_JOBS, &mut analysis.time_account.jobs)]
    {
        let path = file(dir, name);
        if path.is_file() {
            *list = plain_rows::read(&path)?;
        }
    }
    Ok(missing)
}

#[cfg(test)]
#[path = "analysis_tables_tests.rs"]
mod tests;
