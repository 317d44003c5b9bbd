//! Records as text, in the layout of `lctl debug_file`.

use std::io::{self, Write};

use crate::record::SimRecord;

/// Writes one record as a line: subsystem, mask, CPU and context, time, stack, pid, outer pid, place, text.
///
/// `first` marks a record before which its CPU's buffer was empty.
///
/// # Errors
///
/// Those of the writer.
pub fn write_record(out: &mut impl Write, record: &SimRecord, first: bool) -> io::Result<()> {
    let seconds = record.time_us.div_euclid(1_000_000);
    let micros = record.time_us.rem_euclid(1_000_000);
    write!(
        out,
        "{:08x}:{:08x}:{}.{}{}:{seconds}.{micros:06}:0:{}:0:(",
        record.subsystem,
        record.mask,
        record.cpu,
        record.context,
        if first { "F" } else { "" },
        record.pid
    )?;
    out.write_all(&record.file)?;
    write!(out, ":{}:", record.line)?;
    out.write_all(&record.function)?;
    out.write_all(b"()) ")?;
    out.write_all(&record.text)
}
