//! Lustre's version, the targets of this node, and their clients.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use lustre_debuglog::{TargetKind, TargetName};
use serde::{Deserialize, Serialize};

use super::{Control, ControlError};
use crate::system::{below, read_text};

/// Where Lustre has kept its directories: `/proc` up to 2.16 (partly), sysfs and debugfs since 2.10, step by step (LU-8066).
const BASES: [&str; 3] = ["proc/fs/lustre", "sys/kernel/debug/lustre", "sys/fs/lustre"];

/// Directories of servers' targets.
const SERVERS: [&str; 3] = ["obdfilter", "mdt", "mgs"];

/// A release of Lustre.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LustreVersion {
    /// As the server prints it, for example `2.17.57_62_gc881f8e`.
    pub text: String,
    /// Major version: 2 of `2.15.8`.
    pub major: u32,
    /// Minor version: 15 of `2.15.8`.
    pub minor: u32,
    /// Patch level: 8 of `2.15.8`; 0 if there is none.
    pub patch: u32,
}

impl LustreVersion {
    /// Parses the text of `version`: `2.15.8`, `lustre: 2.10.8` and more lines, `2.17.57_62_gc881f8e`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let word = text
            .split_whitespace()
            .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))?;
        let mut numbers = word.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse::<u32>().ok());
        let (major, minor) = (numbers.next()??, numbers.next()??);
        let patch = numbers.next().flatten().unwrap_or(0);
        Some(Self { text: word.to_owned(), major, minor, patch })
    }

    /// Whether it is older than `major.minor`.
    pub(crate) fn is_before(&self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) < (major, minor)
    }
}

impl fmt::Display for LustreVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A target that this node serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
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
    fn new(name: &str, state: Option<&str>) -> Option<Self> {
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
    pub(crate) fn is_up(&self) -> bool {
        self.state.as_deref().is_none_or(|state| state == "UP")
    }
}

/// A client mount, or another server, that is connected to a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Client {
    /// Target that the client is connected to.
    pub target: String,
    /// NID of the client, `10.0.0.1@tcp`.
    pub nid: String,
    /// UUID of the mount: several mounts on one node share a NID.
    pub uuid: String,
}

/// The clients of this node's targets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientTable {
    /// Clients, sorted by target and NID.
    pub clients: Vec<Client>,
    /// Number of NID directories that were skipped: beyond the limit, or gone while being read.
    pub left_out: u64,
}

impl Control {
    /// Lustre's version; `None` if no known file shows it.
    pub(crate) fn version(&self) -> Option<LustreVersion> {
        ["sys/fs/lustre/version", "proc/fs/lustre/version", "sys/kernel/debug/lustre/version"]
            .iter()
            .find_map(|place| LustreVersion::parse(&read_text(self.root(), place).ok()?))
            .or_else(|| LustreVersion::parse(&self.by_lctl(&["get_param", "-n", "version"]).ok()?))
    }

    /// The targets on this node, by name.
    pub(crate) fn targets(&self) -> Result<Vec<Target>, ControlError> {
        let listed = ["sys/kernel/debug/lustre/devices", "proc/fs/lustre/devices"]
            .iter()
            .find_map(|place| read_text(self.root(), place).ok());
        let devices = match listed {
            Some(text) => Ok(text),
            None => self.by_lctl(&["dl"]),
        };
        match devices {
            Ok(text) => Ok(parse_devices(&text)),
            // sysfs and /proc show the directories even where debugfs and lctl are missing.
            Err(error) => match target_directories(self.root()) {
                found if found.is_empty() => Err(error),
                found => Ok(found.into_keys().filter_map(|name| Target::new(&name, None)).collect()),
            },
        }
    }

    /// The clients of all targets; reads at most `limit` NIDs, with two or three system calls each.
    pub(crate) fn clients(&self, limit: usize) -> ClientTable {
        let mut table = ClientTable::default();
        let mut read = 0;
        for (target, directories) in target_directories(self.root()) {
            let mut nids: Vec<PathBuf> = directories.iter().flat_map(|dir| entries(&dir.join("exports"))).collect();
            nids.sort_unstable();
            for path in nids {
                let Some(nid) = path.file_name().and_then(|name| name.to_str()) else { continue };
                // Beside the NIDs there is the file `clear`.
                if !nid.contains('@') {
                    continue;
                }
                if read >= limit {
                    table.left_out += 1;
                    continue;
                }
                read += 1;
                let Ok(uuids) = fs::read(path.join("uuid")) else {
                    table.left_out += 1;
                    continue;
                };
                table.clients.extend(String::from_utf8_lossy(&uuids).split_whitespace().map(|uuid| Client {
                    target: target.clone(),
                    nid: nid.to_owned(),
                    uuid: uuid.to_owned(),
                }));
            }
        }
        table.clients.sort_unstable();
        table.clients.dedup();
        table
    }

