//! The `lioprof` command: arguments, wiring, printing, exit codes. The logic is in the libraries.
#![forbid(unsafe_code)]

mod about;
mod analyze;
mod anonymise;
mod args;
mod check;
mod compare;
#[cfg(feature = "daemon")]
mod daemon;
#[cfg(feature = "daemon")]
mod daemon_client;
#[cfg(feature = "daemon")]
mod daemon_live;
mod decode;
mod exit_code;
mod explain;
#[cfg(feature = "export")]
mod export;
mod findings;
mod generate;
mod kernel_logs;
mod messages;
mod operations;
mod output_dir;
mod progress;
mod reading;
#[cfg(feature = "daemon")]
mod record;
#[cfg(feature = "replay")]
mod replay;
#[cfg(feature = "report")]
mod report;
#[cfg(feature = "export")]
mod rollup;
mod saved;
mod stores;
mod survey;
mod survey_files;
mod thresholds;
#[cfg(feature = "daemon")]
mod top;
mod what_if;

use std::process::ExitCode;

use lioprof_model::with_causes;

use args::{Args, Command};
use messages::Verbosity;

/// Takes a third less time than glibc's allocator: many clients cause many small blocks, freed on another thread.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    use_small_pages();
    let args = Args::of_process();
    lioprof_text::Color::ask(args.color);
    let verbosity = match (args.quiet, args.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let result = match &args.command {
        Command::Analyze(analyze_args) => analyze::run(analyze_args, verbosity),
        Command::Anonymise(anonymise_args) => anonymise::run(anonymise_args, verbosity),
        Command::Compare(compare_args) => compare::run(compare_args, verbosity),
        Command::Decode(decode_args) => decode::run(decode_args, verbosity),
        Command::Operations(operations_args) => operations::run(operations_args, verbosity),
        Command::WhatIf(what_if_args) => what_if::run(what_if_args, verbosity),
        #[cfg(feature = "export")]
        Command::Export(export_args) => export::run(export_args, verbosity),
        #[cfg(feature = "export")]
        Command::Rollup(rollup_args) => rollup::run(rollup_args, verbosity),
        Command::Check(check_args) => check::run(check_args, verbosity),
        Command::Explain(explain_args) => explain::run(explain_args),
        Command::Findings(findings_args) => findings::list(findings_args),
        #[cfg(feature = "daemon")]
        Command::Daemon(daemon_args) => daemon::run(daemon_args, verbosity),
        #[cfg(feature = "daemon")]
        Command::Doctor(doctor_args) => daemon::doctor(doctor_args),
        #[cfg(feature = "daemon")]
        Command::Status(status_args) => daemon_client::status(status_args, verbosity),
        #[cfg(feature = "daemon")]
        Command::Top(top_args) => top::run(top_args, verbosity),
        #[cfg(feature = "daemon")]
        Command::Stop(talk_args) => daemon_client::stop(talk_args, verbosity),
        #[cfg(feature = "daemon")]
        Command::Mark(mark_args) => daemon_client::mark(mark_args, verbosity),
        #[cfg(feature = "daemon")]
        Command::Record(record_args) => record::run(record_args, verbosity),
        #[cfg(feature = "daemon")]
        Command::Agent(agent_args) => record::agent(agent_args),
        #[cfg(feature = "replay")]
        Command::Replay(replay_args) => replay::run(replay_args, verbosity),
        #[cfg(feature = "report")]
        Command::Report(report_args) => report::run(report_args, verbosity),
        Command::Generate(share) => generate::generate(share),
    };
    match result {
        Ok(code) => code.into(),
        // Whoever reads the output has seen enough.
        Err(error) if messages::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            messages::error(&with_causes(error.as_ref()));
            exit_code::Code::Unusable.into()
        }
    }
}

/// Disables huge pages: the allocator touches a little of each, so the process would take twice the memory and be no
/// faster.
fn use_small_pages() {
    #[cfg(target_os = "linux")]
    // A kernel that knows no huge pages refuses, and needs none of this.
    let _refused = rustix::thread::disable_transparent_huge_pages(true);
}
