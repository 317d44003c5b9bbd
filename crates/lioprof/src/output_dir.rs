//! Writes the files of `-o DIR`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use lioprof_model::{Analysis, Comparison, Generator, Operations};
use lioprof_text::operations::OperationsFormat;

use crate::args::PlotFormat;
use crate::messages::{self, Verbosity};

pub(crate) fn write(analysis: &Analysis, dir: &Path, plots: &[PlotFormat], verbosity: Verbosity) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("failed to create directory `{}`", dir.display()))?;
    let bounded = analysis.bounded();
    create(&dir.join("analysis.json"), |out| Ok(lioprof_text::write_json(&bounded, out)?))?;
    #[cfg(feature = "parquet")]
    complete_tables(analysis, &bounded, dir, verbosity)?;
    drop(bounded);
    for table in lioprof_text::tables::ALL {
        create(&dir.join(format!("{}.csv", table.name)), |out| Ok((table.write)(analysis, out)?))?;
    }
    #[cfg(feature = "report")]
    create(&dir.join("report.html"), |out| Ok(lioprof_report::write(analysis, out)?))?;
    let formats = formats(plots);
    if !formats.is_empty() {
        let written = lioprof_plot::write_all(analysis, dir, &formats, &lioprof_plot::PlotOptions::default())
            .with_context(|| format!("failed to write plots into `{}`", dir.display()))?;
        skipped(&written, verbosity);
    }
    Ok(())
}

/// What the JSON lacks, and a note that it does.
#[cfg(feature = "parquet")]
fn complete_tables(analysis: &Analysis, bounded: &Analysis, dir: &Path, verbosity: Verbosity) -> anyhow::Result<()> {
    let tables = lioprof_store::write_analysis_tables(analysis, bounded, dir)
        .with_context(|| format!("failed to write tables into `{}`", dir.display()))?;
    if !tables.is_empty() {
        let folder = dir.join(lioprof_store::ANALYSIS_TABLES);
        let (tables, folder) = (tables.join(", "), folder.display());
        messages::note(
            verbosity,
            &format!("note: analysis.json has the largest rows and joined bins; complete in `{folder}`: {tables}"),
        );
    }
    Ok(())
}

/// Writes the files of `compare -o DIR`.
pub(crate) fn write_comparison(
    comparison: &Comparison,
    sides: (&Analysis, &Analysis),
    dir: &Path,
    plots: &[PlotFormat],
    verbosity: Verbosity,
) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("failed to create directory `{}`", dir.display()))?;
    create(&dir.join("comparison.json"), |out| {
        serde_json::to_writer(&mut *out, comparison)?;
        writeln!(out)?;
        Ok(())
    })?;
    #[cfg(feature = "report")]
    create(&dir.join("comparison.html"), |out| Ok(lioprof_report::write_comparison(comparison, out)?))?;
    let options = lioprof_plot::PlotOptions::default();
    let written = lioprof_plot::write_comparison(sides.0, sides.1, dir, &formats(plots), &options)
        .with_context(|| format!("failed to write plots into `{}`", dir.display()))?;
    skipped(&written, verbosity);
    Ok(())
}

/// Writes the files of `operations -o DIR`.
pub(crate) fn write_operations(
    operations: &Operations,
    generator: &Generator,
    dir: &Path,
    plots: &[PlotFormat],
    verbosity: Verbosity,
) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("failed to create directory `{}`", dir.display()))?;
    create(&dir.join("operations.json"), |out| {
        Ok(lioprof_text::operations::write(operations, OperationsFormat::Json, false, out)?)
    })?;
    #[cfg(feature = "report")]
    create(&dir.join("operations.html"), |out| Ok(lioprof_report::write_operations(operations, generator, out)?))?;
    #[cfg(not(feature = "report"))]
    let _ = generator;
    let options = lioprof_plot::PlotOptions::default();
    let written = lioprof_plot::write_operations(operations, dir, &formats(plots), &options)
        .with_context(|| format!("failed to write plots into `{}`", dir.display()))?;
    skipped(&written, verbosity);
    Ok(())
}

fn formats(plots: &[PlotFormat]) -> Vec<lioprof_plot::Format> {
    let format = |plot: &PlotFormat| match plot {
        PlotFormat::Svg => Some(lioprof_plot::Format::Svg),
        PlotFormat::Png => Some(lioprof_plot::Format::Png),
        PlotFormat::None => None,
    };
    plots.iter().filter_map(format).collect()
}

/// Says which plots there are not: once for each reason, and in one sentence if there is none at all.
fn skipped(written: &[lioprof_plot::Written], verbosity: Verbosity) {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for item in written {
        if let lioprof_plot::Written::Skipped { plot, reason } = item {
            match by_reason.iter_mut().find(|(known, _)| known == reason) {
                Some((_, plots)) => plots.push(plot),
                None => by_reason.push((reason, vec![plot])),
            }
        }
    }
    let all = by_reason.iter().map(|(_, plots)| plots.len()).sum::<usize>() == written.len();
    if let (true, Some((reason, _))) = (all, by_reason.first()) {
        messages::note(verbosity, &format!("note: no plots: {reason}"));
        return;
    }
    for (reason, plots) in by_reason {
        messages::note(verbosity, &format!("note: no plot {}: {reason}", plots.join(", ")));
    }
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
