//! The screen, drawn into memory.

mod garbage;
mod keys;
mod made;
mod pictures;
