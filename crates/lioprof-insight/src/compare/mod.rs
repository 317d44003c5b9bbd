//! Two analyses side by side. Nothing but the analyses goes in, so saved ones can be compared as well as logs.

mod activity;
mod figure;
mod findings;
mod locks;
mod noise;
mod pair;
mod rows;
mod sides;
mod totals;

pub use sides::compare;
