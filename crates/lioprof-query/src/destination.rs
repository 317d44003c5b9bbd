//! The destination of rows: standard output or a file.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use lioprof_query::Format;

use crate::args::OutputArgs;

/// Standard output or a file, and the format that suits it.
pub(crate) struct Destination {
    pub(crate) format: Format,
    file: Option<PathBuf>,
}

impl Destination {
    pub(crate) fn new(args: &OutputArgs) -> anyhow::Result<Self> {
        let format = args.format.or_else(|| by_ending(args.output.as_deref()?)).unwrap_or(Format::Table);
        if format == Format::Parquet && args.output.is_none() && io::stdout().is_terminal() {
            bail!("Parquet cannot be printed on a terminal; name a file with -o");
        }
        Ok(Self { format, file: args.output.clone() })
    }

    /// Opens the destination.
    pub(crate) fn open(&self) -> anyhow::Result<Output> {
        match &self.file {
            Some(path) => Output::file(path),
            None => Ok(Output::stdout()),
        }
    }
}

/// An open destination. A file gets its name once it is complete.
pub(crate) struct Output {
    pub(crate) writer: Box<dyn Write + Send>,
    renamed: Option<(PathBuf, PathBuf)>,
}

impl Output {
    pub(crate) fn stdout() -> Self {
        Self { writer: Box::new(BufWriter::new(io::stdout())), renamed: None }
    }

    pub(crate) fn file(path: &Path) -> anyhow::Result<Self> {
        let create = |path: &Path| -> anyhow::Result<Box<dyn Write + Send>> {
            let file = File::create(path).with_context(|| format!("failed to create `{}`", path.display()))?;
            Ok(Box::new(BufWriter::new(file)))
        };
        // A pipe or a device is written to as it is.
        if path.exists() && !path.is_file() {
            return Ok(Self { writer: create(path)?, renamed: None });
        }
        let Some(name) = path.file_name() else { bail!("`{}` does not name a file", path.display()) };
        let unfinished = path.with_file_name(format!(".{}.tmp", name.to_string_lossy()));
        Ok(Self { writer: create(&unfinished)?, renamed: Some((unfinished, path.to_owned())) })
    }

    /// Writes everything and finishes the file.
    pub(crate) fn write(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
        write(&mut self.writer).with_context(|| format!("failed to write to {}", self.name()))?;
        self.finish()
    }

    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.writer.flush().with_context(|| format!("failed to write to {}", self.name()))?;
        if let Some((unfinished, path)) = self.renamed.take() {
            let rename = fs::rename(&unfinished, &path);
            rename.with_context(|| format!("failed to rename `{}` to `{}`", unfinished.display(), path.display()))?;
        }
        Ok(())
    }

    fn name(&self) -> String {
        self.renamed.as_ref().map_or_else(|| "the output".to_owned(), |(_, path)| format!("`{}`", path.display()))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((unfinished, _)) = &self.renamed {
            // The error that led here says what happened; what is left does no harm.
            let _deleted_or_left = fs::remove_file(unfinished);
        }
    }
}

fn by_ending(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "csv" => Some(Format::Csv),
        "json" | "jsonl" | "ndjson" => Some(Format::Json),
        "parquet" => Some(Format::Parquet),
        _ => None,
    }
}
