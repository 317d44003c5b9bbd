//! `lioprof replay`.

use std::io::{self, Write};

use anyhow::Context;
use lioprof_sim::replay::{Progress, ReplayArgs, run as play, stop_on_signals};
use lioprof_sim::scenario::Scenario;

use crate::exit_code::Code;
use crate::messages::{self, Verbosity};

pub(crate) fn run(args: &ReplayArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    if args.list {
        write!(io::stdout(), "{}", Scenario::list())?;
        return Ok(Code::Success);
    }
    let stop = stop_on_signals().context("failed to listen for signals")?;
    let summary = play(args, &stop, &mut |progress| messages::note(verbosity, &text(&progress)))?;
    let account = serde_json::to_string(&summary.account)?;
    messages::note(verbosity, &format!("the simulated kernel: {account}"));
    Ok(Code::Success)
}

fn text(progress: &Progress) -> String {
    match progress {
        Progress::Note(note) => format!("note: {note}"),
        Progress::Mounted(dir) => format!("a simulated server is mounted on `{}`", dir.display()),
        Progress::Waiting => "waiting for a debug daemon and rpctrace".to_owned(),
        Progress::WaitingForStart => "waiting for `start` in sim/ctl".to_owned(),
        Progress::Playing => "playing".to_owned(),
        Progress::Played(played) => format!("played {} records", played.records),
        Progress::WaitingForStop => "waiting for the debug daemon to stop".to_owned(),
        Progress::Idle => "the files stay mounted until a signal".to_owned(),
    }
}
