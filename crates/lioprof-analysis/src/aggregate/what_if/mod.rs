//! The requests of clients, kept for predicting how long they would have taken if something had been otherwise.

mod finish;
mod record;

pub(super) use finish::finish;
pub(super) use record::Record;
