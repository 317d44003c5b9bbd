//! `record.json`: what was recorded where, and what of it is here.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Bound, Config, Question, Selection};
use lioprof_model::ClockReading;
use lioprof_model::units::{percent, plural, share};
use serde::{Deserialize, Serialize};

use crate::error::RecordError;
use crate::plan::Fetch;
use crate::protocol::Stopped;

/// Version of the layout. Adding keys keeps it.
const RECORD_SCHEMA: &str = "lioprof.record/1";
/// The file in the recording's directory.
const FILE: &str = "record.json";
/// Rows of all hosts, one dataset.
const ROWS: &str = "rows";
/// Sums of the hosts' rows.
const SUMS: &str = "sums";

/// A recording. Times are microseconds since the epoch on the clock of the host that recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// [`RECORD_SCHEMA`].
    schema: String,
    /// Version of lioprof.
    version: String,
    /// Name of the recording on the servers.
    pub id: String,
    /// When all hosts traced.
    pub started_us: i64,
    /// When they were told to stop; `None`: it still runs, or was killed.
    pub ended_us: Option<i64>,
    /// The command that ran meanwhile.
    pub command: Vec<String>,
    /// Its exit code.
    pub exit_code: Option<i32>,
    /// How to call ssh.
    pub ssh: String,
    /// What is fetched.
    pub fetch: Fetch,
    /// All hosts that were asked for.
    pub hosts: Vec<HostRecord>,
}

/// How far a host has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostState {
    /// It takes no part.
    LeftOut,
    /// A daemon was started there; how it ended is not known.
    Recording,
    /// Its capture has ended, and its settings are as before.
    Ended,
    /// Its rows are here, and no longer there.
    Fetched,
    /// Its rows are deleted.
    Forgotten,
}

/// A host of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Its name in the list of hosts.
    pub host: String,
    /// Its name in the data.
    pub node: String,
    /// How far it has come.
    pub state: HostState,
    /// lioprof there.
    pub program: String,
    /// Directory of this program's copy there, to be removed at the end.
    pub pushed: Option<String>,
    /// Directory of the recording there.
    pub directory: String,
    /// Its clock before the recording, and at the end.
    pub clocks: Vec<ClockReading>,
    /// Whether the marks of start and end are in its log.
    pub marked: bool,
    /// Whether the sums of its rows are here.
    #[serde(default)]
    pub has_sums: bool,
    /// Its last figures.
    pub totals: Totals,
    /// Segments of the log there that could not be decoded yet.
    pub waiting_segments: u64,
    /// What its daemon last warned of.
    pub warnings: Vec<String>,
    /// How its budget changed the level of tracing: the last step whenever the daemon was asked.
    #[serde(default)]
    pub budget_steps: Vec<String>,
    /// What went wrong.
    pub troubles: Vec<String>,
    /// Why it could not be reached when it was last tried; forgotten once it is.
    pub last_words: Option<String>,
}

impl HostRecord {
    /// A host that takes no part unless told otherwise.
    pub(crate) fn new(host: &str, program: &str) -> Self {
        Self {
            host: host.to_owned(),
            node: String::new(),
            state: HostState::LeftOut,
            program: program.to_owned(),
            pushed: None,
            directory: String::new(),
            clocks: Vec::new(),
            marked: false,
            has_sums: false,
            totals: Totals::default(),
            waiting_segments: 0,
            warnings: Vec::new(),
            budget_steps: Vec::new(),
            troubles: Vec::new(),
            last_words: None,
        }
    }

    /// Its capture has ended.
    pub(crate) fn has_stopped(&mut self, stopped: &Stopped) {
        self.last_words = None;
        self.state = HostState::Ended;
        self.waiting_segments = stopped.waiting_segments;
        stopped.troubles.iter().for_each(|trouble| self.trouble(trouble));
        if !stopped.restored {
            self.trouble("settings are still changed there: run `lioprof daemon --restore`");
        }
    }

    /// Adds a trouble, once.
    pub(crate) fn trouble(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.troubles.contains(&text) {
            self.troubles.push(text);
        }
    }
}

