//! Two analyses side by side. Nothing but the analyses goes in, so saved ones can be compared as well as logs.

mod activity;
mod chance;
#[cfg(test)]
mod coverage;
mod family;
mod figure;
mod findings;
mod locks;
mod logs;
mod noise;
mod pair;
mod ranks;
mod requests;
mod rows;
mod sides;
mod totals;

pub use sides::compare;
