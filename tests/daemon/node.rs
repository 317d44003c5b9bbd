//! A simulated server in a directory of its own, and daemons on it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use lioprof_testkit::until;
use rustix::mount::{UnmountFlags, unmount};
use serde_json::Value;
use tempfile::TempDir;

use super::process::{Daemon, spawn};

/// Name of the simulated server: captures are of `server1` and `server2`, the data must be of neither by accident.
pub(crate) const NAME: &str = "oss7";

/// A simulated server.
pub(crate) struct Node {
    dir: TempDir,
    player: Child,
    daemons: Cell<u32>,
}

/// What a capture changes and must put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) debug: String,
    pub(crate) subsystem_debug: String,
    pub(crate) debug_mb: String,
    pub(crate) daemon_file: String,
}

/// Keys of the configuration, `section.key`, and their values as TOML.
pub(crate) type Keys<'a> = &'a [(&'a str, &'a str)];

impl Node {
    /// Plays `log` as soon as a daemon traces, without waiting between records.
    pub(crate) fn playing(log: &Path) -> Self {
        Self::playing_with(log, &["--speed", "max"])
    }

    /// Plays `log` with options of `lioprof replay`.
    pub(crate) fn playing_with(log: &Path, options: &[&str]) -> Self {
        let log = log.display().to_string();
        Self::replaying(&[&[log.as_str()], options].concat())
    }

    /// Plays a scenario, whose counters move, with options of `lioprof replay`.
    pub(crate) fn in_scenario(name: &str, options: &[&str]) -> Self {
        Self::replaying(&[&["--scenario", name], options].concat())
    }

