//! Datasets made of captures, and answers as JSON.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use lioprof_model::Analysis;
use lioprof_query::{Bound, Dataset, Format, Options, QueryError, Session};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use crate::captures::export;

/// A capture as a dataset, and its analysis.
pub(crate) struct Rows {
    folder: TempDir,
    pub(crate) analysis: Analysis,
}

impl Rows {
    pub(crate) fn of(capture: &str) -> Self {
        // What a test leaves behind, since statics are not dropped, is in the target folder.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let analysis = export(capture, folder.path());
        Self { folder, analysis }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn name(&self) -> &str {
        self.path().to_str().unwrap()
    }

    pub(crate) fn session(&self) -> Session {
        open(self.name())
    }
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A fight over a lock, seen with dlmtrace: most tests ask this one.
pub(crate) static PING_PONG: LazyLock<Rows> = LazyLock::new(|| Rows::of("lock_pingpong_dlm"));

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().enable_all().thread_stack_size(16 << 20).build().unwrap());

/// Runs on a thread with enough stack for an engine without optimisation.
pub(crate) fn wait<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    RUNTIME.block_on(RUNTIME.spawn(future)).unwrap()
}

pub(crate) fn open(dataset: &str) -> Session {
    let dataset = dataset.to_owned();
    wait(async move { Session::open(Dataset::open(&dataset).await.unwrap(), &Options::default()).await.unwrap() })
}

/// What a statement, or the last of several, writes.
fn write(session: &Session, sql: &str, values: &Bound, format: Format) -> Result<Vec<u8>, String> {
    let (session, sql, values) = (session.clone(), sql.to_owned(), values.clone());
    wait(async move {
        let mut out = Vec::new();
        for statement in session.statements(&sql)? {
            out.clear();
            let frame = session.plan(statement, values.clone()).await?;
            session.write(frame, format, None, &mut out).await?;
        }
        Ok(out)
    })
    .map_err(|err: QueryError| err.to_string())
}

/// Rows, or the error.
pub(crate) fn try_ask(session: &Session, sql: &str, values: &Bound) -> Result<Vec<Value>, String> {
    let text = String::from_utf8(write(session, sql, values, Format::Json)?).unwrap();
    Ok(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

pub(crate) fn ask(session: &Session, sql: &str) -> Vec<Value> {
    try_ask(session, sql, &Bound::default()).unwrap_or_else(|err| panic!("{err}\n{sql}"))
}

/// Names of the columns, then the rows, in their order; nothing for null.
pub(crate) fn table(session: &Session, sql: &str, values: &Bound) -> Vec<Vec<String>> {
    let csv = write(session, sql, values, Format::Csv).unwrap_or_else(|err| panic!("{err}\n{sql}"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&csv[..]);
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The rows alone.
pub(crate) fn tuples(session: &Session, sql: &str) -> Vec<Vec<String>> {
    table(session, sql, &Bound::default()).split_off(1)
}

/// A number, or nothing, as [`tuples`] has it.
pub(crate) fn number(value: Option<u64>) -> String {
    value.map(|it| it.to_string()).unwrap_or_default()
}
