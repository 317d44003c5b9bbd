//! Losing lines makes parts unknown, never wrong.
