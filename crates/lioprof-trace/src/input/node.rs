//! Which node (server) a file belongs to, by its path alone. Several inputs are then compared with each other: `crate::identity`.
//!
//! In this order:
//!
//! 1. The first `--node NAME[=GLOB]` whose glob matches the path or the file name, or which has no glob. In a
//!    glob `*` also matches `/`.
//! 2. Standard input is node `stdin`.
//! 3. A folder `node=NAME` above the file, as the capture daemon makes them.
//! 4. The *stem* of the file name, unless it is generic: then the first folder above the file that is not.
//!
//! The stem is the file name without, repeatedly and from the right:
//!
//! * compression endings `.zst .zstd .gz .xz .bz2` and format endings `.bin .txt .text .log .raw .out`;
//! * endings of rotated segments: `.N`; `-N` or `_N` with at least four digits; `segN`, `partN`; a date or
//!   time (`20261121`, `20261121T101500Z`, `2026-11-21T10:15:00`, `2026-11-21`), each after `.`, `-` or `_`.
//!   So `oss-03` is a host and `oss03-0003` the segment of `oss03`. A dotted IPv4 address stays whole.
//!
//! and then without `rpc`, `dk`, `dmesg` or another word for kernel logs plus `-`, `_` or `.` in front (LIOProf's `rpc-<host>`), or the
//! same words with the same signs behind (`<host>.rpc.bin`). If what looks like a host's name is left once other words of logs, dates and numbers
//! are taken from both ends (`debug_log.<host>`, `<host>_lctl_dk`, `lustre-log.<host>.<time>`), that is the node.
//!
//! Generic are words of logs (`rpc`, `dk`, `log`, `lctl_debug_kernel`, `dmesg`, `messages`, `sos_commands`, ..), dates and numbers, in any combination, and
//! file names that begin with `lustre-log` or `debug` and have no host's name. Of folders, dates and case numbers (`2026-11-20`, `case12345`) are
//! passed over only for a host above them. If nothing is left, the folder that holds the file is the node.
//!
//! | file | node |
//! |---|---|
//! | `logs/rpc-oss03`, `logs/oss03.rpc.bin.zst`, `logs/oss03.txt` | `oss03` |
//! | `oss03/rpc.bin`, `oss03/rpc.bin.1`, `oss03/lustre-log.1795250608.2546` | `oss03` |
//! | `logs/oss03-20261121T101500.bin`, `logs/oss03-0001.bin` | `oss03` |
//! | `oss03/2026-11-20-14:00:01`, `oss03/var/log/lustre/debug.log`, `oss03/lctl_debug_kernel` | `oss03` |
//! | `sosreport-oss03-2026-11-25-abcdefg/sos_commands/lustre/lctl_debug_kernel` | `oss03` |
//! | `oss03/dmesg`, `oss03/var/log/messages`, `dmesg-oss03.txt`, `oss03-kern.log` | `oss03` |
//! | `day1/oss03/rpc.bin`, `day2/oss03/rpc.bin` | `oss03`, the same node on purpose |

use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use glob::Pattern;
use lioprof_model::NodeFrom;

use super::endings::{strip_any, strip_segment};
use super::words;

const COMPRESSION_ENDINGS: [&str; 5] = [".zst", ".zstd", ".gz", ".xz", ".bz2"];
const FORMAT_ENDINGS: [&str; 6] = [".bin", ".txt", ".text", ".log", ".raw", ".out"];
const LOG_WORDS: [&str; 8] = ["rpc", "dk", "dmesg", "messages", "kern", "syslog", "journal", "console"];
const GENERIC: [&str; 11] =
    ["rpc", "rpctrace", "dlmtrace", "dk", "log", "logs", "trace", "capture", "dump", "lctl", "lustre"];
const ARCHIVE_ENDINGS: [&str; 9] =
    [".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tar.zst", ".tbz2", ".zip"];
/// Folders above others that name no host.
const ROOMS: [&str; 14] = [
    "root",
    "mnt",
    "opt",
    "usr",
    "etc",
    "work",
    "scratch",
    "download",
    "downloads",
    "desktop",
    "in",
    "input",
    "inputs",
    "data",
];

/// `NAME[=GLOB]`: the files that match belong to node `NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRule {
    /// Name of the node that the files belong to.
    pub node: String,
    /// Pattern for the path or the file name; without one the rule matches every input.
    pub glob: Option<String>,
}

/// Why a text is no [`NodeRule`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeRuleError {
    /// Nothing before `=`.
    #[error("`{0}` names no node: expected NAME or NAME=GLOB, for example `oss03=*/oss03/*`")]
    NoName(String),
    /// Not a glob: at which character, and what is wrong.
    #[error("`{0}` is not a file pattern: {2} at character {1}")]
    BadGlob(String, usize, &'static str),
}

