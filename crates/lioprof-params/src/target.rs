//! The targets of a node.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lustre_debuglog::{TargetKind, TargetName};
use serde::{Deserialize, Serialize};

use crate::text::below;

/// Where Lustre has kept its directories: `/proc` up to 2.16 (partly), sysfs and debugfs since 2.10, step by step (LU-8066).
const BASES: [&str; 3] = ["proc/fs/lustre", "sys/kernel/debug/lustre", "sys/fs/lustre"];

/// Directories of servers' targets.
const SERVERS: [&str; 3] = ["obdfilter", "mdt", "mgs"];

/// OSDs, whose directories have a target's disk.
pub const OSDS: [&str; 2] = ["osd-ldiskfs", "osd-zfs"];

/// Directories of services.
pub const SERVICES: [&str; 3] = ["ost/OSS", "mds/MDS", "ldlm/services"];

/// A target that this node serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Name: `lustre-OST0003`, `MGS`.
    pub name: String,
    /// Kind: `ost`, `mdt` or `mgs`.
    pub kind: String,
    /// Name of the file system; `None` for the MGS.
    pub fsname: Option<String>,
    /// Index in the file system; `None` for the MGS.
    pub index: Option<u16>,
    /// State: `UP`, `AT` (attached), `IN` (inactive), `ST` (stopping), `--`; `None` if only its directory was found.
    pub state: Option<String>,
}

impl Target {
    /// A target of this name; `None` if it is no name of a target.
    #[must_use]
    pub fn new(name: &str, state: Option<&str>) -> Option<Self> {
        let parsed: TargetName = name.parse().ok()?;
        let named = parsed.kind() != TargetKind::Mgs;
        Some(Self {
            name: name.to_owned(),
            kind: parsed.kind().as_str().to_ascii_lowercase(),
            fsname: named.then(|| parsed.fsname().to_owned()),
            index: named.then(|| parsed.index()),
            state: state.map(str::to_owned),
        })
    }

    /// Whether the target is up.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.state.as_deref().is_none_or(|state| state == "UP")
    }
}

/// Targets in the list of devices, sorted by name. A line is `  3 UP obdfilter lustre-OST0000 lustre-OST0000_UUID 11`: index, state, type, name, uuid, references.
#[must_use]
pub fn targets_of(text: &str) -> Vec<Target> {
    let mut targets: Vec<Target> = text
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (_index, state, kind, name) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
            SERVERS.contains(&kind).then(|| Target::new(name, Some(state))).flatten()
        })
        .collect();
    targets.sort_by(|a, b| a.name.cmp(&b.name));
    targets
}

/// The directories of each target in all places.
#[must_use]
pub fn target_directories(root: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut found = BTreeMap::<String, Vec<PathBuf>>::new();
    for base in BASES {
        for server in SERVERS {
            for path in entries(&below(root, base).join(server)) {
                let name =
                    path.file_name().and_then(|name| name.to_str()).filter(|name| name.parse::<TargetName>().is_ok());
                if let Some(name) = name {
                    found.entry(name.to_owned()).or_default().push(path);
                }
            }
        }
    }
    found
}

/// What is in a directory; nothing if it cannot be listed.
#[must_use]
pub fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).map(|list| list.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}
