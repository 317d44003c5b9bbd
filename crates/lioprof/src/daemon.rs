//! `lioprof daemon` and `lioprof doctor`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use lioprof_capture::config::{Config, OrOff};
use lioprof_capture::daemon::{self, Ending};
use lioprof_capture::doctor as checks;
use lioprof_capture::talk::logging::{self, LevelFilter};
use lioprof_capture::talk::metrics::Listen;

use crate::args::{ConfigArgs, DaemonArgs, DoctorArgs};
use crate::exit_code::Code;
use crate::messages::Verbosity;

/// Read if it exists and no other is named.
const CONFIG: &str = "/etc/lioprof/lioprof.toml";

/// The configuration: named, installed or built-in.
pub(crate) fn config(args: &ConfigArgs) -> anyhow::Result<Config> {
    let mut config = match &args.config {
        Some(path) => Config::load(path)?,
        None if Path::new(CONFIG).exists() => Config::load(Path::new(CONFIG))?,
        None => Config::default(),
    };
    if let Some(root) = &args.root {
        config.control.root.clone_from(root);
    }
    Ok(config)
}

/// The configuration with what the command line says on top.
fn daemon_config(args: &DaemonArgs) -> anyhow::Result<Config> {
    let mut config = config(&args.source)?;
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
    if let Some(dir) = &args.dir {
        config.keep.dir.clone_from(dir);
    }
    if let Some(dir) = &args.spool {
        config.capture.spool_dir.clone_from(dir);
    }
    if let Some(socket) = &args.socket {
        config.talk.socket.clone_from(socket);
    }
    if let Some(node) = &args.node {
        config.node.name.clone_from(node);
    }
    if let Some(address) = &args.metrics {
        config.talk.metrics = match address {
            Listen::Off => OrOff::Off,
            Listen::On(address) => OrOff::Is(*address),
        };
    }
    config.validate()?;
    Ok(config)
}

/// A word of the configuration file.
fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(serde_json::Value::String(text.to_owned()))
}

pub(crate) fn run(args: &DaemonArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let config = daemon_config(args)?;
    let level = match verbosity {
        Verbosity::Quiet => LevelFilter::ERROR,
        Verbosity::Normal => LevelFilter::INFO,
        Verbosity::Verbose => LevelFilter::DEBUG,
    };
    logging::init(args.log_format, level)?;
    let mut out = io::stdout();
    if args.restore {
        let report = daemon::restore(&config)?;
        write!(out, "{report}")?;
        return Ok(if report.is_complete() { Code::Success } else { Code::Failed });
    }
    let ending = daemon::run(&config)?;
    report(&ending, &mut out)?;
    Ok(if ending.is_clean() { Code::Success } else { Code::Failed })
}

/// What the capture brought, and how it compares with the server's own counters.
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
    let found = checks::preflight(&config(&args.source)?);
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &found)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", checks::text(&found))?;
    }
    Ok(if checks::may_start(&found) { Code::Success } else { Code::Failed })
}
