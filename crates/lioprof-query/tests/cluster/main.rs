//! A cluster of real processes on loopback: what it answers, and what a lost executor costs.

#[cfg(test)]
mod analysis;
#[cfg(test)]
mod answers;
#[cfg(test)]
#[path = "../shared/captures.rs"]
mod captures;
#[cfg(test)]
mod loss;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod trouble;
