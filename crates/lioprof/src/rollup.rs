//! `lioprof rollup`.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::bail;
use lioprof_analysis::{ClockFacts, NodeSums, Question, SUMS_SCHEMA, stale_clocks, sum_up};
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::units::{few, plural};
use lioprof_store::{Dataset, Rollups, StoreError, SumsFile, has_part};

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
    work.name_copies();
    work.name_unused()?;

    let mut failed = failures;
    let (mut new, mut kept): (Vec<NodeToRollUp>, Vec<&String>) = (Vec::new(), Vec::new());
    for node in all.iter().filter(|node| chosen(node)) {
        match work.state(node) {
            State::Current if !args.force => {}
            State::OfOlderVersion if !args.force => {
                messages::error(&format!(
                    "{node} was not rolled up: `rollups` has seconds of it that an older lioprof made, perhaps of rows that are gone; \
                     --force rolls up what is there in place of them"
                ));
                failed += 1;
            }
            State::RowsGone { parts, unread } if !args.forget => {
                failed += work.keep(node, parts, unread);
                kept.push(node);
            }
            _ => new.push(NodeToRollUp { node: node.clone(), clock: None }),
        }
    }
    let threads = args.threads.count();
    failed += work.roll_up(&new, threads);
    let gone = work.without_rows(&all, args.forget)?;

    // Clocks are compared once all nodes have said what they know.
    let stale = stale_clocks(work.known(&all), &BTreeMap::new());
    // What is left of the rows does not replace what was made of all.
    let stale = stale.into_iter().filter(|(node, _)| chosen(node) && !kept.contains(&node));
    let stale: Vec<NodeToRollUp> = stale.map(|(node, clock)| NodeToRollUp { node, clock }).collect();
    failed += work.roll_up(&stale, threads);
    if new.is_empty() && stale.is_empty() && kept.is_empty() && gone == 0 {
        messages::note(verbosity, "all rollups are up to date");
    }
    Ok(if failed == 0 { Code::Success } else { Code::Unusable })
}

/// How a node's rollup stands to its rows.
enum State {
    /// It is of exactly the parts that there are.
    Current,
    /// There is none, or there are parts that it does not have.
    Older,
    /// There is only what an older version made.
    OfOlderVersion,
    /// Parts that it was made of are gone, and so many parts are not in it.
    RowsGone { parts: u64, unread: u64 },
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
    /// How a node's rollup stands to its current parts. An unreadable rollup counts as none.
    fn state(&self, node: &str) -> State {
        let Some(SumsFile { header, .. }) = self.rollups.sums(node).ok().flatten() else {
            return if self.rollups.is_older(node) { State::OfOlderVersion } else { State::Older };
        };
        let parts = self.dataset.part_names(node);
        // Of two copies of a part the other one may be gone.
        let gone = header.parts.iter().filter(|name| !has_part(&parts, name)).count();
        if gone > 0 {
            let unread = parts.difference(&header.parts).count();
            return State::RowsGone { parts: gone as u64, unread: unread as u64 };
        }
        if header.schema == SUMS_SCHEMA && parts == header.parts { State::Current } else { State::Older }
    }

    /// Names folders that this version does not use.
    fn name_unused(&self) -> anyhow::Result<()> {
        let unused = self.rollups.unused().map_err(|err| anyhow::Error::msg(err.chain()))?;
        let names: Vec<&str> = unused.iter().filter_map(|it| it.file_name()?.to_str()).collect();
        if let Some(dir) = unused.first().and_then(|it| it.parent()) {
            let what = format!(
                "`{}` has folders of an older lioprof, which nothing uses any more and may be deleted: {}",
                dir.display(),
                few(&names)
            );
            messages::note(self.verbosity, &what);
        }
        Ok(())
    }

    /// Says that a rollup stays because rows that it was made of are gone. Returns 1 if there are parts that it does not have.
    fn keep(&self, node: &str, gone: u64, unread: u64) -> usize {
        let of_which =
            format!("{} of its rollup {}", plural(gone, "part"), if gone == 1 { "is gone" } else { "are gone" });
        if unread == 0 {
            messages::note(
                self.verbosity,
                &format!("{node}: {of_which}; the rollup stays (--forget rolls up what is left)"),
            );
            return 0;
        }
        messages::error(&format!(
            "{node} was not rolled up: {of_which}, which a new one would not have; {} not in it. Keep a copy of \
             `rollups` if you need these times, then --forget rolls up what is left; or make each day a dataset of its own",
            if unread == 1 { "1 part is".to_owned() } else { format!("{unread} parts are") }
        ));
        1
    }

    /// Names parts that are there twice.
    fn name_copies(&self) {
        let copies = self.dataset.copied_parts();
        let Some(first) = copies.first() else { return };
        let which = match copies.len() {
            1 => format!("a part of {} is there twice", first.node),
            more => format!("{more} parts are there twice, the first of {}", first.node),
        };
        let (read, passed_over) = (first.read.display(), first.passed_over.display());
        let what = format!(
            "{which}: `{read}` and `{passed_over}`. One copy is rolled up, SQL counts both: delete the files of one, in `manifests` and in \
             every table"
        );
        messages::note(self.verbosity, &what);
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
                        let result = self.one(job);
                        let _talking = talk.lock();
                        match result {
                            Ok(text) => messages::note(self.verbosity, &text),
                            Err(problem) => {
                                failures.fetch_add(1, Ordering::Relaxed);
                                // The older one stays: it may be all that is left of damaged rows, and is not taken for one of other parts.
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
        let mut sums = sum_up(source.as_mut(), &Question::default(), *clock)?;
        if clock.is_some() {
            sums = sums.compared_as(self.sums(node).ok_or("its rollup is gone")?);
        }
        let parts = self.dataset.part_names(node);
        let (rpcs, count) = (sums.rpcs(), parts.len() as u64);
        let file = SumsFile::new(SUMS_SCHEMA, node, parts, sums.to_bytes());
        self.rollups.write(&file, sums.seconds()).map_err(|err| err.chain())?;
        let shifted = if clock.is_some() { ", once more, on the clock of the other nodes" } else { "" };
        Ok(format!("{node}: {} of {} rolled up{shifted}", plural(rpcs, "RPC"), plural(count, "part")))
    }

    /// Names the rollups of nodes that have no rows any more, and deletes them if asked to. Returns their number.
    fn without_rows(&self, nodes: &[String], forget: bool) -> anyhow::Result<usize> {
        let chain = |err: StoreError| anyhow::Error::msg(err.chain());
        let gone: Vec<String> =
            self.rollups.nodes().map_err(chain)?.into_iter().filter(|it| !nodes.contains(it)).collect();
        for node in &gone {
            let what = if forget {
                self.rollups.remove(node).map_err(chain)?;
                "deleted its rollup"
            } else {
                "its rollup stays (--forget deletes it)"
            };
            messages::note(self.verbosity, &format!("{node}: its rows are gone; {what}"));
        }
        Ok(gone.len())
    }

    /// What the existing rollups tell of clocks. Of one of another version nothing is known.
    fn known(&self, nodes: &[String]) -> Vec<ClockFacts> {
        nodes.iter().filter_map(|node| self.sums(node)).map(|sums| ClockFacts::from(&sums)).collect()
    }

    fn sums(&self, node: &str) -> Option<NodeSums> {
        let file = self.rollups.sums(node).ok().flatten()?;
        (file.header.schema == SUMS_SCHEMA).then(|| NodeSums::from_bytes(&file.sums).ok())?
    }
}
