//! What is wrong with a list of hosts.

/// What is wrong with a list of hosts, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{list}`, character {place}: {problem}; write hosts as in oss[01-40],mds1")]
pub struct HostListError {
    /// The whole list.
    list: String,
    /// Where, from 1.
    place: usize,
    /// What was expected there, and what was found.
    problem: String,
}

impl HostListError {
    pub(super) fn new(list: &str, byte: usize, problem: String) -> Self {
        let place = list.get(..byte).map_or(0, |before| before.chars().count()) + 1;
        Self { list: list.to_owned(), place, problem }
    }
}
