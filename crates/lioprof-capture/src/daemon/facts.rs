//! Facts of the node, for manifests.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use lioprof_model::lock;
use serde::{Deserialize, Serialize};

use crate::control::lustre::{Client, Target};
use crate::control::{Control, Values};
use crate::left_out::LeftOut;

/// Largest number of clients listed in a manifest.
const MAX_CLIENTS: usize = 20_000;

/// Profile of a session without a record.
const UNKNOWN: &str = "unknown";

/// Current facts of the node, also written beside the segments of a session. Keys may be added; a missing key means
/// unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct NodeFacts {
    /// Version of the modules.
    pub(crate) lustre_version: Option<String>,
    /// Kernel release, as `uname -r` prints it; `None` if unknown.
    pub(crate) kernel: Option<String>,
    /// Boot id of the kernel.
    pub(crate) boot_id: Option<String>,
    /// Masks and sizes as the kernel shows them.
    #[serde(flatten)]
    pub(crate) settings: Values,
    /// Current or last profile: `full` or `light`.
    pub(crate) profile: String,
    /// Targets of the node.
    pub(crate) targets: Vec<Target>,
    /// Size limit of the kernel's file, MiB.
    pub(crate) file_limit_mib: Option<u64>,
    /// Records that were in the kernel's buffer before the capture.
    pub(crate) left_out: LeftOut,
    /// Windows in which tracing was on; the last one may be open.
    pub(crate) traced_us: Vec<(i64, Option<i64>)>,
    /// Whether tracing was paused in between, so that sums cover only a sample.
    pub(crate) sampled: bool,
    /// Data directory for its rows.
    pub(crate) keep_dir: Option<PathBuf>,
    /// Clients of the node's targets.
    #[serde(skip)]
    pub(crate) clients: Vec<Client>,
}

impl NodeFacts {
    /// Updates what may change: targets fail over, clients come and go, others change masks.
    pub(crate) fn refresh(&mut self, control: &Control) {
        if let Ok(targets) = control.targets() {
            self.targets = targets;
        }
        self.refresh_clients(control);
        self.settings.refresh(control);
    }

    /// Updates the clients only.
    pub(crate) fn refresh_clients(&mut self, control: &Control) {
        self.clients = control.clients(MAX_CLIENTS).clients;
    }

    /// The facts of a session whose daemon was killed.
    pub(crate) fn of_record(record: Option<Self>) -> Self {
        let record = record.unwrap_or_default();
        let is_known = ["full", "light"].contains(&record.profile.as_str());
        Self { profile: if is_known { record.profile } else { UNKNOWN.to_owned() }, ..record }
    }

    /// Names of the targets.
    pub(crate) fn target_names(&self) -> Vec<String> {
        self.targets.iter().map(|target| target.name.to_string()).collect()
    }
}

/// Facts that the main loop gathers and the decoding thread writes into manifests.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedFacts {
    now: Arc<Mutex<NodeFacts>>,
    /// Facts of earlier loads of Lustre's modules whose log is not on disk yet, oldest first.
    earlier: Arc<Mutex<VecDeque<NodeFacts>>>,
}

impl SharedFacts {
    /// Reads or changes the current facts.
    pub(crate) fn lock(&self) -> MutexGuard<'_, NodeFacts> {
        lock(&self.now)
    }

    /// The facts of the log that is being decoded.
    pub(crate) fn of_log(&self) -> NodeFacts {
        let earlier = lock(&self.earlier).front().cloned();
        earlier.unwrap_or_else(|| self.lock().clone())
    }

    /// Lustre's modules were unloaded: the current facts stay with the log up to now, and no kernel setting is in force any
    /// more.
    pub(crate) fn unloaded(&self) {
        let mut now = self.lock();
        lock(&self.earlier).push_back(now.clone());
        now.settings = Values::default();
    }

    /// Everything that was logged before the oldest unload is on disk.
    pub(crate) fn next_load(&self) {
        lock(&self.earlier).pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Param;
    use serde_json::json;

    fn debug_mask(names: &str) -> Values {
        serde_json::from_value(json!({ "debug": names })).unwrap()
    }

    #[test]
    fn what_is_decoded_after_an_unload_is_described_as_it_was() {
        let facts = SharedFacts::default();
        let set = |debug: &str| facts.lock().settings = debug_mask(debug);
        let names = |facts: &NodeFacts| facts.settings.names(Param::Debug).unwrap_or_default();
        let seen = || (names(&facts.of_log()), names(&facts.lock()));
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
        let settings = json!({ "debug": "rpctrace", "subsystem_debug": "rpc", "debug_mb": 81 });
        let facts = NodeFacts {
            lustre_version: Some("2.17.57_62_gc881f8e_dirty".to_owned()),
            targets: vec![target],
            kernel: Some("6.1.0-56-amd64".to_owned()),
            boot_id: Some("acd1b0ca-9d5e-461e-acbb-8607d637b746".to_owned()),
            settings: serde_json::from_value(settings).unwrap(),
            profile: "light".to_owned(),
            traced_us: vec![(1, Some(2)), (3, None)],
            sampled: true,
            left_out: LeftOut { records: 7, bytes: 700, first_us: Some(1), at_least: true },
            file_limit_mib: Some(64),
            keep_dir: Some("/srv/io".into()),
            ..NodeFacts::default()
        };
        let json = serde_json::to_string(&facts).unwrap();
        // As lioprof has written it since there are records.
        let expected = concat!(
            r#"{"lustre_version":"2.17.57_62_gc881f8e_dirty","kernel":"6.1.0-56-amd64","#,
            r#""boot_id":"acd1b0ca-9d5e-461e-acbb-8607d637b746","debug":"rpctrace","subsystem_debug":"rpc","debug_mb":81,"#,
            r#""profile":"light","targets":[{"name":"lustre-OST0003","kind":"ost","fsname":"lustre","index":3,"state":null}],"#,
            r#""file_limit_mib":64,"left_out":{"records":7,"bytes":700,"first_us":1,"at_least":true},"#,
            r#""traced_us":[[1,2],[3,null]],"sampled":true,"keep_dir":"/srv/io"}"#
        );
        assert_eq!(json, expected);
        let read = |json: &str| NodeFacts::of_record(serde_json::from_str(json).unwrap());
        assert_eq!(read(&json), facts);
        let other = read(r#"{"debug":"","debug_mb":null,"profile":"a new one","from_the_future":1}"#);
        assert_eq!((other.settings.names(Param::Debug), other.settings.mib(Param::DebugMb)), (None, None));
        assert_eq!((other.profile.as_str(), NodeFacts::of_record(None).profile.as_str()), ("unknown", "unknown"));
    }
}
