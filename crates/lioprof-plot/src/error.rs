//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// A plot could not be made or written. Missing or odd data is never an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The directory for the plots could not be made.
    #[error("failed to create directory `{}`", .0.display())]
    CreateDir(PathBuf, #[source] io::Error),
    /// A file could not be written.
    #[error("failed to write `{}`", .0.display())]
    Write(PathBuf, #[source] io::Error),
    /// The drawing library failed.
    #[error("failed to draw the picture: {0}")]
    Draw(String),
    /// The PNG encoder failed.
    #[error("failed to encode the picture as PNG")]
    Png(#[from] png::EncodingError),
}
