//! Messages for people: on stderr, one line each; errors with the command's name.

use std::io;

use lioprof_model::with_causes;

/// Prints an error with its causes.
#[expect(clippy::print_stderr, reason = "this is where messages are printed")]
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("lioprof-query: {}", with_causes(&**error));
}

/// Prints a note.
#[expect(clippy::print_stderr, reason = "this is where messages are printed")]
pub(crate) fn note(message: &str) {
    eprintln!("{message}");
}

/// Whether the error was caused by a closed pipe.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |err: &io::Error| err.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(broken))
}
