//! How long the same work would have taken if something had been otherwise: the requests are replayed in a closed loop.
//!
//! ```text
//! Run ─ chain ─> steps that wait for each other ─ sharing ─> work of each part ─ change ─> other steps ─ replay ─> elapsed
//! ```
//!
//! * `run`: the requests, as the log tells of them.
//! * `chain`: which completion let each of them go out.
//! * `sharing`: how much of a disk or a link each part of a request took, given what else was under way; `turns`: disks that serve one
//!   request after the other.
//! * `change`: the plan with one thing otherwise.
//! * `replay`: the clock.
//! * `candidates`, `predict`: what is worth a replay, and what several models make of it.
//!
//! `docs/what-if.md` is the long version.

mod candidates;
mod capacity;
mod chain;
mod change;
mod instant;
mod locks;
mod model;
mod order;
mod peers;
mod placement;
mod plan;
mod predict;
mod replay;
mod resample;
mod rests;
mod run;
mod sharing;
mod sizes;
#[cfg(test)]
mod tests;
mod turns;
mod works;

pub use predict::Replay;
pub(crate) use run::{Kind, LockWait, Place, Request, Run};
