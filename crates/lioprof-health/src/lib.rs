//! Is a Lustre file system fit for a large run? Answered without tracing and without I/O on Lustre.
//!
//! ```text
//! parameter files, kernel log ── gather ──> ServerFacts (of one server, JSON) ─┐
//!                                           ServerFacts of other servers ──────┴── judge ──> Results ── text
//! ```
//!
//! * [`gather()`] reads one server, [`Watch`] its disks over some time.
//! * [`ServerFacts`] are what was read. What could not be read says why ([`Fact::Unknown`]).
//! * [`LogDay`] is what a kernel log says, live or in a file.
//! * [`judge()`] applies all rules, [`judge_kernel_logs()`] those about kernel logs. They are functions of the facts alone, so saved facts give the same results.
//! * [`text()`] writes results for people, worst first.
#![forbid(unsafe_code)]

mod facts;
mod gather;
mod outcome;
mod rules;
mod survey;
mod text;

pub use facts::{
    DiskHistogram, DiskIo, FACTS_SCHEMA, Fact, KernelLogFacts, KernelMessages, LnetFacts, LnetInterface, MessageKind,
    OstOfMdt, Policy, Recovery, ServerFacts, ServiceFacts, Setting, Space, TargetFacts,
};
pub use gather::{ClientIo, LogDay, Watch, gather};
pub use outcome::{Detail, Report, Result, Status};
pub use rules::{judge, judge_kernel_logs};
pub use survey::{Bandwidths, LastSurvey, SurveyFacts, parse_survey};
pub use text::{TextOptions, text};
