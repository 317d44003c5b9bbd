//! From Lustre debug logs to rows.
//!
//! ```text
//! files ─ input ─> bytes ─ decode ─> events in time order ─ join ─> rows
//! ```
//!
//! * [`input`]: what the user named, as byte streams with a node name.
//! * `envelope`: what mail clients, web pages, `pdsh`, `grep` and syslog made of a text, undone where it is met.
//! * `decode`: chunks framed and parsed in parallel, put into one order.
//! * `join`: about eleven records to one row per RPC.
//! * [`KernelLog`]: what kernel logs tell.
//! * [`Inputs`]: the logs of all nodes, read into a [`RowSink`](lioprof_model::RowSink).
//! * [`LiveTrace`]: the same for a log that is still being written.
//! * [`decode_text`]: a binary log as text; [`logged_text()`]: a text log as it was logged.
//!
//! # Design constraints
//!
//! * One pass. Memory depends on what is in flight, not on the length of the log.
//! * The same input gives the same rows in the same order, whatever the number of threads, the size of chunks, the order of files and of
//!   records with equal times.
//! * Nothing is summed up here, and nothing printed.
//!
//! # Example
//!
//! ```
//! use lioprof_model::{RowSink, RpcRow, Symbols};
//! use lioprof_trace::{DEFAULT_CHUNK_BYTES, Inputs, Progress, Reading};
//!
//! struct Count(u64);
//!
//! impl RowSink for Count {
//!     fn rpc(&mut self, _: &RpcRow, _: &Symbols) {
//!         self.0 += 1;
//!     }
//! }
//!
//! let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/captures/file_per_process");
//! let found = Inputs::find(&[captures.into()], &[], &|_| false, &Progress::default());
//! let (mut symbols, mut rpcs) = (Symbols::default(), Count(0));
//! for (name, logs) in found.nodes {
//!     let node = symbols.intern(name.as_bytes());
//!     logs.read(node, Reading::new(DEFAULT_CHUNK_BYTES, 1), &mut symbols, &mut rpcs);
//! }
//! assert!(rpcs.0 > 100);
//! ```
#![forbid(unsafe_code)]

pub mod input;
#[doc(hidden)]
pub mod stages;

mod decode;
mod envelope;
mod identity;
mod join;
mod kept;
mod kernel_log;
mod live;
mod logged_text;
mod logs;
mod plan;
mod progress;
mod render;
mod segment_scan;
mod sink_thread;

pub use decode::chunk::CLOCK_STEP_US;
pub use kernel_log::{HostLog, KernelEvent, KernelLog, as_if_utc_until, kernel_log_lines};
pub use live::{HandedOn, LiveTrace, Segment};
pub use logged_text::logged_text;
pub use logs::ReadLogs;
pub use plan::{DEFAULT_CHUNK_BYTES, Inputs, NodeLogs, Reading, kernel_log_nodes};
pub use progress::Progress;
pub use render::{DecodeOutcome, decode_text};
pub use segment_scan::{SegmentScan, is_cut};
pub use sink_thread::with_sink_thread;
