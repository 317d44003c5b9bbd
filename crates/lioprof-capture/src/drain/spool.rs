//! The folder in which the kernel writes and closed segments wait.
//!
//! The kernel's thread opens its file by path anew in every flush pass and writes whole pages (`tracefile.c`, Lustre 2.5
//! to master). So renaming the file loses nothing: a running pass ends in the renamed file, the next one makes
//! a new file. A file that is never let grow to its size limit never wraps.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::control::KERNELS_DAEMON_SIZE_MIB;

/// A renamed file to which nothing was added for this long, while the kernel has not begun a new one, is closed: a
/// pass writes its pages without pause, and passes are a second apart at most.
const QUIET: Duration = Duration::from_secs(2);

const SEGMENT: &str = "seg";
/// What was logged before the capture.
const LEFT_OUT: &str = "old";

/// A segment that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// How large the kernel let it grow before it overwrote the beginning.
    pub limit_bytes: u64,
}

impl SegmentFile {
    /// It reached its limit: its beginning may have been overwritten.
    pub(super) fn may_wrap(&self) -> bool {
        self.bytes >= self.limit_bytes
    }
}

/// The folder and what the daemon calls its files there.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    session: String,
    /// Size limit of the kernel's file.
    limit_bytes: u64,
    next: u64,
    /// Renamed, but a flush pass may still be writing to it.
    closing: Option<Closing>,
    /// The kernel's file as it was last seen.
    seen: Option<Seen>,
}

/// The kernel's file, held open so that no other one can get its inode, and the bytes that were in it.
#[derive(Debug)]
struct Seen {
    file: File,
    bytes: u64,
}

#[derive(Debug)]
struct Closing {
    path: PathBuf,
    bytes: u64,
    quiet_since: Instant,
}

impl Spool {
    /// For a session whose name sorts behind that of earlier ones, and a kernel's file of at most `limit_mib` MiB.
    #[must_use]
    pub fn new(dir: &Path, session: &str, limit_mib: u64) -> Self {
        let limit_bytes = limit_mib << 20;
        Self { dir: dir.to_owned(), session: session.to_owned(), limit_bytes, next: 0, closing: None, seen: None }
    }

    /// Name of the session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// Size limit of the kernel's file, MiB.
    #[must_use]
    pub fn limit_mib(&self) -> u64 {
        self.limit_bytes >> 20
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file that the kernel is told to write.
    #[must_use]
    pub fn current(&self) -> PathBuf {
        self.dir.join(format!("{}.bin", self.session))
    }

    /// Where the kernel writes what it logged before the capture.
    #[must_use]
    pub fn left_out(&self) -> PathBuf {
        self.dir.join(format!("{}.{LEFT_OUT}", self.session))
    }

    /// Bytes that the kernel has written since the last rotation.
    #[must_use]
    pub fn current_bytes(&self) -> u64 {
        fs::metadata(self.current()).map_or(0, |metadata| metadata.len())
    }

    /// Looks at the kernel's file; returns how many of the bytes that were in it at the last look are gone because
    /// somebody deleted or truncated it. It only ever grows by itself.
    pub fn vanished(&mut self) -> u64 {
        let there = fs::metadata(self.current()).ok().map(|metadata| metadata.ino());
        let mut gone = 0;
        if let Some(Seen { file, bytes }) = self.seen.take() {
            match file.metadata() {
                Ok(now) if Some(now.ino()) == there => {
                    gone = bytes.saturating_sub(now.len());
                    self.seen = Some(Seen { file, bytes: now.len() });
                }
                now => gone = now.map_or(bytes, |now| now.len().max(bytes)),
            }
        }
        if self.seen.is_none() && there.is_some() {
            let file = File::open(self.current()).ok();
            self.seen = file.and_then(|file| Some(Seen { bytes: file.metadata().ok()?.len(), file }));
        }
        gone
    }

    /// Renames the kernel's file, unless there is none or the one before is not closed yet.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn rotate(&mut self, now: Instant) -> io::Result<()> {
        let bytes = self.current_bytes();
        if self.closing.is_some() || bytes == 0 {
            return Ok(());
        }
        let path = self.dir.join(format!("{}-{:08}.{SEGMENT}", self.session, self.next));
        match fs::rename(self.current(), &path) {
            Ok(()) => {
                self.next += 1;
                self.closing = Some(Closing { path, bytes, quiet_since: now });
                self.seen = None;
                Ok(())
            }
            // Somebody removed it in between.
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(err) => Err(err),
        }
    }

