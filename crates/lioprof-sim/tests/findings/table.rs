//! The confusion table in `docs/findings.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lioprof_sim::scenario::Scenario;

use crate::expected;
use crate::runs::{RUNS, Seen};
use lioprof_testkit::blessed_table;

const BEGIN: &str = "<!-- confusion table -->\n";
const END: &str = "<!-- end of the confusion table -->";

/// Compares the table in the documentation with what was seen, or writes it.
#[track_caller]
pub(crate) fn compare(all: &[Seen]) {
    blessed_table("docs/findings.md", (BEGIN, END), &table(all));
}

fn table(all: &[Seen]) -> String {
    let held_out = RUNS.iter().filter(|run| run.held_out).count();
    let mut table = format!(
        "\n| scenario | to be found | ranks first in {} runs | in {held_out} runs that no threshold was chosen with | instead | \
         besides, above info |\n|---|---|---|---|---|---|\n",
        RUNS.len() - held_out
    );
    for scenario in Scenario::all() {
        let wanted = expected::of(scenario.name).flatten();
        let runs = || all.iter().filter(|seen| seen.scenario == scenario.name);
        let right = |held_out: bool| {
            runs().filter(|seen| seen.run.held_out == held_out && expected::wrong(seen).is_none()).count()
        };
        let instead = counted(runs().filter_map(expected::wrong));
        let besides = runs().flat_map(|seen| seen.above.iter().map(String::as_str).filter(|id| Some(*id) != wanted));
        let besides = counted(besides);
        writeln!(
            table,
            "| {} | {} | {} | {} | {instead} | {besides} |",
            scenario.name,
            wanted.unwrap_or("nothing"),
            right(false),
            right(true)
        )
        .unwrap();
    }
    table.push('\n');
    table
}

/// `a (2), b (1)`
fn counted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts.iter().map(|(name, count)| format!("{name} ({count})")).collect::<Vec<_>>().join(", ")
}
