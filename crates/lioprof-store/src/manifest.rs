//! The manifest of a part: its files, and facts that are not in its rows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lioprof_model::TraceSummary;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// Version of the manifest's layout. Adding keys keeps it, renaming or removing one changes it.
pub const MANIFEST_SCHEMA: &str = "lioprof.manifest/1";

/// The manifest of a part, `manifests/fs=../node=../date=../STEM.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// Version of the manifest, [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// Version of the tables' schema, [`ROWS_SCHEMA`](crate::ROWS_SCHEMA).
    pub rows_schema: String,
    /// Version of lioprof that wrote the part.
    pub lioprof_version: String,
    /// File systems of the node, as in the folder's name, but without escapes.
    pub fs: String,
    /// Name of the node.
    pub node: String,
    /// Session that wrote the part.
    pub session: Session,
    /// Number of the part in its session, from 1; numbers may be missing.
    pub part: u64,
    /// Time of the first item, microseconds since the epoch; `None` if the part is empty.
    pub first_us: Option<i64>,
    /// Time of the last item, microseconds since the epoch.
    pub last_us: Option<i64>,
    /// Files by table; a table without rows has no file.
    pub tables: BTreeMap<String, TableFile>,
    /// `lctl mark` lines.
    pub marks: Vec<StoredMark>,
    /// What the capture knows besides the rows.
    pub facts: ManifestFacts,
}

/// One run of a writer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// When the session began, microseconds since the epoch. Sessions are read in this order.
    pub start_us: i64,
    /// Id that distinguishes the session from others of the same node.
    pub id: String,
}

/// A file of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableFile {
    /// Number of rows in the file.
    pub rows: u64,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// CRC-32 of all bytes, as in gzip. If it is `None`, readers do not check the file for damage.
    pub crc32: Option<u32>,
}

/// An `lctl mark` line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredMark {
    /// Sequence number among the items of the session.
    pub seq: i64,
    /// Time of the mark, microseconds since the epoch.
    pub time_us: i64,
    /// Text of the mark; bytes that are not UTF-8 as `\xHH`.
    pub text: String,
}

/// What a capture knows of a part besides its rows. All of it is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ManifestFacts {
    /// Sums over the log of this part alone.
    pub summary: TraceSummary,
    /// All of the log up to this time is in this part or an earlier one; microseconds since the epoch.
    pub through_us: Option<i64>,
    /// Lustre version by `lctl get_param version`.
    pub lustre_version: Option<String>,
    /// Kernel version by `uname -r`.
    pub kernel: Option<String>,
    /// Debug mask during the part, as `lctl get_param debug` prints it.
    pub debug: Option<String>,
    /// Subsystem mask during the part, as `lctl get_param subsystem_debug` prints it.
    pub subsystem_debug: Option<String>,
    /// Size of the kernel's debug buffer, MB.
    pub debug_mb: Option<u64>,
    /// Capture profile, `full` or `light`.
    pub profile: Option<String>,
    /// Targets that the node serves.
    pub targets: Vec<Target>,
    /// Clients connected to the node.
    pub clients: Vec<Client>,
    /// State of the node's clock.
    pub clock: Option<Clock>,
    /// Intervals in which tracing was on, `[from_us, to_us]`; empty if it was on all the time.
    pub traced_us: Vec<[i64; 2]>,
    /// When tracing was switched off, if all of the log up to then is in this part or an earlier one. Later than `through_us`
    /// if nothing more was logged.
    pub traced_until_us: Option<i64>,
    /// Pieces of the log that were given up.
    pub dropped: Vec<DroppedStretch>,
    /// Further facts, by name.
    pub extra: BTreeMap<String, serde_json::Value>,
}

/// A target of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Target {
    /// Name, such as `lustre-OST0003`.
    pub name: String,
    /// Kind: `OST`, `MDT` or `MGS`.
    pub kind: String,
    /// Uuid of the target; `None` if unknown.
    pub uuid: Option<String>,
}

/// A client of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Client {
    /// NID of the client.
    pub nid: String,
    /// Uuids of the client's mounts.
    pub uuids: Vec<String>,
}

/// What is known about a node's clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// Whether the kernel reports the clock as synchronized; `None` if unknown.
    pub synchronized: Option<bool>,
    /// The kernel's bound on the clock's error, µs; `None` if unknown.
    pub max_error_us: Option<u64>,
    /// Boot id of the kernel.
    pub boot_id: Option<String>,
}

/// A piece of the log that was given up before it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DroppedStretch {
    /// Time of the first record, microseconds since the epoch.
    pub from_us: i64,
    /// Time of the last record, microseconds since the epoch.
    pub to_us: i64,
    /// Size of the piece, bytes.
    pub bytes: u64,
    /// Number of RPCs whose `Handled RPC` line is in it.
    pub rpcs: u64,
    /// Why it was given up.
    pub reason: String,
}

impl Manifest {
    /// Reads a manifest; ignores keys that this version does not know.
    pub(crate) fn read(path: &Path) -> Result<Self, StoreError> {
        let text = fs::read(path).map_err(StoreError::io("read", path))?;
        let bad = |source| StoreError::Manifest(path.to_owned(), source);
        let version: Version = serde_json::from_slice(&text).map_err(bad)?;
        for (found, expected) in [(version.schema, MANIFEST_SCHEMA), (version.rows_schema, crate::ROWS_SCHEMA)] {
            if found != expected {
                return Err(StoreError::Version { path: path.to_owned(), found: format!("`{found}`"), expected });
            }
        }
        serde_json::from_slice(&text).map_err(bad)
    }

    /// The manifest as JSON text.
    pub(crate) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// The version, which is read first: other keys may mean something else in another version.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Version {
    schema: String,
    rows_schema: String,
}
