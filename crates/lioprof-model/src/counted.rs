//! A server's own counters compared with the trace of the same time.
//!
//! ```text
//! samples (CounterSnapshot) ──> Ledger <── rows        of each counter an Account: counted, inside, edge
//! ```
//!
//! The daemon fills a [`Ledger`](ledger::Ledger) while it writes rows, the analysis when it reads them.

pub mod account;
pub mod ledger;
