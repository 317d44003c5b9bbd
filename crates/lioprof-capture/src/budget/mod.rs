//! What tracing may cost, and what to give up when it costs more.
//!
//! [`Budget`] is a state machine without a clock and without I/O: every few seconds it gets a [`Tick`] and may answer
//! with a [`Transition`]. The order of what is given up is fixed (see [`Ladder`]): rotate less often, trace
//! less, trace part of the time, stop. The way back is slower than the way down, one step at a time, and becomes
//! slower still each time it proves premature.

mod duty;
mod figures;
mod ladder;
mod limits;
mod machine;
pub(crate) mod usage;

pub(crate) use duty::Duty;
pub(crate) use figures::{Figures, Tick};
pub(crate) use ladder::{Ladder, Level};
pub(crate) use limits::{Limits, Pace};
pub(crate) use machine::{Budget, Transition};

#[cfg(test)]
pub(crate) use {limits::Resource, machine::Why};
