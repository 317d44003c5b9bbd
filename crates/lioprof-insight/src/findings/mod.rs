//! What is wrong, by rules over an [`lioprof_model::Analysis`]: one module per kind, nothing but the analysis goes in.
//!
//! A rule that needs to know more than the analysis says makes the analysis say more: then a saved
//! `analysis.json`, the rows of many servers and a live log all give the same findings.

mod alike;
mod below_available;
mod bottleneck;
mod busy_together;
mod case;
mod client_bound;
mod could_be_faster;
mod disk_bound;
mod draft;
mod evicted;
mod failed_requests;
mod faults;
mod find;
mod flagged;
mod gapped_rpcs;
mod glimpses;
mod hot_ost;
mod hung_requests;
mod judged_time;
mod limits;
mod load;
mod load_imbalance;
mod lock_ping_pong;
mod many_writers;
mod metadata_bound;
mod peers;
mod queue_bound;
mod rank;
mod rate_rises;
mod read_fan_out;
mod read_order;
mod registry;
mod rule;
mod saves;
mod server_errors;
mod single_writer;
mod slow_link;
mod slow_part;
mod slow_tail;
mod sluggish_ost;
mod sluggish_parts;
mod sluggish_syncs;
mod small_between_large;
mod small_rpcs;
mod stats;
mod storms;
mod throttled;
mod trace_quality;
mod unaligned_rpcs;
mod unfair_sharing;
mod verdict;
mod waits;

pub use case::Rule;
pub use find::{find, find_and_predict};
pub use limits::{Limit, Limits};
pub use registry::{LimitError, rules};
pub use verdict::verdict;
