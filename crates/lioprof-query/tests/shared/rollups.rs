//! Rollups of datasets.

use std::path::Path;

use lioprof_analysis::{Config, roll_up, stale_clocks};
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::parts::rollup::Rollup;
use lioprof_store::{Dataset, Rollups};

/// What `lioprof rollup` does.
pub(crate) fn roll_up_all(dir: &Path) {
    let dataset = Dataset::open(dir).unwrap();
    assert!(dataset.problems().is_empty());
    let rollups = Rollups::new(dir);
    let one = |node: &str, clock: Option<ClockLine>| {
        roll_up(dataset.node_source(node).unwrap().as_mut(), clock, &Config::default()).unwrap()
    };
    let mut known = Rollup::default();
    for node in dataset.nodes() {
        let rollup = one(node, None);
        rollups.write(&rollup, &dataset.part_names(node)).unwrap();
        known.nodes.extend(rollup.nodes);
        known.exchanges.extend(rollup.exchanges);
    }
    for (node, clock) in stale_clocks(&known).unwrap() {
        let mut rollup = one(&node, clock);
        rollup.exchanges = rollups.exchanges(&node).unwrap();
        rollups.write(&rollup, &dataset.part_names(&node)).unwrap();
    }
}
