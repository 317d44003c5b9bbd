//! Numbers as people read them, the same everywhere. Which unit is used from which amount on, and how many digits are shown, says
//! [`RULES`] alone. Tables keep the zeros at the end, so that columns stay in line; plots, pages and sentences use the shorter forms.

mod columns;
mod convert;
mod measure;
mod rules;
mod short;

pub use columns::{
    byte_rate, change, few, human_bounds, human_bytes, interval, mib, milliseconds, percent, plural, thousands,
    three_digits,
};
pub use convert::{micros, real, seconds, share, summed_seconds, whole};
pub use measure::{Measure, figure_label, figure_name};
pub use rules::{BYTES, COUNTS, RULES, Rules, TIMES, UNKNOWN, Unit};
pub use short::{duration_us, number, short, short_bytes, short_count, short_percent, two_digits};
