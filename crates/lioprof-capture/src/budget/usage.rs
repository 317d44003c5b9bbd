//! What this process uses.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// CPU time and memory of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// User and system time of all threads, those that ended included.
    pub cpu: Duration,
    /// Resident memory.
    pub resident_bytes: u64,
    /// Threads.
    pub threads: u64,
}

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// A file of `/proc/self` cannot be read.
    #[error("failed to read `{}`", path.display())]
    Read {
        /// File.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// A file has another form than Linux gives it.
    #[error("`{}`: expected {expected}, found {found:?}", path.display())]
    Form {
        /// File.
        path: PathBuf,
        /// What is missing.
        expected: &'static str,
        /// The content, cut to a line's length.
        found: String,
    },
}

/// Reads `/proc/self/stat` and `/proc/self/statm`.
///
/// # Errors
/// If they cannot be read or have an unknown form.
pub fn own_usage() -> Result<Usage, UsageError> {
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

fn read_usage(dir: &Path, units: Units) -> Result<Usage, UsageError> {
    let stat_path = dir.join("stat");
    let stat = read(&stat_path)?;
    let ticks_and_threads = parse_stat(&stat);
    let (ticks, threads) = ticks_and_threads
        .ok_or_else(|| form(stat_path, "fields 14, 15 and 20 of proc(5): utime, stime, num_threads", &stat))?;
    let statm_path = dir.join("statm");
    let statm = read(&statm_path)?;
    let pages = statm.split_ascii_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
    let pages = pages.ok_or_else(|| form(statm_path, "resident pages as second number", &statm))?;
    let per_s = units.ticks_per_s.max(1);
    let nanos = (ticks % per_s).saturating_mul(1_000_000_000) / per_s;
    Ok(Usage {
        cpu: Duration::from_secs(ticks / per_s) + Duration::from_nanos(nanos),
        resident_bytes: pages.saturating_mul(units.page_bytes),
        threads,
    })
}

fn read(path: &Path) -> Result<String, UsageError> {
    fs::read_to_string(path).map_err(|err| UsageError::Read { path: path.to_owned(), err })
}

fn form(path: PathBuf, expected: &'static str, found: &str) -> UsageError {
    UsageError::Form { path, expected, found: found.chars().take(80).collect() }
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
    fn errors_name_the_file_and_what_was_expected() {
        let dir = tempfile::tempdir().unwrap();
        let units = Units { ticks_per_s: 100, page_bytes: 4096 };
        let missing = read_usage(dir.path(), units).unwrap_err().to_string();
        assert!(missing.contains("stat`"), "{missing}");
        fs::write(dir.path().join("stat"), "nonsense").unwrap();
        let bad = read_usage(dir.path(), units).unwrap_err().to_string();
        assert!(bad.contains("utime") && bad.contains("nonsense"), "{bad}");
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
