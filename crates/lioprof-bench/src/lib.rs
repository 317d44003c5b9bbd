//! Logs and rows to measure lioprof with, of any size, written as they are made.
//!
//! * [`replica`]: a capture again and again, each copy with times and requests of its own.
//! * [`crowd`]: as many clients, OSTs and jobs as one likes.
//! * [`dataset`]: the rows of a whole site as Parquet files, and their sums.
//! * [`stage`]: a part of what an analysis does, alone.
//! * [`log_writer`]: either as text and as the file of the kernel's debug daemon.
#![forbid(unsafe_code)]

mod careless;
pub mod crowd;
pub mod dataset;
pub mod log_writer;
mod random;
pub mod replica;
pub mod stage;
