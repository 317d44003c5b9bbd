//! The durations of disk I/O between two samples.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use lioprof_params::Tree;

use super::disk;
use super::targets::names;
use crate::facts::{DiskHistogram, Fact, ServerFacts};

/// The first sample of the counters.
#[derive(Debug)]
pub struct Watch {
    tree: Tree,
    begin: Instant,
    /// Durations so far by OST; `None` without `brw_stats`.
    first: BTreeMap<String, Option<DiskHistogram>>,
}

impl Watch {
    /// Reads the counters of all OSTs below `root`.
    #[must_use]
    pub fn begin(root: &Path) -> Self {
        let mut tree = Tree::new(root);
        let osts = names(&mut tree, "obdfilter", "-OST");
        let mut times = |name: &String| disk::buckets(&mut tree, name).map(|buckets| disk::times(&buckets));
        let first = osts.into_iter().map(|name| (name.clone(), times(&name))).collect();
        Self { tree, begin: Instant::now(), first }
    }

    /// Reads them again and adds the difference to the facts of the same server.
    pub fn end(mut self, facts: &mut ServerFacts) {
        let watched_ms = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        let Fact::Known(targets) = &mut facts.targets else { return };
        for target in targets.iter_mut().filter(|target| target.kind == "ost") {
            let second = disk::buckets(&mut self.tree, &target.name).map(|buckets| disk::times(&buckets));
            let both = self.first.remove(&target.name).flatten().zip(second);
            target.watched = Some(match both {
                None => Fact::Unknown("no `brw_stats`".to_owned()),
                Some((first, second)) => Fact::or(
                    since(&first, &second).map(|times| DiskHistogram { watched_ms, ..times }),
                    "the counters were cleared while they were watched",
                ),
            });
        }
    }
}

/// What was added; `None` if a count went back.
fn since(first: &DiskHistogram, second: &DiskHistogram) -> Option<DiskHistogram> {
    let difference = |first: &BTreeMap<u64, u64>, second: &BTreeMap<u64, u64>| {
        if first.keys().any(|end| !second.contains_key(end)) {
            return None;
        }
        second
            .iter()
            .map(|(&end, &count)| Some((end, count.checked_sub(first.get(&end).copied().unwrap_or(0))?)))
            .collect()
    };
    Some(DiskHistogram {
        watched_ms: 0,
        reads: difference(&first.reads, &second.reads)?,
        writes: difference(&first.writes, &second.writes)?,
    })
}
