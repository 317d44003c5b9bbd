//! Lists of hosts: `oss[01-40],mds1`.

mod error;
mod fold;
mod parse;

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

pub use error::HostListError;

/// Names of hosts, each once, in the order in which the list has them.
///
/// Written as for ClusterShell and Slurm: names separated by commas or blanks, with ranges in brackets, of which a name may have
/// several: `oss1`, `oss[1,3-5]`, `oss[01-40]` (as many digits as the first number has, if it begins with 0),
/// `rack[1-2]oss[1-4]`, `oss[0-10/2]` (every second). A name may have a user before it: `root@oss1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostList {
    names: Vec<String>,
}

impl HostList {
    /// All names, in the order of the list.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of hosts; there is at least one.
    #[expect(clippy::len_without_is_empty, reason = "a list has at least one host")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Names as a list, for messages: `oss[01-40],mds1`.
    #[must_use]
    pub fn folded<S: AsRef<str>>(names: &[S]) -> String {
        fold::fold(names)
    }
}

impl FromStr for HostList {
    type Err = HostListError;

    fn from_str(list: &str) -> Result<Self, HostListError> {
        let mut seen = HashSet::new();
        let names = parse::names(list)?.into_iter().filter(|name| seen.insert(name.clone())).collect();
        Ok(Self { names })
    }
}

impl fmt::Display for HostList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&fold::fold(&self.names))
    }
}

#[cfg(test)]
mod tests;
