//! Binary logs as the text that `lctl debug_file` prints, in time order.
//!
//! `lctl` reads everything into memory and sorts it (stable, by time). Here runs are merged as they come:
//! what is held is two flush passes of the kernel, a second or so of records.

use std::io::{self, Write};
use std::path::PathBuf;

use lustre_debuglog::frame::binary::FramedRecords;
use lustre_debuglog::frame::text::{TextItem, TextRecords};
use rayon::ThreadPoolBuilder;

use crate::decode::chunk::StreamRun;
use crate::decode::chunk_store::ChunkStore;
use crate::decode::chunk_tasks::ChunkTasks;
use crate::decode::flush_passes::{Added, FlushPasses};
use crate::decode::moment::Moment;
use crate::decode::source::Chunks;
use crate::envelope::repair;
use crate::input::{InputProblem, NodeRule, Severity};
use crate::kernel_log::KernelLog;
use crate::plan::{Inputs, OpeningNotes, Reading};
use crate::progress::Progress;

/// Text held back before it is sorted and written.
const SORT_AT_LEAST: usize = 8 << 20;

/// Bytes of a chunk.
const CHUNK_BYTES: usize = 1 << 20;

/// What was decoded.
#[derive(Debug, Default)]
pub struct DecodeOutcome {
    /// Inputs that could not be read, or not completely, and notes.
    pub problems: Vec<InputProblem>,
    /// Number of records written as text.
    pub records: u64,
    /// Places that hold no records.
    pub bad_places: u64,
    /// Bytes in them.
    pub skipped_bytes: u64,
    /// Inputs that were decoded.
    pub inputs: u64,
}

/// Writes all records of `inputs` to `out` as text: node after node, each in time order. Chunks are rendered by so many
/// threads. `progress` is told how far reading is.
///
/// # Errors
/// Only those of `out`, and that there can be no threads; inputs that cannot be read are in [`DecodeOutcome::problems`].
pub fn decode_text(
    inputs: &[PathBuf],
    rules: &[NodeRule],
    threads: usize,
    progress: &Progress,
    out: &mut (impl Write + Send),
) -> io::Result<DecodeOutcome> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    pool.install(|| decode_nodes(inputs, rules, Reading::new(CHUNK_BYTES, threads), progress, out))
}

fn decode_nodes(
    inputs: &[PathBuf],
    rules: &[NodeRule],
    reading: Reading,
    progress: &Progress,
    out: &mut impl Write,
) -> io::Result<DecodeOutcome> {
    let inputs = Inputs::find(inputs, rules, &|_| false, progress);
    let mut outcome = DecodeOutcome { problems: inputs.problems, ..DecodeOutcome::default() };
    outcome.problems.extend(inputs.kernel_logs.iter().map(KernelLog::no_records));
    for (_, mut logs) in inputs.nodes {
        logs.0.sort_by_key(|input| input.first_us);
        let mut sorter = Sorter::default();
        for mut input in logs.0 {
            let mut notes = OpeningNotes::default();
            let path = input.found.path.clone();
            let error = |message| InputProblem { path: path.clone(), severity: Severity::Error, message };
            match input.chunks(reading, &mut notes) {
                Ok(mut chunks) => {
                    if let Err(err) =
                        decode_input(&mut chunks, reading.chunks_in_flight(), &mut sorter, &mut outcome, out)?
                    {
                        outcome.problems.push(error(format!("failed to read `{}`: {err}", path.display())));
                    }
                    outcome.inputs += 1;
                }
                Err(message) => outcome.problems.push(error(message)),
            }
            if let Some(damage) = notes.damage.get() {
                outcome.problems.push(error(format!("`{}`: {damage}", path.display())));
            }
        }
        sorter.release(Moment::MAX, out)?;
    }
    Ok(outcome)
}

/// The outer error is the output's, the inner one the input's.
fn decode_input(
    chunks: &mut Chunks,
    chunks_in_flight: usize,
    sorter: &mut Sorter,
    outcome: &mut DecodeOutcome,
    out: &mut impl Write,
) -> io::Result<io::Result<()>> {
    let layout = chunks.layout();
    if layout.is_none() {
        // Text is sorted already.
        sorter.release(Moment::MAX, out)?;
    }
    let mut tasks = ChunkTasks::default();
    let mut end = None;
    loop {
        while end.is_none() && tasks.len() < chunks_in_flight {
            match chunks.next_chunk() {
                Ok(Some(chunk)) => {
                    let buffers = sorter.store.buffers();
                    tasks.launch(chunk, move |chunk| {
                        let text = buffers.take().unwrap_or_default();
                        match layout {
                            None => render_text(&chunk.bytes, text),
                            Some(layout) => render_binary(chunk.records(layout), text),
                        }
                    });
                }
                Ok(None) => end = Some(Ok(())),
                Err(err) => end = Some(Err(err)),
            }
        }
        let Some(landed) = tasks.next() else { break };
        outcome.records += landed.result.records;
        outcome.bad_places += landed.result.bad_places;
        outcome.skipped_bytes += landed.result.skipped_bytes;
        sorter.add(landed.result, out)?;
    }
    if let Chunks::Binary(reader) = chunks {
        outcome.bad_places += reader.gaps.len() as u64;
        outcome.skipped_bytes += reader.gaps.iter().map(|gap| gap.len).sum::<u64>();
    }
    Ok(end.unwrap_or(Ok(())))
}

