//! Playing a captured log, or anything else that makes a server log, through the simulated kernel.

mod args;
mod log;
mod player;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lioprof_analysis::input::InputError;
use signal_hook::consts::{SIGINT, SIGTERM};

pub use args::{ReplayArgs, ServerArgs};
pub use log::RecordedLog;
pub use player::{BadSpeed, Played, Player, Speed, Stamp};

use crate::Workload;
use crate::kernel::{Account, Flush, Kernel, KernelConfig};
use crate::tree::{Director, FixedStats, MountError, Stats, Tree};

/// The server cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// What the user named cannot be used.
    #[error("{0}")]
    Input(String),
    /// A log cannot be opened.
    #[error(transparent)]
    Open(Box<InputError>),
    /// A file cannot be read.
    #[error("failed to read `{}`", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        err: io::Error,
    },
    /// The logs hold nothing.
    #[error("the inputs hold no record: give the text of `lctl debug_file` or a raw debug daemon file")]
    NoRecords,
    /// A server has one log.
    #[error("logs of several servers (`{0}` and `{1}`): give those of one")]
    SeveralNodes(String, String),
    /// A CPU number that does not fit.
    #[error("`{}` has a record of CPU {cpu}: expected at most 65535", path.display())]
    BadCpu {
        /// In which file.
        path: PathBuf,
        /// Which number.
        cpu: u32,
    },
    /// The directory cannot be made.
    #[error("failed to make the directory `{}`", path.display())]
    Directory {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        err: io::Error,
    },
    /// The tree cannot be mounted.
    #[error(transparent)]
    Mount(#[from] MountError),
}

/// What a simulated server tells its user while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// About an input.
    Note(String),
    /// The files are there.
    Mounted(PathBuf),
    /// For the debug daemon to be started.
    Waiting,
    /// Records are being logged.
    Playing,
    /// All were.
    Played(Played),
    /// For the debug daemon to be stopped.
    WaitingForStop,
    /// Nothing more to do before a signal comes.
    Idle,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records played.
    pub played: Played,
    /// What the kernel did with them.
    pub account: Account,
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

/// Plays a captured log.
///
/// # Errors
/// If the log cannot be read or the files cannot be mounted.
pub fn run(args: &ReplayArgs, stop: &AtomicBool, tell: &mut dyn FnMut(Progress)) -> Result<Summary, ReplayError> {
    let mut log = RecordedLog::read(&args.inputs)?;
    log.set_rounds(args.rounds);
    for note in log.notes() {
        tell(Progress::Note(note.clone()));
    }
    if log.skipped_bytes() > 0 {
        tell(Progress::Note(format!("{} bytes of the inputs are in no record", log.skipped_bytes())));
    }
    let beside = log.files().first().map(|file| file.with_file_name("truth.txt")).filter(|path| path.is_file());
    let stats = match args.server.stats.as_ref().or(beside.as_ref()) {
        Some(path) => read_stats(path)?,
        None => FixedStats::for_targets(&["lustre-OST0000"]),
    };
    let cpus = args.server.cpus.unwrap_or_else(|| log.cpus());
    run_server(&mut log, cpus, Arc::new(stats), &args.server, stop, tell)
}

fn read_stats(path: &Path) -> Result<FixedStats, ReplayError> {
    let bytes = fs::read(path).map_err(|err| ReplayError::Read { path: path.to_owned(), err })?;
    Ok(FixedStats::from_get_param(&String::from_utf8_lossy(&bytes)))
}

/// Runs a server that logs what `workload` says.
///
/// # Errors
/// If the files cannot be mounted.
pub fn run_server(
    workload: &mut dyn Workload,
    cpus: u16,
    stats: Arc<dyn Stats>,
    args: &ServerArgs,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Progress),
) -> Result<Summary, ReplayError> {
    let config = KernelConfig { version: args.version, cpus, flush: Flush::Thread, ..KernelConfig::default() };
    let kernel = Kernel::new(config);
    let director = Arc::new(Director::default());
    // A dead mount point of an earlier run exists, but cannot be looked at; mounting removes it.
    if fs::symlink_metadata(&args.to).is_err_and(|err| err.kind() == io::ErrorKind::NotFound) {
        fs::create_dir_all(&args.to).map_err(|err| ReplayError::Directory { path: args.to.clone(), err })?;
    }
    let tree = Tree::mount(&args.to, Arc::clone(&kernel), stats, Arc::clone(&director))?;
    tell(Progress::Mounted(tree.directory().to_owned()));

    let player = Player { kernel: &kernel, director: &director, stop };
    if args.wait_daemon {
        tell(Progress::Waiting);
        player.wait_for_daemon();
    }
    tell(Progress::Playing);
    let played = player.play(workload, args.speed, args.stamp);
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
    Ok(Summary { played, account })
}
