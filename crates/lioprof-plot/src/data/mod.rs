//! What plots take out of an analysis, made safe to draw.

pub(crate) mod bins;
pub(crate) mod locks;
pub(crate) mod names;
pub(crate) mod quality;
pub(crate) mod sample;
