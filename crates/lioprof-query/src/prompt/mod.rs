//! The interactive prompt.

mod command;
mod complete;
mod conversation;
mod history;

pub(crate) use conversation::run;
