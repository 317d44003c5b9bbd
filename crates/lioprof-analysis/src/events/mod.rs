//! What logs tell in sentences for people, as the events of an analysis: what several logs of a node hold counts once.

mod clock;
mod kernel;
mod pool;
mod same;
mod tell;

pub(crate) use tell::tell;
