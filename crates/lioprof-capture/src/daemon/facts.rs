//! What is known of the node, for manifests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::control::Control;
use crate::control::lustre::{Client, LustreVersion, Target};
use crate::control::masks::MaskKind;

/// Clients listed in a manifest.
const MAX_CLIENTS: usize = 20_000;

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
    /// Tracing was switched off in between: sums are of a sample.
    pub sampled: bool,
}

impl NodeFacts {
    /// Looks at what may change: targets fail over, clients come and go, masks are changed by others.
    pub(crate) fn refresh(&mut self, control: &Control) {
        if let Ok(targets) = control.targets() {
            self.targets = targets;
        }
        self.clients = control.clients(MAX_CLIENTS).clients;
        self.refresh_masks(control);
    }

    /// Looks at the masks only.
    pub(crate) fn refresh_masks(&mut self, control: &Control) {
        if let Ok(mask) = control.mask(MaskKind::Debug) {
            self.debug = mask.to_string();
        }
        if let Ok(mask) = control.mask(MaskKind::SubsystemDebug) {
            self.subsystem_debug = mask.to_string();
        }
        self.debug_mb = control.debug_mb().ok();
    }

    /// Names of the targets.
    pub(crate) fn target_names(&self) -> Vec<String> {
        self.targets.iter().map(|target| target.name.to_string()).collect()
    }
}

/// Facts that the main loop gathers and the decoding thread writes into manifests.
#[derive(Clone, Debug, Default)]
pub struct SharedFacts(Arc<Mutex<NodeFacts>>);

impl SharedFacts {
    /// Looks at them, or changes them.
    pub fn lock(&self) -> MutexGuard<'_, NodeFacts> {
        // Each change is complete in itself.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
