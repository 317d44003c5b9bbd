//! A node's control files, made from what `lctl get_param` printed on a real server.

use std::fs;
use std::path::Path;

/// Where a version keeps its files.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// To 2.10: all in `/proc`.
    Old,
    /// 2.12 to 2.16: gauges in `/sys`, services and disk I/O in debugfs, the rest in `/proc`.
    Middle,
    /// Since then: gauges in `/sys`, all else in debugfs.
    New,
}

pub(crate) const LAYOUTS: [Layout; 3] = [Layout::Old, Layout::Middle, Layout::New];

impl Layout {
    fn dir(self, path: &str, gauge: bool) -> &'static str {
        let (proc, sys, debugfs) = ("proc/fs/lustre", "sys/fs/lustre", "sys/kernel/debug/lustre");
        let service = path.starts_with("ost/") || path.starts_with("mds/") || path.ends_with("/brw_stats");
        match self {
            Self::Old => proc,
            Self::Middle | Self::New if gauge => sys,
            Self::Middle if service => debugfs,
            Self::Middle => proc,
            Self::New => debugfs,
        }
    }
}

/// A parameter and its value.
pub(crate) struct Parameter {
    /// Path below the tree of parameters.
    pub(crate) path: String,
    pub(crate) text: String,
    /// A single value, not a table.
    gauge: bool,
}

/// What `lctl get_param` printed, as files.
pub(crate) fn parameters(truth: &str) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = Vec::new();
    for line in truth.lines() {
        let begins = line.split_once('=').filter(|(name, _)| {
            name.contains('.') && !name.contains(' ') && name.starts_with(|c: char| c.is_ascii_lowercase())
        });
        if let Some((name, value)) = begins {
            let (gauge, text) = (!value.is_empty(), value.to_owned() + if value.is_empty() { "" } else { "\n" });
            parameters.push(Parameter { path: path(name), text, gauge });
        } else if let Some(last) = parameters.last_mut() {
            last.text.push_str(line);
            last.text.push('\n');
        }
    }
    parameters
}

/// `obdfilter.fs-OST0000.exports.10.0.0.1@tcp.stats` as a path; NIDs keep their dots.
fn path(name: &str) -> String {
    let (dir, file) = name.rsplit_once('.').unwrap();
    if let Some((target, nid)) = dir.split_once(".exports.") {
        return format!("{}/exports/{nid}/{file}", target.replace('.', "/"));
    }
    match dir.strip_prefix("ldlm.namespaces.") {
        Some(namespace) => format!("ldlm/namespaces/{namespace}/{file}"),
        None => format!("{}/{file}", dir.replace('.', "/")),
    }
}

/// Writes the files, each changed by `change`.
pub(crate) fn write(root: &Path, layout: Layout, parameters: &[Parameter], change: impl Fn(&Parameter) -> String) {
    for parameter in parameters {
        let path = root.join(layout.dir(&parameter.path, parameter.gauge)).join(&parameter.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, change(parameter)).unwrap();
    }
}

/// The file as it was right after its counters were cleared.
pub(crate) fn cleared(parameter: &Parameter) -> String {
    if parameter.path.ends_with("/job_stats") {
        return "job_stats:\n".to_owned();
    }
    let lines = parameter.text.lines().filter(|line| !line.contains(" samples ["));
    lines.map(|line| line.to_owned() + "\n").collect()
}
