//! Formats of an analysis.

use std::io::{self, Write};

use lioprof_model::Analysis;

use crate::style::Style;
use crate::{summary, tables, time_account, verdict};

/// How to print an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// What is wrong, and what to do, for people; 80 columns.
    Summary,
    /// The verdict in one line, for mail, chat and cron.
    Line,
    /// JSON, schema lioprof.analysis/1; of a very large site with lists cut to their largest rows.
    Json,
    /// The client x target table as CSV; all tables with -o.
    Csv,
    /// Nothing.
    None,
}

/// Writes an analysis. `style` is for [`Format::Summary`].
///
/// # Errors
/// Those of `out`.
pub fn write(analysis: &Analysis, format: Format, style: Style, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Summary => {
            verdict::write(analysis, style, out)?;
            if style.tables {
                time_account::write(analysis, style, out)?;
            }
            summary::write(analysis, style, out)?;
            verdict::next(analysis, style, out)
        }
        Format::Line => writeln!(out, "{}: {}", analysis.verdict.state.name(), analysis.verdict.text),
        Format::Json => write_json(analysis, out),
        Format::Csv => tables::flows(analysis, out),
        Format::None => Ok(()),
    }
}

/// Writes an analysis as one line of JSON, bounded ([`Analysis::bounded`]).
///
/// # Errors
/// Those of `out`.
pub fn write_json(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &analysis.bounded())?;
    writeln!(out)
}
