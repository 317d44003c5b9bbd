//! Binary logs as the text that `lctl debug_file` prints, in time order.
//!
//! `lctl` reads everything into memory and sorts it (stable, by time). Here runs are merged as they come:
//! what is held is two flush passes of the kernel, a second or so of records.

use std::io::{self, Write};
use std::path::PathBuf;

use lustre_debuglog::Record;
use lustre_debuglog::frame::binary::TestedRecords;
use lustre_debuglog::frame::text::{TextItem, TextRecords};

use crate::decode::chunk::Run;
use crate::decode::reader::RawChunk;
use crate::decode::source::{Chunks, Passes};
use crate::input::{InputProblem, NodeRule, Severity};
use crate::plan::{Late, Reading, plan};
use crate::progress::Progress;

/// Text held back before it is sorted and written.
const SORT_AT_LEAST: usize = 8 << 20;

/// What was decoded.
#[derive(Debug, Default)]
pub struct DecodeOutcome {
    /// Inputs that could not be read, or not completely, and notes.
    pub problems: Vec<InputProblem>,
    /// Records written.
    pub records: u64,
    /// Places that hold no records.
    pub bad_places: u64,
    /// Bytes in them.
    pub skipped_bytes: u64,
    /// Inputs that were decoded.
    pub inputs: u64,
}

/// Writes all records of `inputs` to `out` as text: node after node, each in time order. `progress` is told how far
/// reading is.
///
/// # Errors
/// Only those of `out`; inputs that cannot be read are in [`DecodeOutcome::problems`].
pub fn decode_text(
    inputs: &[PathBuf],
    rules: &[NodeRule],
    progress: &Progress,
    out: &mut impl Write,
) -> io::Result<DecodeOutcome> {
    let plan = plan(inputs, rules, &|_| false, progress);
    let mut outcome = DecodeOutcome { problems: plan.problems, ..DecodeOutcome::default() };
    for (_, mut planned) in plan.nodes {
        planned.sort_by_key(|input| input.first_us);
        let mut sorter = Sorter::default();
        for mut input in planned {
            let mut late = Late::default();
            let reading = Reading { chunk_bytes: 1 << 20, depth: 1 };
            let path = input.path.clone();
            let error = |message| InputProblem { path: path.clone(), severity: Severity::Error, message };
            match input.chunks(reading, &mut late) {
                Ok(mut chunks) => {
                    if let Err(err) = decode_input(&mut chunks, &mut sorter, &mut outcome, out)? {
                        outcome.problems.push(error(format!("failed to read `{}`: {err}", path.display())));
                    }
                    outcome.inputs += 1;
                }
                Err(message) => outcome.problems.push(error(message)),
            }
            if let Some(damage) = late.damage.get() {
                outcome.problems.push(error(format!("`{}`: {damage}", path.display())));
            }
        }
        sorter.release(i64::MAX, out)?;
    }
    Ok(outcome)
}

/// The outer error is the output's, the inner one the input's.
fn decode_input(
    chunks: &mut Chunks,
    sorter: &mut Sorter,
    outcome: &mut DecodeOutcome,
    out: &mut impl Write,
) -> io::Result<io::Result<()>> {
    loop {
        let chunk = match chunks.next_chunk() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(err) => return Ok(Err(err)),
        };
        match chunks {
            Chunks::Text(_) => text_chunk(&chunk, sorter, outcome, out)?,
            Chunks::Binary(reader) => {
                for record in TestedRecords::new(&chunk.bytes, reader.layout()) {
                    sorter.add(&record, out)?;
                    outcome.records += 1;
                }
            }
        }
    }
    if let Chunks::Binary(reader) = chunks {
        outcome.bad_places += reader.gaps.len() as u64;
        outcome.skipped_bytes += reader.gaps.iter().map(|gap| gap.len).sum::<u64>();
    }
    Ok(Ok(()))
}

/// Text is sorted already.
fn text_chunk(
    chunk: &RawChunk,
    sorter: &mut Sorter,
    outcome: &mut DecodeOutcome,
    out: &mut impl Write,
) -> io::Result<()> {
    sorter.release(i64::MAX, out)?;
    for item in TextRecords::new(&chunk.bytes) {
        match item {
            TextItem::Record(record, _) => {
                record.write_text(out)?;
                outcome.records += 1;
            }
            TextItem::Skipped(skipped) => {
                outcome.bad_places += 1;
                outcome.skipped_bytes += skipped.len as u64;
            }
            TextItem::Summary(..) => {}
        }
    }
    Ok(())
}

/// Rendered records that wait for their order.
#[derive(Default)]
struct Sorter {
    passes: Passes,
    run: Option<Run>,
    text: Vec<u8>,
    /// Time, and where its text ends in `text`; in the order of the file.
    lines: Vec<Line>,
}

#[derive(Clone, Copy)]
struct Line {
    time_us: i64,
    start: usize,
    end: usize,
}

impl Sorter {
    fn add(&mut self, record: &Record<'_>, out: &mut impl Write) -> io::Result<()> {
        let stream = record.stream();
        if self.run.is_none_or(|run| run.stream != stream || record.first) {
            let time_us = record.time_us;
            let run = Run {
                stream,
                first_flag: record.first,
                events_from: 0,
                first_us: time_us,
                end_us: time_us,
                last_us: time_us,
                clock_steps: 0,
                bytes: 0,
            };
            self.run = Some(run);
            // Discarded heads are the analysis' business.
            if self.passes.add(&run, false, &mut 0) && self.text.len() >= SORT_AT_LEAST {
                self.release(self.passes.settled_us, out)?;
            }
        }
        self.passes.extend(record.time_us);
        let start = self.text.len();
        record.write_text(&mut self.text)?;
        self.lines.push(Line { time_us: record.time_us, start, end: self.text.len() });
        Ok(())
    }

    /// Writes everything before `before_us`.
    fn release(&mut self, before_us: i64, out: &mut impl Write) -> io::Result<()> {
        self.lines.sort_by_key(|line| line.time_us);
        let count = if before_us == i64::MAX {
            self.lines.len()
        } else {
            self.lines.partition_point(|line| line.time_us < before_us)
        };
        for line in self.lines.drain(..count) {
            out.write_all(&self.text[line.start..line.end])?;
        }
        let mut text = Vec::new();
        for line in &mut self.lines {
            let start = text.len();
            text.extend_from_slice(&self.text[line.start..line.end]);
            (line.start, line.end) = (start, text.len());
        }
        self.text = text;
        Ok(())
    }
}