    fn replaying(options: &[&str]) -> Self {
        assert!(
            rustix::process::geteuid().is_root() && Path::new("/dev/fuse").exists(),
            "the tests of the daemon mount a simulated server: they need root and /dev/fuse"
        );
        let dir = tempfile::Builder::new().prefix("lioprof-").tempdir().unwrap();
        let root = dir.path().join("root");
        for folder in ["root", "spool", "keep"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let mut args =
            vec!["replay".to_owned(), "--to".to_owned(), root.display().to_string(), "--wait-daemon".to_owned()];
        args.extend(options.iter().map(|&option| option.to_owned()));
        let player = spawn(&args, &dir.path().join("replay"));
        let node = Self { dir, player, daemons: Cell::new(0) };
        until("the simulated server to be mounted", || node.root().join("sim/ctl").exists().then_some(()));
        node
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path("root")
    }

    pub(crate) fn keep(&self) -> PathBuf {
        self.path("keep")
    }

    pub(crate) fn spool(&self) -> PathBuf {
        self.path("spool")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path("socket")
    }

    /// A command for the simulator.
    pub(crate) fn ctl(&self, command: &str) {
        fs::write(self.root().join("sim/ctl"), command).unwrap_or_else(|err| panic!("sim/ctl {command}: {err}"));
    }

    fn simulator(&self) -> Value {
        let text = fs::read(self.root().join("sim/ctl")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// Records given to the kernel so far.
    pub(crate) fn played(&self) -> u64 {
        self.simulator()["records"].as_u64().unwrap()
    }

    /// Waits until the whole log was played.
    pub(crate) fn wait_played(&self) {
        until("the log to be played", || (self.simulator()["phase"] == "played").then_some(()));
    }

    /// Waits until every record that was logged has reached the daemon's file or is lost.
    pub(crate) fn wait_written(&self) {
        until("the kernel to write its buffer", || (self.account()["total"]["pending"]["records"] == 0).then_some(()));
    }

    /// The true account of what the kernel logged, wrote and lost.
    pub(crate) fn account(&self) -> Value {
        let text = fs::read(self.root().join("sim/account")).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    /// What all OSTs have counted, `samples` of a line of their `stats`.
    pub(crate) fn counted(&self, line: &str) -> u64 {
        let folder = self.root().join("sys/kernel/debug/lustre/obdfilter");
        let targets = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("stats"));
        let samples = targets.filter_map(|stats| {
            let text = fs::read_to_string(stats).unwrap();
            let found = text.lines().find(|found| found.starts_with(line))?;
            found.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
        samples.sum()
    }

    /// Path of a control file.
    pub(crate) fn control(&self, name: &str) -> PathBuf {
        let places = ["sys/kernel/debug/lnet", "proc/sys/lnet"];
        let found = places.iter().map(|place| self.root().join(place).join(name)).find(|path| path.exists());
        found.unwrap_or_else(|| panic!("no control file `{name}`"))
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.control(name)).unwrap().trim().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.control(name), text).unwrap_or_else(|err| panic!("{name} = {text}: {err}"));
    }

    pub(crate) fn settings(&self) -> Settings {
        let [debug, subsystem_debug, debug_mb, daemon_file] =
            ["debug", "subsystem_debug", "debug_mb", "daemon_file"].map(|name| self.read(name));
        Settings { debug, subsystem_debug, debug_mb, daemon_file }
    }

    /// A configuration for this server, small and quick, with some other values.
    pub(crate) fn config(&self, keys: Keys<'_>) -> PathBuf {
        let text = |path: PathBuf| format!("\"{}\"", path.display());
        let mut all: BTreeMap<&str, String> = [
            ("node.name", format!("\"{NAME}\"")),
            ("control.root", text(self.root())),
            ("capture.spool_dir", text(self.spool())),
            ("capture.spool_limit_mib", "128".to_owned()),
            ("capture.segment_mib", "5".to_owned()),
            ("capture.rotate", "\"200ms\"".to_owned()),
            ("keep.dir", text(self.keep())),
            ("keep.file_mib", "16".to_owned()),
            ("keep.file_age", "\"1s\"".to_owned()),
            ("keep.retention", "\"off\"".to_owned()),
            ("budget.disk_reserve_mib", "0".to_owned()),
            // A debug build on a busy machine must not run into its budget by accident.
            ("budget.cpu_percent", "1600".to_owned()),
            ("counters.every", "\"1s\"".to_owned()),
            ("talk.socket", text(self.socket())),
            ("talk.metrics", "\"off\"".to_owned()),
        ]
        .into();
        all.extend(keys.iter().map(|&(key, value)| (key, value.to_owned())));
        let lines: String = all.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        self.daemons.set(self.daemons.get() + 1);
        let path = self.path(&format!("config-{}.toml", self.daemons.get()));
        fs::write(&path, lines).unwrap();
        path
    }

    /// Starts a daemon; it may refuse.
    pub(crate) fn start(&self, keys: Keys<'_>, options: &[&str]) -> Daemon {
        let config = self.config(keys);
        let mut args = vec!["daemon".to_owned(), "--config".to_owned(), config.display().to_string()];
        args.extend(options.iter().map(|&option| option.to_owned()));
        Daemon::start(&args, &self.path(&format!("daemon-{}", self.daemons.get())), &self.socket())
    }

    /// Starts a daemon as a service.
    pub(crate) fn service(&self, keys: Keys<'_>, manager: &Path) -> Daemon {
        let args = ["daemon".to_owned(), "--config".to_owned(), self.config(keys).display().to_string()];
        Daemon::start_service(&args, &self.path(&format!("daemon-{}", self.daemons.get())), &self.socket(), manager)
    }

    /// Starts a daemon and waits until it answers.
    pub(crate) fn daemon(&self, keys: Keys<'_>) -> Daemon {
        self.daemon_with(keys, &[])
    }

    /// [`Self::daemon`] with options of the command line.
    pub(crate) fn daemon_with(&self, keys: Keys<'_>, options: &[&str]) -> Daemon {
        let daemon = self.start(keys, options);
        daemon.wait_ready();
        daemon
    }

    /// Files that wait in the spool.
    pub(crate) fn spooled(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(self.spool()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Whatever a test left: no process and no mount outlives it.
        drop(fs::write(self.root().join("sim/ctl"), "quit"));
        let deadline = Instant::now() + Duration::from_secs(10);
        while matches!(self.player.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(self.player.kill());
        drop(self.player.wait());
        unmount(self.root(), UnmountFlags::DETACH).unwrap_or_default();
    }
}
