//! Decodes segments that a killed daemon left in the spool.

use std::path::PathBuf;
use std::sync::Arc;

use lioprof_store::Dataset;
use lioprof_trace::HandedOn;

use super::DaemonError;
use super::clock::now_us;
use super::facts::{NodeFacts, SharedFacts};
use super::keep::{self, RowKeep};
use super::record;
use super::went_down::{self, LeftSession};
use crate::config::Config;
use crate::control::Control;
use crate::drain::{self, Job, Progress, Queue, RawKeep, SegmentFile, Worker};
use crate::system;

/// How much of an earlier session is on disk already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Reached {
    /// What of its log is safe.
    known: Option<HandedOn>,
    /// The last segment whose content has been counted.
    last_segment: Option<String>,
}

/// Decodes the segments of sessions that did not end well, wherever an earlier daemon may have put them, and removes halves of
/// files. The kernel must not be writing any more.
pub(super) fn leftovers(config: &Config, dirs: &[PathBuf], node: &str) -> Result<(), DaemonError> {
    // Also where no part was ever complete.
    for path in lioprof_store::clean_leftovers(&config.keep.dir, node).map_err(store)? {
        tracing::info!(path = %path.display(), "removed an incomplete file");
    }
    let unreadable = |path: &PathBuf| {
        let path = path.clone();
        move |source| DaemonError::Io { doing: "read the directory", path, source }
    };
    let mut left = Vec::new();
    for dir in dirs {
        match drain::leftovers(dir) {
            Ok(files) => left.extend(files),
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => continue,
            Err(err) => return Err(unreadable(dir)(err)),
        }
        drain::remove_left_out(dir).map_err(unreadable(dir))?;
    }
    let mut sessions: Vec<(String, Vec<SegmentFile>)> = Vec::new();
    for file in left {
        let session = drain::session_of(&file.path).unwrap_or_default();
        match sessions.last_mut() {
            Some((last, files)) if *last == session => files.push(file),
            _ => sessions.push((session, vec![file])),
        }
    }
    for (session, files) in sessions {
        let record = files.first().and_then(|file| record::read(file.path.parent()?, &session));
        let config = &filed(config, record.as_ref(), node)?;
        let reached = reached(config, node, &session)?;
        tracing::warn!(
            segments = files.len(),
            %session,
            safe_us = reached.known.as_ref().map(|known| known.through_us),
            unfinished_rpcs = reached.known.as_ref().map(|known| known.unfinished.len()),
            directory = %config.keep.dir.display(),
            "an earlier daemon was killed; decoding the segments that it left"
        );
        session_leftovers(config, node, &session, record, files, &reached)?;
    }
    for dir in dirs.iter().filter(|dir| dir.exists()) {
        record::remove(dir, None).map_err(unreadable(dir))?;
    }
    Ok(())
}

/// The configuration with the data directory of the session that left these segments. The journal that named it is gone
/// once the settings are restored.
fn filed(config: &Config, record: Option<&NodeFacts>, node: &str) -> Result<Config, DaemonError> {
    let mut config = config.clone();
    let is_own = |dir: &PathBuf| std::path::absolute(&config.keep.dir).is_ok_and(|own| own == *dir);
    if let Some(dir) = record.and_then(|record| record.keep_dir.clone()).filter(|dir| !is_own(dir)) {
        if dir.is_dir() {
            config.keep.dir = dir;
            lioprof_store::clean_leftovers(&config.keep.dir, node).map_err(store)?;
        } else {
            tracing::warn!(
                gone = %dir.display(),
                directory = %config.keep.dir.display(),
                "the data directory of a killed daemon no longer exists: its rows are kept here instead"
            );
        }
    }
    Ok(config)
}

