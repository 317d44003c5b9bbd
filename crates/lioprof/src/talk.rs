//! `lioprof status`, `stop`, `mark`: the daemon's clients.

use std::io::{self, Write};
use std::time::Duration;

use lioprof_capture::talk::socket::Client;

use crate::args::{MarkArgs, StatusArgs, TalkArgs};
use crate::daemon;
use crate::exit_code::Code;

/// Draining a long queue may take a while.
const PATIENCE: Duration = Duration::from_secs(330);

pub(crate) fn status(args: &StatusArgs) -> anyhow::Result<Code> {
    let status = client(&args.talk)?.status()?;
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &status)?;
        writeln!(out)?;
    } else {
        write!(out, "{status}")?;
    }
    Ok(Code::Success)
}

pub(crate) fn stop(args: &TalkArgs) -> anyhow::Result<Code> {
    say(&client(args)?.stop()?)
}

pub(crate) fn mark(args: &MarkArgs) -> anyhow::Result<Code> {
    say(&client(&args.talk)?.mark(&args.text)?)
}

fn say(message: &str) -> anyhow::Result<Code> {
    writeln!(io::stdout().lock(), "{message}")?;
    Ok(Code::Success)
}

fn client(args: &TalkArgs) -> anyhow::Result<Client> {
    let path = match &args.socket {
        Some(path) => path.clone(),
        None => daemon::config(&args.source)?.talk.socket,
    };
    Ok(Client::new(&path, PATIENCE))
}
