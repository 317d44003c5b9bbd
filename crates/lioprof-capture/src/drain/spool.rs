//! The folder in which the kernel writes and closed segments wait.
//!
//! The kernel's thread opens its file by path anew in every flush pass and writes whole pages (`tracefile.c`, Lustre 2.5
//! to master). So renaming the file loses nothing: a running pass ends in the renamed file, the next one makes
//! a new file. A file that is never let grow to its size limit never wraps.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::errands::{Errand, Errands, PROMPTLY};
use crate::control::KERNELS_DAEMON_SIZE_MIB;

/// A renamed file to which nothing was added for this long, while the kernel has not begun a new one, is closed: a
/// pass writes its pages without pause, and passes are a second apart at most.
const QUIET: Duration = Duration::from_secs(2);

/// How often the file system is asked for a sign of life.
const EVERY: Duration = Duration::from_secs(3);

/// Times of access and change: now.
const NOW: rustix::fs::Timestamps = {
    let now = rustix::fs::Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW };
    rustix::fs::Timestamps { last_access: now, last_modification: now }
};

/// How long the end of a capture waits for a file system that does not answer.
const AT_THE_END: Duration = Duration::from_secs(10);

const SEGMENT: &str = "seg";
/// What was logged before the capture.
const LEFT_OUT: &str = "old";

/// A segment that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Size of the file, bytes.
    pub(crate) bytes: u64,
    /// How large the kernel let it grow before it overwrote the beginning.
    pub(crate) limit_bytes: u64,
}

impl SegmentFile {
    /// It reached its limit: its beginning may have been overwritten.
    pub(super) fn may_wrap(&self) -> bool {
        self.bytes >= self.limit_bytes
    }
}

/// The folder and what the daemon calls its files there.
#[derive(Debug)]
pub(crate) struct Spool {
    /// The folder in which the kernel writes and closed segments wait.
    pub(crate) dir: PathBuf,
    /// Name of the session.
    pub(crate) session: String,
    /// Size limit of the kernel's file.
    limit_bytes: u64,
    next: u64,
    /// Renaming waits for the disk, and for as long as a file system is frozen.
    errands: Errands,
    renaming: Option<Renaming>,
    /// Renamed, but a flush pass may still be writing to it.
    closing: Option<Closing>,
    /// The kernel's file as it was last seen.
    seen: Option<Seen>,
    /// When the file system was last asked for something.
    asked: Instant,
}

/// The kernel's file, held open so that no other one can get its inode, and the bytes that were in it.
#[derive(Debug)]
struct Seen {
    file: File,
    bytes: u64,
}

/// The kernel's file on its way to its new name, and the bytes that were in it.
#[derive(Debug)]
struct Renaming {
    path: PathBuf,
    bytes: u64,
    renamed: Errand<io::Result<()>>,
}

#[derive(Debug)]
struct Closing {
    path: PathBuf,
    bytes: u64,
    quiet_since: Instant,
}

impl Spool {
    /// For a session whose name sorts behind that of earlier ones, and a kernel's file of at most `limit_mib` MiB.
    /// Fails if the thread that renames files cannot be started.
    pub(crate) fn new(dir: &Path, session: &str, limit_mib: u64) -> io::Result<Self> {
        Ok(Self {
            dir: dir.to_owned(),
            session: session.to_owned(),
            limit_bytes: limit_mib << 20,
            next: 0,
            errands: Errands::new("spool")?,
            renaming: None,
            closing: None,
            seen: None,
            asked: Instant::now(),
        })
    }

