//! The screen, drawn into memory.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

mod garbage;
mod keys;
mod made;
mod pictures;