/// What a host's daemon had counted when it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// RPCs that the server handled.
    pub rpcs: u64,
    /// Bytes read by clients.
    pub read_bytes: u64,
    /// Bytes written by clients.
    pub write_bytes: u64,
    /// Share of the RPCs that are lost, 0 to 1; `None`: unknown.
    pub lost_fraction: Option<f64>,
}

impl Recording {
    pub(crate) fn new(id: String, command: Vec<String>, ssh: String, fetch: Fetch) -> Self {
        Self {
            schema: RECORD_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id,
            started_us: 0,
            ended_us: None,
            command,
            exit_code: None,
            ssh,
            fetch,
            hosts: Vec::new(),
        }
    }

    /// Whether there is one in a directory.
    #[must_use]
    pub fn is_in(dir: &Path) -> bool {
        dir.join(FILE).exists()
    }

    /// Reads a directory's recording.
    ///
    /// # Errors
    /// If there is none, or of another version.
    pub fn load(dir: &Path) -> Result<Self, RecordError> {
        if !Self::is_in(dir) {
            return Err(RecordError::NotThere(dir.to_owned()));
        }
        let path = dir.join(FILE);
        let wrong = |message: String| RecordError::State { path: path.clone(), message };
        let text = fs::read(&path).map_err(|err| wrong(err.to_string()))?;
        let recording: Self = serde_json::from_slice(&text).map_err(|err| wrong(err.to_string()))?;
        if recording.schema != RECORD_SCHEMA {
            return Err(wrong(format!("schema `{}`, expected `{RECORD_SCHEMA}`", recording.schema)));
        }
        Ok(recording)
    }

    /// Writes it: whenever this is interrupted, a whole one is there.
    pub(crate) fn save(&self, dir: &Path) -> Result<(), RecordError> {
        let path = dir.join(FILE);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(dir)?;
            let new = path.with_extension("new");
            let mut file = fs::File::create(&new)?;
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().map_err(|err| {
            // What is there of it is of no use.
            drop(fs::remove_file(path.with_extension("new")));
            RecordError::State { path: path.clone(), message: err.to_string() }
        })
    }

    /// Deletes it: nothing was recorded.
    pub(crate) fn forget(&self, dir: &Path) {
        // Without a recording, nobody reads it.
        drop(fs::remove_file(dir.join(FILE)));
        drop(fs::remove_dir(dir));
    }

    /// Where the rows of a recording are.
    #[must_use]
    pub fn rows(dir: &Path) -> PathBuf {
        dir.join(ROWS)
    }

    /// Where the sums of the rows are.
    pub(crate) fn sums(dir: &Path) -> PathBuf {
        dir.join(SUMS)
    }

    /// What is asked of the hosts' rows for a report: all between the two marks, if the hosts that can tell have them.
    #[must_use]
    pub fn question(&self, selection: &Selection) -> Question {
        let [from, to] = self.marks().map(Bound::Marker);
        let is_known = |host: &&HostRecord| matches!(host.state, HostState::Ended | HostState::Fetched);
        let marked = self.hosts.iter().filter(is_known).all(|host| host.marked);
        let config = Config {
            from: Some(from).filter(|_| marked),
            to: Some(to).filter(|_| marked && !self.was_interrupted()),
            selection: selection.clone(),
            ..Config::default()
        };
        config.question()
    }

    /// Clocks as they were read, by the names of the hosts in the data.
    #[must_use]
    pub fn clocks(&self) -> BTreeMap<String, Vec<ClockReading>> {
        self.hosts.iter().map(|host| (host.node.clone(), host.clocks.clone())).collect()
    }

    /// The marks at start and end.
    #[must_use]
    pub fn marks(&self) -> [String; 2] {
        ["begins", "ends"].map(|what| format!("lioprof record {} {what}", self.id))
    }