    /// Does something in the folder on the thread that renames its files; waits for it, but not if the file system hangs.
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        // What becomes of it, it says itself.
        if self.errands.run(work).wait(PROMPTLY).is_err() {
            tracing::debug!(dir = %self.dir.display(), "the spool's file system takes its time");
        }
    }

    /// Asks the folder's file system for a sign of life now and then. While it is frozen the kernel makes no file that could be renamed,
    /// so nobody else would notice.
    pub(crate) fn ask(&mut self, now: Instant) {
        if self.errands.busy_for(now).is_some() || now.duration_since(self.asked) < EVERY {
            return;
        }
        self.asked = now;
        let dir = self.dir.clone();
        // Waits for a frozen file system as renaming does. A refusal is an answer, too.
        self.run(move || {
            rustix::fs::utimensat(rustix::fs::CWD, &dir, &NOW, rustix::fs::AtFlags::empty()).unwrap_or_default();
        });
    }

    /// How long the folder's file system has not answered.
    pub(crate) fn unanswered_for(&self, now: Instant) -> Option<Duration> {
        self.errands.busy_for(now)
    }

    /// Size limit of the kernel's file, MiB.
    pub(crate) fn limit_mib(&self) -> u64 {
        self.limit_bytes >> 20
    }

    /// The file that the kernel is told to write.
    pub(crate) fn current(&self) -> PathBuf {
        self.dir.join(format!("{}.bin", self.session))
    }

    /// Where the kernel writes what it logged before the capture.
    pub(crate) fn left_out(&self) -> PathBuf {
        self.dir.join(format!("{}.{LEFT_OUT}", self.session))
    }

    /// Bytes that the kernel has written since the last rotation.
    pub(crate) fn current_bytes(&self) -> u64 {
        fs::metadata(self.current()).map_or(0, |metadata| metadata.len())
    }

    /// Looks at the kernel's file; returns how many of the bytes that were in it at the last look are gone because
    /// somebody deleted or truncated it. It only ever grows by itself.
    pub(crate) fn vanished(&mut self) -> u64 {
        if self.renaming.is_some() {
            // It may have either name.
            return 0;
        }
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

    /// Renames the kernel's file, unless there is none or the one before is not closed yet. If the file system does not answer, this
    /// returns, and a later [`Self::closed`] finds the file renamed.
    /// Fails if it cannot be renamed.
    pub(crate) fn rotate(&mut self, now: Instant) -> io::Result<()> {
        self.finish_renaming(now, Duration::ZERO)?;
        let bytes = self.current_bytes();
        if self.renaming.is_some() || self.closing.is_some() || bytes == 0 {
            return Ok(());
        }
        let path = self.dir.join(format!("{}-{:08}.{SEGMENT}", self.session, self.next));
        let (from, to) = (self.current(), path.clone());
        let renamed = self.errands.run(move || fs::rename(from, to));
        self.renaming = Some(Renaming { path, bytes, renamed });
        self.finish_renaming(now, PROMPTLY)
    }

    /// Waits up to `at_most` for the file that is being renamed, if one is.
    fn finish_renaming(&mut self, now: Instant, at_most: Duration) -> io::Result<()> {
        let Some(Renaming { path, bytes, renamed }) = self.renaming.take() else { return Ok(()) };
        match renamed.wait(at_most) {
            Ok(Ok(())) => {
                self.next += 1;
                self.closing = Some(Closing { path, bytes, quiet_since: now });
                self.seen = None;
                Ok(())
            }
            // Somebody removed it in between.
            Ok(Err(err)) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            Ok(Err(err)) => Err(err),
            Err(RecvTimeoutError::Timeout) => {
                self.renaming = Some(Renaming { path, bytes, renamed });
                Ok(())
            }
            Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the thread that renames it has ended")),
        }
    }

    /// The renamed segment, once the kernel cannot be writing to it any more.
    /// Fails if it could not be renamed.
    pub(crate) fn closed(&mut self, now: Instant) -> io::Result<Option<SegmentFile>> {
        self.finish_renaming(now, Duration::ZERO)?;
        Ok(self.take_closed(now))
    }

    fn take_closed(&mut self, now: Instant) -> Option<SegmentFile> {
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
    /// Fails if the kernel's file cannot be renamed, or the file system does not answer. What is in the folder then is left over.
    pub(crate) fn stopped(&mut self, now: Instant) -> io::Result<Vec<SegmentFile>> {
        self.wait_for_renaming(now)?;
        let mut segments: Vec<SegmentFile> = self.take_closing().into_iter().collect();
        self.rotate(now)?;
        self.wait_for_renaming(now)?;
        segments.extend(self.take_closing());
        Ok(segments)
    }

    fn wait_for_renaming(&mut self, now: Instant) -> io::Result<()> {
        self.finish_renaming(now, AT_THE_END)?;
        if self.renaming.is_some() {
            let why = format!("its file system has not answered for {} s", AT_THE_END.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        Ok(())
    }

    fn take_closing(&mut self) -> Option<SegmentFile> {
        let Closing { path, bytes, .. } = self.closing.take()?;
        // One that somebody removed had so many at least.
        let bytes = fs::metadata(&path).map_or(bytes, |metadata| metadata.len());
        Some(SegmentFile { path, bytes, limit_bytes: self.limit_bytes })
    }
}

/// The log in a spool that is not decoded yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftLog {
    /// The folder.
    pub spool: PathBuf,
    /// Segments, and the kernel's file.
    pub files: usize,
    /// What they take there.
    pub bytes: u64,
}

impl LeftLog {
    /// What is in a spool to which nobody is writing; nothing if it cannot be read.
    pub(crate) fn of(spool: &Path) -> Self {
        let files = leftovers(spool).unwrap_or_default();
        let bytes = files.iter().map(|file| file.bytes).sum();
        Self { spool: spool.to_owned(), files: files.len(), bytes }
    }
}

/// Segments and files of sessions that did not end well, oldest first. Nobody may be writing to them.
/// Fails if the folder cannot be read.
pub(crate) fn leftovers(dir: &Path) -> io::Result<Vec<SegmentFile>> {
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
/// Fails if the folder cannot be read, or a file cannot be deleted.
pub(crate) fn remove_left_out(dir: &Path) -> io::Result<()> {
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
pub(crate) fn session_name(start_us: i64) -> String {
    format!("{start_us:016x}")
}

/// The session that a segment belongs to.
pub(crate) fn session_of(segment: &Path) -> Option<String> {
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
        let mut spool = Spool::new(dir.path(), &session_name(1), 10).unwrap();
        let start = Instant::now();
        spool.rotate(start).unwrap();
        assert_eq!(spool.closed(start).unwrap(), None, "nothing was written");

        fs::write(spool.current(), b"one").unwrap();
        spool.rotate(start).unwrap();
        assert_eq!(spool.closed(start).unwrap(), None, "the pass may go on");
        // The running pass writes on into the renamed file.
        let renamed = dir.path().join(format!("{}-00000000.seg", session_name(1)));
        fs::write(&renamed, b"one and more").unwrap();
        fs::write(spool.current(), b"two").unwrap();
        assert_eq!(spool.closed(start).unwrap(), Some(SegmentFile { path: renamed, bytes: 12, limit_bytes: 10 << 20 }));

        spool.rotate(start).unwrap();
        assert_eq!(spool.closed(start + QUIET / 2).unwrap(), None);
        assert_eq!(spool.closed(start + QUIET / 2 + QUIET).unwrap().map(|segment| segment.bytes), Some(3));
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
        let mut spool = Spool::new(dir.path(), &session_name(1), 10).unwrap();
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
        assert_eq!(spool.closed(Instant::now()).unwrap().map(|segment| segment.bytes), Some(5));
    }

    #[test]
    fn a_file_system_that_hangs_holds_nobody_up() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path(), &session_name(1), 10).unwrap();
        let (thaw, frozen) = std::sync::mpsc::channel::<()>();
        spool.run(move || assert!(frozen.recv().is_ok()));
        fs::write(spool.current(), b"one").unwrap();
        let now = Instant::now();
        spool.rotate(now).unwrap();
        assert!(spool.unanswered_for(now + Duration::from_secs(9)) >= Some(Duration::from_secs(9)));
        assert_eq!((spool.vanished(), spool.closed(now + 2 * QUIET).unwrap()), (0, None));
        spool.rotate(now).unwrap();
        thaw.send(()).unwrap();
        let mut later = now;
        let closed = loop {
            later += QUIET;
            if let Some(closed) = spool.closed(later).unwrap() {
                break closed;
            }
            std::thread::yield_now();
        };
        assert_eq!((closed.bytes, spool.stopped(later).unwrap()), (3, Vec::new()));
        // The result is there a moment before the thread rests.
        lioprof_testkit::eventually("the errand to end", || spool.unanswered_for(now).is_none());
    }

    #[test]
    fn stopping_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path(), &session_name(1), 10).unwrap();
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
