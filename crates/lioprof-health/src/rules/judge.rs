//! Applies all rules.

use super::rule::Rule;
use super::{alike, disk_io, kernel_log, latency, lnet, room, scheduling, state, survey};
use crate::facts::{KernelLogFacts, ServerFacts};
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

/// Rules that need nothing but a kernel log.
const KERNEL_LOG_RULES: [Rule; 3] = [kernel_log::SEVERE, kernel_log::EVICTIONS, kernel_log::ERRORS];

/// Applies the rules about kernel logs to those of one or many servers: name, and what the log says.
#[must_use]
pub fn judge_kernel_logs(logs: Vec<(String, KernelLogFacts)>) -> Report {
    let servers = logs.into_iter().map(|(server, log)| ServerFacts::of_kernel_log(server, log)).collect();
    report(servers, Vec::new(), &KERNEL_LOG_RULES)
}

/// Applies all rules to the facts of one or many servers. `failed` are servers whose facts could not be had.
#[must_use]
pub fn judge(servers: Vec<ServerFacts>, failed: Vec<Detail>) -> Report {
    report(servers, failed, &RULES)
}

fn report(mut servers: Vec<ServerFacts>, failed: Vec<Detail>, rules: &[Rule]) -> Report {
    servers.sort_by(|a, b| a.server.cmp(&b.server));
    let mut results: Vec<Result> = rules.iter().filter_map(|rule| rule.judge(&servers)).collect();
    // Stable: the order of the rules within a status.
    results.sort_by_key(|result| result.status);
    let names = servers.into_iter().map(|facts| facts.server).collect();
    Report { schema: "lioprof.check/1", servers: names, failed, results }
}
