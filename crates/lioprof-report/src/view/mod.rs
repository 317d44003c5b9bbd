//! What the page of an analysis shows. Field names are those that `web/report/*.js` reads; units as in the analysis.
//!
//! Order of work: whoever has a row of its own comes first and gets the low numbers, then whoever else is named.

mod bins;
mod capture;
mod enqueue_parts;
mod events;
pub(crate) mod findings;
mod flows;
mod latency;
mod limits;
mod locks;
mod names;
pub(crate) mod number;
mod quality;
mod report;
mod rows;
mod sample;
mod series;
mod service_parts;
mod sizes;
mod time_account;

pub(crate) use report::{report, title};
