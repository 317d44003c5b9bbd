//! One self-contained HTML page from an [`Analysis`], a [`Comparison`] or [`Operations`]: opens from disk, needs no network, nothing is left out that was
//! not said to be.
//!
//! ```text
//! Analysis ─ view ─> Report (bounded, typed) ─ page ─> HTML: frame, styles, charting library, our scripts, the data
//! ```
//!
//! * `comparison`: what the page of a comparison shows.
//! * `operations`: what the page of clients' operations shows.
//! * `view`: what the page of an analysis shows, binned and cut to the most important rows. Counts and bytes are those of the analysis
//!   to the last digit; what does not fit is summed up as "others". Its fields are the contract with `web/*.js`.
//! * `verdict`: the findings in one sentence.
//! * `page`: the frame around any data. It knows nothing of what the data are.
//! * `web/`: scripts and styles, put together by `build/main.rs`: what all pages need, and a folder for each page.
//!
//! # Design constraints
//!
//! * The same analysis gives the same bytes.
//! * At most 5 MB, whatever the number of targets and clients: see `view/limits.rs`.
//! * Names out of a log (NIDs, jobs, marks) are data: they reach the page as JSON and its elements as text.
#![forbid(unsafe_code)]

mod comparison;
mod numbered;
mod object;
mod operations;
mod page;
mod verdict;
mod view;

use std::io::{self, Write};

use lioprof_model::{Analysis, Comparison, Generator, Operations};

pub use page::NOTICE;

/// Writes the page of an analysis.
///
/// # Errors
/// If `out` cannot be written.
pub fn write(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let (title, verdict) = (view::title(analysis), verdict::verdict(analysis));
    let data = &view::report(analysis, &title, &verdict);
    page::Page { title: &title, description: &verdict.text, app: page::REPORT, data }.write(out)
}

/// Writes the page of a comparison.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_comparison(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let (title, verdict) = (comparison::title(comparison), comparison.verdict());
    let data = &comparison::comparison(comparison, &title, &verdict);
    page::Page { title: &title, description: &verdict, app: page::COMPARISON, data }.write(out)
}

/// Writes the page of clients' operations.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_operations(operations: &Operations, generator: &Generator, out: &mut dyn Write) -> io::Result<()> {
    let (title, verdict) = (operations::title(operations), operations::verdict(operations));
    let data = &operations::operations(operations, generator, &title, &verdict);
    page::Page { title: &title, description: &verdict, app: page::OPERATIONS, data }.write(out)
}

/// The version of Apache ECharts that the page draws with.
pub const ECHARTS_VERSION: &str = "5.5.1";
