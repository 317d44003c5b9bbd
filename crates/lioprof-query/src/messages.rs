//! Messages for people: on stderr, one line each; errors with the command's name.

use std::io;

/// Prints an error with its causes.
#[expect(clippy::print_stderr, reason = "this is where messages are printed")]
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("lioprof-query: {}", chain(error));
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

/// The error and its causes as one sentence; causes that are in it already are not repeated.
pub(crate) fn chain(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}
