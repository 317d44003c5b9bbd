//! `lioprof operations`.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anyhow::Context;
use lioprof_analysis::{Config, find_operations};
use lioprof_model::Operations;
#[cfg(feature = "parquet")]
use lioprof_model::units::plural;
use lioprof_text::operations::{SLOWEST, write};

use crate::args::OperationsArgs;
use crate::exit_code::Code;
#[cfg(feature = "parquet")]
use crate::messages;
use crate::messages::Verbosity;
use crate::stores::Stores;
use crate::{output_dir, reading};

pub(crate) fn run(args: &OperationsArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    if let Some(dir) = &args.output {
        output_dir::check_operations(dir, &args.plots)?;
    }
    let config = Config {
        selection: args.selection.selection(),
        // Lock lines are taken as they are.
        locks: false,
        names: args.names,
        ..args.log.config()
    };
    let found = reading::read(&config, verbosity, |config| find_operations(&args.inputs, &Stores, config))?;
    let Some((outcome, operations)) = found else { return Ok(Code::Unusable) };
    reading::say(&outcome, verbosity);
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
        let (rpcs, drawn) = operations.drawn_rpcs();
        if operations.from_clients && drawn < rpcs {
            messages::note(
                verbosity,
                &format!(
                    "`{}` lacks {} of {} of operations: the client's log has no `Sending RPC` or no `Completed RPC` line of them",
                    path.display(),
                    rpcs - drawn,
                    plural(rpcs, "RPC")
                ),
            );
        }
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.resolve {
        resolve(&operations, &mut out)?;
    } else {
        write(&operations, args.format, verbosity == Verbosity::Verbose, &mut out)?;
    }
    out.flush().context("failed to write to stdout")?;
    Ok(Code::of_selection(&outcome, args.log.max_loss, &config.selection, operations.rows.is_empty()))
}

/// Commands that tell the names of the slowest operations' files, for an administrator to run on a client.
fn resolve(operations: &Operations, out: &mut dyn Write) -> io::Result<()> {
    let fids: BTreeSet<_> = operations.slowest(SLOWEST).into_iter().filter_map(|row| row.fid).collect();
    for fid in fids {
        writeln!(out, "lfs fid2path MOUNTPOINT '{fid}'")?;
    }
    Ok(())
}