    fn by_lctl(&self, arguments: &[&str]) -> Result<String, ControlError> {
        self.lctl.run(arguments)
    }
}

/// `  3 UP obdfilter lustre-OST0000 lustre-OST0000_UUID 11`: index, state, type, name, uuid, references.
fn parse_devices(text: &str) -> Vec<Target> {
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
fn target_directories(root: &Path) -> BTreeMap<String, Vec<PathBuf>> {
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

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).map(|list| list.flatten().map(|entry| entry.path()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Control};
    use super::*;
    use crate::system::put;

    fn open(root: &Path) -> Control {
        Control::open(root, Access::Files, Path::new("/nonexistent/lctl")).unwrap()
    }

    const DEVICES: &str = "\
  0 UP osd-ldiskfs lustre-OST0000-osd lustre-OST0000-osd_UUID 5
  1 UP mgc MGC10.10.0.1@tcp 2c1e1dd5-0000-4000-8000-000000000000 5
  2 UP ost OSS OSS_uuid 3
  3 UP obdfilter lustre-OST0000 lustre-OST0000_UUID 9
  4 UP lwp lustre-MDT0000-lwp-OST0000 lustre-MDT0000-lwp-OST0000_UUID 5
  5 ST obdfilter lustre-OST0001 lustre-OST0001_UUID 9
  6 UP mgs MGS MGS 9
  7 UP mdt lustre-MDT0000 lustre-MDT0000_UUID 21
";

    #[test]
    fn versions_of_all_ages() {
        let numbers = |text| LustreVersion::parse(text).map(|v| (v.major, v.minor, v.patch));
        assert_eq!(numbers("lustre: 2.10.8\nkernel: patchless_client\nbuild: 2.10.8\n"), Some((2, 10, 8)));
        assert_eq!(numbers("2.17.57_62_gc881f8e\n"), Some((2, 17, 57)));
        assert_eq!(numbers("lustre: 2.16\n"), Some((2, 16, 0)));
        assert_eq!(numbers("lustre: unknown\n"), None);
        assert_eq!(numbers(""), None);
    }

    #[test]
    fn targets_from_the_device_list() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "sys/kernel/debug/lnet/debug", "0\n");
        put(root.path(), "sys/kernel/debug/lustre/devices", DEVICES);
        let targets = open(root.path()).targets().unwrap();
        let names: Vec<_> =
            targets.iter().map(|target| (target.name.as_str(), target.kind.as_str(), target.is_up())).collect();
        let expected = [
            ("MGS", "mgs", true),
            ("lustre-MDT0000", "mdt", true),
            ("lustre-OST0000", "ost", true),
            ("lustre-OST0001", "ost", false),
        ];
        assert_eq!(names, expected);
        assert_eq!(targets[3].fsname.as_deref(), Some("lustre"));
        assert_eq!(targets[3].index, Some(1));
        assert_eq!(targets[0].fsname, None);
    }

    #[test]
    fn targets_from_directories_where_no_list_is() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "proc/sys/lnet/debug", "0\n");
        put(root.path(), "sys/fs/lustre/obdfilter/a-OST000a/num_exports", "1\n");
        let targets = open(root.path()).targets().unwrap();
        assert_eq!((targets.len(), targets[0].index, targets[0].is_up()), (1, Some(10), true));
    }

    #[test]
    fn clients_in_each_layout() {
        for base in ["proc/fs/lustre", "sys/kernel/debug/lustre"] {
            let root = tempfile::tempdir().unwrap();
            put(root.path(), "proc/sys/lnet/debug", "0\n");
            let exports = format!("{base}/obdfilter/lustre-OST0000/exports");
            put(root.path(), &format!("{exports}/10.10.0.11@tcp/uuid"), "aaa\nbbb\n");
            put(root.path(), &format!("{exports}/10.10.0.12@tcp/uuid"), "ccc\n");
            put(root.path(), &format!("{exports}/clear"), "");
            put(root.path(), "sys/fs/lustre/obdfilter/lustre-OST0000/num_exports", "3\n");
            let control = open(root.path());
            let table = control.clients(100);
            let rows: Vec<_> = table.clients.iter().map(|c| (c.nid.as_str(), c.uuid.as_str())).collect();
            assert_eq!(rows, [("10.10.0.11@tcp", "aaa"), ("10.10.0.11@tcp", "bbb"), ("10.10.0.12@tcp", "ccc")]);
            assert_eq!(table.left_out, 0);
            let table = control.clients(1);
            assert_eq!((table.clients.len(), table.left_out), (2, 1));
        }
    }
}
