//! The command `lioprof-sim`: simulated Lustre servers for tests and demos.
#![forbid(unsafe_code)]

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lioprof_sim::replay::{self, Progress, ReplayArgs, Summary};
use lioprof_sim::scenario::Scenario;
use lioprof_sim::scenario_log::{self, LogArgs};

/// Simulated Lustre servers for tests and demos.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  lioprof-sim replay --list
  lioprof-sim replay --scenario lock-pingpong --clients 8 --to /tmp/oss1
  lioprof-sim log lock-pingpong -o rpc.txt
  lioprof-sim replay oss1/rpc.bin.zst --to /tmp/oss1 --wait-daemon --exit-when-stopped
  /tmp/oss1/bin/lctl set_param debug=+rpctrace
  /tmp/oss1/bin/lctl debug_daemon start /tmp/rpc.bin 100";

#[derive(Debug, Subcommand)]
enum Command {
    /// Replay the captured log of a server, or a scenario, through a simulated kernel
    Replay(Box<ReplayArgs>),
    /// Write the log of a scenario's server to a file
    Log(LogArgs),
}

fn main() -> ExitCode {
    let result = match Args::parse().command {
        Command::Replay(args) if args.list => write!(io::stdout(), "{}", Scenario::list()).map_err(Into::into),
        Command::Replay(args) => replay_log(&args),
        Command::Log(args) => write_log(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            say(&format!("lioprof-sim: {}", lioprof_model::with_causes(&*err)));
            ExitCode::from(2)
        }
    }
}

fn replay_log(args: &ReplayArgs) -> Result<(), Box<dyn Error>> {
    let stop = replay::stop_on_signals()?;
    let Summary { played, account, .. } = replay::run(args, &stop, &mut tell)?;
    let lost = account.total.lost.total();
    say(&format!(
        "{} records played, {} logged; {} written to the daemon's file, {} lost ({} of them `Handled RPC`)",
        played.records, played.logged, account.total.written.records, lost.records, lost.handled_rpcs
    ));
    Ok(())
}

fn write_log(args: &LogArgs) -> Result<(), Box<dyn Error>> {
    let records = scenario_log::write(args)?;
    say(&format!("{records} records in `{}`", args.output.display()));
    Ok(())
}

fn tell(progress: Progress) {
    say(&match progress {
        Progress::Note(note) => format!("note: {note}"),
        Progress::Mounted(directory) => format!("the server's files are in {}", directory.display()),
        Progress::Waiting => "waiting for a debug daemon and rpctrace".to_owned(),
        Progress::WaitingForStart => "waiting for `start` in sim/ctl".to_owned(),
        Progress::Playing => "playing".to_owned(),
        Progress::Played(played) => format!("{} records played", played.records),
        Progress::WaitingForStop => "waiting for the debug daemon to stop".to_owned(),
        Progress::Idle => "the files stay mounted until SIGINT or SIGTERM".to_owned(),
    });
}

/// Messages are for people; nobody reading them is no reason to fail.
fn say(text: &str) {
    writeln!(io::stderr(), "{text}").unwrap_or_default();
}
