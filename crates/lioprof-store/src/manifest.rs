//! The manifest of a part: what its files are and what rows cannot say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lioprof_model::TraceSummary;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;

/// Version of the manifest. Adding keys keeps it, renaming or removing one changes it.
pub const MANIFEST_SCHEMA: &str = "lioprof.manifest/1";

/// The manifest of a part, `manifests/fs=../node=../date=../STEM.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// Version of the tables, [`ROWS_SCHEMA`](crate::ROWS_SCHEMA).
    pub rows_schema: String,
    /// Version of lioprof that wrote the part.
    pub lioprof_version: String,
    /// File systems of the node, as in the folder's name before escaping.
    pub fs: String,
    /// Node.
    pub node: String,
    /// Session that wrote the part.
    pub session: Session,
    /// Number of the part in its session, from 1; numbers may be missing.
    pub part: u64,
    /// Time of the first item, microseconds since the epoch.
    pub first_us: Option<i64>,
    /// Time of the last item.
    pub last_us: Option<i64>,
    /// Files by table; a table without rows has none.
    pub tables: BTreeMap<String, TableFile>,
    /// `lctl mark` lines.
    pub marks: Vec<StoredMark>,
    /// What the capture knows.
    pub facts: ManifestFacts,
}

/// One run of a writer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// When it began, microseconds since the epoch. Sessions are read in this order.
    pub start_us: i64,
    /// Tells it from others of the same node.
    pub id: String,
}

/// A file of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableFile {
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
    /// CRC-32 of all bytes, as gzip has it. Without it a reader does not look for damage.
    pub crc32: Option<u32>,
}

/// An `lctl mark` line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredMark {
    /// Place among the items of the session.
    pub seq: i64,
    /// Microseconds since the epoch.
    pub time_us: i64,
    /// Text; bytes that are not UTF-8, as `\xHH`.
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
    /// `lctl get_param version`.
    pub lustre_version: Option<String>,
    /// `uname -r`.
    pub kernel: Option<String>,
    /// Debug mask during the part, as `lctl get_param debug` prints it.
    pub debug: Option<String>,
    /// Subsystem mask.
    pub subsystem_debug: Option<String>,
    /// Size of the kernel's debug buffer.
    pub debug_mb: Option<u64>,
    /// Capture profile, `full` or `light`.
    pub profile: Option<String>,
    /// Targets of the node.
    pub targets: Vec<Target>,
    /// Clients of the node.
    pub clients: Vec<Client>,
    /// The node's clock.
    pub clock: Option<Clock>,
    /// Stretches in which tracing was on, `[from_us, to_us]`, if it was not on all the time.
    pub traced_us: Vec<[i64; 2]>,
    /// Tracing was switched off at this time, and all of the log up to it is in this part or an earlier one. Later than
    /// `through_us`, where nothing was logged any more.
    pub traced_until_us: Option<i64>,
    /// Stretches of the log that were given up.
    pub dropped: Vec<DroppedStretch>,
    /// Anything else.
    pub extra: BTreeMap<String, serde_json::Value>,
}

/// A target of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Target {
    /// `lustre-OST0003`.
    pub name: String,
    /// `OST`, `MDT` or `MGS`.
    pub kind: String,
    /// Uuid, where known.
    pub uuid: Option<String>,
}

/// A client of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Client {
    /// NID.
    pub nid: String,
    /// Uuids of its mounts.
    pub uuids: Vec<String>,
}

/// What is known about a node's clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clock {
    /// Whether the kernel says that it is kept in step with others.
    pub synchronized: Option<bool>,
    /// The kernel's bound on its error.
    pub max_error_us: Option<u64>,
    /// Boot id of the kernel.
    pub boot_id: Option<String>,
}

/// A stretch of the log that was given up before it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DroppedStretch {
    /// First record, microseconds since the epoch.
    pub from_us: i64,
    /// Last record.
    pub to_us: i64,
    /// Bytes of the log.
    pub bytes: u64,
    /// RPCs whose end is in it.
    pub rpcs: u64,
    /// Why.
    pub reason: String,
}

impl Manifest {
    /// Reads a manifest; keys that this version does not know are passed over.
    pub(crate) fn read(path: &Path) -> Result<Self, StoreError> {
        let text = fs::read(path).map_err(StoreError::io("read", path))?;
        let bad = |source| StoreError::Manifest { path: path.to_owned(), source };
        let version: Version = serde_json::from_slice(&text).map_err(bad)?;
        for (found, expected) in [(version.schema, MANIFEST_SCHEMA), (version.rows_schema, crate::ROWS_SCHEMA)] {
            if found != expected {
                return Err(StoreError::Version { path: path.to_owned(), found: format!("`{found}`"), expected });
            }
        }
        serde_json::from_slice(&text).map_err(bad)
    }

    /// The manifest as it is written.
    pub(crate) fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

/// What is read first: the rest may mean something else in another version.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Version {
    schema: String,
    rows_schema: String,
}
