//! How the node of an input was told.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::utc_short;
use crate::units::micros;

/// What told to which node an input belongs, in the order in which it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeFrom {
    /// The user.
    #[serde(rename = "--node")]
    Option,
    /// A host before each line, or in the heading of a block.
    Prefix,
    /// The part of the paths that tells the inputs apart.
    Path,
    /// The name of the file.
    Name,
    /// The name of a folder above the file.
    Folder,
    /// What the logs hold: that they are pieces of one server's log.
    Contents,
    /// Nothing: it came from standard input.
    Stdin,
}

/// As written in `analysis.json`.
impl fmt::Display for NodeFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Option => "--node",
            Self::Prefix => "prefix",
            Self::Path => "path",
            Self::Name => "name",
            Self::Folder => "folder",
            Self::Contents => "contents",
            Self::Stdin => "stdin",
        })
    }
}

/// Evidence that an input holds the logs of several servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeveralServers {
    /// A service thread that is there twice at the same time.
    pub thread: String,
    /// Its process ids. Two that are equal: it handled two requests at once.
    pub pids: [u32; 2],
    /// Number of times that something of this kind was seen.
    pub seen: u64,
    /// All threads are others from this time on, Unix seconds: the server was booted then, or another one's log begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
}

impl fmt::Display for SeveralServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { thread, pids: [one, other], since, .. } = self;
        if let Some(since) = since {
            write!(
                f,
                "thread {thread} has pid {one}, and {other} from {} on, as all threads have others then",
                utc_short(micros(*since))
            )
        } else if one == other {
            write!(f, "thread {thread} (pid {one}) handles two requests at the same time")
        } else {
            write!(f, "thread {thread} has pids {one} and {other} at the same time")
        }
    }
}
