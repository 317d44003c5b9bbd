//! A stream that can be opened as often as it is wanted.

use std::io::{self, BufReader, Read};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use crate::input::damage::{Counted, Layer};
use crate::kept::Stretch;
use crate::progress::BytesRead;

const BUFFER: usize = 256 << 10;

/// Where a stream comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// Bytes as they are, and what is damaged if they cannot be read.
    Stretch(Stretch, Layer),
    /// A member of a zip archive.
    Deflated {
        packed: Stretch,
        /// CRC-32 and number of the bytes that come out, as the archive says.
        expected: (u32, u64),
    },
}

impl Origin {
    /// Bytes that are read from the file.
    pub(super) fn packed_bytes(&self) -> u64 {
        match self {
            Self::Stretch(stretch, _) => stretch.len(),
            Self::Deflated { packed, .. } => packed.len(),
        }
    }

    /// What is damaged if reading fails.
    pub(super) fn layer(&self) -> Layer {
        match self {
            Self::Stretch(_, layer) => *layer,
            Self::Deflated { .. } => Layer::Zip,
        }
    }

    /// Where it begins in the file.
    pub(super) fn start(&self) -> u64 {
        match self {
            Self::Stretch(stretch, _) => stretch.start(),
            Self::Deflated { packed, .. } => packed.start(),
        }
    }

    /// Opens the stream at its beginning; what is read of the file is counted.
    pub(super) fn open(&self, consumed: &BytesRead) -> io::Result<Box<dyn Read + Send>> {
        let counted = |stretch: &Stretch| -> io::Result<_> {
            Ok(Counted::new(BufReader::with_capacity(BUFFER, stretch.open()?), consumed.clone()))
        };
        Ok(match self {
            Self::Stretch(stretch, _) => Box::new(counted(stretch)?),
            Self::Deflated { packed, expected } => {
                let inner = DeflateDecoder::new(counted(packed)?);
                Box::new(Inflated { inner, crc: Crc::new(), bytes: 0, expected: *expected })
            }
        })
    }
}

/// What comes out of a member of a zip archive. That it is something else than the archive says is an error at its end.
struct Inflated<R> {
    inner: R,
    crc: Crc,
    bytes: u64,
    expected: (u32, u64),
}

impl<R: Read> Read for Inflated<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.crc.update(&buf[..n]);
        self.bytes += n as u64;
        if n == 0 && !buf.is_empty() && (self.crc.sum(), self.bytes) != self.expected {
            let why = "the checksum of a member is wrong, or its length";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(n)
    }
}
