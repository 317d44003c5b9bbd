//! Loss against truth: the table in `docs/numbers.md`, with and without the server's counters beside the trace.
//!
//! `LIOPROF_BLESS=1` writes the table anew.

#[cfg(test)]
mod overloads;
#[cfg(test)]
mod real;
#[cfg(test)]
mod run;
#[cfg(test)]
mod table;
