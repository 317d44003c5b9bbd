//! What a part of a dataset knows besides its rows.

use std::collections::BTreeMap;

use lioprof_model::{Counted, LoggedEvent, OpenRpc, OpenRpcs, TraceSummary, event_key};
use lioprof_store::{Client, Clock, Manifest, ManifestFacts, Target};
use lustre_debuglog::TargetName;

use crate::kind::Kind;
use crate::names::{Names, Pseudonyms};
use crate::piece::{Piece, Pieces};
use crate::recognise;
use crate::rewrite::{self, Dropped};
use crate::text::{self, Text};

/// Collects the names in a manifest.
pub(crate) fn collect(manifest: &Manifest, names: &mut Names) {
    text::collect(manifest.node.as_bytes(), Text::Host, names);
    for fs in manifest.fs.split('+').filter(|fs| !is_no_name(fs)) {
        names.add(Kind::FsName, fs.as_bytes());
    }
    for mark in &manifest.marks {
        text::collect(mark.text.as_bytes(), Text::Mark, names);
    }
    let facts = &manifest.facts;
    let TraceSummary { targets, pinging_targets, counted, events, under_way, .. } = &facts.summary;
    for target in targets.iter().chain(pinging_targets).filter(|target| !target.fsname().is_empty()) {
        names.add(Kind::FsName, target.fsname().as_bytes());
    }
    let devices = facts.targets.iter().flat_map(|target| [Some(&target.name), target.uuid.as_ref()]).flatten();
    for device in devices.chain(counted.targets.keys()) {
        text::collect(device.as_bytes(), Text::Device, names);
    }
    for (_, event) in events.listed() {
        event.target.iter().for_each(|target| text::collect(target.as_bytes(), Text::Device, names));
        event.client.iter().for_each(|client| text::collect(client.as_bytes(), Text::Nid, names));
        // With the number of the sentence one could try whether a name is in it.
        names.add(Kind::Word, event.key.to_string().as_bytes());
        recognise::known(event.reason.as_bytes()).iter().flatten().for_each(|piece| names.add_piece(*piece));
    }
    for rpc in under_way.iter() {
        text::collect(rpc.thread.as_bytes(), Text::Thread, names);
        text::collect(rpc.nid.as_bytes(), Text::Nid, names);
        rpc.job.iter().for_each(|job| text::collect(job.as_bytes(), Text::Job, names));
        rpc.target.iter().for_each(|target| text::collect(target.as_bytes(), Text::Device, names));
    }
    for client in &facts.clients {
        text::collect(client.nid.as_bytes(), Text::Nid, names);
        client.uuids.iter().for_each(|uuid| text::collect(uuid.as_bytes(), Text::Device, names));
    }
    if let Some(boot_id) = facts.clock.as_ref().and_then(|clock| clock.boot_id.as_ref()) {
        text::collect(boot_id.as_bytes(), Text::Device, names);
    }
}

/// `lioprof-store` writes these where it knows no file system.
fn is_no_name(fs: &str) -> bool {
    fs.is_empty() || fs == "unknown"
}

/// The file systems in the name of a folder, joined by `+`.
pub(crate) fn file_systems(fs: &str, pseudonyms: &Pseudonyms) -> String {
    let mut names: Vec<String> = fs
        .split('+')
        .map(|fs| match pseudonyms.get(Kind::FsName, fs.as_bytes()) {
            Some(pseudonym) => String::from_utf8_lossy(pseudonym).into_owned(),
            None => "unknown".to_owned(),
        })
        .collect();
    names.sort();
    names.join("+")
}

