//! Makes a page of a saved analysis: `cargo run -p lioprof-report --example page -- analysis.json > report.html`

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write as _};

use lioprof_model::Analysis;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: page ANALYSIS.json")?;
    let analysis: Analysis = serde_json::from_reader(BufReader::new(File::open(path)?))?;
    let mut out = BufWriter::new(io::stdout().lock());
    lioprof_report::write(&analysis, &mut out)?;
    Ok(out.flush()?)
}
