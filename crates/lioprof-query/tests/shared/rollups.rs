//! Rollups of datasets.

use std::collections::BTreeMap;
use std::path::Path;

use lioprof_analysis::{ClockFacts, NodeSums, Question, SUMS_SCHEMA, stale_clocks, sum_up};
use lioprof_store::{Dataset, Rollups, SumsFile};

/// What `lioprof rollup` does.
pub(crate) fn roll_up_all(dir: &Path) {
    let dataset = Dataset::open(dir).unwrap();
    assert!(dataset.problems().is_empty());
    let rollups = Rollups::new(dir);
    let source = |node: &str| dataset.node_source(node).unwrap();
    let write = |node: &str, sums: &NodeSums| {
        let file = SumsFile::new(SUMS_SCHEMA, node, dataset.part_names(node), sums.to_bytes());
        rollups.write(&file, sums.seconds()).unwrap();
    };
    let mut known: Vec<ClockFacts> = Vec::new();
    for node in dataset.nodes() {
        let sums = sum_up(source(node).as_mut(), &Question::default(), None).unwrap();
        write(node, &sums);
        known.push(ClockFacts::from(&sums));
    }
    for (node, clock) in stale_clocks(known, &BTreeMap::new()) {
        let before = NodeSums::from_bytes(&rollups.sums(&node).unwrap().unwrap().sums).unwrap();
        let sums = sum_up(source(&node).as_mut(), &Question::default(), clock).unwrap();
        write(&node, &sums.compared_as(before));
    }
}
