//! What `-o DIR` writes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use lioprof_model::Analysis;

use crate::args::PlotFormat;
use crate::messages::{self, Verbosity};
use crate::tables;

pub(crate) fn write(analysis: &Analysis, dir: &Path, plots: &[PlotFormat], verbosity: Verbosity) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("failed to create directory `{}`", dir.display()))?;
    let json = dir.join("analysis.json");
    create(&json, |out| {
        serde_json::to_writer(&mut *out, analysis)?;
        writeln!(out)?;
        Ok(())
    })?;
    for table in tables::ALL {
        create(&dir.join(format!("{}.csv", table.name)), |out| (table.write)(analysis, out))?;
    }
    #[cfg(feature = "report")]
    create(&dir.join("report.html"), |out| Ok(lioprof_report::write(analysis, out)?))?;
    let formats: Vec<lioprof_plot::Format> = plots
        .iter()
        .filter_map(|plot| match plot {
            PlotFormat::Svg => Some(lioprof_plot::Format::Svg),
            PlotFormat::Png => Some(lioprof_plot::Format::Png),
            PlotFormat::None => None,
        })
        .collect();
    if !formats.is_empty() {
        let written = lioprof_plot::write_all(analysis, dir, &formats, &lioprof_plot::PlotOptions::default())
            .with_context(|| format!("failed to write plots into `{}`", dir.display()))?;
        for item in written {
            if let lioprof_plot::Written::Skipped { plot, reason } = item {
                messages::note(verbosity, &format!("note: no plot {plot}: {reason}"));
            }
        }
    }
    Ok(())
}

pub(crate) fn create(path: &Path, fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        fill(&mut out)?;
        out.flush()?;
        Ok(())
    };
    write().with_context(|| format!("failed to write `{}`", path.display()))
}
