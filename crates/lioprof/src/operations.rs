//! `lioprof operations`.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anyhow::Context;
use lioprof_analysis::{AnalyzeError, Config, Selection, find_operations};
use lioprof_model::Operations;
#[cfg(feature = "parquet")]
use lioprof_model::units::plural;
use lioprof_text::operations::{SLOWEST, write};
use lioprof_trace::Progress;

use crate::args::{self, OperationsArgs};
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};
use crate::output_dir;
use crate::progress::Bar;
use crate::stores::Stores;

pub(crate) fn run(args: &OperationsArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let config = Config {
        threads: args::threads(args.threads),
        from: args.from.clone(),
        to: args.to.clone(),
        selection: Selection {
            clients: args.client.clone(),
            targets: args.target.clone(),
            jobs: args.job.clone(),
            opcodes: args.opcode.clone(),
        },
        node_rules: args.node.clone(),
        // Lock lines are taken as they are.
        locks: false,
        names: args.names,
        progress: Progress::default(),
        ..Config::default()
    };
    let bar = Bar::start(&config.progress, verbosity);
    let found = find_operations(&args.inputs, &Stores, &config);
    drop(bar);
    let (outcome, operations) = match found {
        Ok(found) => found,
        Err(AnalyzeError::NoInput { problems }) => {
            messages::problems(&problems, verbosity);
            return Ok(Code::Unusable);
        }
        Err(error) => return Err(error.into()),
    };
    messages::problems(&outcome.problems, verbosity);
    for warning in &outcome.analysis.warnings {
        messages::note(verbosity, &format!("warning: {warning}"));
    }
    if let Some(dir) = &args.output {
        output_dir::write_operations(&operations, &outcome.analysis.generator, dir, &args.plots, verbosity)?;
    }
    #[cfg(feature = "parquet")]
    if let Some(path) = &args.parquet {
        let written = lioprof_store::write_operations(path, &operations);
        let count = written.map_err(|err| anyhow::Error::msg(err.chain()))?;
        messages::note(verbosity, &format!("`{}`: {}", path.display(), plural(count as u64, "operation")));
    }
    #[cfg(feature = "export")]
    if let Some(path) = &args.perfetto {
        let bytes = lioprof_perfetto::write_operations(path, &operations)?;
        let size = lioprof_model::units::human_bytes(bytes);
        messages::note(verbosity, &format!("`{}`: {size} for ui.perfetto.dev", path.display()));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.resolve {
        resolve(&operations, &mut out)?;
    } else {
        write(&operations, args.format, verbosity == Verbosity::Verbose, &mut out)?;
    }
    out.flush().context("failed to write to stdout")?;
    Ok(Code::of_reading(&outcome, args.max_loss))
}

/// Commands that tell the names of the slowest operations' files, for an administrator to run on a client.
fn resolve(operations: &Operations, out: &mut dyn Write) -> io::Result<()> {
    let fids: BTreeSet<_> = operations.slowest(SLOWEST).into_iter().filter_map(|row| row.fid).collect();
    for fid in fids {
        writeln!(out, "lfs fid2path MOUNTPOINT '{fid}'")?;
    }
    Ok(())
}
