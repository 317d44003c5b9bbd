//! `lioprof record`, and `lioprof agent`, which it starts on servers.

mod others;
mod screen;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use lioprof_analysis::{
    ClockFacts, Config, NodeSums, Selection, analyze_sums, analyze_with_stores, stale_clocks, sum_up,
};
use lioprof_insight::{Limits, find_and_predict};
use lioprof_model::units::{human_bytes, plural};
use lioprof_model::{Node, with_causes};
use lioprof_record::{Fetch, HostState, Plan, Recording};
use lioprof_remote::Ssh;
use lioprof_store::Dataset;
use lioprof_text::{Color, Format, Style};

use crate::args::{
    AgentArgs, LaterCommand, RecordArgs, RecordFetchArgs, RecordForgetArgs, RecordMarkArgs, RecordReportArgs,
    default_threads,
};
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};
use crate::stores::Stores;
use crate::{daemon, output_dir, reading};
use screen::Screen;

/// Directory of the report in that of the recording.
const REPORT: &str = "report";
/// What to know of a report without marks of the end.
const INTERRUPTED: &str =
    "the recording was killed before its end: the report goes on until the daemons ended by themselves";

pub(crate) fn agent(args: &AgentArgs) -> anyhow::Result<Code> {
    let config = daemon::config(&args.source)?;
    let input = io::BufReader::new(io::stdin());
    lioprof_record::agent::serve(&config, input, &mut io::stdout().lock())?;
    Ok(Code::Success)
}

pub(crate) fn run(args: &RecordArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    match &args.later {
        Some(LaterCommand::Mark(args)) => return mark(args),
        Some(LaterCommand::Fetch(args)) => return fetch(args, verbosity),
        Some(LaterCommand::Forget(args)) => return forget(args),
        None => {}
    }
    // What cannot be read is better said before than after the run.
    args.report.baseline.read()?;
    let hosts = args.hosts.clone().context("--hosts is missing")?;
    let dir = args.output.clone().context("-o is missing")?;
    let plan = Plan {
        hosts,
        ssh: Ssh::new(&args.ssh)?,
        ssh_command: args.ssh.clone(),
        remote_lioprof: args.remote_lioprof.clone(),
        push: args.push,
        partial: args.partial,
        fetch: if args.rows { Fetch::Rows } else { args.fetch.into() },
        selection: args.report.selection.selection(),
        lease: args.lease,
        profile: args.profile.clone(),
        dir,
        duration: args.duration,
        command: args.run.clone(),
    };
    let screen = Screen::new(verbosity);
    let recording = lioprof_record::record(&plan, &screen)?;
    finish(&recording, &plan.dir, &args.report, verbosity)
}

fn mark(args: &RecordMarkArgs) -> anyhow::Result<Code> {
    let failed = lioprof_record::mark(&args.output, &args.text)?;
    for text in &failed {
        messages::error(text);
    }
    if failed.is_empty() {
        writeln!(io::stdout().lock(), "marked: {}", args.text)?;
        return Ok(Code::Success);
    }
    Ok(Code::Failed)
}

fn fetch(args: &RecordFetchArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let screen = Screen::new(verbosity);
    let selection = args.report.selection.selection();
    let recording = lioprof_record::fetch(&args.dir, args.fetch.into(), &selection, &screen)?;
    finish(&recording, &args.dir, &args.report, verbosity)
}

fn forget(args: &RecordForgetArgs) -> anyhow::Result<Code> {
    let recording = lioprof_record::forget(&args.dir)?;
    let mut out = io::stdout().lock();
    let forgotten = recording.hosts.iter().filter(|host| host.state == HostState::Forgotten).count();
    writeln!(out, "the rows of {} are deleted there", plural(forgotten as u64, "host"))?;
    let left = recording.hosts.iter().filter(|host| matches!(host.state, HostState::Recording | HostState::Ended));
    let left: Vec<String> = left
        .map(|host| format!("{}: {}", host.host, host.last_words.as_deref().unwrap_or("its rows are still there")))
        .collect();
    left.iter().for_each(|text| messages::error(text));
    Ok(if left.is_empty() { Code::Success } else { Code::Failed })
}

