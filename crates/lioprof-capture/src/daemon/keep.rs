//! What is kept on disk, and for how long.

use std::path::Path;

use lioprof_model::{LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols};
use lioprof_store::{
    Client, Clock, CounterSample, DatasetWriter, DroppedStretch, ManifestFacts, NodeInfo, Options, StoreError, Target,
};
use serde_json::Value;

use super::facts::{NodeFacts, SharedFacts};
use crate::config::{Config, Mode};
use crate::control::Param;
use crate::counters::Sample;
use crate::drain::{DrainError, Keep, PartFacts, PartLimits, PartSize, Traced, WrittenPart, session_name, session_of};
use crate::left_out::LeftOut;

/// Key of a manifest's `extra`: session of the spool whose segments the part was made of.
pub(super) const SPOOL_SESSION: &str = "spool_session";
/// Key of a manifest's `extra`: requests that were handled but whose rows are in a later part.
pub(super) const UNFINISHED: &str = "unfinished";
/// Key of a manifest's `extra`: records that were in the kernel's buffer before the capture, and are in no part.
pub(super) const LEFT_OUT: &str = "left_out";
/// Key of a manifest's `extra`: the last segment whose content has been counted.
pub(super) const LAST_SEGMENT: &str = "last_segment";

/// Whether segments are kept.
pub(super) fn keeps_raw(config: &Config) -> bool {
    matches!(config.keep.mode, Mode::Raw | Mode::Both)
}

/// Name of the file system of a node, for the names of folders.
pub(super) fn fs_of(facts: &NodeFacts) -> String {
    let names: Vec<_> = facts.targets.iter().filter_map(|target| target.name.parse().ok()).collect();
    lioprof_store::fs_of(&names)
}

/// Rows as a dataset, or nowhere if only the log itself is kept.
pub(super) struct RowKeep {
    writer: Option<DatasetWriter>,
    facts: SharedFacts,
    /// Tracing windows before this time are in earlier manifests.
    manifest_from_us: i64,
}

impl RowKeep {
    pub(super) fn new(config: &Config, node: &str, facts: SharedFacts, start_us: i64) -> Self {
        let fs = fs_of(&facts.lock());
        let session = lioprof_store::Session { start_us, id: session_name(start_us) };
        let info = NodeInfo { fs, node: node.to_owned(), session };
        let keeps = config.keep.mode != Mode::Raw;
        let writer = keeps.then(|| DatasetWriter::new(&config.keep.dir, info, Options::default()));
        Self { writer, facts, manifest_from_us: start_us }
    }

    /// The log to come is of an earlier session, and what is before this time is in its own manifests.
    pub(super) fn goes_on_from(&mut self, from_us: i64) {
        self.manifest_from_us = from_us;
    }
}

impl RowSink for RowKeep {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        if let Some(writer) = &mut self.writer {
            writer.rpc(row, symbols);
        }
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        if let Some(writer) = &mut self.writer {
            writer.lock_event(event, symbols);
        }
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        if let Some(writer) = &mut self.writer {
            writer.sent_rpc(sent, symbols);
        }
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        if let Some(writer) = &mut self.writer {
            writer.mark(mark, symbols);
        }
    }
}

impl Keep for RowKeep {
    fn part(&mut self) -> PartSize {
        let stats = self.writer.as_ref().map(DatasetWriter::part_stats);
        stats.map(|stats| PartSize { rows: stats.rows(), bytes: stats.estimated_bytes }).unwrap_or_default()
    }

    fn close(&mut self, part: PartFacts) -> Result<WrittenPart, DrainError> {
        let Some(writer) = &mut self.writer else { return Ok(WrittenPart::default()) };
        let facts = self.facts.of_log();
        writer.set_fs(fs_of(&facts));
        let stats = writer.part_stats();
        let to_us = part.known.as_ref().map_or(i64::MAX, |known| known.through_us);
        let manifest = manifest(&facts, part, self.manifest_from_us);
        let closed = writer.close_part(manifest).map_err(|err| DrainError::Part(err.chain()))?;
        self.manifest_from_us = to_us;
        Ok(WrittenPart {
            rpcs: stats.rpcs,
            rows: stats.rows(),
            files: closed.files.len() as u64 + 1,
            bytes: closed.bytes,
        })
    }

    fn discard(&mut self) {
        // A writer gives its part up when closing it fails.
    }

    fn counters(&mut self, sample: &Sample, _: Traced) {
        let Some(writer) = &mut self.writer else { return };
        let named = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
        for value in &sample.values {
            let (target, entity) = (named(&value.target), named(&value.entity));
            writer.counter(&CounterSample {
                time_us: sample.time_us,
                source: value.source.into(),
                target: target.as_deref(),
                entity: entity.as_deref(),
                counter: &value.counter,
                value: value.value,
            });
        }
    }

    fn next_load(&mut self) {
        if self.writer.is_some() {
            self.facts.next_load();
        }
    }

    fn forget_symbols(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.forget_symbols();
        }
    }

    fn has_failed(&self) -> bool {
        self.writer.as_ref().is_some_and(|writer| writer.error().is_some())
    }
}

