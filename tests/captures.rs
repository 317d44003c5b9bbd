//! The captures in `fixtures/captures`, or in the directory that `LIOPROF_CAPTURES` names.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_testkit::files::{self, folders_in, unpacked};

use crate::counters::Counters;

/// One capture: some servers, one workload.
pub(crate) struct Capture {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
    pub(crate) servers: Vec<Server>,
}

/// One server of a capture: its log and its counters.
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
    pub(crate) truth: Counters,
}

impl Server {
    /// The log file of this name, plain or `.zst`.
    pub(crate) fn log(&self, name: &str) -> Option<PathBuf> {
        [name.to_owned(), format!("{name}.zst")].iter().map(|name| self.dir.join(name)).find(|path| path.exists())
    }

    pub(crate) fn binary(&self) -> Option<PathBuf> {
        self.log("rpc.bin")
    }

    /// Places of the daemon's file that `lctl debug_file` could not read, as it said: pages that a full disk had cut.
    pub(crate) fn bad_for_lctl(&self) -> u64 {
        let Ok(said) = fs::read_to_string(self.dir.join("debug_file.log")) else { return 0 };
        let counts = said.lines().find(|line| line.starts_with("Debug log: ")).expect("a summary by lctl");
        let bad = counts.split(", ").find_map(|count| count.strip_suffix(" bad."));
        bad.expect("a count of bad records").parse().unwrap()
    }

    pub(crate) fn text(&self) -> Option<PathBuf> {
        self.log("rpc.txt").or_else(|| self.log("dk.txt"))
    }
}

/// All captures, by name. There must be some.
pub(crate) fn captures() -> Vec<Capture> {
    let root = files::captures();
    let captures: Vec<Capture> = folders_in(&root).into_iter().filter_map(|dir| capture(&dir)).collect();
    assert!(!captures.is_empty(), "no captures in `{}`", root.display());
    captures
}

fn capture(dir: &Path) -> Option<Capture> {
    let servers: Vec<Server> = folders_in(dir).into_iter().filter_map(|dir| server(&dir)).collect();
    (!servers.is_empty()).then(|| Capture { name: name(dir), dir: dir.to_owned(), servers })
}

/// A folder with counters and a log; clients have no log.
fn server(dir: &Path) -> Option<Server> {
    let packed = dir.join("truth.txt.zst");
    let truth = if packed.exists() { packed } else { dir.join("truth.txt") };
    let truth = truth.exists().then(|| Counters::parse(&String::from_utf8_lossy(&unpacked(&truth))))?;
    let server = Server { name: name(dir), dir: dir.to_owned(), truth };
    (server.binary().is_some() || server.text().is_some()).then_some(server)
}

fn name(dir: &Path) -> String {
    dir.file_name().unwrap().to_string_lossy().into_owned()
}

/// Servers that have a binary and a text log of the same capture, from its start, undamaged: `lctl` drops or mixes up
/// what it cannot read.
pub(crate) fn in_both_formats() -> Vec<(String, PathBuf, PathBuf)> {
    let mut out = Vec::new();
    for capture in captures() {
        for server in capture.servers.iter().filter(|server| server.bad_for_lctl() == 0) {
            if let (Some(binary), Some(text)) = (server.binary(), server.log("rpc.txt"))
                && contains(&unpacked(&text), b"DEBUG MARKER: CAPTURE-START")
            {
                out.push((format!("{}/{}", capture.name, server.name), binary, text));
            }
        }
    }
    assert!(!out.is_empty());
    out
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}
