//! Stages of reading alone, to measure them. They change with the program: nothing else should use them.

use std::path::Path;

use lioprof_model::Symbols;
use lustre_debuglog::Record;
use lustre_debuglog::frame::text::{TextItem, TextRecords};
use rayon::ThreadPoolBuilder;

use crate::decode::source::Chunks;
use crate::plan::{DEFAULT_CHUNK_BYTES, Inputs, OpeningNotes, Planned, Reading};
use crate::progress::Progress;

/// Shows all records of one log to `visit`, in the order of the file; returns how many there are, `None` if it is no log or cannot be read.
#[must_use]
pub fn records(log: &Path, mut visit: impl FnMut(&Record<'_>)) -> Option<u64> {
    let mut chunks = planned(log)?.chunks(reading(1), &mut OpeningNotes::default()).ok()?;
    let mut records = 0;
    let mut take = |record: &Record<'_>| {
        records += 1;
        visit(record);
    };
    while let Some(chunk) = chunks.next_chunk().ok()? {
        match &chunks {
            Chunks::Text(_) => TextRecords::new(&chunk.bytes).for_each(|item| {
                if let TextItem::Record(record, _) = item {
                    take(&record);
                }
            }),
            Chunks::Binary(reader) => chunk.records(reader.layout()).for_each(|record| take(&record)),
        }
    }
    Some(records)
}

/// Reads and decodes one log and puts its events in order; returns how many there are, `None` if it is no log.
#[must_use]
pub fn order(log: &Path, threads: usize) -> Option<u64> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
    pool.install(|| {
        let mut source = planned(log)?.open(reading(threads), &mut OpeningNotes::default())?;
        let mut symbols = Symbols::default();
        let mut events = 0;
        while source.next(&mut symbols).is_some() {
            events += 1;
        }
        Some(events)
    })
}

fn planned(log: &Path) -> Option<Planned> {
    let inputs = Inputs::find(&[log.to_owned()], &[], &|_| false, &Progress::default());
    inputs.nodes.into_values().flat_map(|logs| logs.0).next()
}

fn reading(threads: usize) -> Reading {
    Reading::new(DEFAULT_CHUNK_BYTES, threads)
}
