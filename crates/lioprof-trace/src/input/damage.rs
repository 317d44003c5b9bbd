//! Damage that shows up while a stream is read: kept beside the data, not instead of them.

use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, OnceLock};

use super::compression::Compression;
use crate::progress::BytesRead;

/// Largest piece asked of a decoder at once. A decoder that fails loses what it had put into the piece at hand.
const PIECE: usize = 1 << 10;

/// What of a file is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The file itself could not be read further.
    File,
    /// Its compressed data.
    Compression(Compression),
    /// The tar archive that it is, or that is in its compressed data.
    Tar,
    /// The zip archive that it is.
    Zip,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("file"),
            Self::Compression(compression) => compression.fmt(f),
            Self::Tar => f.write_str("tar"),
            Self::Zip => f.write_str("zip"),
        }
    }
}

/// Where and why a stream ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What is damaged.
    pub layer: Layer,
    /// Bytes of the file consumed when it was noticed; of a file in an archive, bytes of the archive.
    pub file_offset: u64,
    /// Decompressed bytes delivered before.
    pub offset: u64,
    /// What the decoder or the system says.
    pub why: String,
    /// The data simply stop.
    pub truncated: bool,
}

impl Damage {
    /// What to try.
    pub(crate) fn hint(&self) -> &'static str {
        match (self.layer, self.truncated) {
            (Layer::File, _) => "check the disk or the connection it lies on",
            (_, true) => "was it copied completely, and is it still being written?",
            (_, false) => "copy it again from where it came from",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layer, file_offset, offset, why, truncated } = self;
        match (layer, truncated) {
            (Layer::File, _) => write!(f, "reading failed after {file_offset} bytes: {why}"),
            (Layer::Compression(kind), true) => {
                write!(f, "{kind} data cut off at byte {file_offset}, after {offset} decompressed bytes ({why})")
            }
            (Layer::Compression(kind), false) => {
                write!(f, "{kind} data damaged near byte {file_offset}, after {offset} decompressed bytes ({why})")
            }
            (kind, true) => write!(f, "{kind} archive cut off at byte {file_offset}, after {offset} bytes ({why})"),
            (kind, false) => write!(f, "{kind} archive damaged near byte {file_offset}, after {offset} bytes ({why})"),
        }
    }
}

/// The damage of one stream, if any was met so far. Clones look at the same stream.
#[derive(Clone, Debug, Default)]
pub struct SharedDamage(Arc<OnceLock<Damage>>);

impl SharedDamage {
    /// What was met so far.
    #[must_use]
    pub fn get(&self) -> Option<Damage> {
        self.0.get().cloned()
    }

    /// Damage was met, unless some was met before: only the first counts.
    pub(super) fn set(&self, damage: Damage) {
        self.0.get_or_init(|| damage);
    }
}

/// A buffered reader that counts what is consumed.
pub(super) struct Counted<R> {
    inner: R,
    consumed: BytesRead,
}

impl<R> Counted<R> {
    pub(super) fn new(inner: R, consumed: BytesRead) -> Self {
        Self { inner, consumed }
    }
}

impl<R: io::BufRead> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.consumed.add(n);
        Ok(n)
    }
}

impl<R: io::BufRead> io::BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.consumed.add(amount);
        self.inner.consume(amount);
    }
}

/// Delivers all that can be read, then ends; what stopped it is in the [`SharedDamage`].
pub(super) struct Tolerant<R> {
    inner: R,
    layer: Layer,
    /// Where the stream begins in the file.
    start: u64,
    consumed: BytesRead,
    delivered: u64,
    damage: SharedDamage,
}

impl<R: Read> Tolerant<R> {
    pub(super) fn new(inner: R, layer: Layer, consumed: BytesRead, damage: SharedDamage) -> Self {
        Self { inner, layer, start: 0, consumed, delivered: 0, damage }
    }

    /// The same; what `consumed` counts begins there in the file.
    pub(super) fn starting_at(self, start: u64) -> Self {
        Self { start, ..self }
    }

    fn remember(&self, err: &io::Error, filled: usize) {
        let damage = Damage {
            layer: self.layer,
            file_offset: self.start + self.consumed.get(),
            offset: self.delivered + filled as u64,
            why: err.to_string(),
            truncated: err.kind() == io::ErrorKind::UnexpectedEof,
        };
        // After it nothing is read any more.
        self.damage.set(damage);
    }
}

impl<R: Read> Read for Tolerant<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.damage.0.get().is_some() {
            return Ok(0);
        }
        let piece = if matches!(self.layer, Layer::Compression(_) | Layer::Zip) { PIECE } else { buf.len() };
        let mut filled = 0;
        while filled < buf.len() {
            let end = buf.len().min(filled + piece);
            match self.inner.read(&mut buf[filled..end]) {
                Ok(n) => {
                    filled += n;
                    if n == 0 || filled < end {
                        break;
                    }
                }
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => {
                    self.remember(&err, filled);
                    break;
                }
            }
        }
        self.delivered += filled as u64;
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten bytes, then an error.
    struct Failing(usize);

    impl Read for Failing {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::other("bad block"));
            }
            let n = buf.len().min(self.0).min(3);
            self.0 -= n;
            buf[..n].fill(b'x');
            Ok(n)
        }
    }

    #[test]
    fn data_first_then_the_damage() {
        let damage = SharedDamage::default();
        let mut stream = Tolerant::new(Failing(10), Layer::File, BytesRead::default(), damage.clone());
        let mut got = Vec::new();
        stream.read_to_end(&mut got).unwrap();
        assert_eq!(got.len(), 10);
        let damage = damage.get().unwrap();
        assert_eq!(damage.offset, 10);
        assert!(damage.to_string().contains("bad block"), "{damage}");
        assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    }
}
