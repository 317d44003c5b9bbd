//! Captures of a whole file system around one run.
//!
//! ```text
//! record ── survey all hosts ── start daemons ── run the command ── stop ── fetch ──> DIR/sums or DIR/rows, DIR/record.json
//!               │ ssh               │ lease          │ renew, mark     │       │
//!            agent ──────────── lioprof daemon ──────┴─────────────────┴── files
//! ```
//!
//! * [`record()`], [`fetch()`], [`mark()`]: what `lioprof record` does; [`Plan`] says what is wanted, [`Recording`] what came of it.
//! * [`agent`]: what runs on each server, started by ssh; `protocol` is what both sides say.
//! * `before` looks at all hosts and changes nothing, `host` keeps a daemon alive and ends it, `fetch` brings the files, `sums` what each
//!   server sums up, `push` lends this program to servers that lack it.
//!
//! # Design constraints
//!
//! * Nothing listens to the network. An agent ends with its connection; a daemon whose lease nobody renews ends by itself.
//! * Until all hosts are known to be fine, nothing is changed on any.
//! * Whenever this process or a connection dies, what was recorded can be fetched later: `record.json` says where it is.
#![forbid(unsafe_code)]

pub mod agent;
mod before;
mod connection;
mod copied;
mod dir_lock;
mod error;
mod fetch;
mod host;
mod plan;
mod protocol;
mod push;
mod run;
mod state;
mod sums;
mod tell;

pub use error::RecordError;
pub use plan::{Fetch, Plan};
pub use run::{fetch, forget, mark, record};
pub use state::{HostRecord, HostState, Recording, Totals};
pub use sums::sums_of;
pub use tell::{Progress, Tell};
