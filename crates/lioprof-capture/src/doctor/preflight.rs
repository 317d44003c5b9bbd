//! All checks before a capture.

use super::check::{Check, Status};
use super::lustre;
use super::paths_and_ports;
use super::spool;
use super::system;
use crate::config::Config;
use crate::control::Control;

/// All checks, in the order in which to solve their problems.
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
    checks.extend(paths_and_ports::checks(config, &spool::choose(config)));
    checks.push(system::kernel_log(root));
    checks.push(system::clock(root));
    checks
}

/// Fills in the settings that the configuration leaves to the node. Those for which nothing fits stay open, and [`preflight`]
/// says why.
#[must_use]
pub fn settled(config: &Config) -> Config {
    spool::choose(config).unwrap_or_else(|_| config.clone())
}

/// Whether the daemon may start: no check failed.
#[must_use]
pub fn may_start(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.status != Status::Failed)
}
