//! `lioprof record` on hosts that are network namespaces, each with a real sshd and a simulated server.
//!
//! * `good`: all goes well: rows, report, marks, exit codes.
//! * `refused`: something is wrong with a host before anything was changed.
//! * `faults`: something dies meanwhile.
//! * `site`: the hosts.

mod faults;
mod good;
mod refused;
mod site;
