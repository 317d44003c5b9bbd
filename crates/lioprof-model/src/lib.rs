//! What lioprof's rows and analyses *are*.
//!
//! * [`RpcRow`]: one RPC as a server handled it, and [`RowSink`], which whoever wants rows implements.
//! * [`trace`]: what a log says besides RPCs: locks, RPCs that the server sent, marks.
//! * [`Analysis`]: everything lioprof knows about a set of captures, as `analysis.json` holds it
//!   (schema [`SCHEMA`]): keys in snake_case, units in the names, `null` for what cannot be known.
//! * [`traffic`]: what kind of traffic a row is, as rules for rows and for SQL.
//! * [`Io`]: the one place that says how exact a byte count is.
//!
//! Renderers, stores and third parties need this crate and nothing else of lioprof:
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let saved = std::fs::read_to_string("report/analysis.json")?;
//! let analysis: lioprof_model::Analysis = serde_json::from_str(&saved)?;
//! for target in &analysis.targets {
//!     println!("{}: {} bytes written", target.name, target.write.io.bytes);
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

#[macro_use]
mod named;

pub mod access;
mod accused;
pub mod analysis;
mod available;
pub mod baseline;
pub mod bins;
pub mod bounded;
mod causes;
mod client;
pub mod client_logs;
mod clock;
pub mod comparison;
pub mod counted;
pub mod counters;
mod defaults;
pub mod doubts;
mod enqueue_parts;
mod events;
pub mod failures;
mod faults;
pub mod findings;
mod guard;
pub mod io;
pub mod latency;
pub mod live;
mod lock_sums;
pub mod locks;
pub mod merge;
#[cfg(test)]
mod merge_tests;
pub mod names;
mod node_from;
pub mod operations;
mod other_rows;
pub mod parts;
pub mod phases;
mod recent_count;
mod row;
mod selected;
pub mod series;
mod service_parts;
pub mod services;
pub mod symbol;
mod syncs;
pub mod target;
pub mod time;
mod time_account;
pub mod trace;
pub mod traffic;
mod under_way;
pub mod units;
mod verdict;
mod what_if;

pub use access::{Access, AccessPattern, AccessRules, ClientMix, Mix, MixSum, ObjectAccess, Spread, TargetMix};
pub use accused::{ACCUSED, Accused};
pub use analysis::*;
pub use baseline::{Available, Baseline, Ceiling, ObdfilterSurvey, WriteTest};
pub use causes::with_causes;
pub use client::{ClientEvent, ClientStep, FileName, NameHash, WalkOf};
pub use client_logs::{ClientLog, Evidence, RpcSum};
pub use clock::ClockReading;
pub use comparison::{
    ActivityOverTime, Better, COMPARISON_SCHEMA, ChangeVerdict, Comparison, ComparisonRules, Figure, FindingChange,
    FindingChanges, FindingPair, Outcome, Row, Rows, Side,
};
pub use counted::ledger::Ledger;
pub use counters::{Counted, CountedIo, CountedRpcs, CounterSnapshot};
pub use enqueue_parts::{ClientEnqueues, EnqueuePart, EnqueueParts, EnqueueSplit, TargetEnqueues};
pub use events::{Event, EventKind, EventSource, LoggedEvent, LoggedEvents, MAX_EVENTS, key as event_key};
pub use failures::{Failure, everyday};
pub use faults::ClientFaults;
pub use findings::{Check, CheckResult, Confidence, Finding, MAX_NAMES, ObjectId, Severity};
pub use guard::lock;
pub use io::{Direction, Io, ReadWrite, RpcSize, SizeBucket, SizeHistogram};
pub use latency::Distribution;
pub use live::{LIVE_SCHEMA, Live};
pub use lock_sums::{ConflictKinds, LockTargetSums, LockTotals};
pub use locks::{
    Episode, Glimpses, Hold, Interval, KernelCount, LockEvidence, LockJob, LockObject, LockPair, LockRules, LockSeries,
    LockTarget, Locks, LocksOverTime, Timeline, Wait,
};
pub use merge::Merge;
pub use node_from::{NodeFrom, SeveralServers};
pub use operations::{
    Asked, BeginEvidence, KindSums, OperationRow, OperationRpc, Operations, Part, Parts, Quantiles, ServedRpc, Stretch,
};
pub use other_rows::OtherRows;
pub use phases::RpcPhases;
pub use recent_count::RecentCount;
pub use row::{BulkSpan, HalfRpc, OpenStores, RowSink, RowSource, RowStores, RpcRow, SizeEvidence, TargetEvidence};
pub use selected::Selected;
pub use series::{FlowSeries, Heatmap, NodeSeries, RpcSample, SampledRpc, Series, TargetPeaks, TargetSeries};
pub use service_parts::{
    AgainstPeers, ClientParts, NetworkParts, ServerParts, ServiceParts, ServiceSplit, SizeParts, SplitPart,
    TargetParts, network, subnet,
};
pub use services::{Service, Throttled};
pub use symbol::{Symbol, Symbols};
pub use syncs::SyncTimes;
pub use target::TargetKindName;
pub use time_account::{SpentOn, SpentState, TimeAccount, TimeOf, TimeSeries, TimeSpent, TimeSpentSeries};
pub use trace::{LockEvent, LockHappening, LockState, LockStep, Mark, RpcWindow, SentRpc, TraceLoss, TraceSummary};
pub use under_way::{MAX_UNDER_WAY, OpenRpc, OpenRpcs, UnderWay};
pub use verdict::{Verdict, VerdictState};
pub use what_if::{Change, Prediction, Replays, WhatIf};

/// Version of the JSON layout. Adding keys keeps it, renaming or removing one changes it.
pub const SCHEMA: &str = "lioprof.analysis/1";
