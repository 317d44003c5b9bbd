//! `lioprof anonymise`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anyhow::{Context, bail};
use lioprof_anonymise::{Dropped, Key, Options, Outcome, anonymise};
use lioprof_model::units::plural;
use lioprof_trace::input::Severity;

use crate::args::AnonymiseArgs;
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};

/// Lines of each list that are shown without `--verbose`.
const SHOWN: usize = 10;

pub(crate) fn run(args: &AnonymiseArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    if args.mapping.as_ref().is_some_and(|path| path.starts_with(&args.output)) {
        bail!("the table of names must not lie in the folder that is sent: give another path with `--mapping`");
    }
    let key = match &args.key {
        Some(path) => Key::from_file(path).with_context(|| format!("`{}` is no key", path.display()))?,
        None => Key::random()?,
    };
    let options = Options {
        inputs: &args.inputs,
        rules: &args.node,
        key: &key,
        output: &args.output,
        mapping: args.mapping.as_deref(),
    };
    let outcome = anonymise(&options)?;
    messages::problems(&outcome.problems, verbosity);
    if verbosity > Verbosity::Quiet {
        print(&outcome, verbosity, &mut io::stdout().lock()).context("failed to write to stdout")?;
    }
    let failed = outcome.problems.iter().any(|problem| problem.severity == Severity::Error);
    Ok(if failed || outcome.written.is_empty() { Code::Unusable } else { Code::Success })
}

/// Says what was written, and what was dropped. Names are in it, so it is for the site.
fn print(outcome: &Outcome, verbosity: Verbosity, out: &mut impl Write) -> io::Result<()> {
    let shown = if verbosity == Verbosity::Verbose { usize::MAX } else { SHOWN };
    for file in outcome.written.iter().take(shown) {
        writeln!(out, "{} -> {}", file.from.display(), file.to.display())?;
    }
    more(outcome.written.len(), shown, "file", out)?;
    let names: Vec<String> = outcome.names.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    writeln!(out, "replaced: {}", if names.is_empty() { "no name".to_owned() } else { names.join(", ") })?;
    let Dropped { texts, malformed, words, skipped_bytes, keys, lines } = &outcome.dropped;
    list("texts that may hold names, dropped (the records stay)", "record", texts, shown, out)?;
    list("messages that cannot be read, dropped but for their first words", "record", malformed, shown, out)?;
    list("lines of counters that may hold names, dropped", "line", &sites(lines), shown, out)?;
    list("unknown keys, dropped", "key", &sites(keys), shown, out)?;
    if *words > 0 {
        writeln!(out, "unknown words in messages that are read, replaced: {}", plural(*words, "word"))?;
    }
    if *skipped_bytes > 0 {
        writeln!(out, "no records, overwritten: {}", plural(*skipped_bytes, "byte"))?;
    }
    if !outcome.left_out.is_empty() {
        writeln!(out, "not written, neither logs nor counters: {}", plural(outcome.left_out.len() as u64, "file"))?;
        for path in outcome.left_out.iter().take(shown) {
            writeln!(out, "  {}", path.display())?;
        }
        more(outcome.left_out.len(), shown, "file", out)?;
    }
    Ok(())
}

fn sites(counts: &BTreeMap<String, u64>) -> BTreeMap<(String, String), u64> {
    counts.iter().map(|(name, count)| ((name.clone(), String::new()), *count)).collect()
}

/// A headline with a sum, and the largest counts.
fn list(
    title: &str,
    unit: &str,
    counts: &BTreeMap<(String, String), u64>,
    shown: usize,
    out: &mut impl Write,
) -> io::Result<()> {
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(out, "{title}: {}", plural(counts.values().sum(), unit))?;
    let mut sorted: Vec<_> = counts.iter().collect();
    sorted.sort_by_key(|(site, count)| (std::cmp::Reverse(**count), *site));
    for ((file, function), count) in sorted.iter().take(shown) {
        let colon = if function.is_empty() { "" } else { ":" };
        writeln!(out, "  {count:>8}  {file}{colon}{function}")?;
    }
    more(sorted.len(), shown, "place", out)
}

fn more(count: usize, shown: usize, unit: &str, out: &mut impl Write) -> io::Result<()> {
    if count > shown {
        writeln!(out, "  and {} more (`--verbose` lists all)", plural((count - shown) as u64, unit))?;
    }
    Ok(())
}
