//! What `lioprof record` and its agents say to each other: one JSON object per line.
//!
//! ```text
//! < {"schema":"lioprof.agent/1","version":"0.1.0","rows":"lioprof.rows/1"}
//! > {"do":"clock"}
//! < {"reply":"clock","now_us":1795556531000000}
//! > {"do":"get","id":"..","path":"rpcs/..","offset":0}
//! < {"reply":"bytes","bytes":4711}          and then so many bytes
//! ```
//!
//! Both sides speak the same version of this protocol and keep the same kind of rows, which the first line tells. Sums are those of one
//! build of lioprof: an agent of another one is asked for its rows.

use lioprof_analysis::{Question, SUMS_SCHEMA};
use lioprof_capture::doctor::Check;
use lioprof_model::parts::clock_line::ClockLine;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of this protocol.
pub(crate) const AGENT_SCHEMA: &str = "lioprof.agent/1";

/// The agent's first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// [`AGENT_SCHEMA`].
    pub(crate) schema: String,
    /// Version of lioprof on the host.
    pub(crate) version: String,
    /// Format of the rows that its daemon keeps.
    pub(crate) rows: String,
    /// What the bytes of its sums are; empty: it makes none.
    #[serde(default)]
    pub(crate) sums: String,
}

impl Hello {
    /// What an agent of this program says.
    pub(crate) fn own() -> Self {
        Self {
            schema: AGENT_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rows: lioprof_store::ROWS_SCHEMA.to_owned(),
            sums: SUMS_SCHEMA.to_owned(),
        }
    }
}

/// What an agent is told to do. `id` is the recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "do")]
pub(crate) enum Request {
    /// Tell the time.
    Clock,
    /// Check whether the host can be traced; changes nothing.
    Survey { id: String, options: CaptureOptions },
    /// Start a daemon, unless this recording's daemon runs.
    Start { id: String, options: CaptureOptions },
    /// Renew the lease, and report the daemon's status.
    Renew { id: String },
    /// Put a mark into the log.
    Mark { id: String, text: String },
    /// End the capture, and see to it that all settings are as before.
    Stop { id: String },
    /// List the files of the recording.
    List { id: String },
    /// Sum up the rows for a question, with their times on another clock if one is given.
    Sums { id: String, question: Question, clock: Option<ClockLine> },
    /// Send a file from an offset on.
    Get { id: String, path: String, offset: u64 },
    /// Delete the recording.
    Remove { id: String },
}

/// How a daemon is to capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CaptureOptions {
    /// Time after which the daemon ends by itself, in milliseconds.
    pub(crate) lease_ms: u64,
    /// `auto`, `full` or `light`; `None`: as the host's configuration says.
    pub(crate) profile: Option<String>,
}

/// An agent's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reply")]
pub(crate) enum Reply {
    /// To [`Request::Clock`].
    Clock { now_us: i64 },
    /// To [`Request::Survey`].
    Survey(Survey),
    /// To [`Request::Start`], [`Request::Mark`], [`Request::Remove`].
    Done,
    /// To [`Request::Renew`]: what `lioprof status --json` prints.
    Status { status: Value },
    /// To [`Request::Stop`].
    Stopped(Stopped),
    /// To [`Request::List`].
    Files { files: Vec<RemoteFile> },
    /// To [`Request::Get`] and [`Request::Sums`]: so many bytes follow the line; none are the sums of a server without rows.
    Bytes { bytes: u64 },
    /// There is no daemon of this recording.
    NoDaemon,
    /// It failed: what went wrong, and what to try.
    Failed { message: String },
}

/// What is known of a host before anything is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Survey {
    /// Name of the node in the data.
    pub(crate) node: String,
    /// Directory in which the recording will be.
    pub(crate) directory: String,
    /// What `lioprof doctor` found.
    pub(crate) checks: Vec<Check>,
}

/// How a capture ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stopped {
    /// All settings are as before the capture.
    pub(crate) restored: bool,
    /// Segments of the log that could not be decoded yet.
    pub(crate) waiting_segments: u64,
    /// What went wrong.
    pub(crate) troubles: Vec<String>,
}

/// A file of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RemoteFile {
    /// Path in the recording's directory, with `/`.
    pub(crate) path: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// SHA-256 of its content, hexadecimal.
    pub(crate) sha256: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_replies_are_lines_of_json() {
        let options = CaptureOptions { lease_ms: 60_000, profile: None };
        let requests = [
            Request::Clock,
            Request::Start { id: "a".to_owned(), options },
            Request::Get { id: "a".to_owned(), path: "rpcs/x\n.parquet".to_owned(), offset: 7 },
        ];
        for request in requests {
            let line = serde_json::to_string(&request).unwrap();
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(serde_json::from_str::<Request>(&line).unwrap(), request);
        }
        let stopped = Reply::Stopped(Stopped { restored: true, waiting_segments: 0, troubles: vec!["x".to_owned()] });
        let line = serde_json::to_string(&stopped).unwrap();
        assert_eq!(line, r#"{"reply":"stopped","restored":true,"waiting_segments":0,"troubles":["x"]}"#);
        assert_eq!(serde_json::from_str::<Reply>(&line).unwrap(), stopped);
    }
}
