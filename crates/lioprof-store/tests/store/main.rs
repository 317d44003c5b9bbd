//! The store from outside: what comes back, what is on disk, what damage does.

mod damage;
mod evolution;
mod round_trip;
mod schema;
mod size;
mod support;
