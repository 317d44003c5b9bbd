//! The store from outside: what comes back, what is on disk, what damage does.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod damage;
mod evolution;
mod old_readers;
mod round_trip;
mod schema;
mod size;
mod support;
