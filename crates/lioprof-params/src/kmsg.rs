//! The kernel log, `/dev/kmsg`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::text::below;

/// One record is at most 8 KiB (`PRINTKRB_RECORD_MAX`, and `CONSOLE_EXT_LOG_MAX` before).
const RECORD_BYTES: usize = 8192;

/// A place in the kernel log.
#[derive(Debug)]
pub struct Kmsg {
    file: File,
    buffer: Vec<u8>,
}

impl Kmsg {
    /// Opens `dev/kmsg` below `root`, before the oldest record that there is.
    ///
    /// # Errors
    /// Mostly for want of permission: it takes root, and CAP_SYSLOG where kernel.dmesg_restrict is 1.
    pub fn open(root: &Path) -> io::Result<Self> {
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let file = OpenOptions::new().read(true).custom_flags(flags).open(below(root, "dev/kmsg"))?;
        Ok(Self { file, buffer: vec![0; RECORD_BYTES] })
    }

    /// Goes behind the newest record.
    ///
    /// # Errors
    /// Whatever seeking gives.
    pub fn seek_to_end(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0)).map(|_| ())
    }

    /// The next record, a line or several; `None` if there is none yet. Does not wait.
    ///
    /// # Errors
    /// Whatever reading gives.
    pub fn read(&mut self) -> io::Result<Option<&[u8]>> {
        let read = loop {
            match self.file.read(&mut self.buffer) {
                Ok(0) => return Ok(None),
                Ok(read) => break read,
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                // Overwritten before it was read; the next read goes on with the oldest there is.
                Err(err) if Errno::from_io_error(&err) == Some(Errno::PIPE) => {}
                Err(err) => return Err(err),
            }
        };
        Ok(self.buffer.get(..read))
    }
}
