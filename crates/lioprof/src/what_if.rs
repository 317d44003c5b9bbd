//! `lioprof what-if`.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anyhow::{Context, bail};
use lioprof_analysis::{Replay, analyze_with_stores};
use lioprof_model::{Analysis, Change, Replays, WhatIf};

use crate::args::{WhatIfArgs, given_twice};
use crate::exit_code::Code;
use crate::messages::Verbosity;
use crate::reading;
use crate::stores::Stores;

/// Names listed where one is unknown.
const NAMES: usize = 20;

pub(crate) fn run(args: &WhatIfArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let asked = asked(args);
    check_once(&asked)?;
    let config = args.log.config();
    let read = reading::read(&config, verbosity, |config| analyze_with_stores(&args.inputs, &Stores, config, None))?;
    let Some(mut outcome) = read else { return Ok(Code::Unusable) };
    outcome.analysis.what_if = predict(&mut outcome.replay, &asked);
    reading::say(&outcome, verbosity);
    for change in &asked {
        check_name(change, &outcome.analysis)?;
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    lioprof_text::what_if::write(&outcome.analysis.what_if, &asked, args.format, &mut out)?;
    out.flush().context("failed to write to stdout")?;
    Ok(Code::of_reading(&outcome, args.log.max_loss))
}

/// Predicts what was asked for, and what may be worth it.
fn predict(replay: &mut Replay, asked: &[Change]) -> WhatIf {
    let mut wanted: Vec<Vec<Change>> = Vec::new();
    if !asked.is_empty() {
        wanted.push(asked.to_vec());
    }
    wanted.extend(replay.all_candidates().into_iter().map(|change| vec![change]).filter(|change| change != asked));
    replay.predict(&wanted)
}

/// What was asked for: what is slow first, then what is otherwise about the requests.
fn asked(args: &WhatIfArgs) -> Vec<Change> {
    let switches = [
        (args.no_lock_waits, Change::NoLockWaits),
        (args.no_small, Change::NoSmall),
        (args.full_size, Change::FullSize),
        (args.spread_evenly, Change::SpreadEvenly),
    ];
    let named = [&args.ost, &args.server, &args.client].into_iter().flatten().cloned();
    let switched = switches.into_iter().filter_map(|(is_on, change)| is_on.then_some(change));
    named.chain(switched).chain(args.writers.iter().cloned()).collect()
}

/// What a change is about, if it has a name: what that is, the option, the name.
fn subject(change: &Change) -> Option<(&'static str, &'static str, &str)> {
    Some(match change {
        Change::TargetAsPeers { target } | Change::TargetFaster { target, .. } => ("target", "--ost", target),
        Change::NodeAsPeers { node } => ("server", "--server", node),
        Change::ClientAsPeers { client } => ("client", "--client", client),
        Change::Writers { client, .. } => ("client", "--writers", client),
        Change::SpreadEvenly | Change::NoLockWaits | Change::FullSize | Change::NoSmall => return None,
    })
}

/// Stops if something is to be changed in two ways.
fn check_once(asked: &[Change]) -> anyhow::Result<()> {
    let subjects: Vec<_> = asked.iter().filter_map(subject).collect();
    match given_twice(&subjects) {
        Some((_, option, name)) => bail!("{option}: `{name}` is given twice; expected one change of it"),
        None => Ok(()),
    }
}

/// Stops if the logs do not know what is to be changed.
fn check_name(change: &Change, analysis: &Analysis) -> anyhow::Result<()> {
    let Some((what, option, name)) = subject(change) else { return Ok(()) };
    let known: BTreeSet<&str> = match what {
        "target" => analysis.targets.iter().map(|target| target.name.as_str()).collect(),
        "server" => analysis.nodes.iter().map(|node| node.name.as_str()).collect(),
        _ => analysis.clients.iter().filter(|client| !client.server).map(|client| client.nid.as_str()).collect(),
    };
    if known.contains(name) {
        return Ok(());
    }
    let names: Vec<&str> = known.iter().copied().take(NAMES).collect();
    let more = if known.len() > NAMES { ", .." } else { "" };
    let expected = if names.is_empty() {
        "there is none".to_owned()
    } else {
        format!("expected one of: {}{more}", names.join(", "))
    };
    bail!("{option}: no {what} `{name}` in these logs; {expected}")
}
