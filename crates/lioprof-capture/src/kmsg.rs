//! What the kernel log says about the debug log: overflows and write errors, which appear nowhere else.
//!
//! Read from `/dev/kmsg`, from the moment of opening on. The kernel limits the rate of its own messages, so a count here is
//! a lower bound and its purpose is "it happened at all, and when"; the exact account of losses comes from the segments.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use lioprof_params::Kmsg;

use crate::system::below;

/// The kernel log cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KmsgError {
    /// Opening failed.
    #[error(
        "failed to open `{}`: overflows of the debug buffer will be seen in the log itself only; it takes root, and CAP_SYSLOG where \
         kernel.dmesg_restrict is 1",
        path.display()
    )]
    Open { path: PathBuf, source: io::Error },
    /// Reading failed.
    #[error("failed to read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
}

/// What a message is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A CPU's buffer was full; its oldest pages were thrown away before they reached the file.
    Overflow {
        /// Pages thrown away.
        pages: u64,
        /// Pages that the buffer held.
        of: u64,
    },
    /// The daemon's file cannot be opened: wrong directory, read-only, no space for a new file.
    CannotOpen {
        /// As the kernel wrote it.
        message: String,
    },
    /// The file took less than was written: disk full. The kernel tries the page again.
    ShortWrite {
        wanted: u64,
        /// Bytes, or a negative error number.
        wrote: i64,
    },
    /// No memory for a page of the log: a record was lost.
    NoMemory,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow { pages, of } => write!(f, "debug buffer overflow, {pages} of {of} pages discarded"),
            Self::CannotOpen { message } => f.write_str(message),
            Self::ShortWrite { wanted, wrote } => {
                write!(f, "the debug daemon wanted to write {wanted} bytes and wrote {wrote}; it tries again")
            }
            Self::NoMemory => f.write_str("no memory for a page of the debug log, a record is lost"),
        }
    }
}

/// Sums since opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelCounts {
    /// Messages about overflows.
    pub overflows: u64,
    /// Messages about a file that cannot be opened.
    pub cannot_open: u64,
    /// Messages about short writes.
    pub short_writes: u64,
    /// Messages about missing memory.
    pub no_memory: u64,
}

/// Follows the kernel log.
#[derive(Debug)]
pub(crate) struct KernelLog {
    path: PathBuf,
    kmsg: Kmsg,
    /// Sums since opening.
    pub(crate) counts: KernelCounts,
    /// Heard while opening.
    pending: Vec<Kind>,
}

impl KernelLog {
    /// Opens `/dev/kmsg` below `root`, at its end.
    pub(crate) fn open(root: &Path) -> Result<Self, KmsgError> {
        let path = below(root, "dev/kmsg");
        let opened = Kmsg::open(root).and_then(|mut kmsg| kmsg.seek_to_end().map(|()| kmsg));
        let kmsg = match opened {
            Ok(kmsg) => kmsg,
            Err(source) => return Err(KmsgError::Open { path, source }),
        };
        let mut log = Self { path, kmsg, counts: KernelCounts::default(), pending: Vec::new() };
        // A simulated server's device learns of the place with the first read only; the kernel's has nothing to say yet.
        log.pending = log.poll()?;
        Ok(log)
    }

    /// What came since the last call. Does not wait.
    pub(crate) fn poll(&mut self) -> Result<Vec<Kind>, KmsgError> {
        let mut events = std::mem::take(&mut self.pending);
        let failed = |source| KmsgError::Read { path: self.path.clone(), source };
        while let Some(record) = self.kmsg.read().map_err(failed)? {
            let text = String::from_utf8_lossy(record);
            events.extend(text.lines().filter_map(parse_record).inspect(|kind| self.counts.count(kind)));
        }
        Ok(events)
    }
}

impl KernelCounts {
    fn count(&mut self, kind: &Kind) {
        match kind {
            Kind::Overflow { .. } => self.overflows += 1,
            Kind::CannotOpen { .. } => self.cannot_open += 1,
            Kind::ShortWrite { .. } => self.short_writes += 1,
            Kind::NoMemory => self.no_memory += 1,
        }
    }
}

/// `4,1234,56789,-;text`: priority, sequence, microseconds, flags. Lines that begin with a space belong to the one before.
fn parse_record(line: &str) -> Option<Kind> {
    let (head, text) = line.split_once(';')?;
    head.split(',').nth(2)?.parse::<u64>().ok()?;
    parse_message(text)
}

