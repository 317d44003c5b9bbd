//! Draws every plot of some made-up captures: `cargo run --release --example gallery -- DIR`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lioprof_plot::{Format, PlotOptions, Rendered, Written, plots, render, write_all};

fn main() -> Result<(), Box<dyn Error>> {
    let dir = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "gallery".to_owned()));
    let options = PlotOptions::default();
    for (name, analysis) in support::cases() {
        let written = write_all(&analysis, &dir.join(name), &[Format::Svg, Format::Png], &options, &|| ())?;
        for one in written {
            if let Written::Skipped { plot, reason } = one {
                println!("{name}/{plot}: skipped, {reason}");
            }
        }
        for format in [Format::Svg, Format::Png] {
            let (mut all, mut largest) = (Duration::ZERO, (0, ""));
            for plot in plots() {
                let start = Instant::now();
                let image = render(plot, &analysis, format, &options)?;
                let took = start.elapsed();
                all += took;
                if let Rendered::Image(bytes) = image {
                    largest = largest.max((bytes.len(), plot.name));
                }
                if took > Duration::from_millis(60) {
                    println!("  {name}/{}.{}: {took:.1?}", plot.name, format.extension());
                }
            }
            println!("{name}: all {} in {all:.1?}, largest {largest:?}", format.extension());
        }
    }
    Ok(())
}
