//! What is known of the node, for manifests.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::control::Control;
use crate::control::lustre::{Client, LustreVersion, Target};
use crate::control::masks::MaskKind;
use crate::drain::{LeftOut, SessionRecord};

/// Clients listed in a manifest.
const MAX_CLIENTS: usize = 20_000;

/// Profile of a session of which nothing was written down.
const UNKNOWN: &str = "unknown";

/// What is known of the node at the moment.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// Version of the modules.
    pub version: Option<LustreVersion>,
    /// Its targets.
    pub targets: Vec<Target>,
    /// Its clients.
    pub clients: Vec<Client>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Boot id of the kernel.
    pub boot_id: Option<String>,
    /// Masks as the kernel prints them.
    pub debug: String,
    /// Subsystems as the kernel prints them.
    pub subsystem_debug: String,
    /// Size of the debug buffer.
    pub debug_mb: Option<u64>,
    /// Profile that is traced, or was last.
    pub profile: &'static str,
    /// Stretches in which tracing was on; the last one may be open.
    pub traced_us: Vec<(i64, Option<i64>)>,
    /// What was in the kernel's buffer before the capture.
    pub left_out: LeftOut,
    /// Tracing was switched off in between: sums are of a sample.
    pub sampled: bool,
}

impl NodeFacts {
    /// Looks at what may change: targets fail over, clients come and go, masks are changed by others.
    pub(crate) fn refresh(&mut self, control: &Control) {
        if let Ok(targets) = control.targets() {
            self.targets = targets;
        }
        self.refresh_clients(control);
        self.refresh_masks(control);
    }

    /// Looks at the clients only.
    pub(crate) fn refresh_clients(&mut self, control: &Control) {
        self.clients = control.clients(MAX_CLIENTS).clients;
    }

    /// Looks at the masks only.
    pub(crate) fn refresh_masks(&mut self, control: &Control) {
        if let Ok(mask) = control.mask(MaskKind::Debug) {
            self.debug = mask.to_string();
        }
        if let Ok(mask) = control.mask(MaskKind::SubsystemDebug) {
            self.subsystem_debug = mask.to_string();
        }
        self.debug_mb = control.debug_mb().ok().or(self.debug_mb);
    }

    /// What is kept of it beside the segments.
    pub(crate) fn record(&self, file_limit_mib: u64, keep_dir: &Path) -> SessionRecord {
        SessionRecord {
            lustre_version: self.version.as_ref().map(ToString::to_string),
            kernel: self.kernel.clone(),
            boot_id: self.boot_id.clone(),
            debug: self.debug.clone(),
            subsystem_debug: self.subsystem_debug.clone(),
            debug_mb: self.debug_mb,
            profile: self.profile.to_owned(),
            targets: self.targets.clone(),
            file_limit_mib: Some(file_limit_mib),
            left_out: self.left_out,
            traced_us: self.traced_us.clone(),
            sampled: self.sampled,
            // Whoever reads it may work elsewhere. JSON takes no other bytes than text.
            keep_dir: std::path::absolute(keep_dir).ok().filter(|dir| dir.to_str().is_some()),
        }
    }

    /// What is known of a session that did not end well.
    pub(crate) fn of_record(record: SessionRecord) -> Self {
        let profile = ["full", "light"].into_iter().find(|&known| known == record.profile);
        Self {
            version: record.lustre_version.as_deref().and_then(LustreVersion::parse),
            targets: record.targets,
            clients: Vec::new(),
            kernel: record.kernel,
            boot_id: record.boot_id,
            debug: record.debug,
            subsystem_debug: record.subsystem_debug,
            debug_mb: record.debug_mb,
            profile: profile.unwrap_or(UNKNOWN),
            left_out: record.left_out,
            traced_us: record.traced_us,
            sampled: record.sampled,
        }
    }

    /// Names of the targets.
    pub(crate) fn target_names(&self) -> Vec<String> {
        self.targets.iter().map(|target| target.name.to_string()).collect()
    }
}

/// Facts that the main loop gathers and the decoding thread writes into manifests.
#[derive(Clone, Debug, Default)]
pub struct SharedFacts {
    now: Arc<Mutex<NodeFacts>>,
    /// Of earlier loads of Lustre's modules whose log is not safe yet, oldest first.
    earlier: Arc<Mutex<VecDeque<NodeFacts>>>,
}

impl SharedFacts {
    /// Looks at them, or changes them.
    pub fn lock(&self) -> MutexGuard<'_, NodeFacts> {
        // Each change is complete in itself.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the log that is being decoded.
    pub(crate) fn of_log(&self) -> NodeFacts {
        let earlier = self.earlier().front().cloned();
        earlier.unwrap_or_else(|| self.lock().clone())
    }

    /// Lustre's modules were unloaded: what is known stays with what was logged until then, and nothing is set in the kernel any
    /// more.
    pub(crate) fn unloaded(&self) {
        let mut now = self.lock();
        self.earlier().push_back(now.clone());
        now.debug.clear();
        now.subsystem_debug.clear();
        now.debug_mb = None;
    }

    /// All that was logged before the oldest unload is safe.
    pub(crate) fn next_load(&self) {
        self.earlier().pop_front();
    }

    fn earlier(&self) -> MutexGuard<'_, VecDeque<NodeFacts>> {
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_after_an_unload_is_described_as_it_was() {
        let facts = SharedFacts::default();
        let set = |debug: &str| facts.lock().debug = debug.to_owned();
        let seen = || (facts.of_log().debug, facts.lock().debug.clone());
        let pair = |log: &str, now: &str| (log.to_owned(), now.to_owned());
        set("first");
        facts.unloaded();
        assert_eq!(seen(), pair("first", ""));
        // It may be loaded and unloaded again before all is decoded.
        set("second");
        facts.unloaded();
        set("third");
        assert_eq!(seen(), pair("first", "third"));
        facts.next_load();
        assert_eq!(seen(), pair("second", "third"));
        facts.next_load();
        assert_eq!(seen(), pair("third", "third"));
    }

    #[test]
    fn what_is_kept_of_a_session_is_what_is_read_of_it() {
        let target = Target {
            name: "lustre-OST0003".to_owned(),
            kind: "ost".to_owned(),
            fsname: Some("lustre".to_owned()),
            index: Some(3),
            state: None,
        };
        let facts = NodeFacts {
            version: LustreVersion::parse("2.17.57_62_gc881f8e_dirty"),
            targets: vec![target],
            kernel: Some("6.1.0-56-amd64".to_owned()),
            boot_id: Some("acd1b0ca-9d5e-461e-acbb-8607d637b746".to_owned()),
            debug: "rpctrace".to_owned(),
            subsystem_debug: "rpc".to_owned(),
            debug_mb: Some(81),
            profile: "light",
            traced_us: vec![(1, Some(2)), (3, None)],
            sampled: true,
            left_out: LeftOut { records: 7, bytes: 700, first_us: Some(1), at_least: true },
            ..NodeFacts::default()
        };
        let json = serde_json::to_vec(&facts.record(64, Path::new("/srv/io"))).unwrap();
        let record: SessionRecord = serde_json::from_slice(&json).unwrap();
        assert_eq!(record.keep_dir.as_deref(), Some(Path::new("/srv/io")));
        let read = NodeFacts::of_record(record);
        assert_eq!(format!("{read:?}"), format!("{facts:?}"));
        assert_eq!(NodeFacts::of_record(SessionRecord::default()).profile, "unknown");
    }
}