impl FromStr for NodeRule {
    type Err = NodeRuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (node, glob) = match text.split_once('=') {
            Some((node, glob)) => (node, Some(glob)),
            None => (text, None),
        };
        if node.trim().is_empty() {
            return Err(NodeRuleError::NoName(text.to_owned()));
        }
        if let Some(glob) = glob
            && let Err(err) = Pattern::new(glob)
        {
            return Err(NodeRuleError::BadGlob(glob.to_owned(), err.pos, err.msg));
        }
        Ok(Self { node: node.to_owned(), glob: glob.map(str::to_owned) })
    }
}

impl NodeRule {
    /// Whether the rule is for this path.
    #[must_use]
    pub fn matches(&self, path: &Path) -> bool {
        let Some(glob) = &self.glob else { return true };
        // A pattern that is none matches nothing; `from_str` lets none through.
        let Ok(pattern) = Pattern::new(glob) else { return false };
        pattern.matches(&path.to_string_lossy())
            || path.file_name().is_some_and(|name| pattern.matches(&name.to_string_lossy()))
    }
}

/// The node of a file, by the rules at the top of this module.
#[must_use]
pub fn node_of(path: &Path, rules: &[NodeRule]) -> String {
    match fixed(path, rules) {
        Some((node, _)) => node,
        None => by_itself(&components(path), || here(path)).node,
    }
}

/// The node of a file whose name and folders need not be judged.
pub(crate) fn fixed(path: &Path, rules: &[NodeRule]) -> Option<(String, NodeFrom)> {
    if let Some(rule) = rules.iter().find(|rule| rule.matches(path)) {
        return Some((rule.node.clone(), NodeFrom::Option));
    }
    if path == Path::new("-") {
        return Some(("stdin".to_owned(), NodeFrom::Stdin));
    }
    partition(path).map(|node| (node, NodeFrom::Folder))
}

/// What a path alone says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Name of the node.
    pub(crate) node: String,
    /// What part of the path says so.
    pub(crate) from: NodeFrom,
    /// What the file's name has besides the words of logs, if the node is not named by it. By itself that is too little for a host's name.
    pub(crate) hint: Option<String>,
}

/// The node by the names of a file and its folders, the file last. `here` is the folder in which the first of them lies.
pub(crate) fn by_itself(components: &[String], here: impl FnOnce() -> Option<String>) -> Named {
    let (file, folders) = match components.split_last() {
        Some((file, folders)) => (file.as_str(), folders),
        None => ("", components),
    };
    let stem = stem(file);
    let (host, core) = (host_of(stem), words::core(stem));
    let was_generic = is_generic(host);
    let is_host = words::is_host_like(core) && (!was_generic || core.len() < stem.len());
    if !core.is_empty() && (is_host || !was_generic) {
        let node = if is_host { core } else { host };
        return Named { node: node.to_owned(), from: NodeFrom::Name, hint: None };
    }
    let hint = Some(core).filter(|core| !core.is_empty() && core.len() < stem.len()).map(str::to_owned);
    let named = |node: String| Named { node, from: NodeFrom::Folder, hint: hint.clone() };
    if let Some(node) = folder(folders) {
        return named(node);
    }
    let here = here();
    if let Some(node) = here.as_ref().filter(|here| folders.is_empty() || folder(std::slice::from_ref(*here)).is_some())
    {
        return named(node.clone());
    }
    match folders.last() {
        Some(parent) => named(parent.clone()),
        None => {
            let node = if stem.is_empty() { file } else { stem };
            Named { node: node.to_owned(), from: NodeFrom::Name, hint: None }
        }
    }
}

/// The host that folders name, the innermost last: the first from there that is not called as logs and their folders are.
pub(crate) fn folder(folders: &[String]) -> Option<String> {
    let mut number = None;
    for (above, folder) in folders.iter().rev().enumerate() {
        let name = strip_any(folder, &ARCHIVE_ENDINGS).unwrap_or(folder);
        let core = words::core(name);
        // A date or a case, or any host; a host above says more.
        let nobody = if words::is_loopback(core) {
            Some(core)
        } else {
            (words::is_number(name) || words::is_ticket(name)).then_some(folder.as_str())
        };
        if let Some(nobody) = nobody {
            number.get_or_insert(nobody);
            continue;
        }
        if core.is_empty() || (above > 0 && ROOMS.iter().any(|room| room.eq_ignore_ascii_case(name))) {
            continue;
        }
        let is_host = words::is_host_like(core) || (core.len() < name.len() && name.starts_with("sos"));
        return match number {
            Some(number) if !is_host => Some(number.to_owned()),
            _ => Some(if is_host { core } else { name }.to_owned()),
        };
    }
    number.map(str::to_owned)
}

