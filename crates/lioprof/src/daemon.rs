//! `lioprof daemon` and `lioprof doctor`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use lioprof_capture::config::{Auto, Config, OrOff};
use lioprof_capture::daemon::{self, Ending, LeftLog, Restored};
use lioprof_capture::doctor as checks;
use lioprof_capture::logging::{self, LevelFilter};
use lioprof_model::units::{human_bytes, plural};

use crate::args::{CaptureArgs, ConfigArgs, DaemonArgs, DoctorArgs};
use crate::daemon_live::DaemonLive;
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};

/// Configuration file that is read if it exists and `--config` is absent.
const CONFIG: &str = "/etc/lioprof/lioprof.toml";

/// Where the daemon listens, and the root of its node: nothing else of the configuration matters to whoever talks to it, so
/// mistakes in it are told and forgiven.
pub(crate) fn socket(args: &ConfigArgs, verbosity: Verbosity) -> (PathBuf, PathBuf) {
    let config = config(args).unwrap_or_else(|err| {
        let path = args.config.as_deref().unwrap_or(Path::new(CONFIG));
        let mut readable = Config::default();
        readable.talk.socket = Config::socket_in(path).unwrap_or(readable.talk.socket);
        messages::note(verbosity, &format!("{err:#}\nlooking for the daemon at `{}`", readable.talk.socket.display()));
        at_root(readable, args)
    });
    (config.talk.socket, config.control.root)
}

/// The configuration: from the file of `--config`, else the installed file, else built-in.
pub(crate) fn config(args: &ConfigArgs) -> anyhow::Result<Config> {
    let config = match &args.config {
        Some(path) => Config::load(path)?,
        None if Path::new(CONFIG).exists() => Config::load(Path::new(CONFIG))?,
        None => Config::default(),
    };
    Ok(at_root(config, args))
}

fn at_root(mut config: Config, args: &ConfigArgs) -> Config {
    if let Some(root) = &args.root {
        config.control.root.clone_from(root);
    }
    config
}

/// The configuration, overridden by the options of the command line.
fn daemon_config(args: &CaptureArgs) -> anyhow::Result<Config> {
    with_arguments(config(&args.source)?, args)
}

/// The same for putting settings back, which no mistake in a file may prevent: what a killed daemon left is found by its pointer.
fn restoring_config(args: &CaptureArgs, verbosity: Verbosity) -> anyhow::Result<Config> {
    daemon_config(args).or_else(|err| {
        messages::note(verbosity, &format!("{err:#}\nrestoring settings without this file"));
        with_arguments(at_root(Config::default(), &args.source), args)
    })
}

fn with_arguments(mut config: Config, args: &CaptureArgs) -> anyhow::Result<Config> {
    if let Some(profile) = &args.profile {
        config.capture.profile = word(profile).context("--profile: expected auto, full or light")?;
    }
    if let Some(mode) = &args.keep {
        config.keep.mode = word(mode).context("--keep: expected rpc, raw or both")?;
    }
    if let Some(span) = args.duration {
        config.capture.duration = OrOff::Is(span);
    }
    if let Some(time) = args.until {
        config.capture.until = OrOff::Is(time);
    }
    if let Some(lease) = args.lease {
        config.capture.lease = OrOff::Is(lease);
    }
    if args.wait {
        config.capture.wait_for_lustre = Auto::Is(true);
    }
    if let Some(dir) = &args.dir {
        config.keep.dir = absolute(dir, "--dir")?;
    }
    if let Some(dir) = &args.spool {
        config.capture.spool_dir = Auto::Is(absolute(dir, "--spool")?);
    }
    if let Some(socket) = &args.socket {
        config.talk.socket.clone_from(socket);
    }
    if let Some(node) = &args.node {
        config.node.name.clone_from(node);
    }
    if let Some(address) = args.metrics {
        config.talk.metrics = address;
    }
    config.validate()?;
    Ok(config)
}

/// Makes a path absolute: the kernel and later starts must not depend on the current directory.
fn absolute(dir: &Path, option: &str) -> anyhow::Result<PathBuf> {
    std::path::absolute(dir).with_context(|| format!("{option} {}: expected a directory", dir.display()))
}

/// Parses a word as the configuration file spells it.
fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
}

pub(crate) fn run(args: &DaemonArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let config = if args.restore { restoring_config(&args.capture, verbosity)? } else { daemon_config(&args.capture)? };
    let level = match verbosity {
        Verbosity::Quiet => LevelFilter::ERROR,
        Verbosity::Normal => LevelFilter::INFO,
        Verbosity::Verbose => LevelFilter::DEBUG,
    };
    logging::init(args.log_format, level)?;
    let mut out = io::stdout();
    if args.restore {
        let Restored { report, left } = daemon::restore(&config)?;
        write!(out, "{report}")?;
        for LeftLog { spool, files, bytes } in left {
            writeln!(
                out,
                "{}: {} of the log that a killed daemon has not decoded, {}: the next daemon with this spool makes rows of it",
                spool.display(),
                plural(files as u64, "file"),
                human_bytes(bytes)
            )?;
        }
        return Ok(if report.is_complete() { Code::Success } else { Code::Failed });
    }
    if args.own_session {
        // Who leads a session already is in one of its own.
        let _leads_one = rustix::process::setsid();
    }
    let live = match config.live.window {
        OrOff::Is(window) => Some(DaemonLive::boxed(&config.node_name(), window.0)),
        OrOff::Off => None,
    };
    let ending = daemon::run(&config, live)?;
    report(&ending, &mut out)?;
    Ok(if ending.is_clean() { Code::Success } else { Code::Failed })
}

/// Prints the result of the capture, and how it compares with the server's own counters.
fn report(ending: &Ending, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "The capture has ended: {}.", ending.reason)?;
    write!(out, "{}", ending.status)?;
    if let Some(report) = &ending.restored {
        write!(out, "\n{report}")?;
    }
    if let Some(comparison) = &ending.comparison {
        write!(out, "\n{comparison}")?;
    }
    for failure in &ending.failures {
        writeln!(out, "failed: {failure}")?;
    }
    Ok(())
}

pub(crate) fn doctor(args: &DoctorArgs) -> anyhow::Result<Code> {
    let found = checks::preflight(&daemon_config(&args.capture)?);
    messages::found(args.json, &found, checks::text(&found))?;
    Ok(if checks::may_start(&found) { Code::Success } else { Code::Failed })
}