fn manifest(facts: &NodeFacts, part: PartFacts, from_us: i64) -> ManifestFacts {
    let mut clients: Vec<Client> = Vec::new();
    for client in &facts.clients {
        match clients.iter_mut().find(|known| known.nid == client.nid) {
            Some(known) if known.uuids.contains(&client.uuid) => {}
            Some(known) => known.uuids.push(client.uuid.clone()),
            None => clients.push(Client { nid: client.nid.clone(), uuids: vec![client.uuid.clone()] }),
        }
    }
    let through_us = part.known.as_ref().map(|known| known.through_us);
    let to_us = through_us.unwrap_or(i64::MAX);
    let traced = |&(from, to): &(i64, Option<i64>)| {
        let (from, to) = (from.max(from_us), to.unwrap_or(to_us).min(to_us));
        (facts.sampled && from < to).then_some([from, to])
    };
    let switched_off_us = facts.traced_us.last().and_then(|&(_, to)| to);
    let session = part.last_segment.as_deref().and_then(|name| session_of(Path::new(name)));
    let unfinished: Option<Vec<(String, u64)>> = part.known.map(|known| {
        let text = |(nid, xid): (Vec<u8>, u64)| (String::from_utf8_lossy(&nid).into_owned(), xid);
        known.unfinished.into_iter().map(text).collect()
    });
    let extra = [
        (SPOOL_SESSION, session.map(Value::String)),
        (LAST_SEGMENT, part.last_segment.clone().map(Value::String)),
        (LEFT_OUT, (facts.left_out != LeftOut::default()).then(|| serde_json::to_value(facts.left_out).ok()).flatten()),
        (UNFINISHED, unfinished.filter(|list| !list.is_empty()).and_then(|list| serde_json::to_value(list).ok())),
    ];
    let traced_us: Vec<[i64; 2]> = facts.traced_us.iter().filter_map(traced).collect();
    let mut summary = part.summary;
    summary.traced_us.clone_from(&traced_us);
    ManifestFacts {
        summary,
        through_us,
        lustre_version: facts.lustre_version.clone(),
        kernel: facts.kernel.clone(),
        debug: facts.settings.names(Param::Debug),
        subsystem_debug: facts.settings.names(Param::SubsystemDebug),
        debug_mb: facts.settings.mib(Param::DebugMb),
        profile: Some(facts.profile.clone()),
        targets: facts
            .targets
            .iter()
            .map(|target| Target { name: target.name.clone(), kind: target.kind.to_uppercase(), uuid: None })
            .collect(),
        clients,
        clock: Some(Clock { boot_id: facts.boot_id.clone(), ..Clock::default() }),
        traced_us,
        traced_until_us: switched_off_us.filter(|_| part.interrupted),
        dropped: part
            .given_up
            .iter()
            .map(|stretch| DroppedStretch {
                from_us: stretch.first_us.unwrap_or(0),
                to_us: stretch.last_us.unwrap_or(0),
                bytes: stretch.bytes,
                rpcs: stretch.rpcs,
                reason: stretch.why.as_str().to_owned(),
            })
            .collect(),
        extra: extra.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect(),
    }
}

/// When to close parts. Decoded segments whose rows are not on disk yet take up to a quarter of the spool.
pub(super) fn part_limits(config: &Config) -> PartLimits {
    PartLimits {
        age: config.keep.file_age.0,
        bytes: config.keep.file_mib << 20,
        segment_bytes: config.capture.spool_limit_mib() * (1 << 20) / 4,
    }
}

/// Free bytes on the file system of a folder.
pub(super) fn free_bytes(dir: &Path) -> Option<u64> {
    let room = rustix::fs::statvfs(dir).ok()?;
    Some(room.f_bavail.saturating_mul(room.f_frsize))
}

/// Deletes data beyond the retention limits; returns a message for each deletion or failure.
pub(super) fn delete_old(config: &Config, node: &str) -> Vec<String> {
    let max_age = config.keep.retention.get().map(|span| span.0);
    let max_bytes = Some(config.keep.retention_mib << 20);
    let limits = lioprof_store::Limits { max_age, max_bytes };
    let mut told = Vec::new();
    if lioprof_store::is_dataset(&config.keep.dir) {
        match lioprof_store::retention(&config.keep.dir, node, limits, super::clock::now_us()) {
            Ok(done) => {
                let deleted = done.deleted.iter();
                told.extend(
                    deleted
                        .map(|part| format!("deleted `{}` to meet the retention limits", part.manifest_path.display())),
                );
                told.extend(done.problems.iter().map(StoreError::chain));
            }
            Err(err) => told.push(format!("failed to delete old files: {}", err.chain())),
        }
    }
    if keeps_raw(config) {
        match crate::drain::raw_retention(&config.keep.dir, node, max_age, max_bytes) {
            Ok(deleted) => told.extend(
                deleted.iter().map(|path| format!("deleted `{}` to meet the retention limits", path.display())),
            ),
            Err(err) => told.push(format!("failed to delete old logs: {err}")),
        }
    }
    told
}
