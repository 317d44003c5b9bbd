//! `lioprof status`, `stop`, `mark`: the daemon's clients.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lioprof_capture::{Client, ClientError, pointers};

use crate::args::{MarkArgs, StatusArgs, TalkArgs};
use crate::daemon;
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};

/// How long to wait for `stop`: the daemon may have to drain a long queue first.
const PATIENCE: Duration = Duration::from_secs(330);

pub(crate) fn status(args: &StatusArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let status = ask(&args.talk, PATIENCE, verbosity, Client::status)?;
    messages::found(args.json, &status, &status)?;
    Ok(Code::Success)
}

pub(crate) fn stop(args: &TalkArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    say(&ask(args, PATIENCE, verbosity, Client::stop)?)
}

pub(crate) fn mark(args: &MarkArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    say(&ask(&args.talk, PATIENCE, verbosity, |client| client.mark(&args.text))?)
}

fn say(message: &str) -> anyhow::Result<Code> {
    writeln!(io::stdout().lock(), "{message}")?;
    Ok(Code::Success)
}

/// The socket of the daemon that [`ask`] finds.
pub(crate) fn find(args: &TalkArgs, patience: Duration, verbosity: Verbosity) -> anyhow::Result<PathBuf> {
    ask(args, patience, verbosity, |client| client.status().map(|_| client.path().to_owned()))
}

/// Asks the daemon of `--socket`, else the configured one, else, if that one does not run, the one that does.
pub(crate) fn ask<T>(
    args: &TalkArgs,
    patience: Duration,
    verbosity: Verbosity,
    request: impl Fn(&Client) -> Result<T, ClientError>,
) -> anyhow::Result<T> {
    let at = |path: &Path| request(&Client::new(path, patience));
    let (configured, root) = match (&args.socket, &args.source.root) {
        (Some(socket), Some(root)) => (socket.clone(), root.clone()),
        (Some(socket), None) => (socket.clone(), "/".into()),
        (None, _) => daemon::socket(&args.source, verbosity),
    };
    let error = match at(&configured) {
        Err(error @ ClientError::NoDaemon { .. }) => error,
        done => return Ok(done?),
    };
    let known = pointers::of_root(&root);
    if args.socket.is_none()
        && let Some(running) = known.iter().find(|pointer| pointer.is_running() == Some(true))
    {
        return Ok(at(&running.socket)?);
    }
    let left = known.iter().find(|pointer| pointer.is_running() == Some(false) && !matches!(pointer.load(), Ok(None)));
    match left {
        Some(left) => anyhow::bail!(
            "{error}\nprocess {} was killed while it traced, and its settings are still in place (`{}`): `lioprof daemon --restore` \
             puts them back, and so does the next start",
            left.pid,
            left.journal.display()
        ),
        None => Err(error.into()),
    }
}
