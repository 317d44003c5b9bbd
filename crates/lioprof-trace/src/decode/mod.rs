//! Bytes to events, in parallel, in one order.
//!
//! [`reader`] cuts an input into chunks of whole records ([`ring`] undoes the wrap of a daemon file
//! first), [`chunk`] decodes each on any thread ([`chunk_tasks`]) into [`event`]s, [`source`] puts one input's events into
//! time order ([`flush_passes`] knows how far that is certain, [`moment`] what comes first if the clock was set back), and [`merge`] merges the inputs of a node. The result depends neither on the number of
//! threads nor on the size of chunks.

mod buffer_pool;
pub(crate) mod chunk;
pub(crate) mod chunk_store;
pub(crate) mod chunk_tasks;
mod client;
pub(crate) mod event;
pub(crate) mod flush_passes;
mod handlings;
pub(crate) mod merge;
pub(crate) mod moment;
mod read_buffer;
pub(crate) mod reader;
pub(crate) mod ring;
pub(crate) mod source;
