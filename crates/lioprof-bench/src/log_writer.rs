//! Records in time order, as the kernel's debug daemon writes them and as `lctl debug_file` prints that.

use std::io::{self, Write};

use lustre_debuglog::Record;

/// The daemon sleeps for so long, ..
const PERIOD_US: i64 = 1_000_000;
/// .. unless a stream holds more pages than this (`tracefile.c`).
const WAKE_BYTES: usize = 8 * 4096;
/// Streams are emptied one after the other. Time between two of them: about what 32 KiB take to be unlinked, made
/// longer, so that runs of a pass overlap.
const STREAM_US: i64 = 30;

/// Where the forms of a log go; either may be missing.
#[derive(Debug)]
pub struct LogWriter<W> {
    text: Option<W>,
    binary: Option<W>,
    /// By number, see [`Record::stream`].
    streams: Vec<Stream>,
    /// When the next pass begins; unknown before the first record.
    due_us: Option<i64>,
    /// When the pass that is under way began.
    pass_us: Option<i64>,
    /// Bytes of the binary form that were handed in.
    bytes: u64,
    /// The last record as text.
    line: Vec<u8>,
}

/// A buffer of the kernel: one CPU, one context.
#[derive(Clone, Debug, Default)]
struct Stream {
    /// Waits for the pass.
    current: Vec<u8>,
    /// Came after the pass under way had emptied the buffer.
    next: Vec<u8>,
    /// The pass under way has emptied it.
    emptied: bool,
}

impl<W: Write> LogWriter<W> {
    /// Writes text to one, the daemon's file to the other.
    pub fn new(text: Option<W>, binary: Option<W>) -> Self {
        Self { text, binary, streams: Vec::new(), due_us: None, pass_us: None, bytes: 0, line: Vec::new() }
    }

    /// Bytes of the binary form so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the next record. Its `F` flag is set anew: by the passes of this daemon.
    ///
    /// # Errors
    /// Those of the writers.
    pub fn add(&mut self, record: &Record<'_>) -> io::Result<()> {
        let mut due_us = *self.due_us.get_or_insert(record.time_us + PERIOD_US);
        let number = record.stream() as usize;
        if self.streams.len() <= number {
            self.streams.resize(number + 1, Stream::default());
        }
        let last_us = STREAM_US * i64::try_from(self.streams.len()).unwrap_or(i64::MAX);
        if self.pass_us.is_some_and(|pass_us| record.time_us > pass_us.saturating_add(last_us)) {
            due_us = self.end_pass()?.unwrap_or(due_us);
        }
        if self.pass_us.is_none() && record.time_us >= due_us {
            self.pass_us = Some(record.time_us);
        }
        // The highest CPU is emptied first.
        let place = i64::try_from(self.streams.len() - number).unwrap_or(i64::MAX);
        let emptied_us = self.pass_us.map(|pass_us| pass_us.saturating_add(STREAM_US * place));
        let stream = &mut self.streams[number];
        stream.emptied |= emptied_us.is_some_and(|us| record.time_us > us);
        let buffer = if stream.emptied { &mut stream.next } else { &mut stream.current };
        let record = Record { first: buffer.is_empty(), ..*record };
        write_binary(&record, buffer);
        let full = buffer.len() > WAKE_BYTES;
        self.due_us = Some(if full { due_us.min(record.time_us) } else { due_us });
        self.bytes += record.binary_len() as u64;
        let Some(text) = &mut self.text else { return Ok(()) };
        self.line.clear();
        record.append_text(&mut self.line);
        text.write_all(&self.line)
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// Those of the writers.
    pub fn finish(mut self) -> io::Result<()> {
        self.end_pass()?;
        self.end_pass()?;
        for out in [&mut self.text, &mut self.binary].into_iter().flatten() {
            out.flush()?;
        }
        Ok(())
    }

    /// Writes what the pass under way has taken; returns when the next one is due.
    fn end_pass(&mut self) -> io::Result<Option<i64>> {
        let pass_us = self.pass_us.take();
        let mut full = false;
        for stream in self.streams.iter_mut().rev() {
            if let Some(binary) = &mut self.binary {
                binary.write_all(&stream.current)?;
            }
            stream.current.clear();
            std::mem::swap(&mut stream.current, &mut stream.next);
            stream.emptied = false;
            full |= stream.current.len() > WAKE_BYTES;
        }
        Ok(pass_us.map(|pass_us| if full { pass_us } else { pass_us + PERIOD_US }))
    }
}

/// Both forms of a log that fits into memory: text and binary.
///
/// # Errors
/// Those of `fill`.
pub fn in_memory(fill: impl FnOnce(&mut LogWriter<&mut Vec<u8>>) -> io::Result<()>) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut text, mut binary) = (Vec::new(), Vec::new());
    let mut out = LogWriter::new(Some(&mut text), Some(&mut binary));
    fill(&mut out)?;
    out.finish()?;
    Ok((text, binary))
}

/// One record as `struct ptldebug_header`, file, function and text.
fn write_binary(record: &Record<'_>, out: &mut Vec<u8>) {
    let narrow = |number: i64| u32::try_from(number).expect("fits a record");
    let len = u32::try_from(record.binary_len()).expect("fits a record");
    let context = record.context.map_or(0, |context| context as u8);
    let micros = u64::from(narrow(record.time_us.rem_euclid(1_000_000)));
    for field in [len, u32::from(record.first), record.subsystem, record.mask] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    out.extend_from_slice(&u16::try_from(record.cpu).expect("fits a record").to_le_bytes());
    out.extend_from_slice(&u16::from(context).to_le_bytes());
    out.extend_from_slice(&narrow(record.time_us.div_euclid(1_000_000)).to_le_bytes());
    out.extend_from_slice(&micros.to_le_bytes());
    for field in [record.stack, record.pid, record.extern_pid, record.line] {
        out.extend_from_slice(&field.to_le_bytes());
    }
    for name in [record.file, record.function] {
        out.extend_from_slice(name);
        out.push(0);
    }
    out.extend_from_slice(record.text);
}
