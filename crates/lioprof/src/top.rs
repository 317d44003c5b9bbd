//! `lioprof top`.

mod hosts;
mod local;

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc;

use lioprof_text::Color;
use lioprof_top::{State, Update};

use crate::args::TopArgs;
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};

pub(crate) fn run(args: &TopArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let mut state = State::new(args.view);
    if let Some(sort) = &args.sort {
        state.sort_by(sort)?;
    }
    if let Some(filter) = &args.filter {
        state.set_filter(filter);
    }
    if args.once {
        return once(args, state, verbosity);
    }
    let on_screen = !args.json && io::stdout().is_terminal() && io::stdin().is_terminal();
    if !on_screen && !args.json {
        // Nobody wants a file of screens.
        return once(args, state, verbosity);
    }
    let (updates, to_show) = mpsc::channel();
    match &args.hosts {
        Some(list) => hosts::follow(list, args, updates)?,
        None => local::follow(args, verbosity, updates)?,
    }
    if Color::of_stdout() == Color::No {
        lioprof_top::without_colors();
    }
    if args.json { print_all(&to_show) } else { Ok(lioprof_top::run(state, &to_show).map(|()| Code::Success)?) }
}

/// Prints what comes, an object per line.
fn print_all(to_show: &mpsc::Receiver<Update>) -> anyhow::Result<Code> {
    let mut out = io::stdout().lock();
    for update in to_show {
        match update {
            Update::Live(live) => {
                serde_json::to_writer(&mut out, &live)?;
                writeln!(out)?;
                out.flush()?;
            }
            Update::Trouble(why) => anyhow::bail!(why),
        }
    }
    Ok(Code::Success)
}

fn once(args: &TopArgs, mut state: State, verbosity: Verbosity) -> anyhow::Result<Code> {
    let live = match &args.hosts {
        Some(list) => hosts::ask(list, args)?,
        None => local::ask(args, verbosity)?,
    };
    let is_complete = live.servers.iter().all(|server| server.error.is_none());
    state.update(live.clone());
    messages::found(args.json, &live, lioprof_top::plain(&state))?;
    Ok(if is_complete { Code::Success } else { Code::Unusable })
}
