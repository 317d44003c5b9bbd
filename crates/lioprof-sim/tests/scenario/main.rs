//! The simulated cluster against logs of real servers, against itself, and against the analysis.

mod account;
mod analysis;
mod findings;
mod order;
mod records;
mod replica;
mod reread;
mod shapes;
mod volume;
mod windows;
