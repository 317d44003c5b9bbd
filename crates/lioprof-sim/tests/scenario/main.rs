//! The simulated cluster against logs of real servers, against itself, and against the analysis.

#[cfg(test)]
mod account;
#[cfg(test)]
mod analysis;
#[cfg(test)]
mod clocks;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod log;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod order;
#[cfg(test)]
mod records;
#[cfg(test)]
mod replica;
#[cfg(test)]
mod reread;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod volume;
#[cfg(test)]
mod windows;
