//! Colours, and lines that fit a terminal.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style as Ansi};
use lioprof_model::Severity;

/// Columns.
pub(crate) const WIDTH: usize = 80;

/// How much of an analysis is shown on a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether with colours.
    pub color: Color,
    /// Every finding with all that is known of it, and what was checked without a finding.
    pub all: bool,
    /// Tables of targets, clients, jobs, operations and locks.
    pub tables: bool,
    /// How to see more, for the last line.
    pub more: &'static str,
}

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// ANSI escape sequences.
    Yes,
    /// Plain text.
    No,
}

impl Color {
    /// Whether to colour from now on, in place of what the environment and standard output ask for.
    #[cfg(feature = "clap")]
    pub fn ask(choice: clap::ColorChoice) {
        let choice = match choice {
            clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
            clap::ColorChoice::Always => anstream::ColorChoice::Always,
            clap::ColorChoice::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }

    /// What standard output is, and what `NO_COLOR` and `CLICOLOR_FORCE` ask for.
    #[must_use]
    pub fn of_stdout() -> Self {
        let stdout = io::stdout();
        match anstream::AutoStream::choice(&stdout) {
            anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => Self::Yes,
            anstream::ColorChoice::Auto if stdout.is_terminal() => Self::Yes,
            anstream::ColorChoice::Auto | anstream::ColorChoice::Never => Self::No,
        }
    }

    pub(crate) fn paint(self, style: Ansi, text: &str) -> String {
        match self {
            Self::Yes => format!("{style}{text}{style:#}"),
            Self::No => text.to_owned(),
        }
    }
}

pub(crate) fn style_of(severity: Severity) -> Ansi {
    match severity {
        Severity::Critical => AnsiColor::Red.on_default().bold(),
        Severity::Warning => AnsiColor::Yellow.on_default().bold(),
        Severity::Info => AnsiColor::Cyan.on_default(),
    }
}

/// Writes a text in lines of at most 80 columns, the first one behind `first`, the others behind `rest`.
///
/// # Errors
/// Those of `out`.
pub fn paragraph(text: &str, first: &str, rest: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(wrapped(text, first, rest).as_bytes())
}

/// A text as lines of at most 80 columns, the first one behind `first`, the others behind `rest`. Nothing is made of nothing.
#[must_use]
pub fn wrapped(text: &str, first: &str, rest: &str) -> String {
    lines(text, first, rest, true)
}

/// A text as lines of at most 80 columns, the first one behind `first`, the others as far in. Paths that are longer stay whole, so that they
/// can be copied.
#[must_use]
pub fn hanging(text: &str, first: &str) -> String {
    lines(text, first, &" ".repeat(first.chars().count()), false)
}

fn lines(text: &str, first: &str, rest: &str, break_words: bool) -> String {
    if text.is_empty() {
        return String::new();
    }
    // Names have hyphens; they are looked for as a whole.
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(break_words)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).iter().map(|line| format!("{}\n", line.trim_end())).collect()
}
