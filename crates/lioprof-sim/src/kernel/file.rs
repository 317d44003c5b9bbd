//! Writing pages into the debug daemon's file: its position, its size limit, a full disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::Page;
use super::account::FileAccount;

/// The position, which survives stop, start and a change of the path, and what belongs to writing.
#[derive(Debug, Default)]
pub(super) struct Writer {
    position: u64,
    /// Room left on a disk that is pretended to be nearly full.
    pub(super) room: Option<u64>,
    pub(super) account: FileAccount,
}

/// A page that could not be written completely: the number that the kernel prints, bytes or a negative errno.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Short(pub(super) i64);

impl Writer {
    /// Writes the used bytes of one page where the kernel would, then moves on by what was written.
    pub(super) fn write(&mut self, file: &File, page: &Page, limit: u64) -> Result<(), Short> {
        let bytes = page.used();
        let size = file.metadata().map_or(0, |metadata| metadata.len());
        if self.position >= limit {
            self.position = 0;
            self.account.wraps += 1;
        } else if self.position > size {
            self.position = size;
        }
        let written = self.write_some(file, bytes).map_err(|err| Short(-i64::from(err.raw_os_error().unwrap_or(5))))?;
        let count = written as u64;
        self.account.overwritten_bytes += count.min(size.saturating_sub(self.position));
        self.account.bytes += count;
        self.position += count;
        if written < bytes.len() {
            self.account.torn_bytes += count;
            return Err(Short(i64::try_from(written).unwrap_or(i64::MAX)));
        }
        Ok(())
    }

    fn write_some(&mut self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let Some(room) = &mut self.room else { return file.write_at(bytes, self.position) };
        let fits = usize::try_from(*room).unwrap_or(usize::MAX).min(bytes.len());
        if fits == 0 && !bytes.is_empty() {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        let written = file.write_at(&bytes[..fits], self.position)?;
        *room -= written as u64;
        Ok(written)
    }

    /// The modules were loaded again.
    pub(super) fn reset(&mut self) {
        self.position = 0;
    }
}
