//! Whether clients do I/O: what was read and written between two looks at the OSTs' counters.

use std::path::Path;

use lioprof_params::{Stats, Tree};

use super::targets::names;

/// Reads and writes of all OSTs of a server, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientIo {
    /// Requests counted by `read_bytes` and `write_bytes` of `obdfilter.*.stats`.
    pub requests: u64,
}

impl ClientIo {
    /// Reads the counters of all OSTs below `root`.
    #[must_use]
    pub fn so_far(root: &Path) -> Self {
        let mut tree = Tree::new(root);
        let osts = names(&mut tree, "obdfilter", "-OST");
        let texts = osts.iter().filter_map(|ost| tree.read("ost stats", &format!("obdfilter/{ost}/stats")));
        let of_ost = |text: String| -> u64 {
            let stats = Stats::parse(&text);
            ["read_bytes", "write_bytes"].iter().filter_map(|name| stats.get(name)).map(|counter| counter.samples).sum()
        };
        Self { requests: texts.map(of_ost).sum() }
    }
}
