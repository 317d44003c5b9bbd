//! Files that are written: new ones only, packed as those that they stand for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use lioprof_trace::input::Compression;

/// Creates a file and its folders. It must not exist; `mode` are its rights.
pub(crate) fn create(path: &Path, mode: u32) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// A file that is packed, or not.
pub(crate) enum Packed {
    Plain(BufWriter<File>),
    Gz(flate2::write::GzEncoder<BufWriter<File>>),
    Zst(zstd::stream::write::Encoder<'static, BufWriter<File>>),
    Xz(liblzma::write::XzEncoder<BufWriter<File>>),
    Bz2(bzip2::write::BzEncoder<BufWriter<File>>),
}

impl Packed {
    pub(crate) fn new(file: File, compression: Option<Compression>) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, file);
        Ok(match compression {
            None => Self::Plain(file),
            Some(Compression::Gz) => Self::Gz(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Some(Compression::Zst) => Self::Zst(zstd::stream::write::Encoder::new(file, 0)?),
            Some(Compression::Xz) => Self::Xz(liblzma::write::XzEncoder::new(file, 6)),
            Some(Compression::Bz2) => Self::Bz2(bzip2::write::BzEncoder::new(file, bzip2::Compression::default())),
        })
    }

    /// Writes all that is still held back.
    pub(crate) fn finish(self) -> io::Result<()> {
        let mut file = match self {
            Self::Plain(file) => file,
            Self::Gz(encoder) => encoder.finish()?,
            Self::Zst(encoder) => encoder.finish()?,
            Self::Xz(encoder) => encoder.finish()?,
            Self::Bz2(encoder) => encoder.finish()?,
        };
        file.flush()
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gz(encoder) => encoder.write(bytes),
            Self::Zst(encoder) => encoder.write(bytes),
            Self::Xz(encoder) => encoder.write(bytes),
            Self::Bz2(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gz(encoder) => encoder.flush(),
            Self::Zst(encoder) => encoder.flush(),
            Self::Xz(encoder) => encoder.flush(),
            Self::Bz2(encoder) => encoder.flush(),
        }
    }
}
