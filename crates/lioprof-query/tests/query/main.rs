//! Queries over datasets that were made of real captures, compared with the analysis of the same captures, whose sums other
//! tests compare with the servers' own counters.

#[cfg(test)]
mod analyze;
#[cfg(test)]
#[path = "../shared/captures.rs"]
mod captures;
#[cfg(test)]
mod command;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod page;
#[cfg(test)]
mod ready;
#[cfg(test)]
#[path = "../shared/rollups.rs"]
mod rollups;
#[cfg(test)]
mod support;
#[cfg(test)]
mod traffic;
#[cfg(test)]
mod views;
#[cfg(test)]
mod wounds;
