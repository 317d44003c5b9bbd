//! Chooses the directory and the space of the segments where the configuration leaves them open, by the free space.

use std::path::{Path, PathBuf};

use super::check::{Check, Status};
use super::paths_and_ports::{spool_as_kernel_sees_it, spool_directory, spool_kind};
use crate::config::{Auto, Config, MOST_SPOOL_MIB};
use crate::drain::LeftLog;
use crate::system::volumes::{existing, volume};
use lioprof_model::with_causes;

/// A directory with room for a spool of this many MiB is chosen without looking at the next one.
const ENOUGH_MIB: u64 = 64;

/// Fills in the settings of the segments that the configuration leaves open.
///
/// Uses at most half of a directory's free space: the other half is for other programs, and for a full buffer that the kernel
/// writes at once. Segments that a killed daemon left there count as free: they are decoded and deleted before the kernel
/// writes new ones.
///
/// # Errors
/// One text for each directory that was tried: why it does not fit.
pub(crate) fn choose(config: &Config) -> Result<Config, Vec<String>> {
    let least_mib = config.capture.least_spool_mib();
    let dirs = config.spool_dirs();
    let several = dirs.len() > 1;
    let mut best: Option<(PathBuf, u64, u64)> = None;
    let mut tried = Vec::new();
    for dir in dirs {
        // The only directory there is has checks of its own.
        if let Some(check) = several.then(|| unusable(config, &dir)).flatten() {
            tried.push(format!("`{}`: {}", dir.display(), check.found));
            continue;
        }
        let room_mib = match room_mib(config, &dir) {
            Ok(room_mib) => room_mib,
            Err(why) => {
                tried.push(format!("`{}`: {why}", dir.display()));
                continue;
            }
        };
        let (limit_mib, fits) = match config.capture.spool_limit_mib {
            Auto::Is(mib) => (mib, room_mib >= mib),
            Auto::Auto => ((room_mib / 2).min(MOST_SPOOL_MIB), room_mib / 2 >= least_mib),
        };
        if !fits {
            tried.push(format!("`{}`: {room_mib} MiB free", dir.display()));
        } else if best.as_ref().is_none_or(|(_, so_far_mib, _)| limit_mib > *so_far_mib) {
            best = Some((dir, limit_mib, room_mib));
            if limit_mib >= ENOUGH_MIB {
                break;
            }
        }
    }
    let Some((dir, limit_mib, room_mib)) = best else { return Err(tried) };
    let mut config = config.clone();
    if config.capture.spool_limit_mib == Auto::Auto && config.capture.buffer_mib == Auto::Auto {
        // The kernel may write a full buffer at once, on top of the segments.
        config.capture.buffer_limit_mib = config.capture.buffer_limit_mib.min(room_mib - limit_mib);
    }
    config.capture.spool_dir = Auto::Is(dir);
    config.capture.spool_limit_mib = Auto::Is(limit_mib);
    config.capture.segment_mib = Auto::Is(config.capture.segment_mib());
    Ok(config)
}

/// Why a directory cannot hold segments; `None` if it can.
fn unusable(config: &Config, dir: &Path) -> Option<Check> {
    let checks = [spool_directory(dir), spool_kind(dir), spool_as_kernel_sees_it(&config.control.root, dir)];
    checks.into_iter().find(|check| check.status == Status::Failed)
}

/// Space for segments in a directory, in MiB; without the reserve and one file of rows if the data are on the same volume.
fn room_mib(config: &Config, dir: &Path) -> Result<u64, String> {
    let there = existing(dir).ok_or("no part of the path exists")?;
    let free_mib = volume(&there).map_err(|err| with_causes(&err))?.free_mib;
    let left = LeftLog::of(dir);
    let beside_data = matches!(config.capture.spool_dir, Auto::Auto) && dir.starts_with(&config.keep.dir);
    let not_ours = if beside_data { config.budget.disk_reserve_mib.saturating_add(config.keep.file_mib) } else { 0 };
    Ok(free_mib.saturating_add(left.bytes >> 20).saturating_sub(not_ours))
}
