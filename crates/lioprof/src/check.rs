//! `lioprof check`: the state of servers, without tracing.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use lioprof_health::{FACTS_SCHEMA, ServerFacts, Status, TextOptions, Watch, gather, judge, text};
use lioprof_model::time::now_us;

use crate::args::{CheckArgs, FailOn};
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};

pub(crate) fn run(args: &CheckArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let mut out = io::stdout().lock();
    if args.facts {
        let facts = of_this_server(&args.root, args.watch, verbosity);
        serde_json::to_writer_pretty(&mut out, &facts)?;
        writeln!(out)?;
        return Ok(Code::Success);
    }
    let servers = if args.facts_files.is_empty() {
        vec![of_this_server(&args.root, args.watch, verbosity)]
    } else {
        args.facts_files.iter().map(|path| of_file(path)).collect::<anyhow::Result<_>>()?
    };
    let report = judge(servers, Vec::new());
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", text(&report, TextOptions { all: verbosity == Verbosity::Verbose }))?;
    }
    Ok(code(&report, args.fail_on))
}

fn of_this_server(root: &Path, watch: Option<Duration>, verbosity: Verbosity) -> ServerFacts {
    let watched = watch.map(|time| {
        messages::note(verbosity, &format!("watching the disks for {}", humantime::format_duration(time)));
        let watch = Watch::begin(root);
        // The time itself is what was asked for.
        std::thread::sleep(time);
        watch
    });
    let mut facts = gather(root, now_us());
    if let Some(watch) = watched {
        watch.end(&mut facts);
    }
    facts
}

fn of_file(path: &Path) -> anyhow::Result<ServerFacts> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut bytes).context("failed to read standard input")?;
    } else {
        bytes = fs::read(path).with_context(|| format!("failed to read `{}`", path.display()))?;
    }
    of_json(&bytes).with_context(|| {
        format!("`{}`: expected what `lioprof check --facts` prints, of the same version of lioprof", path.display())
    })
}

fn of_json(bytes: &[u8]) -> anyhow::Result<ServerFacts> {
    let facts: ServerFacts = serde_json::from_slice(bytes)?;
    ensure!(facts.schema == FACTS_SCHEMA, "schema `{}`, expected `{FACTS_SCHEMA}`", facts.schema);
    Ok(facts)
}

fn code(report: &lioprof_health::Report, fail_on: FailOn) -> Code {
    let limit = match fail_on {
        FailOn::Warning => Status::Warning,
        FailOn::Critical => Status::Critical,
    };
    if report.worst() <= limit {
        Code::Failed
    } else if report.failed.is_empty() {
        Code::Success
    } else {
        Code::Unusable
    }
}
