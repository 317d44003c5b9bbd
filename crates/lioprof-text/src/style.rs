//! Colours, and lines that fit a terminal.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style as Ansi};
use lioprof_model::Severity;

/// Columns.
pub(crate) const WIDTH: usize = 80;

/// How findings are shown on a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether with colours.
    pub color: Color,
    /// Every finding with all that is known of it, and what was checked without a finding.
    pub all: bool,
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
    if text.is_empty() {
        return Ok(());
    }
    // Names have hyphens; they are looked for as a whole.
    let options = textwrap::Options::new(WIDTH)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(text, options) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