/// Makes the report, and says what is where and what is missing.
fn finish(recording: &Recording, dir: &Path, args: &RecordReportArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let shortcomings = recording.shortcomings();
    let has_rows = lioprof_store::is_dataset(&Recording::rows(dir));
    let has_sums = recording.hosts.iter().any(|host| host.has_sums);
    let made =
        if has_rows || has_sums { report(recording, dir, args, &shortcomings, verbosity) } else { Ok(Vec::new()) };
    let without = made.as_ref().err().map(|err| format!("there is no report: {}", with_causes(err.as_ref())));
    let nodes = made.unwrap_or_default();
    let mut out = io::stdout().lock();
    if args.selection.is_of_somebody() && !nodes.is_empty() {
        writeln!(out, "Of what was selected:")?;
    }
    table(recording, &nodes, &mut out)?;
    for text in shortcomings.iter().chain(&without) {
        messages::error(text);
    }
    for host in &recording.hosts {
        for warning in &host.warnings {
            messages::note(verbosity, &format!("{} warned: {warning}", host.host));
        }
        for step in &host.budget_steps {
            messages::note(verbosity, &format!("{}: its budget changed the level of tracing: {step}", host.host));
        }
    }
    if recording.is_unfinished() {
        messages::error(&format!("to fetch what is missing: lioprof record fetch {}", dir.display()));
    }
    if recording.hosts.iter().any(|host| host.state == HostState::Ended && host.has_sums) {
        let dir = dir.display();
        messages::note(
            verbosity,
            &format!(
                "rows are on the servers: `lioprof record fetch {dir}` brings them, `lioprof record forget {dir}` deletes them"
            ),
        );
    }
    if !has_rows && !has_sums && recording.fetch != Fetch::Nothing {
        messages::error("there are no rows, and so no report");
    }
    Ok(match recording.exit_code.unwrap_or_default() {
        0 if shortcomings.is_empty() && without.is_none() => Code::Success,
        0 => Code::Failed,
        code => Code::Command(u8::try_from(code).unwrap_or(u8::MAX)),
    })
}

/// One report for all hosts, of the time between the two marks if all hosts have them. Returns what it has of each node.
fn report(
    recording: &Recording,
    dir: &Path,
    args: &RecordReportArgs,
    shortcomings: &[String],
    verbosity: Verbosity,
) -> anyhow::Result<Vec<Node>> {
    let begun = Instant::now();
    let rows = [Recording::rows(dir)];
    let sums = sums(recording, dir, &args.selection.selection())?;
    let question =
        sums.first().map_or_else(|| recording.question(&args.selection.selection()), |sums| sums.question().clone());
    let config = Config {
        threads: default_threads(),
        baseline: args.baseline.read()?,
        clocks: recording.clocks(),
        ..Config::asking(&question)
    };
    let read = if sums.is_empty() {
        reading::read(&config, verbosity, |config| analyze_with_stores(&rows, &Stores, config, None))?
    } else {
        Some(analyze_sums(sums, dir, &config))
    };
    let Some(mut outcome) = read else { return Ok(Vec::new()) };
    find_and_predict(&mut outcome.analysis, &Limits::default(), &mut outcome.replay);
    // First: whoever reads the report must know that it is not about all servers.
    let interrupted = recording.was_interrupted().then(|| INTERRUPTED.to_owned());
    let missing = shortcomings.iter().cloned().chain(interrupted).map(|text| format!("lioprof record: {text}"));
    outcome.analysis.warnings.splice(0..0, missing);
    messages::problems(&outcome.problems, verbosity);
    let to = dir.join(REPORT);
    output_dir::write(&outcome.analysis, &to, &args.plots, verbosity)?;
    let style = Style { color: Color::of_stdout(), all: verbosity == Verbosity::Verbose, tables: false, more: "" };
    let mut out = io::BufWriter::new(io::stdout().lock());
    lioprof_text::write(&outcome.analysis, Format::Summary, style, &mut out)?;
    writeln!(out)?;
    // Who did nothing was on no target.
    if args.selection.is_of_somebody() && outcome.analysis.totals.rpcs > 0 {
        if recording.hosts.iter().any(|host| host.has_sums) {
            messages::note(
                verbosity,
                "who else used these targets is told of rows only: `lioprof record fetch` brings them",
            );
        } else {
            let others = others::of_rows(&rows, &config, &outcome.analysis, &to, verbosity)?;
            writeln!(out, "{others}")?;
        }
    }
    out.flush()?;
    let seconds = begun.elapsed().as_secs_f64();
    messages::note(verbosity, &format!("report in `{}`, made in {seconds:.1} s", to.display()));
    Ok(outcome.analysis.nodes)
}

