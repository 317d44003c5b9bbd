//! Applies all rules.

use super::rule::Rule;
use super::{alike, disk_io, kernel_log, latency, lnet, room, scheduling, state, survey};
use crate::facts::ServerFacts;
use crate::outcome::{Detail, Report, Result};

/// All rules, in the order in which results of the same status are listed.
const RULES: [Rule; 21] = [
    state::HEALTH,
    state::TARGETS,
    state::OSTS_OF_MDT,
    state::READ_ONLY,
    state::RECOVERY,
    state::DEGRADED,
    kernel_log::SEVERE,
    kernel_log::EVICTIONS,
    kernel_log::ERRORS,
    lnet::INTERFACES,
    lnet::DROPS,
    room::SPACE,
    room::INODES,
    room::BALANCE,
    scheduling::POLICIES,
    scheduling::THREADS,
    alike::ALIKE,
    disk_io::DISK_IO,
    latency::LATENCY,
    survey::PEERS,
    survey::LAST,
];

/// Applies all rules to the facts of one or many servers. `failed` are servers whose facts could not be had.
#[must_use]
pub fn judge(mut servers: Vec<ServerFacts>, failed: Vec<Detail>) -> Report {
    servers.sort_by(|a, b| a.server.cmp(&b.server));
    let mut results: Vec<Result> = RULES.iter().filter_map(|rule| rule.judge(&servers)).collect();
    // Stable: the order of the rules within a status.
    results.sort_by_key(|result| result.status);
    let names = servers.into_iter().map(|facts| facts.server).collect();
    Report { schema: "lioprof.check/1", servers: names, failed, results }
}
