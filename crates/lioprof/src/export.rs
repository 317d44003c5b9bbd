//! `lioprof export`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use lioprof_analysis::{Config, analyze_with_stores};
use lioprof_model::units::{human_bytes, plural};
use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols, TraceSummary};
use lioprof_perfetto::{PerfettoWriter, Written};
use lioprof_store::{CsvWriter, DatasetExport, StoreError};

use crate::args::{ExportArgs, given_twice};
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};
use crate::reading;
use crate::stores::Stores;

pub(crate) fn run(args: &ExportArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let mut outputs = Outputs::create(args)?;
    let config = Config {
        // Rows are wanted, not what they say of locks.
        locks: false,
        ..args.log.config()
    };
    let read = reading::read(&config, verbosity, |config| {
        analyze_with_stores(&args.inputs, &Stores, config, Some(&mut outputs))
    });
    let outcome = match read {
        Ok(Some(outcome)) => outcome,
        nothing => {
            outputs.abandon(args);
            return nothing.map(|_| Code::Unusable);
        }
    };
    reading::say(&outcome, verbosity);
    if outcome.has_errors() && outcome.analysis.totals.rpcs + outcome.analysis.totals.sent_rpcs == 0 {
        outputs.abandon(args);
        return Ok(Code::Unusable);
    }
    outputs.finish(args, verbosity)?;
    Ok(Code::of_reading(&outcome, args.log.max_loss))
}

/// Writes all outputs that were asked for.
struct Outputs {
    parquet: Option<DatasetExport>,
    csv: Option<CsvWriter>,
    perfetto: Option<PerfettoWriter>,
}

impl Outputs {
    fn create(args: &ExportArgs) -> anyhow::Result<Self> {
        let names: Vec<&PathBuf> = args.parquet.iter().chain(&args.csv).chain(&args.perfetto).collect();
        if let Some(name) = given_twice(&names) {
            bail!("--parquet, --csv and --perfetto need different names: `{}` is given twice", name.display());
        }
        for dir in args.parquet.iter().chain(&args.csv) {
            create_empty(dir)?;
        }
        let csv = args.csv.as_deref().map(CsvWriter::create).transpose().map_err(chain)?;
        let mut options = lioprof_store::Options::default();
        options.old_readers = args.old_readers;
        let parquet = args.parquet.as_deref().map(|dir| DatasetExport::new(dir, options));
        let max_bytes = u64::from(args.split_mib) << 20;
        let perfetto = args.perfetto.as_deref().map(|path| PerfettoWriter::create(path, max_bytes)).transpose()?;
        Ok(Self { parquet, csv, perfetto })
    }

    /// Removes the empty output directory: the same command has to work once the input exists.
    fn abandon(self, args: &ExportArgs) {
        if let Some(csv) = self.csv {
            csv.abandon();
        }
        if let Some(path) = &args.perfetto {
            // An empty file does no harm.
            let _deleted_or_left = fs::remove_file(path);
        }
    }

    fn finish(self, args: &ExportArgs, verbosity: Verbosity) -> anyhow::Result<()> {
        let say = |text: String| messages::note(verbosity, &text);
        if let (Some(parquet), Some(dir)) = (self.parquet, &args.parquet) {
            let done = parquet.finish().map_err(chain)?;
            let (rpcs, rows) = (plural(done.rpcs, "RPC"), plural(done.rows, "row"));
            say(format!("`{}`: {rpcs}, {rows}, {} of Parquet", dir.display(), human_bytes(done.bytes)));
        }
        if let (Some(csv), Some(dir)) = (self.csv, &args.csv) {
            let done = csv.finish().map_err(chain)?;
            let (rpcs, events) = (plural(done.rpcs, "RPC"), plural(done.lock_events, "lock event"));
            say(format!(
                "`{}`: {rpcs}, {events}, {} of sent RPCs as CSV",
                dir.display(),
                plural(done.sent_rpcs, "row")
            ));
        }
        if let Some(perfetto) = self.perfetto {
            trace_written(&perfetto.finish()?, verbosity);
        }
        Ok(())
    }
}

fn trace_written(done: &Written, verbosity: Verbosity) {
    let say = |text: String| messages::note(verbosity, &text);
    let name = done.files.first().map(|path| path.display().to_string()).unwrap_or_default();
    let (rpcs, waits) = (plural(done.rpcs, "RPC"), plural(done.lock_waits, "lock wait"));
    say(format!("`{name}`: {rpcs}, {waits}, {} for ui.perfetto.dev", human_bytes(done.bytes)));
    if done.files.len() > 1 {
        say(format!(
            "note: wrote {} files, `{name}` first; each opens by itself. --from and --to give one moment of all nodes in one",
            done.files.len()
        ));
    }
    let left_out = done.rpcs_not_drawn + done.locks_not_drawn;
    if left_out > 0 {
        let (rpcs, locks) = (plural(done.rpcs_not_drawn, "RPC"), plural(done.locks_not_drawn, "lock"));
        say(format!(
            "note: {rpcs} and {locks} are not on the tracks of their target, where 512 lanes were taken; counters and \
             threads have them"
        ));
    }
    if done.rpcs_without_duration > 0 {
        let rpcs = plural(done.rpcs_without_duration, "RPC");
        say(format!("note: {rpcs} without a duration (the clock stepped) are drawn as instants"));
    }
}

fn chain(err: StoreError) -> anyhow::Error {
    anyhow::Error::msg(err.chain())
}

/// Creates a new or empty directory, so that rows are neither mixed with foreign files nor written twice.
fn create_empty(dir: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("failed to create directory `{}`", dir.display()))?;
    let mut entries = dir.read_dir().with_context(|| format!("failed to list directory `{}`", dir.display()))?;
    if entries.next().is_some() {
        bail!("`{}` is not empty; name a new directory, or empty this one", dir.display());
    }
    Ok(())
}

impl RowSink for Outputs {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.each(|sink| sink.rpc(row, symbols));
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.each(|sink| sink.lock_event(event, symbols));
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.each(|sink| sink.sent_rpc(sent, symbols));
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.each(|sink| sink.mark(mark, symbols));
    }

    fn node_end(&mut self, node: &str, summary: &TraceSummary, symbols: &Symbols) {
        self.each(|sink| sink.node_end(node, summary, symbols));
    }
}

impl Outputs {
    fn each(&mut self, hand: impl Fn(&mut dyn RowSink)) {
        if let Some(parquet) = &mut self.parquet {
            hand(parquet);
        }
        if let Some(csv) = &mut self.csv {
            hand(csv);
        }
        if let Some(perfetto) = &mut self.perfetto {
            hand(perfetto);
        }
    }
}