    /// What is missing or went wrong, a sentence for each host.
    #[must_use]
    pub fn shortcomings(&self) -> Vec<String> {
        let rpcs_of_all: u64 = self.hosts.iter().map(|host| host.totals.rpcs).sum();
        let of = |host: &HostRecord| {
            let missing = match host.state {
                HostState::LeftOut => Some("took no part"),
                HostState::Recording => Some("did not answer at the end, its rows are not here"),
                HostState::Ended if self.is_missing(host) => Some("has rows that are not here"),
                HostState::Forgotten if !host.has_sums => Some("had rows that are deleted"),
                HostState::Ended | HostState::Fetched | HostState::Forgotten => None,
            };
            let known = missing.filter(|_| host.totals.rpcs > 0).map(|_| {
                let (rpcs, part) = (plural(host.totals.rpcs, "RPC"), percent(share(host.totals.rpcs, rpcs_of_all), 1));
                format!("it had handled {rpcs} when it was last asked, {part} of those of all hosts")
            });
            let waiting = (host.waiting_segments > 0).then(|| {
                let segments = plural(host.waiting_segments, "segment");
                format!("{segments} of its log could not be decoded yet (no room?) and wait there")
            });
            let missing = missing.map(str::to_owned).into_iter().chain(known).chain(waiting);
            let said: Vec<String> = missing.chain(host.troubles.iter().chain(&host.last_words).cloned()).collect();
            (!said.is_empty()).then(|| format!("{}: {}", host.host, said.join("; ")))
        };
        self.hosts.iter().filter_map(of).collect()
    }

    /// Whether of a host that has ended something is wanted that is not here.
    fn is_missing(&self, host: &HostRecord) -> bool {
        match self.fetch {
            Fetch::Rows => true,
            Fetch::Sums => !host.has_sums,
            Fetch::Nothing => false,
        }
    }

    /// Whether it was killed before its end: its daemons ended by themselves, and there are no marks of the end.
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        self.ended_us.is_none()
    }

    /// Whether another `fetch` may bring more.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        let wanted = |host: &HostRecord| match host.state {
            HostState::LeftOut | HostState::Fetched | HostState::Forgotten => false,
            HostState::Recording => true,
            HostState::Ended => self.is_missing(host),
        };
        self.hosts.iter().any(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(states: &[HostState]) -> Recording {
        let mut recording = Recording::new("x".to_owned(), Vec::new(), "ssh".to_owned(), Fetch::Rows);
        for (number, &state) in states.iter().enumerate() {
            recording.hosts.push(HostRecord { state, ..HostRecord::new(&format!("oss{number}"), "lioprof") });
        }
        recording
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(Recording::load(dir.path()), Err(RecordError::NotThere(_))));
        let recording = recording(&[HostState::Ended]);
        recording.save(dir.path()).unwrap();
        assert_eq!(Recording::load(dir.path()).unwrap(), recording);
        let other = fs::read_to_string(dir.path().join(FILE)).unwrap().replace("record/1", "record/9");
        fs::write(dir.path().join(FILE), other).unwrap();
        let said = Recording::load(dir.path()).unwrap_err().to_string();
        assert!(said.contains("lioprof.record/9") && said.contains("record.json"), "{said}");
    }

    #[test]
    fn what_is_missing_is_said_of_each_host() {
        let mut all = recording(&[HostState::LeftOut, HostState::Recording, HostState::Ended, HostState::Fetched]);
        assert_eq!(all.shortcomings().len(), 3);
        for (host, rpcs) in all.hosts.iter_mut().zip([0, 20, 5, 75]) {
            host.totals.rpcs = rpcs;
        }
        let of_second = &all.shortcomings()[1];
        assert!(
            of_second.contains("it had handled 20 RPCs when it was last asked, 20.0 % of those of all"),
            "{of_second}"
        );
        assert!(all.is_unfinished());
        all.fetch = Fetch::Nothing;
        assert_eq!(all.shortcomings().len(), 2);
        let mut done = recording(&[HostState::Fetched, HostState::LeftOut]);
        assert!(!done.is_unfinished());
        done.hosts[0].trouble("its daemon was killed");
        assert_eq!(done.shortcomings()[0], "oss0: its daemon was killed");
    }
}