/// The sums of all hosts, if those of any are all that is here of it; rows of the others are summed up for the same question.
fn sums(recording: &Recording, dir: &Path, selection: &Selection) -> anyhow::Result<Vec<NodeSums>> {
    let mut sums: Vec<NodeSums> = Vec::new();
    for host in &recording.hosts {
        let of_host = lioprof_record::sums_of(dir, host);
        sums.extend(of_host.map_err(|why| anyhow::anyhow!("{why}; `lioprof record fetch` brings the rows"))?);
    }
    sums.retain(|sums| {
        let of = sums.question().selection();
        let answers = of == selection;
        if !answers {
            let about = Some(of.selected().options()).filter(|options| !options.is_empty());
            let about = about.unwrap_or_else(|| "everything".to_owned());
            messages::error(&format!(
                "the sums of {} are about {about}, and not in the report: `lioprof record fetch --fetch sums` asks for others",
                sums.node()
            ));
        }
        answers
    });
    let Some(first) = sums.first() else { return Ok(sums) };
    let question = first.question().clone();
    if !lioprof_store::is_dataset(&Recording::rows(dir)) {
        return Ok(sums);
    }
    let rows = Dataset::open(&Recording::rows(dir)).map_err(|err| anyhow::Error::msg(err.chain()))?;
    let sum_up = |node: &str, clock| {
        let mut source = rows.node_source(node)?;
        Some(sum_up(source.as_mut(), &question, clock).map_err(anyhow::Error::msg))
    };
    let mut of_rows = BTreeMap::new();
    for node in rows.nodes() {
        if let Some(made) = sum_up(node, None) {
            of_rows.insert(node.to_owned(), made?);
        }
    }
    let facts = sums.iter().chain(of_rows.values()).map(ClockFacts::from).collect();
    for (node, clock) in stale_clocks(facts, &recording.clocks()) {
        if let Some(before) = of_rows.remove(&node)
            && let Some(made) = sum_up(&node, clock)
        {
            of_rows.insert(node, made?.compared_as(before));
        }
    }
    sums.extend(of_rows.into_values());
    Ok(sums)
}

/// What was recorded, a line for each host: as the report has it, or else as its daemon last told it.
fn table(recording: &Recording, nodes: &[Node], out: &mut impl Write) -> io::Result<()> {
    let width = recording.hosts.iter().map(|host| host.host.len()).max().unwrap_or_default().max(4);
    writeln!(out, "{:<width$}  {:>10}  {:>10}  {:>10}  state", "host", "RPCs", "read", "written")?;
    for host in &recording.hosts {
        let is_here = host.state == HostState::Fetched || host.has_sums;
        let reported = nodes.iter().find(|node| node.name == host.node).filter(|_| is_here);
        let (rpcs, bytes) = match (reported, &host.totals) {
            (Some(node), _) => (node.rpcs, [node.read.bytes, node.write.bytes]),
            (None, totals) => (totals.rpcs, [totals.read_bytes, totals.write_bytes]),
        };
        let state = match host.state {
            HostState::LeftOut => "took no part",
            HostState::Recording => "not known how it ended; what it told last",
            HostState::Ended if reported.is_some() => "ended, sums are here, rows are there",
            HostState::Ended => "ended, rows are there; what it told last",
            HostState::Forgotten if reported.is_some() => "ended, sums are here, rows are deleted",
            HostState::Forgotten => "ended, rows are deleted; what it told last",
            HostState::Fetched if reported.is_none() => "ended, rows are here; what it told last",
            HostState::Fetched => "ended, rows are here",
        };
        let [read, written] = bytes.map(human_bytes);
        writeln!(out, "{:<width$}  {rpcs:>10}  {read:>10}  {written:>10}  {state}", host.host)?;
    }
    Ok(())
}
