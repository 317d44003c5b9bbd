//! Draws every plot of a saved analysis: `cargo run --example render -- analysis.json DIR`.

use std::error::Error;
use std::path::Path;

use lioprof_model::Analysis;
use lioprof_plot::{Format, PlotOptions, Written, write_all};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, dir] = args.as_slice() else {
        return Err("usage: render ANALYSIS.json DIR".into());
    };
    let analysis: Analysis = serde_json::from_slice(&std::fs::read(file)?)?;
    for one in write_all(&analysis, Path::new(dir), &[Format::Svg, Format::Png], &PlotOptions::default(), &|| ())? {
        match one {
            Written::File { path, .. } => println!("{}", path.display()),
            Written::Skipped { plot, reason } => println!("{plot}: skipped, {reason}"),
        }
    }
    Ok(())
}
