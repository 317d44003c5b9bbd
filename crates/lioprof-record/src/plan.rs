//! What to record.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lioprof_analysis::Selection;
use lioprof_remote::{HostList, Ssh};
use serde::{Deserialize, Serialize};

/// What is fetched after a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fetch {
    /// What a report is made of, which each server sums up itself; its rows stay there.
    Sums,
    /// All rows.
    Rows,
    /// Nothing: the rows stay on the servers.
    Nothing,
}

/// What to record.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The servers.
    pub hosts: HostList,
    /// How to reach them.
    pub ssh: Ssh,
    /// The same as it was asked for, so that `fetch` and `mark` reach them, too.
    pub ssh_command: String,
    /// lioprof on the servers: a name in the login's `PATH`, or a path.
    pub remote_lioprof: String,
    /// Copies this program to servers that lack it.
    pub push: bool,
    /// Goes on with the servers that are fine.
    pub partial: bool,
    /// What to fetch at the end.
    pub fetch: Fetch,
    /// What the report is about.
    pub selection: Selection,
    /// Daemons end by themselves if nobody has renewed their lease for this long.
    pub lease: Duration,
    /// `auto`, `full` or `light`; `None`: as each server's configuration says.
    pub profile: Option<String>,
    /// Where the recording goes.
    pub dir: PathBuf,
    /// Ends after this time.
    pub duration: Option<Duration>,
    /// Ends when this command does; empty: there is none.
    pub command: Vec<OsString>,
}
