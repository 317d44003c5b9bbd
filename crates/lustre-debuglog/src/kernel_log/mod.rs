//! Lines of kernel logs: what stands before the kernel's text, and whose text it is.
//!
//! Read are what `dmesg` prints (plain, `-x`, `-T`, `-d`, `-e`, `--time-format iso`), `/dev/kmsg`, files of syslog daemons (BSD and ISO times,
//! with and without facility, RFC 5424), the text of `journalctl`, and consoles' recorders (conman, Cray). JSON and fields of the journal are no
//! line formats: see who reads files.

mod detect;
mod line;
mod sentence;
mod stamp;
#[cfg(test)]
mod tests;

pub use detect::{KernelLogForm, Shown, detect};
pub use line::KernelLine;
pub use sentence::Sentence;
pub use stamp::{Stamp, zone as parse_zone};
