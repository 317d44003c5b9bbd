//! From an analysis to bytes and files.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_model::{Analysis, Operations};

use crate::comparison::comparison_plots;
use crate::draw::scene::Scene;
use crate::draw::{bitmap, svg};
use crate::error::PlotError;
use crate::operations;
use crate::options::{Format, PlotOptions};
use crate::plots::{Plot, plots};

/// What [`render`] gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rendered {
    /// The file's bytes.
    Image(Vec<u8>),
    /// There is nothing to draw; why, in words for the user.
    Skipped(&'static str),
}

/// What [`write_all`] did with one plot and format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A file was written.
    File {
        /// [`Plot::name`].
        plot: &'static str,
        /// Where.
        path: PathBuf,
    },
    /// There was nothing to draw.
    Skipped {
        /// [`Plot::name`].
        plot: &'static str,
        /// Why, in words for the user.
        reason: &'static str,
    },
}

/// Draws one plot.
///
/// # Errors
///
/// If the drawing library or the PNG encoder fails; odd data is no error.
pub fn render(plot: &Plot, analysis: &Analysis, format: Format, options: &PlotOptions) -> Result<Rendered, PlotError> {
    let options = options.clamped();
    match (plot.draw)(analysis, &options) {
        Err(reason) => Ok(Rendered::Skipped(reason)),
        Ok(scene) => Ok(Rendered::Image(encode(&scene, plot.title, format, &options)?)),
    }
}

/// Draws every plot into `dir`, which is made if it is not there: `<plot name>.<extension>`.
///
/// A plot without data gives one [`Written::Skipped`], whatever the number of formats. A file of
/// an earlier run is replaced, but not removed when the plot is skipped now. `done` hears of each plot that is done.
///
/// # Errors
///
/// If a file cannot be written or the drawing library fails.
pub fn write_all(
    analysis: &Analysis,
    dir: &Path,
    formats: &[Format],
    options: &PlotOptions,
    done: &dyn Fn(),
) -> Result<Vec<Written>, PlotError> {
    let options = options.clamped();
    let drawn = plots().iter().map(|plot| (plot.name, plot.title, (plot.draw)(analysis, &options)));
    write_scenes(drawn, dir, formats, &options, done)
}

/// Draws every plot of two analyses into `dir`, as [`write_all`] does.
///
/// # Errors
///
/// If a file cannot be written or the drawing library fails.
pub fn write_comparison(
    before: &Analysis,
    after: &Analysis,
    dir: &Path,
    formats: &[Format],
    options: &PlotOptions,
    done: &dyn Fn(),
) -> Result<Vec<Written>, PlotError> {
    let options = options.clamped();
    let drawn = comparison_plots().iter().map(|plot| (plot.name, plot.title, (plot.draw)([before, after], &options)));
    write_scenes(drawn, dir, formats, &options, done)
}

/// Draws where the time of clients' operations went into `dir`, as [`write_all`] does.
///
/// # Errors
///
/// If a file cannot be written or the drawing library fails.
pub fn write_operations(
    operations: &Operations,
    dir: &Path,
    formats: &[Format],
    options: &PlotOptions,
) -> Result<Vec<Written>, PlotError> {
    let options = options.clamped();
    let drawn = (operations::NAME, operations::TITLE, operations::draw(operations, &options));
    write_scenes(std::iter::once(drawn), dir, formats, &options, &|| ())
}

/// One plot's name, its title, and the picture or why there is none.
type Drawn = (&'static str, &'static str, Result<Scene, &'static str>);

fn write_scenes(
    drawn: impl Iterator<Item = Drawn>,
    dir: &Path,
    formats: &[Format],
    options: &PlotOptions,
    done: &dyn Fn(),
) -> Result<Vec<Written>, PlotError> {
    fs::create_dir_all(dir).map_err(|source| PlotError::CreateDir(dir.to_owned(), source))?;
    let mut written = Vec::new();
    for (name, title, scene) in drawn {
        let scene = match scene {
            Ok(scene) => scene,
            Err(reason) => {
                written.push(Written::Skipped { plot: name, reason });
                done();
                continue;
            }
        };
        for &format in formats {
            let path = dir.join(format!("{name}.{}", format.extension()));
            let bytes = encode(&scene, title, format, options)?;
            fs::write(&path, bytes).map_err(|source| PlotError::Write(path.clone(), source))?;
            written.push(Written::File { plot: name, path });
        }
        done();
    }
    Ok(written)
}

fn encode(scene: &Scene, title: &str, format: Format, options: &PlotOptions) -> Result<Vec<u8>, PlotError> {
    match format {
        Format::Svg => svg::encode(scene, title),
        Format::Png => bitmap::encode(scene, options.png_scale),
    }
}
