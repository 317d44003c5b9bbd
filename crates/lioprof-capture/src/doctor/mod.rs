//! Can this node be traced? What is missing? The same checks for `lioprof doctor` and before the daemon starts.
//!
//! Nothing is changed: files are opened and closed, directories are looked at.

mod lustre;
mod places;
mod render;
mod spool;
mod system;

use serde::{Deserialize, Serialize};

pub use render::text;

use crate::config::Config;
use crate::control::Control;

/// Id of the check that no other lioprof daemon runs: a daemon that has its lock already leaves it out.
pub const OTHER_DAEMON: &str = "other_lioprof";

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// It works, but something is worth knowing.
    Warning,
    /// The daemon cannot start.
    Failed,
    /// It cannot be told, or another check has to succeed first.
    Skipped,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable name for scripts.
    pub id: String,
    /// What is checked.
    pub title: String,
    /// How it went.
    pub status: Status,
    /// What was found.
    pub found: String,
    /// What to do; empty if nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl Check {
    fn new(id: &str, title: &str, status: Status, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { id: id.to_owned(), title: title.to_owned(), status, found: found.into(), remedy: remedy.into() }
    }
}

/// All checks, in the order in which problems are best solved.
#[must_use]
pub fn preflight(config: &Config) -> Vec<Check> {
    let root = &config.control.root;
    let waits = config.capture.waits_for_lustre();
    let control = Control::open(root, config.control.access, &config.control.lctl);
    let mut checks =
        vec![system::superuser(), system::container(root), system::modules(root, waits), system::lockdown(root)];
    checks.push(lustre::reachable(root, &control, waits));
    let control = control.ok();
    checks.extend(lustre::checks(control.as_ref(), config));
    checks.extend(places::checks(config, &spool::choose(config)));
    checks.push(system::kernel_log(root));
    checks.push(system::clock(root));
    checks
}

/// The configuration with everything chosen that it leaves open and that the node decides. Where nothing fits it stays open,
/// and [`preflight`] says why.
#[must_use]
pub fn settled(config: &Config) -> Config {
    spool::choose(config).unwrap_or_else(|_| config.clone())
}

/// May the daemon start?
#[must_use]
pub fn may_start(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.status != Status::Failed)
}
