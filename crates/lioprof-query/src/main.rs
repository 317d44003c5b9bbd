//! The `lioprof-query` command: arguments, wiring, printing, exit codes.
#![forbid(unsafe_code)]

mod about;
mod args;
mod ask;
mod destination;
mod generate;
mod messages;
mod prompt;
mod run;
#[cfg(feature = "cluster")]
mod serve;

use std::process::ExitCode;

use clap::Parser;

use args::Args;

/// DataFusion plans and runs by recursion; builds without optimisation need more than the usual stack for that.
const STACK_BYTES: usize = 8 << 20;
/// Wrong arguments, SQL that cannot be run, a dataset that cannot be read. (clap uses 2, too.)
const UNUSABLE: u8 = 2;
/// As shells call what SIGINT has ended.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = start(&args);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the output has seen enough.
        Err(error) if messages::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<run::Interrupted>() => INTERRUPTED.into(),
        Err(error) => {
            messages::error(&error);
            UNUSABLE.into()
        }
    }
}

fn start(args: &Args) -> anyhow::Result<()> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().thread_stack_size(STACK_BYTES);
    if let Some(threads) = args.command.engine().and_then(|engine| engine.threads) {
        builder.worker_threads(threads.get());
    }
    let runtime = builder.build()?;
    let result = run::command(args, &runtime);
    // A query that Ctrl-C ended may compute on to its next pause.
    runtime.shutdown_background();
    result
}