    /// The renamed segment, once the kernel cannot be writing to it any more.
    pub fn closed(&mut self, now: Instant) -> Option<SegmentFile> {
        let closing = self.closing.as_mut()?;
        let Ok(metadata) = fs::metadata(&closing.path) else {
            // Somebody removed it.
            let Closing { path, bytes, .. } = self.closing.take()?;
            return Some(SegmentFile { path, bytes, limit_bytes: self.limit_bytes });
        };
        if metadata.len() != closing.bytes {
            closing.bytes = metadata.len();
            closing.quiet_since = now;
        }
        let next_pass = fs::exists(self.dir.join(format!("{}.bin", self.session))).unwrap_or(false);
        (next_pass || now.duration_since(closing.quiet_since) >= QUIET).then(|| self.take_closing())?
    }

    /// What is left once the kernel's thread has stopped: the renamed segment and the kernel's file.
    ///
    /// # Errors
    /// If the kernel's file cannot be renamed.
    pub fn stopped(&mut self, now: Instant) -> io::Result<Vec<SegmentFile>> {
        let mut segments: Vec<SegmentFile> = self.take_closing().into_iter().collect();
        self.rotate(now)?;
        segments.extend(self.take_closing());
        Ok(segments)
    }

    fn take_closing(&mut self) -> Option<SegmentFile> {
        let Closing { path, bytes, .. } = self.closing.take()?;
        // One that somebody removed had so many at least.
        let bytes = fs::metadata(&path).map_or(bytes, |metadata| metadata.len());
        Some(SegmentFile { path, bytes, limit_bytes: self.limit_bytes })
    }
}

/// Segments and files of sessions that did not end well, oldest first. Nobody may be writing to them.
///
/// # Errors
/// If the folder cannot be read.
pub fn leftovers(dir: &Path) -> io::Result<Vec<SegmentFile>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let is_ours = path.extension().is_some_and(|extension| extension == SEGMENT || extension == "bin")
            && path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_session);
        if is_ours {
            let bytes = fs::metadata(&path)?.len();
            // The kernel's own file comes after all of its session's segments.
            let last = path.extension().is_some_and(|extension| extension == "bin");
            let session = session_of(&path);
            // Until somebody knows better: no version of lioprof set less without a record.
            let limit_bytes = KERNELS_DAEMON_SIZE_MIB << 20;
            found.push((session, last, SegmentFile { path, bytes, limit_bytes }));
        }
    }
    found.sort_by(|a, b| (&a.0, a.1, &a.2.path).cmp(&(&b.0, b.1, &b.2.path)));
    Ok(found.into_iter().map(|(.., segment)| segment).collect())
}

