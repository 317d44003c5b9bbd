//! `lioprof decode`.

use std::fs::File;
use std::io::{self, Write};

use anyhow::Context;
use lioprof_model::units::plural;
use lioprof_trace::input::Severity;
use lioprof_trace::{Progress, decode_text};

use crate::args::DecodeArgs;
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};
use crate::progress::Bar;

pub(crate) fn run(args: &DecodeArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let outcome = match &args.output {
        Some(path) => {
            let file = File::create(path).with_context(|| format!("failed to create `{}`", path.display()))?;
            let progress = Progress::default();
            let _bar = Bar::start(&progress, verbosity);
            write(args, &progress, file).with_context(|| format!("failed to write `{}`", path.display()))?
        }
        // Whoever reads the text, here or behind a pipe, sees that it goes on.
        None => write(args, &Progress::default(), io::stdout()).context("failed to write to stdout")?,
    };
    messages::problems(&outcome.problems, verbosity);
    if outcome.bad_places > 0 {
        let (bytes, places) = (plural(outcome.skipped_bytes, "byte"), plural(outcome.bad_places, "place"));
        messages::note(verbosity, &format!("skipped {bytes} in {places} that are not records"));
    }
    let failed = outcome.problems.iter().any(|problem| problem.severity == Severity::Error);
    Ok(if failed || outcome.inputs == 0 { Code::Unusable } else { Code::Success })
}

fn write(args: &DecodeArgs, progress: &Progress, out: impl Write + Send) -> io::Result<lioprof_trace::DecodeOutcome> {
    let mut out = io::BufWriter::with_capacity(1 << 20, out);
    let outcome = decode_text(&args.inputs, &args.node, args.threads.count(), progress, &mut out)?;
    out.flush()?;
    Ok(outcome)
}