/// The facts with pseudonyms. Texts of which nobody knows what they hold are dropped.
pub(crate) fn facts(facts: &ManifestFacts, pseudonyms: &Pseudonyms, dropped: &mut Dropped) -> ManifestFacts {
    let device = |name: &String| text::replaced(name.as_bytes(), Text::Device, pseudonyms);
    let summary = summary(&facts.summary, pseudonyms, dropped);
    let mut known = |key: &str, text: &Option<String>| {
        let text = text.as_ref()?;
        if is_known(text) {
            return Some(text.clone());
        }
        *dropped.keys.entry(key.to_owned()).or_default() += 1;
        None
    };
    let new = ManifestFacts {
        summary,
        through_us: facts.through_us,
        lustre_version: known("lustre_version", &facts.lustre_version),
        kernel: known("kernel", &facts.kernel),
        debug: known("debug", &facts.debug),
        subsystem_debug: known("subsystem_debug", &facts.subsystem_debug),
        debug_mb: facts.debug_mb,
        profile: facts.profile.clone().filter(|profile| matches!(profile.as_str(), "full" | "light")),
        targets: facts
            .targets
            .iter()
            .map(|it| Target { name: device(&it.name), kind: it.kind.clone(), uuid: it.uuid.as_ref().map(device) })
            .collect(),
        clients: facts
            .clients
            .iter()
            .map(|it| Client {
                nid: text::replaced(it.nid.as_bytes(), Text::Nid, pseudonyms),
                uuids: it.uuids.iter().map(device).collect(),
            })
            .collect(),
        clock: facts.clock.as_ref().map(|clock| Clock { boot_id: clock.boot_id.as_ref().map(device), ..clock.clone() }),
        traced_us: facts.traced_us.clone(),
        traced_until_us: facts.traced_until_us,
        dropped: facts.dropped.clone(),
        extra: BTreeMap::new(),
    };
    for key in facts.extra.keys() {
        *dropped.keys.entry(key.clone()).or_default() += 1;
    }
    new
}

fn summary(summary: &TraceSummary, pseudonyms: &Pseudonyms, dropped: &mut Dropped) -> TraceSummary {
    let target = |target: &TargetName| {
        let name = pseudonyms.get(Kind::FsName, target.fsname().as_bytes());
        let name = name.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or("removed");
        TargetName::new(name, target.kind(), target.index()).unwrap_or(TargetName::MGS)
    };
    let device = |name: &String| text::replaced(name.as_bytes(), Text::Device, pseudonyms);
    let nid = |nid: &String| text::replaced(nid.as_bytes(), Text::Nid, pseudonyms);
    let mut under_way = OpenRpcs::default();
    for rpc in summary.under_way.iter() {
        under_way.add(OpenRpc {
            thread: text::replaced(rpc.thread.as_bytes(), Text::Thread, pseudonyms),
            nid: nid(&rpc.nid),
            job: rpc.job.as_ref().map(|job| text::replaced(job.as_bytes(), Text::Job, pseudonyms)),
            target: rpc.target.as_ref().map(device),
            ..rpc.clone()
        });
    }
    let event = |event: &LoggedEvent| {
        let mut reason = Vec::new();
        rewrite::write(&recognise::known(event.reason.as_bytes())?, pseudonyms, true, &mut 0, &mut reason);
        let reason = String::from_utf8_lossy(&reason).into_owned();
        let (target, client) = (event.target.as_ref().map(device), event.client.as_ref().map(nid));
        let key = event_key(pseudonyms.get(Kind::Word, event.key.to_string().as_bytes())?);
        Some(LoggedEvent { time_us: event.time_us, key, target, client, reason, is_echo: event.is_echo })
    };
    let events = summary.events.reworded(event);
    let lost = summary.events.listed().count() - events.listed().count();
    if lost > 0 {
        *dropped.keys.entry("events".to_owned()).or_default() += lost as u64;
    }
    TraceSummary {
        targets: summary.targets.iter().map(target).collect(),
        pinging_targets: summary.pinging_targets.iter().map(target).collect(),
        events,
        under_way,
        counted: Counted {
            targets: summary.counted.targets.iter().map(|(name, io)| (device(name), *io)).collect(),
            ..summary.counted.clone()
        },
        ..summary.clone()
    }
}

/// Whether a text is numbers and words of Lustre's own.
fn is_known(text: &str) -> bool {
    let mut pieces = Pieces::new();
    recognise::split(text.as_bytes(), &mut pieces);
    let is_version = text.len() <= 16 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_version || pieces.iter().all(|piece| matches!(piece, Piece::Plain(_) | Piece::KnownWord(_)))
}
