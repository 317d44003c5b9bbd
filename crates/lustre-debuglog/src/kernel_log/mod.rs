//! Lines of kernel logs: what stands before the kernel's text, and whose text it is.
//!
//! Read are what `dmesg` prints (plain, `-x`, `-T`, `--time-format iso`), `/dev/kmsg`, files of syslog daemons (BSD and ISO times, with and
//! without facility), and the text of `journalctl`. JSON of the journal is not a line format: see who reads files.

mod detect;
mod line;
mod sentence;
mod stamp;
#[cfg(test)]
mod tests;

pub use detect::{KernelLogForm, detect};
pub use line::KernelLine;
pub use sentence::Sentence;
pub use stamp::{Stamp, zone as parse_zone};
