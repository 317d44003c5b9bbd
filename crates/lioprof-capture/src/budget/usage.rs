//! Resource usage of this process.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// CPU time and memory of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// User and system time of all threads, those that ended included.
    pub(crate) cpu: Duration,
    /// Resident memory.
    pub(crate) resident_bytes: u64,
    /// Number of threads.
    pub(crate) threads: u64,
}

/// Reads `/proc/self/stat` and `/proc/self/statm`; `None` if they cannot be read or have an unknown form.
pub(crate) fn own_usage() -> Option<Usage> {
    let units = Units {
        ticks_per_s: rustix::param::clock_ticks_per_second(),
        page_bytes: u64::try_from(rustix::param::page_size()).unwrap_or(4096),
    };
    read_usage(Path::new("/proc/self"), units)
}

/// Units of the kernel.
#[derive(Clone, Copy)]
struct Units {
    ticks_per_s: u64,
    page_bytes: u64,
}

fn read_usage(dir: &Path, units: Units) -> Option<Usage> {
    let (ticks, threads) = parse_stat(&fs::read_to_string(dir.join("stat")).ok()?)?;
    let statm = fs::read_to_string(dir.join("statm")).ok()?;
    let pages: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let per_s = units.ticks_per_s.max(1);
    let nanos = (ticks % per_s).saturating_mul(1_000_000_000) / per_s;
    Some(Usage {
        cpu: Duration::from_secs(ticks / per_s) + Duration::from_nanos(nanos),
        resident_bytes: pages.saturating_mul(units.page_bytes),
        threads,
    })
}

/// CPU ticks and threads. The name of the program is in brackets and may hold blanks and brackets itself.
fn parse_stat(stat: &str) -> Option<(u64, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The first one after the name is field 3.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    Some((field(14)?.checked_add(field(15)?)?, field(20)?))
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn a_name_with_blanks_and_brackets() {
        let dir = tempfile::tempdir().unwrap();
        let stat = "4242 (a) b (c) S 1 1 1 0 -1 4194560 1 2 3 4 150 75 0 0 20 0 7 0 100 1 2 3";
        fs::write(dir.path().join("stat"), stat).unwrap();
        fs::write(dir.path().join("statm"), "1000 250 30 4 5 6 7\n").unwrap();
        let usage = read_usage(dir.path(), Units { ticks_per_s: 100, page_bytes: 4096 }).unwrap();
        let expected = Usage { cpu: Duration::from_millis(2250), resident_bytes: 250 * 4096, threads: 7 };
        assert_eq!(usage, expected);
    }

    #[test]
    fn what_is_missing_or_unknown_is_no_figure() {
        let dir = tempfile::tempdir().unwrap();
        let units = Units { ticks_per_s: 100, page_bytes: 4096 };
        assert_eq!(read_usage(dir.path(), units), None);
        fs::write(dir.path().join("stat"), "nonsense").unwrap();
        assert_eq!(read_usage(dir.path(), units), None);
    }

    #[test]
    fn own_time_and_memory_grow_with_use() {
        let before = own_usage().unwrap();
        let block = vec![1_u8; 64 << 20];
        let mut sum = 0_u64;
        // Work until the kernel's clock tick has noticed.
        let mut after = before;
        for _ in 0..10_000 {
            sum = block.iter().fold(sum, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            black_box(sum);
            after = own_usage().unwrap();
            if after.cpu > before.cpu {
                break;
            }
        }
        assert!(after.cpu > before.cpu);
        assert!(after.resident_bytes >= 64 << 20, "{after:?}");
        assert!(after.threads >= 1);
    }
}
