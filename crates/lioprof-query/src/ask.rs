//! Functions shared by the prompt and the commands.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use anyhow::bail;
use lioprof_query::ready::{self};
use lioprof_query::{Dataset, Engine, Options, Session, Written};

use crate::args::EngineArgs;
use crate::messages;

/// Opens a dataset.
pub(crate) async fn open(dataset: &str, engine: &EngineArgs) -> anyhow::Result<Session> {
    let embedded = engine.engine == Engine::Embedded;
    if embedded && engine.partitions.is_some() {
        bail!("--partitions applies to clusters; use --threads for the embedded engine");
    }
    if !embedded && (engine.threads.is_some() || engine.memory_mib.is_some()) {
        bail!(
            "--threads and --memory-mib apply to the embedded engine; executors have their own --concurrent-tasks and --memory-mib"
        );
    }
    #[cfg(feature = "cluster")]
    if !embedded {
        // A result that was lost and is asked for again takes its time; the user may want to know why.
        env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("off,lioprof_query=warn"))
            .try_init()?;
    }
    let options = Options {
        engine: engine.engine.clone(),
        partitions: engine.partitions.map(NonZeroUsize::get),
        threads: engine.threads.map(NonZeroUsize::get),
        memory_bytes: engine.memory_mib.map(|mib| mib.get().saturating_mul(1 << 20)),
    };
    Ok(Session::open(Dataset::open(dataset).await?, &options).await?)
}

/// Prints a note if a table was cut off.
pub(crate) fn note_rest(written: Written) {
    if written.more {
        messages::note(&format!(
            "printed only the first {} rows; --max-rows 0 prints all, LIMIT selects fewer",
            written.rows
        ));
    }
}

/// The limit of `--max-rows`; `None` for 0, which means all.
pub(crate) fn limit(max_rows: usize) -> Option<usize> {
    Some(max_rows).filter(|it| *it > 0)
}

/// Names and questions of the ready queries.
pub(crate) fn write_list(out: &mut dyn Write) -> io::Result<()> {
    let width = ready::all().iter().map(|query| query.name.len()).max().unwrap_or(0);
    for query in ready::all() {
        writeln!(out, "{:width$}  {}", query.name, query.question)?;
    }
    Ok(())
}