/// A chunk as text.
#[derive(Default)]
struct Rendered {
    text: Vec<u8>,
    /// Of a binary log: time of each record, and where its text ends; in the order of the file.
    lines: Vec<(i64, u32)>,
    runs: Vec<StreamRun>,
    records: u64,
    /// Places in the chunk that hold no records, and the bytes in them.
    bad_places: u64,
    skipped_bytes: u64,
}

/// Into a buffer that is empty.
fn render_binary(records: FramedRecords<'_>, text: Vec<u8>) -> Rendered {
    let mut rendered = Rendered { text, ..Rendered::default() };
    for record in records {
        StreamRun::follow(&mut rendered.runs, &record, rendered.lines.len());
        record.append_text(&mut rendered.text);
        rendered.lines.push((record.time_us, offset(rendered.text.len())));
        rendered.records += 1;
    }
    rendered
}

/// Into a buffer that is empty. Lines that did not arrive as they were logged are repaired; the others stay as they are.
fn render_text(bytes: &[u8], text: Vec<u8>) -> Rendered {
    let mut rendered = Rendered { text, ..Rendered::default() };
    let (logged, left_out) = repair::as_logged(bytes);
    rendered.bad_places += left_out.len() as u64;
    rendered.skipped_bytes += left_out.iter().map(|skipped| skipped.len as u64).sum::<u64>();
    for item in TextRecords::new(&logged) {
        match item {
            TextItem::Record(record, _) => {
                record.append_text(&mut rendered.text);
                rendered.records += 1;
            }
            TextItem::Skipped(skipped) => {
                rendered.bad_places += 1;
                rendered.skipped_bytes += skipped.len as u64;
            }
            TextItem::Summary(..) => {}
        }
    }
    rendered
}

/// An offset in the text of a chunk.
fn offset(offset: usize) -> u32 {
    u32::try_from(offset).expect("a chunk's text is far smaller than 4 GiB")
}

/// Rendered records that wait for their order.
#[derive(Default)]
struct Sorter {
    passes: FlushPasses,
    store: ChunkStore<u8>,
    /// In the order of the file, those of earlier passes sorted.
    lines: Vec<RenderedLine>,
    /// Bytes of them.
    bytes: usize,
    /// Bytes that had to wait longer when it was last sorted.
    waiting: usize,
}

#[derive(Clone, Copy, Debug)]
struct RenderedLine {
    time_us: i64,
    /// See [`Moment`].
    epoch: u32,
    chunk: u32,
    start: u32,
    end: u32,
}

impl RenderedLine {
    fn moment(&self) -> Moment {
        Moment { epoch: self.epoch, time_us: self.time_us }
    }
}

impl Sorter {
    fn add(&mut self, rendered: Rendered, out: &mut impl Write) -> io::Result<()> {
        let Rendered { text, lines, runs, .. } = rendered;
        if runs.is_empty() {
            out.write_all(&text)?;
            return Ok(());
        }
        let chunk = self.store.push(text, lines.len());
        let mut start = 0;
        for (i, run) in runs.iter().enumerate() {
            // Discarded heads are the analysis' business.
            let Added { starts_pass, epoch } = self.passes.add(run, false, &mut 0);
            if starts_pass && self.bytes >= SORT_AT_LEAST.max(2 * self.waiting) {
                self.release(self.passes.settled, out)?;
                self.waiting = self.bytes;
            }
            let to = runs.get(i + 1).map_or(lines.len(), |next| next.from);
            for &(time_us, end) in &lines[run.from..to] {
                self.lines.push(RenderedLine { time_us, epoch, chunk, start, end });
                self.bytes += (end - start) as usize;
                start = end;
            }
        }
        Ok(())
    }

    /// Writes everything before that moment.
    fn release(&mut self, before: Moment, out: &mut impl Write) -> io::Result<()> {
        // Stable: records of one time stay in the order of the file, as `lctl` leaves them.
        if self.passes.epoch() > 0 {
            self.lines.sort_by_key(|line| line.moment().order());
        } else {
            // As a rule the clock was not set back: then times suffice, and `decode` takes a twentieth less.
            self.lines.sort_by_key(|line| line.time_us);
        }
        let count = self.lines.partition_point(|line| line.moment() < before);
        for line in self.lines.drain(..count) {
            let text = &self.store.take_of(line.chunk)[line.start as usize..line.end as usize];
            out.write_all(text)?;
            self.bytes -= text.len();
        }
        self.store.forget_taken();
        Ok(())
    }
}