fn session_leftovers(
    config: &Config,
    node: &str,
    session: &str,
    record: Option<NodeFacts>,
    files: Vec<SegmentFile>,
    reached: &Reached,
) -> Result<(), DaemonError> {
    let limit_bytes = record.as_ref().and_then(|record| record.file_limit_mib).map(|mib| mib << 20);
    let mut about = NodeFacts::of_record(record);
    if let Ok(control) = Control::open(&config.control.root, config.control.access, &config.control.lctl) {
        // Masks, kernel and the like may be others by now, and nobody knows what they were. But the segments are of this node:
        // its targets name the file system whose folder the rows go to.
        if about.targets.is_empty() {
            about.targets = control.targets().unwrap_or_default();
        }
        about.refresh_clients(&control);
    }
    let now_us = now_us();
    let boot_id = system::machine::boot_id(&config.control.root);
    let began_us = i64::from_str_radix(session, 16).unwrap_or(now_us);
    let lost = went_down::lost(
        &files,
        LeftSession {
            rebooted: about.boot_id.as_ref().zip(boot_id.as_ref()).is_some_and(|(then, now)| then != now),
            safe_us: reached.known.as_ref().map_or(began_us, |known| known.through_us.max(began_us)),
            now_us,
        },
    );
    if let Some(last_us) = lost.iter().flatten().filter_map(|lost| lost.last_us).max() {
        tracing::warn!(
            %session,
            segments = lost.iter().flatten().count(),
            "the node went down before the kernel had written its log to disk: these segments are empty or cut, and how many RPCs \
             were in them is unknown. Only closed parts survive that for sure: have them closed more often (keep.file_age)"
        );
        if let Some((_, until @ None)) = about.traced_us.last_mut() {
            *until = Some(last_us);
        }
    }
    let facts = SharedFacts::default();
    *facts.lock() = about;
    let mut keep = RowKeep::new(config, node, facts.clone(), now_us);
    keep.goes_on_from(reached.known.as_ref().map_or(i64::MIN, |known| known.through_us));
    let raw = keep::keeps_raw(config).then(|| RawKeep::new(&config.keep.dir, &keep::fs_of(&facts.lock()), node));
    let queue = Arc::new(Queue::default());
    for (mut file, lost) in files.into_iter().zip(lost) {
        file.limit_bytes = limit_bytes.unwrap_or(file.limit_bytes);
        let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let counted = reached.last_segment.as_deref().is_some_and(|last| name <= last);
        queue.push(Job::Segment { file, counted });
        if let Some(lost) = lost {
            queue.push(Job::Lost(lost));
        }
    }
    queue.push(Job::Finish);
    let progress = |progress| {
        if let Progress::Failed(err) = progress {
            tracing::error!("{err}");
        }
    };
    Worker::new(node, reached.known.clone(), queue, keep, raw, keep::part_limits(config), progress)?.run();
    Ok(())
}

/// How far the parts of a session reach.
fn reached(config: &Config, node: &str, session: &str) -> Result<Reached, DaemonError> {
    let mut reached = Reached::default();
    if !lioprof_store::is_dataset(&config.keep.dir) {
        return Ok(reached);
    }
    let dataset = Dataset::open(&config.keep.dir).map_err(store)?;
    for part in dataset.parts(node) {
        let facts = &part.manifest.facts;
        let text = |key: &str| facts.extra.get(key).and_then(|value| value.as_str());
        if text(keep::SPOOL_SESSION) == Some(session) {
            // Parts come in the order in which they were written.
            if let Some(through_us) = facts.through_us {
                let unfinished = facts.extra.get(keep::UNFINISHED).cloned().unwrap_or_default();
                let unfinished: Vec<(String, u64)> = serde_json::from_value(unfinished).unwrap_or_default();
                let unfinished = unfinished.into_iter().map(|(nid, xid)| (nid.into_bytes(), xid)).collect();
                reached.known = Some(HandedOn { through_us, unfinished });
            }
            reached.last_segment = reached.last_segment.max(text(keep::LAST_SEGMENT).map(str::to_owned));
        }
    }
    Ok(reached)
}

fn store(err: lioprof_store::StoreError) -> DaemonError {
    DaemonError::Store(err.chain())
}
