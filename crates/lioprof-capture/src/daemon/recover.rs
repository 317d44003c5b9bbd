//! What a daemon that was killed left in the spool becomes rows after all.

use std::sync::Arc;

use lioprof_analysis::Known;
use lioprof_store::Dataset;

use crate::config::Config;
use crate::control::Control;
use crate::drain::{self, Job, Progress, Queue, RawKeep, SegmentFile, Worker};

use super::facts::SharedFacts;
use super::keep::{self, AnyKeep};
use super::{DaemonError, now_us, running};

/// How far an earlier session had come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Reached {
    /// What of its log is safe.
    known: Option<Known>,
    /// The last segment whose content has been counted.
    last_segment: Option<String>,
}

/// Decodes the segments of sessions that did not end well, and removes halves of files. The kernel must not be writing
/// any more.
pub(super) fn leftovers(config: &Config, node: &str) -> Result<(), DaemonError> {
    // Also where no part was ever complete.
    for path in lioprof_store::clean_leftovers(&config.keep.dir, node).map_err(store)? {
        tracing::info!(path = %path.display(), "removed a file that was not complete");
    }
    let spool = &config.capture.spool_dir;
    let left = drain::leftovers(spool).map_err(|err| DaemonError::ReadFolder { path: spool.clone(), err })?;
    let mut sessions: Vec<(String, Vec<SegmentFile>)> = Vec::new();
    for file in left {
        let session = drain::session_of(&file.path).unwrap_or_default();
        match sessions.last_mut() {
            Some((last, files)) if *last == session => files.push(file),
            _ => sessions.push((session, vec![file])),
        }
    }
    for (session, files) in sessions {
        let reached = reached(config, node, &session)?;
        tracing::warn!(segments = files.len(), %session, ?reached, "an earlier daemon was killed; decoding what it left");
        session_leftovers(config, node, files, &reached)?;
    }
    Ok(())
}

fn session_leftovers(
    config: &Config,
    node: &str,
    files: Vec<SegmentFile>,
    reached: &Reached,
) -> Result<(), DaemonError> {
    let facts = SharedFacts::default();
    if let Ok(control) = Control::open(&config.control.root, config.control.access, &config.control.lctl) {
        let mut facts = facts.lock();
        facts.version = control.version();
        facts.profile = "unknown";
        facts.refresh(&control);
    }
    let keep = AnyKeep::new(config, node, facts.clone(), now_us());
    let raw = keep::keeps_raw(config).then(|| RawKeep::new(&config.keep.dir, &keep::fs_of(&facts.lock()), node));
    let queue = Arc::new(Queue::default());
    for file in files {
        let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let counted = reached.last_segment.as_deref().is_some_and(|last| name <= last);
        queue.push(Job::Segment { file, counted });
    }
    queue.push(Job::Finish);
    let progress = |progress| {
        if let Progress::Failed(err) = progress {
            tracing::error!("{err}");
        }
    };
    Worker::new(node, reached.known.clone(), queue, keep, raw, running::part_limits(config), progress)?.run();
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
                reached.known = Some(Known { through_us, unfinished });
            }
            reached.last_segment = reached.last_segment.max(text(keep::LAST_SEGMENT).map(str::to_owned));
        }
    }
    Ok(reached)
}

fn store(err: lioprof_store::StoreError) -> DaemonError {
    DaemonError::Store(err.chain())
}
