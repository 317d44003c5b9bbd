//! A stream that is kept packed: blocks of zstd, each by itself, so that it can be read at any offset.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use zstd::bulk::{Decompressor, compress};

use super::store::Store;

/// Bytes that are packed at once.
pub(crate) const BLOCK: usize = 256 << 10;
/// The fastest one: it packs debug logs to an eighth.
const LEVEL: i32 = 1;

/// Takes a stream. There may be a thousand of them at once, so each keeps no more than a block.
pub(crate) struct Packer {
    store: Arc<Store>,
    /// What has room in memory stays as it is.
    plain_in_memory: bool,
    /// Not packed yet.
    pending: Vec<u8>,
    blocks: Vec<Block>,
    len: u64,
}

/// Where a packed block lies.
#[derive(Clone, Copy, Debug)]
struct Block {
    at: u64,
    len: u32,
    /// It is not packed.
    is_plain: bool,
}

impl Packer {
    /// Keeps what comes in `store`.
    pub(crate) fn new(store: Arc<Store>) -> Self {
        Self { store, plain_in_memory: false, pending: Vec::new(), blocks: Vec::new(), len: 0 }
    }

    /// The same, but what has room in memory is not packed: it is read once, and soon.
    pub(crate) fn for_once(store: Arc<Store>) -> Self {
        Self { plain_in_memory: true, ..Self::new(store) }
    }

    /// Takes bytes.
    pub(crate) fn add(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while self.pending.len() + bytes.len() >= BLOCK {
            let (here, rest) = bytes.split_at(BLOCK - self.pending.len());
            if self.pending.is_empty() {
                self.pack(here)?;
            } else {
                self.pending.extend_from_slice(here);
                self.pack_pending()?;
            }
            bytes = rest;
        }
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes a stream to its end.
    pub(crate) fn add_all(&mut self, stream: &mut dyn Read) -> io::Result<()> {
        let mut buffer = vec![0; BLOCK];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => self.add(&buffer[..n])?,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
    }

    /// The stream is complete.
    pub(crate) fn finish(mut self) -> io::Result<Packed> {
        if !self.pending.is_empty() {
            self.pack_pending()?;
        }
        Ok(Packed { store: self.store, blocks: self.blocks, len: self.len, unpacked: Mutex::default() })
    }

    fn pack_pending(&mut self) -> io::Result<()> {
        let mut pending = std::mem::take(&mut self.pending);
        self.pack(&pending)?;
        pending.clear();
        self.pending = pending;
        Ok(())
    }

    fn pack(&mut self, block: &[u8]) -> io::Result<()> {
        let is_plain = self.plain_in_memory && self.store.has_room(block.len());
        let packed = if is_plain { Vec::new() } else { compress(block, LEVEL)? };
        let kept = if is_plain { block } else { &packed };
        let at = self.store.append(kept)?;
        self.blocks.push(Block { at, len: u32::try_from(kept.len()).unwrap_or(u32::MAX), is_plain });
        self.len += block.len() as u64;
        Ok(())
    }
}

/// A stream that was kept.
#[derive(Default)]
pub(crate) struct Packed {
    store: Arc<Store>,
    /// All but the last one hold [`BLOCK`] bytes.
    blocks: Vec<Block>,
    len: u64,
    unpacked: Mutex<Unpacked>,
}

/// The block that was read last, which is the one to be read next.
#[derive(Default)]
struct Unpacked {
    number: Option<usize>,
    bytes: Vec<u8>,
    decompressor: Option<Decompressor<'static>>,
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packed").field("len", &self.len).field("blocks", &self.blocks.len()).finish_non_exhaustive()
    }
}

impl Packed {
    /// Number of bytes, unpacked.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads some bytes at `offset`; 0 only at or behind the end, or if `buf` is empty.
    pub(crate) fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let number = usize::try_from(offset / BLOCK as u64).unwrap_or(usize::MAX);
        let Some(block) = self.blocks.get(number) else { return Ok(0) };
        let at = usize::try_from(offset % BLOCK as u64).unwrap_or(0);
        if block.is_plain {
            let n = buf.len().min((block.len as usize).saturating_sub(at));
            return self.store.read_at(block.at + at as u64, &mut buf[..n]);
        }
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if unpacked.number != Some(number) {
            unpacked.number = None;
            self.unpack(*block, &mut unpacked)?;
            unpacked.number = Some(number);
        }
        let rest = unpacked.bytes.get(at..).unwrap_or_default();
        let n = buf.len().min(rest.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn unpack(&self, block: Block, into: &mut Unpacked) -> io::Result<()> {
        let mut packed = vec![0; block.len as usize];
        let mut filled = 0;
        while filled < packed.len() {
            match self.store.read_at(block.at + filled as u64, &mut packed[filled..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => filled += n,
            }
        }
        let Unpacked { bytes, decompressor, .. } = into;
        let decompressor = match decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        };
        bytes.clear();
        bytes.reserve(BLOCK);
        decompressor.decompress_to_buffer(&packed, bytes)?;
        Ok(())
    }
}

/// Reads what was kept from its beginning.
pub(crate) struct PackedReader {
    packed: Arc<Packed>,
    at: u64,
}

impl PackedReader {
    pub(crate) fn new(packed: Arc<Packed>) -> Self {
        Self { packed, at: 0 }
    }
}

impl Read for PackedReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.packed.read_at(self.at, buf)?;
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(data: &[u8], piece: usize, limit: usize) -> Packed {
        let mut packer = Packer::new(Arc::new(Store::new(limit)));
        data.chunks(piece).for_each(|piece| packer.add(piece).unwrap());
        packer.finish().unwrap()
    }

    #[test]
    fn what_is_kept_comes_back() {
        let data: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        for (len, piece, limit) in
            [(0, 1, 9), (1, 1, 9), (BLOCK, 1000, 0), (BLOCK + 1, BLOCK, 50), (data.len(), 7777, 99_999)]
        {
            let packed = Arc::new(pack(&data[..len], piece, limit));
            assert_eq!(packed.len(), len as u64);
            let mut got = Vec::new();
            PackedReader::new(Arc::clone(&packed)).read_to_end(&mut got).unwrap();
            assert_eq!(got, data[..len]);
            for at in [0, 1, BLOCK - 1, BLOCK, len / 2, len.saturating_sub(1), len, len + 7] {
                let mut buf = [0; 10];
                let n = packed.read_at(at as u64, &mut buf).unwrap();
                assert_eq!(buf[..n], data[..len].get(at..).unwrap_or_default()[..n], "{len} {at}");
                assert_eq!(n == 0, at >= len, "{len} {at}");
            }
        }
    }

    #[test]
    fn logs_take_a_fraction_of_their_room() {
        let line = b"00000100:00100000:0.0:1.000000:0:1:0:(a.c:1:f()) x\n";
        let store = Arc::new(Store::new(0));
        let mut packer = Packer::new(Arc::clone(&store));
        (0..100_000).for_each(|_| packer.add(line).unwrap());
        assert!(store.len() < (100_000 * line.len() / 10) as u64);
        packer.finish().unwrap();
    }
}
