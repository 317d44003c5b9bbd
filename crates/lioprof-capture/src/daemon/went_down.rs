//! Finds out which part of the log was not on disk when the node went down.
//!
//! The kernel does not sync its file. After a power failure or a kernel crash a segment has its name and time, but its end or
//! all of its content is missing: file systems write names within seconds, data after half a minute.

use std::fs;
use std::path::Path;

use lioprof_model::time::since_epoch_us;
use lioprof_trace::{SegmentScan, is_cut};

use crate::drain::{GivenUp, SegmentFile, WhyGivenUp};

/// Facts of a session that left segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftSession {
    /// Whether the node was booted since.
    pub(super) rebooted: bool,
    /// Everything that was logged up to this time is on disk, or is older than the session.
    pub(super) safe_us: i64,
    /// The current time.
    pub(super) now_us: i64,
}

/// For each segment, in order, the loss in it; `None` if it is whole.
pub(super) fn lost(files: &[SegmentFile], session: LeftSession) -> Vec<Option<GivenUp>> {
    let is_segment = |file: &SegmentFile| file.path.extension().is_some_and(|extension| extension == "seg");
    // A file is renamed when there is something in it. The kernel makes its own one before it writes to it.
    let went_down = session.rebooted || files.iter().any(|file| file.bytes == 0 && is_segment(file));
    if !went_down {
        return vec![None; files.len()];
    }
    let mut safe_us = session.safe_us;
    let mut lost = Vec::new();
    for file in files {
        let modified_us = modified_us(&file.path).unwrap_or(safe_us).min(session.now_us - 1);
        let is_lost = file.bytes == 0 || is_cut(&file.path).unwrap_or(false);
        lost.push(is_lost.then(|| {
            let scan = SegmentScan::of(&file.path, file.bytes >= file.limit_bytes).unwrap_or_default();
            let from_us = scan.last_us.unwrap_or(safe_us).max(safe_us).min(modified_us);
            never_on_disk(from_us, modified_us)
        }));
        safe_us = safe_us.max(modified_us);
    }
    // At the least, what the kernel had in its buffer.
    if let Some(last) = lost.last_mut().filter(|_| session.rebooted) {
        last.get_or_insert(never_on_disk(safe_us, safe_us));
    }
    lost
}

/// A loss of unknown size.
fn never_on_disk(from_us: i64, to_us: i64) -> GivenUp {
    GivenUp { why: WhyGivenUp::NeverOnDisk, bytes: 0, rpcs: 0, first_us: Some(from_us), last_us: Some(to_us) }
}

/// When a file was last written to, microseconds since the epoch.
fn modified_us(path: &Path) -> Option<i64> {
    Some(since_epoch_us(fs::metadata(path).ok()?.modified().ok()?))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, UNIX_EPOCH};

    use lioprof_testkit::files::{capture, unpacked};

    use super::*;

    /// A segment of so many bytes of a real log, written at this second.
    fn segment(dir: &Path, name: &str, bytes: usize, at_s: u64) -> SegmentFile {
        let log = unpacked(capture("lock_pingpong_dlm/server1/rpc.bin.zst"));
        let path = dir.join(name);
        fs::write(&path, &log[..bytes.min(log.len())]).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(at_s)).unwrap();
        SegmentFile { bytes: fs::metadata(&path).unwrap().len(), path, limit_bytes: u64::MAX }
    }

    fn spans(files: &[SegmentFile], rebooted: bool) -> Vec<Option<[i64; 2]>> {
        let lost = lost(files, LeftSession { rebooted, safe_us: 5_000_000, now_us: 4_000_000_000_000_000 });
        lost.iter().map(|lost| lost.and_then(|lost| Some([lost.first_us?, lost.last_us?]))).collect()
    }

    #[test]
    fn what_a_killed_daemon_left_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let whole = segment(dir.path(), "a.seg", usize::MAX, 10);
        // The kernel was about to write.
        let own = segment(dir.path(), "a.bin", 0, 11);
        assert_eq!(spans(&[whole.clone(), own.clone()], false), [None; 2]);
        // It had more in its buffer when the node went down.
        assert_eq!(spans(std::slice::from_ref(&whole), true), [Some([10_000_000; 2])]);
        assert_eq!(spans(&[whole, own], true), [None, Some([10_000_000, 11_000_000])]);
    }

    #[test]
    fn segments_that_are_empty_or_cut_were_not_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let empty = |name, at_s| segment(dir.path(), name, 0, at_s);
        assert_eq!(
            spans(&[empty("a.seg", 10), empty("b.seg", 12), empty("a.bin", 13)], false),
            [Some([5_000_000, 10_000_000]), Some([10_000_000, 12_000_000]), Some([12_000_000, 13_000_000])]
        );
        let cut = segment(dir.path(), "c.seg", 40_001, 3_000_000_000);
        let [Some([from_us, to_us]), Some(_)] = spans(&[cut.clone(), empty("d.seg", 3_000_000_001)], false)[..] else {
            panic!("{:?}", spans(std::slice::from_ref(&cut), true));
        };
        // From its last record on.
        assert!(from_us > 1_500_000_000_000_000 && to_us == 3_000_000_000_000_000, "{from_us} to {to_us}");
    }
}
