//! Lines of kernel logs, out of what arrived: the prefixes, headings, characters and breaks are those of debug logs.

mod detect;
mod group;
mod lines;
mod start;
mod style;
#[cfg(test)]
mod tests;
mod worth;

pub(crate) use detect::{before_sentences, detect, has_lines};
pub(crate) use lines::{KernelLines, Logged};
pub(crate) use style::Style;
