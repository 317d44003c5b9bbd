//! Plays a log or a scenario through the simulated kernel.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lioprof_model::time::now_us;
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::args::{ReplayArgs, ServerArgs};
use super::error::ReplayError;
use super::log::RecordedLog;
use super::player::{Played, Player};
use crate::counters::Counters;
use crate::kernel::{Account, Flush, Kernel, KernelConfig, LustreVersion};
use crate::live::LiveScenario;
use crate::record::{Stamp, Workload};
use crate::scenario::{Options, Scenario};
use crate::tree::{Director, FixedStats, Stats, Tree};
use crate::wording::{V2_15, V2_17};

/// What a simulated server tells its user while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// About an input.
    Note(String),
    /// The files are there.
    Mounted(PathBuf),
    /// For the debug daemon to be started.
    Waiting,
    /// For somebody to say `start`.
    WaitingForStart,
    /// Records are being logged.
    Playing,
    /// All were.
    Played(Played),
    /// For the debug daemon to be stopped.
    WaitingForStop,
    /// Nothing more to do before a signal comes.
    Idle,
}

/// What was done: the truth with which a capture is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Records played.
    pub played: Played,
    /// What the kernel did with them.
    pub account: Account,
    /// A scenario's own figures.
    pub counters: Option<Counters>,
}

/// A flag that SIGINT and SIGTERM set.
///
/// # Errors
/// If the handlers cannot be installed.
pub fn stop_on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// Plays a captured log or a scenario.
///
/// # Errors
/// If the log cannot be read, there is no such scenario, or the files cannot be mounted.
pub fn run(args: &ReplayArgs, stop: &AtomicBool, tell: &mut dyn FnMut(Progress)) -> Result<Summary, ReplayError> {
    let summary = match &args.scenario {
        Some(name) => play_scenario(name, args, stop, tell)?,
        None => play_log(args, stop, tell)?,
    };
    if let Some(path) = &args.truth {
        let json = serde_json::to_vec_pretty(&summary).map_err(io::Error::from);
        json.and_then(|json| fs::write(path, json)).map_err(ReplayError::file("write", path))?;
    }
    Ok(summary)
}

fn play_log(args: &ReplayArgs, stop: &AtomicBool, tell: &mut dyn FnMut(Progress)) -> Result<Summary, ReplayError> {
    let mut log = RecordedLog::read(&args.inputs)?;
    log.set_rounds(args.rounds);
    for note in &log.notes {
        tell(Progress::Note(note.clone()));
    }
    if log.skipped_bytes > 0 {
        tell(Progress::Note(format!("{} bytes of the inputs are in no record", log.skipped_bytes)));
    }
    let beside = log.files.first().map(|file| file.with_file_name("truth.txt")).filter(|path| path.is_file());
    let stats = match args.stats.as_ref().or(beside.as_ref()) {
        Some(path) => read_stats(path)?,
        None => FixedStats::for_targets(&["lustre-OST0000"]),
    };
    let server = Server { cpus: log.cpus(), stats: Arc::new(stats), stamp: Stamp::Original, to: args.to() };
    run_server(&mut log, server, &args.server, stop, tell)
}

pub(super) fn play_scenario(
    name: &str,
    args: &ReplayArgs,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Progress),
) -> Result<Summary, ReplayError> {
    let version = args.server.version;
    let wording = match version {
        LustreVersion::V2_10 => return Err(ReplayError::NoWording(version)),
        LustreVersion::V2_15 => &V2_15,
        LustreVersion::V2_17 => &V2_17,
    };
    let stamp = args.server.stamp.unwrap_or(Stamp::Now);
    let start_us = if stamp == Stamp::Now { now_us().cast_unsigned() } else { Options::default().start_us };
    let node = args.server_number;
    let options = args.size.apply(Options { start_us, wording, follow: Some(node), ..Options::default() });
    let simulation = Scenario::named(name, &options)?;
    let servers = simulation.servers().count();
    if node >= servers {
        return Err(ReplayError::NoServer(servers));
    }
    let cpus = simulation.cpus_of(node);
    let mut scenario = LiveScenario::new(simulation, node, version, stamp);
    let live = scenario.stats();
    let stats: Arc<dyn Stats> = match &args.stats {
        Some(path) => Arc::new(read_stats(path)?),
        None => Arc::clone(&live) as Arc<dyn Stats>,
    };
    let server = Server { cpus, stats, stamp, to: args.to() };
    let summary = run_server(&mut scenario, server, &args.server, stop, tell)?;
    Ok(Summary { counters: Some(live.counters()), ..summary })
}

pub(super) fn read_stats(path: &Path) -> Result<FixedStats, ReplayError> {
    let bytes = fs::read(path).map_err(ReplayError::file("read", path))?;
    Ok(FixedStats::from_get_param(&String::from_utf8_lossy(&bytes)))
}

/// What a workload says of the server that logs it.
pub struct Server<'a> {
    /// CPUs that its records name.
    pub cpus: u16,
    /// Its counters.
    pub stats: Arc<dyn Stats>,
    /// Which time its records get, unless the user has said so.
    pub stamp: Stamp,
    /// Where its files are mounted; the directory is made if it does not exist.
    pub to: &'a Path,
}

/// Runs a server that logs what `workload` says.
///
/// # Errors
/// If the files cannot be mounted.
pub fn run_server(
    workload: &mut dyn Workload,
    server: Server<'_>,
    args: &ServerArgs,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Progress),
) -> Result<Summary, ReplayError> {
    let Server { cpus, stats, stamp, to } = server;
    let cpus = args.cpus.unwrap_or(cpus);
    let config = KernelConfig { version: args.version, cpus, flush: Flush::Thread, ..KernelConfig::default() };
    let kernel = Kernel::new(config);
    let director = Arc::new(Director::default());
    // A dead mount point of an earlier run exists, but cannot be looked at; mounting removes it.
    if fs::symlink_metadata(to).is_err_and(|err| err.kind() == io::ErrorKind::NotFound) {
        fs::create_dir_all(to).map_err(ReplayError::file("make the directory", to))?;
    }
    let tree = Tree::mount(to, Arc::clone(&kernel), stats, Arc::clone(&director))?;
    tell(Progress::Mounted(tree.directory().to_owned()));

    let player = Player { kernel: &kernel, director: &director, stop };
    if args.wait_start {
        tell(Progress::WaitingForStart);
        player.wait_for_start();
    } else if args.wait_daemon {
        tell(Progress::Waiting);
        player.wait_for_daemon();
    }
    tell(Progress::Playing);
    let played = player.play(workload, args.speed, args.stamp.unwrap_or(stamp));
    tell(Progress::Played(played));
    if args.exit_when_stopped {
        tell(Progress::WaitingForStop);
        player.wait_for_stop();
    } else {
        tell(Progress::Idle);
        player.wait_for_end();
    }
    drop(tree);
    let account = kernel.account();
    // A server that goes down takes its debug daemon with it.
    kernel.unload().unwrap_or_default();
    Ok(Summary { played, account, counters: None })
}