/// Deletes what sessions left out and had no time to delete.
///
/// # Errors
/// If the folder cannot be read, or a file cannot be deleted.
pub fn remove_left_out(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == LEFT_OUT) && session_of(&path).is_some() {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Length of a session's name.
const SESSION_LEN: usize = 16;

/// A session's name: microseconds since the epoch in hexadecimal, so that names sort by time.
#[must_use]
pub fn session_name(start_us: i64) -> String {
    format!("{start_us:016x}")
}

/// The session that a segment belongs to.
#[must_use]
pub fn session_of(segment: &Path) -> Option<String> {
    let stem = segment.file_stem()?.to_str().filter(|stem| is_session(stem))?;
    Some(stem[..SESSION_LEN].to_owned())
}

fn is_session(stem: &str) -> bool {
    let (session, number) = stem.split_once('-').unwrap_or((stem, "0"));
    let all = |text: &str, test: fn(&u8) -> bool| text.as_bytes().iter().all(test);
    session.len() == SESSION_LEN && all(session, u8::is_ascii_hexdigit) && all(number, u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_closed_by_the_next_pass_or_by_quiet() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path(), &session_name(1), 10);
        let start = Instant::now();
        spool.rotate(start).unwrap();
        assert_eq!(spool.closed(start), None, "nothing was written");

        fs::write(spool.current(), b"one").unwrap();
        spool.rotate(start).unwrap();
        assert_eq!(spool.closed(start), None, "the pass may go on");
        // The running pass writes on into the renamed file.
        let renamed = dir.path().join(format!("{}-00000000.seg", session_name(1)));
        fs::write(&renamed, b"one and more").unwrap();
        fs::write(spool.current(), b"two").unwrap();
        assert_eq!(spool.closed(start), Some(SegmentFile { path: renamed, bytes: 12, limit_bytes: 10 << 20 }));

        spool.rotate(start).unwrap();
        assert_eq!(spool.closed(start + QUIET / 2), None);
        assert_eq!(spool.closed(start + QUIET / 2 + QUIET).map(|segment| segment.bytes), Some(3));
    }

    #[test]
    fn only_a_file_at_its_limit_may_have_wrapped() {
        let segment = |bytes| SegmentFile { path: "x".into(), bytes, limit_bytes: 10 << 20 };
        assert!(!segment((10 << 20) - 1).may_wrap());
        assert!(segment(10 << 20).may_wrap());
    }

    #[test]
    fn what_somebody_removes_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path(), &session_name(1), 10);
        assert_eq!(spool.vanished(), 0);
        fs::write(spool.current(), b"one").unwrap();
        assert_eq!(spool.vanished(), 0);
        fs::OpenOptions::new().write(true).open(spool.current()).unwrap().set_len(1).unwrap();
        assert_eq!(spool.vanished(), 2);
        fs::remove_file(spool.current()).unwrap();
        assert_eq!(spool.vanished(), 1);
        // Renaming is no loss.
        fs::write(spool.current(), b"three").unwrap();
        assert_eq!(spool.vanished(), 0);
        spool.rotate(Instant::now()).unwrap();
        assert_eq!(spool.vanished(), 0);
        // The renamed file is removed before it is closed.
        fs::remove_file(dir.path().join(format!("{}-00000000.seg", session_name(1)))).unwrap();
        assert_eq!(spool.closed(Instant::now()).map(|segment| segment.bytes), Some(5));
    }

    #[test]
    fn stopping_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path(), &session_name(1), 10);
        fs::write(spool.current(), b"one").unwrap();
        spool.rotate(Instant::now()).unwrap();
        fs::write(spool.current(), b"three").unwrap();
        let bytes: Vec<u64> = spool.stopped(Instant::now()).unwrap().iter().map(|segment| segment.bytes).collect();
        assert_eq!(bytes, [3, 5]);
        assert!(!spool.current().exists());
    }

    #[test]
    fn leftovers_come_in_the_order_in_which_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (session_name(1_700_000_000_000_000), session_name(1_700_000_000_000_001));
        let names = [
            format!("{old}-00000002.seg"),
            format!("{old}-00000010.seg"),
            format!("{old}.bin"),
            format!("{new}-00000000.seg"),
            format!("{new}.bin"),
        ];
        for name in names.iter().rev() {
            fs::write(dir.path().join(name), b"x").unwrap();
        }
        for name in ["notes.txt", "rpc.bin", "lioprof.sock"] {
            fs::write(dir.path().join(name), b"x").unwrap();
        }
        let found = leftovers(dir.path()).unwrap();
        let found: Vec<_> = found.iter().map(|s| s.path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(found, names);
    }
}
