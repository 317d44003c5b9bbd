//! Deletes the oldest parts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::StoreError;
use crate::manifest::Manifest;
use crate::read::{self, Part};

/// How much of a node's rows is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Delete parts whose last item is older than this; `None`: no limit.
    pub max_age: Option<Duration>,
    /// Most bytes of all parts together; `None`: no limit.
    pub max_bytes: Option<u64>,
}

/// A part that was deleted.
#[derive(Clone, Debug, PartialEq)]
pub struct DeletedPart {
    /// Manifest of the deleted part.
    pub manifest: Manifest,
    /// Path that the manifest had.
    pub manifest_path: PathBuf,
    /// Size of all files of the part, bytes.
    pub bytes: u64,
}

/// What [`retention`] did.
#[derive(Debug, Default)]
pub struct Retention {
    /// The parts that were deleted.
    pub deleted: Vec<DeletedPart>,
    /// Manifests that cannot be read: the age of these parts is unknown, so they stay and do not count. Also a file that
    /// could not be deleted, after which no more parts were.
    pub problems: Vec<StoreError>,
}

/// Deletes whole parts of `node`, oldest first, until the limits hold at `now_us`. The newest part stays in any case,
/// and so does one that is not complete.
///
/// # Errors
/// If a folder cannot be listed.
pub fn retention(dir: &Path, node: &str, limits: Limits, now_us: i64) -> Result<Retention, StoreError> {
    let (parts, problems) = read::node_parts(dir, node)?;
    let sizes: Vec<u64> = parts.iter().map(read::part_bytes).collect();
    let mut total: u64 = sizes.iter().sum();
    let oldest_us = limits.max_age.map(|age| now_us.saturating_sub_unsigned(micros(age)));
    let older = parts.len().saturating_sub(1);
    let mut done = Retention { deleted: Vec::new(), problems };
    for (part, bytes) in parts.into_iter().zip(sizes).take(older) {
        let too_old = oldest_us.is_some_and(|oldest| last_us(&part.manifest) < oldest);
        let too_many = limits.max_bytes.is_some_and(|max| total > max);
        if !too_old && !too_many {
            // Later parts are newer. If that is wrong because of a clock step, they go when this one does.
            break;
        }
        if let Err(err) = delete(&part) {
            done.problems.push(err);
            break;
        }
        total -= bytes;
        done.deleted.push(DeletedPart { manifest: part.manifest, manifest_path: part.manifest_path, bytes });
    }
    Ok(done)
}

/// Time of a part's last item, microseconds since the epoch.
fn last_us(manifest: &Manifest) -> i64 {
    let facts = &manifest.facts;
    manifest.last_us.or(facts.summary.last_us).or(facts.through_us).unwrap_or(manifest.session.start_us)
}

fn micros(age: Duration) -> u64 {
    u64::try_from(age.as_micros()).unwrap_or(u64::MAX)
}

/// Deletes a part, its manifest first, so that no reader finds half of it.
fn delete(part: &Part) -> Result<(), StoreError> {
    remove(&part.manifest_path)?;
    for table in part.manifest.tables.keys() {
        remove(&part.table_path(table))?;
    }
    Ok(())
}

/// Deletes a file, and its folder if that was the last one of the day.
fn remove(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(StoreError::io("delete", path)(err)),
        _ => {}
    }
    if let Some(folder) = path.parent() {
        let _not_empty = fs::remove_dir(folder);
    }
    Ok(())
}
