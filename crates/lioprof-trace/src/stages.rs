//! Stages of reading alone, to measure them. They change with the program: nothing else should use them.

use std::path::Path;

use lioprof_model::Symbols;
use rayon::ThreadPoolBuilder;

use crate::plan::{DEFAULT_CHUNK_BYTES, Inputs, OpeningNotes, Reading};
use crate::progress::Progress;

/// Reads and decodes one log and puts its events in order; returns how many there are, `None` if it is no log.
#[must_use]
pub fn order(log: &Path, threads: usize) -> Option<u64> {
    let reading = Reading::new(DEFAULT_CHUNK_BYTES, threads);
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
    pool.install(|| {
        let inputs = Inputs::find(&[log.to_owned()], &[], &|_| false, &Progress::default());
        let mut source =
            inputs.nodes.into_values().flat_map(|logs| logs.0).next()?.open(reading, &mut OpeningNotes::default())?;
        let mut symbols = Symbols::default();
        let mut events = 0;
        while source.next(&mut symbols).is_some() {
            events += 1;
        }
        Some(events)
    })
}
