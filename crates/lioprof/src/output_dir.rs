//! Writes the files of `-o DIR`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, bail};
use lioprof_model::{Analysis, Comparison, Generator, Operations};
use lioprof_text::operations::OperationsFormat;

use crate::args::{PlotArgs, PlotFormat};
use crate::messages::{self, Verbosity};
use crate::progress::Bar;

/// What a folder with files of lioprof has of these.
const SAVED: [&str; 3] = ["analysis.json", "comparison.json", "operations.json"];

/// Refuses a folder in which [`write()`] would overwrite somebody else's file.
pub(crate) fn check(dir: &Path, plots: &PlotArgs) -> anyhow::Result<()> {
    let tables = lioprof_text::tables::ALL.iter().map(|table| format!("{}.csv", table.name));
    let pictures = pictures(lioprof_plot::plots().iter().map(|plot| plot.name), plots);
    spare_others(dir, ["analysis.json", "report.html"].map(str::to_owned).into_iter().chain(tables).chain(pictures))
}

/// Refuses a folder in which [`write_comparison`] would overwrite somebody else's file.
pub(crate) fn check_comparison(dir: &Path, plots: &PlotArgs) -> anyhow::Result<()> {
    let pictures = pictures(lioprof_plot::comparison_plots().iter().map(|plot| plot.name), plots);
    spare_others(dir, ["comparison.json", "comparison.html"].map(str::to_owned).into_iter().chain(pictures))
}

/// Refuses a folder in which [`write_operations`] would overwrite somebody else's file.
pub(crate) fn check_operations(dir: &Path, plots: &PlotArgs) -> anyhow::Result<()> {
    let pictures = pictures(std::iter::once(lioprof_plot::OPERATIONS_PLOT), plots);
    spare_others(dir, ["operations.json", "operations.html"].map(str::to_owned).into_iter().chain(pictures))
}

/// File names of plots.
fn pictures<'a>(names: impl Iterator<Item = &'a str>, plots: &PlotArgs) -> impl Iterator<Item = String> {
    let formats = formats(plots);
    names.flat_map(move |name| {
        let files = formats.iter().map(|format| format!("{name}.{}", format.extension()));
        files.collect::<Vec<_>>()
    })
}

/// Refuses a folder if one of these files in it is somebody else's. JSON and pages say whose they are; tables and plots are lioprof's if there
/// is JSON of lioprof beside them.
fn spare_others(dir: &Path, names: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let is_of_lioprof = SAVED.iter().any(|name| says_lioprof(&dir.join(name)));
    for path in names.map(|name| dir.join(name)).filter(|path| path.exists()) {
        let says = path.extension().is_some_and(|extension| extension == "json" || extension == "html");
        if if says { !says_lioprof(&path) } else { !is_of_lioprof } {
            bail!(
                "`{}` is not a file that lioprof wrote, and would be overwritten: move it away, or give -o another directory",
                path.display()
            );
        }
    }
    Ok(())
}

/// Whether it is JSON or a page of lioprof.
pub(crate) fn says_lioprof(path: &Path) -> bool {
    // They say so at their beginning, and may be large.
    let Ok(mut file) = File::open(path).map(BufReader::new) else { return false };
    let mut piece = Vec::new();
    while file.read_until(b'.', &mut piece).is_ok_and(|read| read > 0) {
        if piece.ends_with(b"lioprof.") {
            return true;
        }
        piece.clear();
    }
    false
}

pub(crate) fn write(analysis: &Analysis, dir: &Path, plots: &PlotArgs, verbosity: Verbosity) -> anyhow::Result<()> {
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
        let options = options(plots);
        let written = with_bar(lioprof_plot::plots().len(), verbosity, |done| {
            lioprof_plot::write_all(analysis, dir, &formats, &options, done)
        })
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
    plots: &PlotArgs,
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
    let options = options(plots);
    let written = with_bar(lioprof_plot::comparison_plots().len(), verbosity, |done| {
        lioprof_plot::write_comparison(sides.0, sides.1, dir, &formats(plots), &options, done)
    })
    .with_context(|| format!("failed to write plots into `{}`", dir.display()))?;
    skipped(&written, verbosity);
    Ok(())
}

/// Writes the files of `operations -o DIR`.
pub(crate) fn write_operations(
    operations: &Operations,
    generator: &Generator,
    dir: &Path,
    plots: &PlotArgs,
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
    let options = options(plots);
    let written = lioprof_plot::write_operations(operations, dir, &formats(plots), &options)
        .with_context(|| format!("failed to write plots into `{}`", dir.display()))?;
    skipped(&written, verbosity);
    Ok(())
}

/// Writes plots, with a bar that says how many are written.
fn with_bar<T>(plots: usize, verbosity: Verbosity, write: impl FnOnce(&dyn Fn()) -> T) -> T {
    let written = Arc::new(AtomicU64::new(0));
    let bar = Bar::of_plots(&written, plots as u64, verbosity);
    let made = write(&|| {
        written.fetch_add(1, Ordering::Relaxed);
    });
    drop(bar);
    made
}

fn options(plots: &PlotArgs) -> lioprof_plot::PlotOptions {
    lioprof_plot::PlotOptions { bare: plots.bare, ..lioprof_plot::PlotOptions::default() }
}

fn formats(plots: &PlotArgs) -> Vec<lioprof_plot::Format> {
    let format = |plot: &PlotFormat| match plot {
        PlotFormat::Svg => Some(lioprof_plot::Format::Svg),
        PlotFormat::Png => Some(lioprof_plot::Format::Png),
        PlotFormat::None => None,
    };
    plots.formats.iter().filter_map(format).collect()
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
