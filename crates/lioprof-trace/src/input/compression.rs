//! Compression told by content, and one decoder for each.

use std::fmt;
use std::io::{self, BufRead, Read};

use liblzma::stream::{CONCATENATED, Error as XzError, Stream};

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// gzip, any number of members.
    Gz,
    /// Zstandard, any number of frames.
    Zst,
    /// xz, any number of streams.
    Xz,
    /// bzip2, any number of streams.
    Bz2,
}

impl Compression {
    /// Bytes that [`Self::detect`] wants to see.
    pub(super) const MAGIC_BYTES: usize = 10;

    /// From the first bytes of a file.
    pub(super) fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gz),
            // A frame, or a skippable frame as pzstd and the seekable format put in front.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Self::Zst),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] if bz2_block(rest) => Some(Self::Bz2),
            _ => None,
        }
    }

    /// A reader of the decompressed bytes. Fails if the decoder cannot be set up.
    pub(super) fn decoder<'a, R: BufRead + Send + 'a>(self, input: R) -> io::Result<Box<dyn Read + Send + 'a>> {
        Ok(match self {
            Self::Gz => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Self::Zst => Box::new(zstd::stream::read::Decoder::with_buffer(input)?),
            Self::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
                Box::new(XzMemory(liblzma::bufread::XzDecoder::new_stream(input, stream)))
            }
            Self::Bz2 => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        })
    }
}

/// Memory for decompressing xz: a dictionary of 256 MiB (`xz -9` has one of 64 MiB) and what goes with it.
const XZ_MEMORY: u64 = (256 + 1) << 20;

/// Says what it means that decompressing takes too much memory.
struct XzMemory<R>(R);

impl<R: Read> Read for XzMemory<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.read(buf).map_err(|err| {
            let inner = err.get_ref().and_then(|inner| inner.downcast_ref::<XzError>());
            if matches!(inner, Some(XzError::MemLimit)) {
                return io::Error::other("its dictionary is larger than 256 MiB; decompress it with `xz -dc` first");
            }
            err
        })
    }
}

/// Whether a bzip2 header goes on with a block or the end of the stream, as far as it is there.
fn bz2_block(rest: &[u8]) -> bool {
    let rest = &rest[..rest.len().min(6)];
    [b"1AY&SY", b"\x17rE8P\x90"].iter().any(|magic| magic.starts_with(rest))
}

/// As written in `analysis.json`.
impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gz => "gz",
            Self::Zst => "zst",
            Self::Xz => "xz",
            Self::Bz2 => "bz2",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out of xz data that say that their dictionary is so large (`xz` file format, 5.3.1).
    fn with_dictionary(size: u8) -> io::Result<Vec<u8>> {
        let mut out = liblzma::write::XzEncoder::new(Vec::new(), 0);
        io::Write::write_all(&mut out, b"x")?;
        let mut packed = out.finish()?;
        // Behind the stream's header: a block's header, whose length is in its first byte, with a checksum at its end.
        let block = &mut packed[12..];
        let len = (usize::from(block[0]) + 1) * 4;
        let at = block[..len].windows(2).position(|filter| filter == [0x21, 1]).unwrap() + 2;
        block[at] = size;
        let mut crc = flate2::Crc::new();
        crc.update(&block[..len - 4]);
        block[len - 4..len].copy_from_slice(&crc.sum().to_le_bytes());
        let mut unpacked = Vec::new();
        Compression::Xz.decoder(io::Cursor::new(packed))?.read_to_end(&mut unpacked)?;
        Ok(unpacked)
    }

    #[test]
    fn large_dictionaries_of_xz_are_refused() {
        // 256 MiB and 384 MiB.
        assert_eq!(with_dictionary(32).unwrap(), b"x");
        let err = with_dictionary(33).unwrap_err();
        assert!(err.to_string().contains("larger than 256 MiB"), "{err}");
    }

    #[test]
    fn magic_bytes() {
        assert_eq!(Compression::detect(b"\x1f\x8b\x08\0\0\0"), Some(Compression::Gz));
        assert_eq!(Compression::detect(b"\x28\xb5\x2f\xfd\0\0"), Some(Compression::Zst));
        assert_eq!(Compression::detect(b"\x50\x2a\x4d\x18\x04\0\0\0"), Some(Compression::Zst));
        assert_eq!(Compression::detect(b"\xfd7zXZ\0\0\x04"), Some(Compression::Xz));
        assert_eq!(Compression::detect(b"BZh91AY&SY"), Some(Compression::Bz2));
        assert_eq!(Compression::detect(b"BZh9\x17rE8P\x90"), Some(Compression::Bz2));
        assert_eq!(Compression::detect(b"BZh9 is a word"), None);
        assert_eq!(Compression::detect(b"00000100:00100000:0.0:"), None);
        assert_eq!(Compression::detect(b""), None);
    }
}
