//! Bytes to events, in parallel, in one order.
//!
//! [`reader`] cuts an input into chunks of whole records ([`ring`] undoes the wrap of a daemon file
//! first), [`chunk`] decodes each on any thread ([`flights`]) into [`event`]s, [`source`] puts one input's events into
//! time order ([`passes`] knows how far that is certain), and [`merge`] merges the inputs of a node. The result depends neither on the number of
//! threads nor on the size of chunks.

pub(crate) mod chunk;
pub(crate) mod event;
pub(crate) mod flights;
pub(crate) mod held;
pub(crate) mod merge;
pub(crate) mod passes;
pub(crate) mod reader;
pub(crate) mod ring;
pub(crate) mod source;
mod spare;
mod window;
