//! A reader's place in `/dev/kmsg`: each read returns one line.

use std::time::Duration;

use rustix::io::Errno;

use crate::kernel::{KernelLog, KmsgRead};

/// A blocking reader gets `EINTR` after this time, so that it can be killed; libraries read again.
const LONGEST_WAIT: Duration = Duration::from_millis(250);

/// Where a reader is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KmsgPlace {
    /// Number of the next line.
    sequence: u64,
    /// Offset that the next read has unless the reader seeks.
    offset: u64,
}

impl KmsgPlace {
    /// A new reader begins at the oldest line.
    pub(super) fn start(&mut self, log: &KernelLog) {
        *self = Self { sequence: log.first(), offset: 0 };
    }

    /// The next line for a read at `offset`, if it fits into `size` bytes.
    pub(super) fn read(&mut self, log: &KernelLog, offset: u64, size: usize, blocking: bool) -> Result<Vec<u8>, Errno> {
        if offset != self.offset {
            // `SEEK_SET` to 0 goes to the oldest line, `SEEK_END` behind the newest.
            self.sequence = if offset == 0 { log.first() } else { log.end() };
            self.offset = offset;
        }
        let mut next = log.at(self.sequence);
        if next == KmsgRead::End && blocking {
            log.wait_for(self.sequence, LONGEST_WAIT);
            next = log.at(self.sequence);
        }
        match next {
            KmsgRead::Line(line) => {
                let record = line.to_record().into_bytes();
                if record.len() > size {
                    return Err(Errno::INVAL);
                }
                self.sequence += 1;
                self.offset += record.len() as u64;
                Ok(record)
            }
            KmsgRead::Overwritten(first) => {
                self.sequence = first;
                Err(Errno::PIPE)
            }
            KmsgRead::End if blocking => Err(Errno::INTR),
            KmsgRead::End => Err(Errno::AGAIN),
        }
    }
}

/// The size that the file shows, so that `SEEK_END` leads to an offset that no reader reaches by reading.
pub(super) const SHOWN_BYTES: u64 = 1 << 40;
