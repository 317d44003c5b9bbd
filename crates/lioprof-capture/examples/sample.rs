//! Prints the counters of this node, or of a copy of its control files, as the daemon samples them.
//!
//! `cargo run --release -p lioprof-capture --example sample -- [ROOT] [SAMPLES]`

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use lioprof_capture::counters::{Sampler, SamplerOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let root = args.next().map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let samples: i64 = args.next().map_or(Ok(1), |text| text.to_string_lossy().parse())?;
    let mut out = std::io::stdout().lock();
    let mut sampler = Sampler::new(&root, SamplerOptions::default());
    for n in 0..samples {
        let sample = sampler.sample(n);
        for value in sample.values.iter().filter(|_| n == 0) {
            let (source, target, entity) = (value.source, &value.target, &value.entity);
            writeln!(out, "{source}\t{target}\t{entity}\t{}\t{}", value.counter, value.value)?;
        }
        writeln!(out, "sample {n}: {} values, {:?}", sample.values.len(), sample.cost)?;
    }
    Ok(())
}
