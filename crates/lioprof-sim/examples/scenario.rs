//! Writes a scenario as text to standard output, as `lctl debug_file` would, and its truth to standard error.
//!
//! `cargo run --release -p lioprof-sim --example scenario -- lock-pingpong [SIZE [CLIENTS]]`

use std::io::{self, BufWriter, Write as _};

use lioprof_sim::scenario::{Options, Scenario};
use lioprof_sim::{SimRecord, Workload as _, text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        for scenario in Scenario::all() {
            println!("{:26} {}", scenario.name, scenario.summary);
        }
        return Ok(());
    };
    let mut options = Options::default();
    if let Some(size) = arguments.next() {
        options.size = size.parse()?;
        options.rate = options.rate.saturating_mul(options.size);
    }
    if let Some(clients) = arguments.next() {
        options.clients = clients.parse()?;
    }
    let mut simulation = Scenario::named(&name, &options)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut record = SimRecord::default();
    while simulation.next(&mut record) {
        text::write_record(&mut out, &record, false)?;
    }
    out.flush()?;
    eprintln!("{:#?}", simulation.counters());
    if simulation.running() > 0 {
        eprintln!("{} processes did not end", simulation.running());
    }
    Ok(())
}
