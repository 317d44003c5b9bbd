//! What a few requests prove.
//!
//! Figures that judgements rest on, with what chance may do to them: bounds that hold for any number of requests, however small, and the
//! same code for a million of them. Everything is a function of its arguments: nothing is drawn at random.
//!
//! * [`Share`]: of so many requests, so many were so (exact bounds, Clopper and Pearson).
//! * [`Rate`]: so many happened, or so many took so long in sum (Poisson and gamma).
//! * [`Ratio`]: a ratio of two sums over pieces of time (jackknife over the pieces).
//! * [`Percentile`]: between which samples it lies (binomial).
//! * [`student()`]: how wide a mean is (Student's t).
//! * [`RankSum`]: own times against those of peers that are alike in everything else, a [`Stratum`] (rank sum for many, exact permutations for few).
//! * [`stand_out()`]: whether any of many is slower than its peers: by more than chance, and by more than these differ among themselves.
//! * [`united`], [`covered`]: spans of time that overlap.
//! * [`adjusted`]: many comparisons at once (Benjamini and Hochberg).
#![forbid(unsafe_code)]

mod discoveries;
mod interval;
mod levels;
mod peers;
mod percentile;
mod ranks;
mod rate;
mod ratio;
mod share;
mod spans;
mod stratum;
mod student;

pub use discoveries::adjusted;
pub use interval::{Interval, Stands};
pub use peers::{AgainstPeers, stand_out};
pub use percentile::Percentile;
pub use ranks::RankSum;
pub use rate::Rate;
pub use ratio::Ratio;
pub use share::Share;
pub use spans::{covered, united};
pub use stratum::Stratum;
pub use student::student;
