//! End-to-end tests: they run the built `lioprof` command on the captures in `fixtures/` and look at
//! nothing but its output, its messages and its exit code.
//!
//! * `truth`: every figure against the servers' own counters.
//! * `same`: text and binary, threads, chunks, order and segments give the same result.
//! * `locks`: contention, in both tiers of evidence.
//! * `lock_requests`: what their time was made of.
//! * `damaged`: wounds made from the captures.
//! * `cli`: bad inputs, messages and exit codes.
//! * `bounded`: `analysis.json` of long runs and large sites.
//! * `about`: versions, manual pages, completions.
//! * `anonymise`: logs with pseudonyms, analyzed like the originals.
//! * `clocks`: offsets of real servers' clocks.
//! * `compare`: two captures side by side, and the case studies.
//! * `operations`: where the time of clients' operations went.
//! * `envelope`: logs in mails, web pages, the output of `pdsh`, `grep` and syslog.
//! * `nodes`: which server a log is of.
//! * `events`: what logs tell in sentences for people, debug logs and kernel logs.
//! * `marks`: those that occur more than once.
//! * `pairs`: runs of a real cluster, each sick and cured.
//! * `parts`: parts of service times against the rows.
//! * `progress`: the bar on a terminal.
//! * `findings`: what is found in the captures, thresholds, exit codes.
//! * `selections`: options that leave something out.
//! * `time_account`: where the clients' time went, against the rows.
//! * `verdict`: it never contradicts the figures.
//! * `what_if`: what a remedy saves, against runs that were cured.
//! * `report`: the HTML page; in a browser it is looked at by `scripts/check-report`.
//! * `export`: rows as Parquet, CSV and Perfetto traces; others decode them in `scripts/check-parquet`, `scripts/check-perfetto`.
//! * `rests`: runs with a pause in the middle.
//! * `rows`: datasets that are damaged, incomplete or there twice.
//! * `rollup`: sums of nodes beside their rows.
//! * `sums`: sums of nodes apart from their rows.
//! * `daemon`: the daemon as a process, on a simulated server.
//!
//! A new capture is a new folder in `fixtures/captures`; no test but `archives`, `findings`, `compare`, `lock_requests`, `operations`, `export`, `rollup`, `rows`, `selections`, `sums` and `verdict` names one.

#[cfg(test)]
mod about;
#[cfg(test)]
mod anonymise;
#[cfg(test)]
mod archives;
#[cfg(test)]
mod binlog;
#[cfg(test)]
#[cfg(feature = "export")]
mod bounded;
#[cfg(test)]
mod captures;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod clocks;
#[cfg(test)]
mod compare;
#[cfg(test)]
mod counters;
#[cfg(all(test, feature = "daemon", feature = "replay"))]
mod daemon;
#[cfg(test)]
mod damaged;
#[cfg(test)]
mod envelope;
#[cfg(test)]
mod events;
#[cfg(test)]
#[cfg(feature = "export")]
mod export;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod kernel_logs;
#[cfg(test)]
#[cfg(feature = "export")]
mod lock_requests;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod marks;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod pairs;
#[cfg(test)]
#[cfg(feature = "export")]
mod parts;
#[cfg(test)]
mod progress;
#[cfg(all(test, feature = "report"))]
mod report;
#[cfg(test)]
mod rests;
#[cfg(test)]
#[cfg(feature = "export")]
mod rollup;
#[cfg(test)]
#[cfg(feature = "export")]
mod rows;
#[cfg(test)]
mod same;
#[cfg(test)]
mod selections;
#[cfg(test)]
#[cfg(feature = "export")]
mod sums;
#[cfg(test)]
mod table;
#[cfg(test)]
mod time_account;
#[cfg(test)]
mod truth;
#[cfg(test)]
mod util;
#[cfg(test)]
mod verdict;
#[cfg(test)]
mod what_if;
#[cfg(test)]
mod wordings;
