//! Lustre's version, the targets of this node, and their clients.

use std::fs;
use std::path::PathBuf;

pub(crate) use lioprof_params::{LustreVersion, Target};
use lioprof_params::{entries, target_directories, targets_of};
use serde::{Deserialize, Serialize};

use super::{Control, ControlError};
use crate::system::read_text;

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
            .find_map(|place| LustreVersion::parse(&read_text(&self.root, place).ok()?))
            .or_else(|| LustreVersion::parse(&self.lctl.run(&["get_param", "-n", "version"]).ok()?))
    }

    /// The targets on this node, by name.
    pub(crate) fn targets(&self) -> Result<Vec<Target>, ControlError> {
        let listed = ["sys/kernel/debug/lustre/devices", "proc/fs/lustre/devices"]
            .iter()
            .find_map(|place| read_text(&self.root, place).ok());
        let devices = match listed {
            Some(text) => Ok(text),
            None => self.lctl.run(&["dl"]),
        };
        match devices {
            Ok(text) => Ok(targets_of(&text)),
            // sysfs and /proc show the directories even where debugfs and lctl are missing.
            Err(error) => match target_directories(&self.root) {
                found if found.is_empty() => Err(error),
                found => Ok(found.into_keys().filter_map(|name| Target::new(&name, None)).collect()),
            },
        }
    }

    /// The clients of all targets; reads at most `limit` NIDs, with two or three system calls each.
    pub(crate) fn clients(&self, limit: usize) -> ClientTable {
        let mut table = ClientTable::default();
        let mut read = 0;
        for (target, directories) in target_directories(&self.root) {
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
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Access, Control};
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