/// Wordings of `tracefile.c`; since 2.14 with `Lustre: ` or `LustreError: ` in front, `cannot allocate a tage` with the
/// place in the source.
fn parse_message(text: &str) -> Option<Kind> {
    if let Some((_, rest)) = text.split_once("debug daemon buffer overflowed; discarding 10% of pages (") {
        let (pages, of) = rest.split_once(')')?.0.split_once(" of ")?;
        return Some(Kind::Overflow { pages: pages.parse().ok()?, of: of.parse().ok()? });
    }
    // Both words are common: only at the beginning of the message proper.
    let proper = text.trim_start_matches("LustreError: ").trim_start_matches("Lustre: ").trim_start_matches("libcfs: ");
    if let Some(rest) = proper.strip_prefix("wanted to write ") {
        let (wanted, wrote) = rest.split_once(" but wrote ")?;
        return Some(Kind::ShortWrite { wanted: wanted.parse().ok()?, wrote: wrote.trim().parse().ok()? });
    }
    if proper.starts_with("couldn't open /") {
        return Some(Kind::CannotOpen { message: proper.trim().to_owned() });
    }
    text.contains("cannot allocate a tage").then_some(Kind::NoMemory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write;

    fn kind(text: &str) -> Option<Kind> {
        parse_message(text)
    }

    #[test]
    fn all_wordings() {
        let overflow = Some(Kind::Overflow { pages: 102, of: 1024 });
        assert_eq!(kind("debug daemon buffer overflowed; discarding 10% of pages (102 of 1024)"), overflow);
        assert_eq!(kind("Lustre: debug daemon buffer overflowed; discarding 10% of pages (102 of 1024)"), overflow);
        assert_eq!(kind("wanted to write 4096 but wrote -28"), Some(Kind::ShortWrite { wanted: 4096, wrote: -28 }));
        assert_eq!(
            kind("Lustre: wanted to write 4096 but wrote 17"),
            Some(Kind::ShortWrite { wanted: 4096, wrote: 17 })
        );
        let message = "couldn't open /run/lioprof/log: -2".to_owned();
        assert_eq!(kind("couldn't open /run/lioprof/log: -2"), Some(Kind::CannotOpen { message }));
        let message = "couldn't open /run/lioprof/log: rc = -2".to_owned();
        assert_eq!(kind("LustreError: couldn't open /run/lioprof/log: rc = -2"), Some(Kind::CannotOpen { message }));
        assert_eq!(kind("cannot allocate a tage (12)"), Some(Kind::NoMemory));
    }

    #[test]
    fn other_messages_are_none() {
        for text in [
            "Lustre: debug daemon will attempt to start writing to /root/cap/rpc.bin (1048576kB max)",
            "Lustre: DEBUG MARKER: couldn't open",
            "usb 1-1: couldn't open device",
            "debug daemon buffer overflowed; discarding 10% of pages (a of b)",
            "",
        ] {
            assert_eq!(kind(text), None, "{text}");
        }
    }

    #[test]
    fn only_what_comes_after_opening_counts() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("dev")).unwrap();
        let path = root.path().join("dev/kmsg");
        std::fs::write(&path, "4,1,1000,-;debug daemon buffer overflowed; discarding 10% of pages (1 of 10)\n")
            .unwrap();
        let mut log = KernelLog::open(root.path()).unwrap();
        assert_eq!(log.poll().unwrap(), []);
        let mut writer = OpenOptions::new().append(true).open(&path).unwrap();
        writer
            .write_all(
                b"4,2,2000,-;Lustre: debug daemon buffer overflowed; discarding 10% of pages (2 of 20)\n SUBSYSTEM=x\n\
                  6,3,3000,-;eth0: link up\n4,4,4000,c;wanted to write 4096 but wrote -28\n",
            )
            .unwrap();
        let events = log.poll().unwrap();
        assert_eq!(events, [Kind::Overflow { pages: 2, of: 20 }, Kind::ShortWrite { wanted: 4096, wrote: -28 }]);
        let expected = KernelCounts { overflows: 1, short_writes: 1, ..KernelCounts::default() };
        assert_eq!(log.counts, expected);
        assert_eq!(log.poll().unwrap(), []);
    }

    #[test]
    fn a_missing_log_is_explained() {
        let error = KernelLog::open(Path::new("/nonexistent")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/dev/kmsg") && error.contains("CAP_SYSLOG"), "{error}");
    }
}
