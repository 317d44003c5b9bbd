//! Writes the analysis of a made-up large system: `cargo run -p lioprof-report --example synthetic -- 1350 100000 > analysis.json`

#[path = "../tests/page/support.rs"]
mod support;

use std::io::{self, BufWriter, Write as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|it| it.parse());
    let mut number = || numbers.next().ok_or("usage: synthetic OSTS CLIENTS");
    let (osts, clients) = (number()??, number()??);
    let mut out = BufWriter::new(io::stdout().lock());
    serde_json::to_writer(&mut out, &support::large(osts, clients))?;
    Ok(out.flush()?)
}
