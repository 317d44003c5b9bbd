//! Static plots of an [`Analysis`](lioprof_model::Analysis), as SVG or PNG.
//!
//! * [`plots()`] lists every plot with its name, its title and how to read it.
//! * [`render`] makes one picture in memory, [`write_all`] writes every picture into a directory.
//! * [`comparison_plots()`] and [`write_comparison`] do the same for two analyses, one drawn over the other.
//! * [`write_operations`] draws where the time of clients' operations went.
//!
//! How it works: a plot (`plots/*.rs`) turns the analysis into a list of rectangles, lines and
//! texts (`draw/scene.rs`) on a `page.rs`, with the help of axes, legends and heat maps (`figure/*.rs`); plotters
//! then draws that list with one of its backends. The list is the same for both formats, and tests
//! look at it to make sure that no text leaves the page or covers another.
//!
//! What holds for every plot:
//! * the same analysis gives the same bytes;
//! * no system font and no system library is needed;
//! * damaged figures (NaN, arrays of the wrong length) are left out, they never panic;
//! * the size of a file is bounded: rows, bins and single RPCs are merged or thinned, and the plot
//!   says so.
//!
//! ```
//! use lioprof_model::Analysis;
//! use lioprof_plot::{Format, PlotOptions, Rendered, plots, render};
//!
//! let nothing = Analysis::default();
//! for plot in plots() {
//!     match render(plot, &nothing, Format::Svg, &PlotOptions::default())? {
//!         Rendered::Image(bytes) => println!("{}: {} bytes", plot.name, bytes.len()),
//!         Rendered::Skipped(reason) => println!("{}: skipped, {reason}", plot.name),
//!     }
//! }
//! # Ok::<(), lioprof_plot::PlotError>(())
//! ```
#![forbid(unsafe_code)]

mod comparison;
mod data;
mod draw;
mod error;
mod figure;
mod operations;
mod options;
mod output;
mod page;
mod plots;

#[cfg(test)]
mod layout_tests;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use comparison::{ComparisonPlot, comparison_plots};
pub use error::PlotError;
pub use operations::NAME as OPERATIONS_PLOT;
pub use options::{Format, PlotOptions};
pub use output::{Rendered, Written, render, write_all, write_comparison, write_operations};
pub use plots::{Plot, plot, plots};
