//! `lioprof rollup`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::bail;
use lioprof_analysis::{Config, roll_up, stale_clocks};
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::parts::rollup::Rollup;
use lioprof_model::units::plural;
use lioprof_store::{Dataset, ROLLUP_SCHEMA, Rollups, StoreError};

use crate::args::RollupArgs;
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};

pub(crate) fn run(args: &RollupArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    if !lioprof_store::is_dataset(&args.dataset) {
        bail!(
            "`{}` is not a dataset: it has no `manifests/fs=...`; name the folder that `lioprof daemon` or `lioprof export \
             --parquet` filled",
            args.dataset.display()
        );
    }
    let dataset = Dataset::open(&args.dataset).map_err(|err| anyhow::Error::msg(err.chain()))?;
    let failures = dataset.problems().len();
    dataset.problems().iter().for_each(|problem| messages::error(&problem.chain()));
    let all: Vec<String> = dataset.nodes().map(str::to_owned).collect();
    if let Some(unknown) = args.node.iter().find(|node| !all.contains(node)) {
        bail!("`{}` has no rows of node `{unknown}`, only of {}", args.dataset.display(), all.join(", "));
    }
    let chosen = |node: &String| args.node.is_empty() || args.node.contains(node);
    let work = DatasetRollup { dataset: &dataset, rollups: Rollups::new(&args.dataset), verbosity };

    let new = all.iter().filter(|node| chosen(node) && (args.force || !work.is_current(node)));
    let new: Vec<NodeToRollUp> = new.map(|node| NodeToRollUp { node: node.clone(), clock: None }).collect();
    let threads = args.threads.count();
    let mut failed = failures + work.roll_up(&new, threads);
    let gone = work.forget(&all)?;

    // Clocks are compared once all nodes have said what they know.
    let known = work.known(&all)?;
    let stale =
        stale_clocks(&known).map_err(|err| anyhow::anyhow!("the rollups of `{}`: {err}", args.dataset.display()))?;
    let stale: Vec<NodeToRollUp> =
        stale.into_iter().filter(|(node, _)| chosen(node)).map(|(node, clock)| NodeToRollUp { node, clock }).collect();
    failed += work.roll_up(&stale, threads);
    if new.is_empty() && stale.is_empty() && gone == 0 {
        messages::note(verbosity, "all rollups are up to date");
    }
    Ok(if failed == 0 { Code::Success } else { Code::Unusable })
}

/// A node to roll up, and the clock to convert its times to.
struct NodeToRollUp {
    node: String,
    clock: Option<ClockLine>,
}

struct DatasetRollup<'a> {
    dataset: &'a Dataset,
    rollups: Rollups,
    verbosity: Verbosity,
}

impl DatasetRollup<'_> {
    /// Whether a node has a rollup of exactly its current parts. An unreadable rollup counts as none.
    fn is_current(&self, node: &str) -> bool {
        let row = self.rollups.node(node).ok().flatten();
        row.is_some_and(|row| row.schema == ROLLUP_SCHEMA && self.dataset.part_names(node).into_iter().eq(row.parts))
    }

    /// Rolls up nodes, several at a time. Returns the number of nodes that failed.
    fn roll_up(&self, jobs: &[NodeToRollUp], threads: usize) -> usize {
        let next = AtomicUsize::new(0);
        let failures = AtomicUsize::new(0);
        // One message at a time.
        let talk = Mutex::new(());
        thread::scope(|scope| {
            for _ in 0..threads.min(jobs.len()) {
                scope.spawn(|| {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = self.one(job).inspect_err(|_| {
                            // An older one is not that of these rows. If it cannot be deleted, what is said next is no less true.
                            let _deleted_or_left = self.rollups.remove(&job.node);
                        });
                        let _talking = talk.lock();
                        match result {
                            Ok(text) => messages::note(self.verbosity, &text),
                            Err(problem) => {
                                failures.fetch_add(1, Ordering::Relaxed);
                                messages::error(&format!("{} was not rolled up: {problem}", job.node));
                            }
                        }
                    }
                });
            }
        });
        failures.into_inner()
    }

    fn one(&self, NodeToRollUp { node, clock }: &NodeToRollUp) -> Result<String, String> {
        let mut source = self.dataset.node_source(node).ok_or("its rows are gone")?;
        let mut rollup = roll_up(source.as_mut(), *clock, &Config::default())?;
        if clock.is_some() {
            rollup.exchanges = self.rollups.exchanges(node).map_err(|err| err.chain())?;
        }
        let parts = self.dataset.part_names(node);
        self.rollups.write(&rollup, &parts).map_err(|err| err.chain())?;
        let rpcs = rollup.nodes.iter().map(|facts| facts.sums.rpcs).sum();
        let shifted = if clock.is_some() { ", once more, on the clock of the other nodes" } else { "" };
        Ok(format!("{node}: {} of {} rolled up{shifted}", plural(rpcs, "RPC"), plural(parts.len() as u64, "part")))
    }

    /// Deletes the rollups of nodes that have no rows any more. Returns the number of deleted rollups.
    fn forget(&self, nodes: &[String]) -> anyhow::Result<usize> {
        let chain = |err: StoreError| anyhow::Error::msg(err.chain());
        let gone: Vec<String> =
            self.rollups.nodes().map_err(chain)?.into_iter().filter(|it| !nodes.contains(it)).collect();
        for node in &gone {
            self.rollups.remove(node).map_err(chain)?;
            messages::note(self.verbosity, &format!("{node}: its rows are gone; deleted its rollup"));
        }
        Ok(gone.len())
    }

    /// The clock comparisons of the existing rollups.
    fn known(&self, nodes: &[String]) -> anyhow::Result<Rollup> {
        let mut known = Rollup::default();
        for node in nodes {
            let Some(row) = self.rollups.node(node).map_err(|err| anyhow::Error::msg(err.chain()))? else { continue };
            known.nodes.push(row.facts().map_err(anyhow::Error::msg)?);
            known.exchanges.extend(self.rollups.exchanges(node).map_err(|err| anyhow::Error::msg(err.chain()))?);
        }
        Ok(known)
    }
}