/// The names of a file and its folders, the file last; an archive is a folder.
pub(crate) fn components(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => {
                names.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    names.iter().flat_map(|name| in_archives(name)).map(str::to_owned).collect()
}

/// `a.tar.xz!b` are two names.
fn in_archives(name: &str) -> Vec<&str> {
    match name.match_indices('!').find(|(at, _)| strip_any(&name[..*at], &ARCHIVE_ENDINGS).is_some()) {
        Some((at, _)) => std::iter::once(&name[..at]).chain(in_archives(&name[at + 1..])).collect(),
        None => vec![name],
    }
}

/// Name of the folder in which the first folder or file of a relative path lies.
pub(crate) fn here(path: &Path) -> Option<String> {
    if path.is_absolute() {
        return None;
    }
    let is_up = |component: &Component<'_>| matches!(component, Component::CurDir | Component::ParentDir);
    let up: PathBuf = path.components().take_while(is_up).collect();
    let real = if up.as_os_str().is_empty() { Path::new(".") } else { &up }.canonicalize().ok()?;
    Some(real.file_name()?.to_string_lossy().into_owned())
}

/// `oss03` of `.../node=oss03/...`.
fn partition(path: &Path) -> Option<String> {
    let names = path.parent()?.components().rev();
    names.map(|name| name.as_os_str().to_string_lossy()).find_map(|name| name.strip_prefix("node=").map(str::to_owned))
}

/// The file name without endings of compression.
pub(crate) fn without_compression(name: &str) -> &str {
    strip_any(name, &COMPRESSION_ENDINGS).map_or(name, without_compression)
}

/// What two files of one capture have in common: the name without compression and format endings.
pub(crate) fn capture_name(name: &str) -> &str {
    strip_any(name, &COMPRESSION_ENDINGS).or_else(|| strip_any(name, &FORMAT_ENDINGS)).map_or(name, capture_name)
}

/// Whether a file says by its name that it is a debug log.
pub(crate) fn claims_to_be_a_log(name: &str) -> bool {
    // Plots and tables of a report have names of what they show: `rpc-size.png`.
    if [".png", ".svg", ".csv", ".json", ".html", ".parquet"].iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    let stem = stem(name);
    stem.starts_with("lustre-log")
        || stem == "rpc"
        || ["rpc-", "rpc_", "rpc."].iter().any(|p| stem.starts_with(p))
        || (stem.ends_with(".rpc") && without_compression(name).ends_with(".bin"))
}

/// The file name without endings of compression, format and rotation.
pub(crate) fn stem(name: &str) -> &str {
    let shorter = capture_name(name);
    match strip_segment(shorter) {
        Some(rest) => stem(rest),
        None if shorter.len() < name.len() => stem(shorter),
        None => name,
    }
}

/// `rpc-oss03` and `oss03.rpc` are of host `oss03`.
pub(crate) fn host_of(stem: &str) -> &str {
    let is_sign = |c: char| matches!(c, '-' | '_' | '.');
    for word in LOG_WORDS {
        let front = stem.strip_prefix(word).and_then(|rest| rest.strip_prefix(is_sign));
        let back = stem.strip_suffix(word).and_then(|rest| rest.strip_suffix(is_sign));
        if let Some(host) = front.or(back).filter(|host| !host.is_empty()) {
            return host;
        }
    }
    stem
}

fn is_generic(stem: &str) -> bool {
    let lower = stem.to_ascii_lowercase();
    lower.is_empty()
        || GENERIC.contains(&lower.as_str())
        || lower.starts_with("lustre-log")
        || lower.starts_with("debug")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn node(path: &str) -> String {
        node_of(Path::new(path), &[])
    }

    #[test]
    fn lioprof_names_give_the_host() {
        for path in ["x/rpc-oss03", "x/rpc-oss03.log", "x/oss03.rpc.bin", "x/dk_oss03.txt.gz", "x/oss03.bin.zst"] {
            assert_eq!(node(path), "oss03", "{path}");
        }
        assert_eq!(node("x/rpc-oss1.example.com.log"), "oss1.example.com");
        assert_eq!(node("oss-03.TXT.ZST"), "oss-03");
    }

    #[test]
    fn generic_stems_give_the_folder() {
        let names = [
            "rpc.bin",
            "rpc.txt.zst",
            "dk.txt",
            "log",
            "Log.gz",
            "debug_file.log",
            "debug.bin",
            "lustre-log.bin",
            "lustre-log.1795250608.2546",
            "rpc-0001.bin",
            "trace.txt.xz",
            ".bin",
        ];
        for name in names {
            assert_eq!(node(&format!("cap/oss03/{name}")), "oss03", "{name}");
        }
    }

    #[test]
    fn same_folder_name_is_the_same_node() {
        assert_eq!(node("a/server1/rpc.bin"), node("b/server1/rpc.bin"));
    }

    #[test]
    fn segments_of_one_node_have_one_name() {
        let segments = [
            "oss03.bin",
            "oss03.bin.1",
            "oss03.2.bin.zst",
            "oss03-0001.bin",
            "oss03_000002",
            "oss03.bin.20261121T101500",
            "oss03-20261121T101500Z.bin.zst",
            "oss03-2026-11-21T10:15:00.txt",
            "oss03.2026-11-21",
            "oss03-20261121-101500.bin",
            "oss03.seg7.bin",
            "oss03-part12.bin",
            "oss03.20261121T1015.000123.bin",
        ];
        for name in segments {
            assert_eq!(node(&format!("cap/{name}")), "oss03", "{name}");
        }
        for name in ["rpc.bin.1", "rpc.1.bin", "rpc-0001.bin", "rpc.bin.20261121T101500"] {
            assert_eq!(node(&format!("oss03/{name}")), "oss03", "{name}");
        }
    }

    #[test]
    fn numbers_of_hosts_stay() {
        assert_eq!(node("oss-03.bin"), "oss-03");
        assert_eq!(node("snx11000n004.bin"), "snx11000n004");
        assert_eq!(node("10.10.0.1.bin"), "10.10.0.1");
        assert_eq!(node("rpc-10.10.0.1.1.bin"), "10.10.0.1");
        assert_eq!(node("10.10.0.1@tcp.bin"), "10.10.0.1@tcp");
    }

    #[test]
    fn current_folder_counts_as_parent() {
        let here = std::env::current_dir().unwrap();
        let here = here.file_name().unwrap().to_string_lossy();
        assert_eq!(node("rpc.bin"), here);
        assert_eq!(node("./rpc.bin"), here);
        assert_eq!(node("/rpc.bin"), "rpc");
    }

    #[test]
    fn standard_input_has_a_name() {
        assert_eq!(node("-"), "stdin");
        assert_eq!(node_of(Path::new("-"), &["oss1".parse().unwrap()]), "oss1");
    }

    #[test]
    fn first_matching_rule_wins() {
        let rules: Vec<NodeRule> = ["a=*/one/*", "b=rpc-*.bin", "c"].iter().map(|rule| rule.parse().unwrap()).collect();
        assert_eq!(node_of(Path::new("x/one/rpc-9.bin"), &rules), "a");
        assert_eq!(node_of(Path::new("x/two/rpc-9.bin"), &rules), "b");
        assert_eq!(node_of(Path::new("x/two/dk.txt"), &rules), "c");
        assert_eq!(node_of(Path::new("x/two/dk.txt"), &rules[..2]), "two");
    }

    #[test]
    fn bad_rules_say_why() {
        assert!(matches!("=*.bin".parse::<NodeRule>(), Err(NodeRuleError::NoName(_))));
        assert!(matches!("".parse::<NodeRule>(), Err(NodeRuleError::NoName(_))));
        let err = "oss=a***b".parse::<NodeRule>().unwrap_err();
        assert!(err.to_string().contains("a***b"), "{err}");
    }

    #[test]
    fn non_utf8_names_are_kept_readable() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(OsStr::from_bytes(b"x/oss\xff1.bin"));
        assert_eq!(node_of(path, &[]), "oss\u{fffd}1");
    }

    #[test]
    fn capture_names_ignore_format_and_compression_but_not_segments() {
        assert_eq!(capture_name("rpc.bin.zst"), capture_name("rpc.txt"));
        assert_ne!(capture_name("rpc.bin.1"), capture_name("rpc.bin.2"));
        assert_eq!(without_compression("rpc.bin.zst"), "rpc.bin");
    }

    #[test]
    fn names_that_claim_to_be_logs() {
        for name in ["rpc.bin", "rpc-oss1", "lustre-log.17.25", "oss1.rpc.bin.zst", "rpc.txt.1"] {
            assert!(claims_to_be_a_log(name), "{name}");
        }
        for name in
            ["dk.log", "debug_file.log", "truth.txt", "rpcs.png", "rpc-size.svg", "rpc.json", "firmware.bin", "README"]
        {
            assert!(!claims_to_be_a_log(name), "{name}");
        }
    }
}
