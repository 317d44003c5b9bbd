//! Values of the files under `obdfilter`, `mdt`, `ost`, `ldlm` and the like: whoever simulates the servers' counters
//! implements [`Stats`].

use std::collections::BTreeMap;

use rustix::io::Errno;

/// Parameters of a server, by name. A name is that of `lctl get_param` with `/` for the dots between its parts:
/// `obdfilter/lustre-OST0000/exports/10.10.0.11@tcp/stats`.
pub trait Stats: Send + Sync {
    /// All names.
    fn names(&self) -> Vec<String>;

    /// Changes whenever [`Self::names`] does: clients come and go.
    fn generation(&self) -> u64 {
        0
    }

    /// What a reader of the file gets who begins at its start; `None` if the file is gone.
    fn read(&self, name: &str) -> Option<Vec<u8>>;

    /// A write, such as `clear`.
    ///
    /// # Errors
    /// The error of the write; `EINVAL` if the file takes none.
    fn write(&self, name: &str, text: &[u8]) -> Result<(), Errno> {
        let _ignored = (name, text);
        Err(Errno::INVAL)
    }
}

/// Figures of a target's disk.
pub(crate) const DISK: [(&str, &str); 5] = [
    ("kbytestotal", "1048576000"),
    ("kbytesfree", "734003200"),
    ("kbytesavail", "681574400"),
    ("filestotal", "26214400"),
    ("filesfree", "26000000"),
];

/// Fixed values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedStats(BTreeMap<String, Vec<u8>>);

impl FixedStats {
    /// No parameters at all: a node without targets.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter or replaces it.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) {
        self.0.insert(name.into(), value.into());
    }

    /// What `lctl get_param NAME...` printed: `NAME=VALUE`, the value also on the lines that follow.
    ///
    /// Files that such an output often lacks are made up: `uuid` for each export, `num_exports`, sizes. A counter that is
    /// written `clear` stays as it is: what was captured is the end of a run.
    #[must_use]
    pub fn from_get_param(text: &str) -> Self {
        let mut stats = Self::default();
        let mut name: Option<String> = None;
        for line in text.lines() {
            if let Some((new, value)) = parameter_line(line) {
                let new = slashes(new);
                let value = if value.is_empty() { String::new() } else { format!("{value}\n") };
                stats.0.insert(new.clone(), value.into_bytes());
                name = Some(new);
            } else if let Some(value) = name.as_ref().and_then(|name| stats.0.get_mut(name)) {
                value.extend_from_slice(line.as_bytes());
                value.push(b'\n');
            }
        }
        stats.fill_in();
        stats
    }

    /// An OSS with these targets, for tests that need no counters.
    #[must_use]
    pub fn for_targets(targets: &[&str]) -> Self {
        let mut stats = Self::default();
        for target in targets {
            let kind = if target.contains("-MDT") { "mdt" } else { "obdfilter" };
            let clock = "snapshot_time             0.000000000 secs.nsecs\n";
            stats.insert(format!("{kind}/{target}/stats"), clock);
            stats.insert(format!("{kind}/{target}/job_stats"), "job_stats:\n");
        }
        stats.fill_in();
        stats
    }

    /// Adds what each target and export has.
    fn fill_in(&mut self) {
        let mut exports: BTreeMap<String, u32> = BTreeMap::new();
        let mut made_up = Vec::new();
        for name in self.0.keys() {
            let parts: Vec<&str> = name.split('/').collect();
            let [kind @ ("obdfilter" | "mdt"), target, rest @ ..] = parts.as_slice() else { continue };
            let base = format!("{kind}/{target}");
            let clients = exports.entry(base.clone()).or_default();
            if let ["exports", nid, ..] = rest {
                let path = format!("{base}/exports/{nid}/uuid");
                if made_up.iter().all(|(made, _)| *made != path) {
                    *clients += 1;
                    made_up.push((path, format!("{}\n", uuid_of(nid))));
                }
            }
        }
        for (base, clients) in exports {
            made_up.push((format!("{base}/num_exports"), format!("{clients}\n")));
            made_up.extend(DISK.map(|(leaf, value)| (format!("{base}/{leaf}"), format!("{value}\n"))));
        }
        for (name, value) in made_up {
            self.0.entry(name).or_insert_with(|| value.into_bytes());
        }
    }
}

impl Stats for FixedStats {
    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        self.0.get(name).cloned()
    }

    fn write(&self, name: &str, text: &[u8]) -> Result<(), Errno> {
        let counts = name.ends_with("stats");
        if counts && !text.is_empty() { Ok(()) } else { Err(Errno::INVAL) }
    }
}

/// `NAME=VALUE`, if the line begins with the name of a parameter.
fn parameter_line(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | ':' | '/');
    (name.contains('.') && name.chars().all(plain)).then_some((name, value))
}

/// The dots between parts become slashes; those of a NID stay.
fn slashes(name: &str) -> String {
    match name.split_once(".exports.") {
        Some((target, rest)) => {
            let (nid, leaf) = rest.rsplit_once('.').unwrap_or((rest, "stats"));
            format!("{}/exports/{nid}/{leaf}", target.replace('.', "/"))
        }
        None => name.replace('.', "/"),
    }
}

/// A uuid that depends on the NID alone.
fn uuid_of(nid: &str) -> String {
    // FNV-1a, twice.
    let hash =
        |seed: u64| nid.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let (high, low) = (hash(0xcbf2_9ce4_8422_2325), hash(0x9e37_79b9_7f4a_7c15));
    let hex = format!("{high:016x}{low:016x}");
    format!("{}-{}-4{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_get_param_becomes_files() {
        let text = "obdfilter.lustre-OST0000.stats=\nsnapshot_time 1.5 secs\nread_bytes 2 samples\n\
                    obdfilter.lustre-OST0000.exports.10.10.0.11@tcp.stats=\nwrite 1\n\
                    obdfilter.lustre-OST0000.job_stats=\njob_stats:\n- job_id:  a=b.c\n\
                    ldlm.namespaces.filter-lustre-OST0000_UUID.lock_count=7\n";
        let stats = FixedStats::from_get_param(text);
        let read = |name: &str| stats.read(name).map(|value| String::from_utf8(value).unwrap());
        let ost = "obdfilter/lustre-OST0000";
        assert_eq!(read(&format!("{ost}/stats")).unwrap(), "snapshot_time 1.5 secs\nread_bytes 2 samples\n");
        assert_eq!(read(&format!("{ost}/exports/10.10.0.11@tcp/stats")).unwrap(), "write 1\n");
        assert_eq!(read(&format!("{ost}/job_stats")).unwrap(), "job_stats:\n- job_id:  a=b.c\n");
        assert_eq!(read("ldlm/namespaces/filter-lustre-OST0000_UUID/lock_count").unwrap(), "7\n");
        assert_eq!(read(&format!("{ost}/num_exports")).unwrap(), "1\n");
        assert_eq!(read(&format!("{ost}/exports/10.10.0.11@tcp/uuid")).unwrap().len(), 37);
        assert_eq!(read(&format!("{ost}/exports/10.10.0.12@tcp/uuid")), None);
    }
}
