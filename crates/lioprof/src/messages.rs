//! Messages for people: on stderr, one line each, with the command's name.

use std::fmt::Display;
use std::io::{self, Write};

use lioprof_trace::input::{InputProblem, Severity};
use serde::Serialize;

/// Prints an error.
pub(crate) fn error(message: &str) {
    print(message);
}

fn print(message: &str) {
    // Who closes stderr wants no messages.
    let _printed_or_unwanted = writeln!(io::stderr(), "lioprof: {message}");
}

/// Which messages to print besides errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// None: `--quiet`.
    Quiet,
    /// Notes and warnings.
    Normal,
    /// All of them: `--verbose`.
    Verbose,
}

/// Prints a note or warning, unless `--quiet`.
pub(crate) fn note(verbosity: Verbosity, message: &str) {
    if verbosity >= Verbosity::Normal {
        print(message);
    }
}

/// Up to this many notes are listed one by one; beyond it only their number is printed.
const FEW_NOTES: usize = 3;

/// Prints the problems of the inputs.
pub(crate) fn problems(problems: &[InputProblem], verbosity: Verbosity) {
    let (errors, notes): (Vec<_>, Vec<_>) = problems.iter().partition(|p| p.severity == Severity::Error);
    for problem in errors {
        error(&problem.message);
    }
    if notes.len() > FEW_NOTES && verbosity < Verbosity::Verbose {
        let skipped = notes.iter().filter(|problem| problem.message.contains("` skipped: ")).count();
        if skipped == 0 {
            return;
        }
        note(verbosity, &format!("note: {skipped} other files are skipped; --verbose lists them and says why"));
        return;
    }
    for problem in notes {
        note(verbosity, &format!("note: {}", problem.message));
    }
}

/// Says which node each log belongs to, and why, if `--verbose` asks for it.
pub(crate) fn named(named: &[String], verbosity: Verbosity) {
    for sentence in named.iter().filter(|_| verbosity >= Verbosity::Verbose) {
        print(sentence);
    }
}

/// Prints on stdout what a command found: as JSON if it is asked for, else as text.
pub(crate) fn found(json: bool, found: &impl Serialize, text: impl Display) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, found)?;
        writeln!(out)?;
    } else {
        write!(out, "{text}")?;
    }
    Ok(())
}

/// Whether the error was caused by a closed pipe.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|err| err.kind() == io::ErrorKind::BrokenPipe)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|err| err.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
    })
}
