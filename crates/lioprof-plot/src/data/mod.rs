//! What plots take out of an analysis, made safe to draw.

pub(crate) mod bins;
pub(crate) mod hidden;
pub(crate) mod locks;
pub(crate) mod quality;
pub(crate) mod sample;

pub(crate) use bins::{add, bin_width, bins_of, largest, peaks_are, raise, total};
pub(crate) use hidden::cut;
pub(crate) use locks::{
    Contended, Kinds, NO_CONFLICT, contended, contended_osts, is_ost, label, mdt_note, seconds, sum,
};
pub(crate) use quality::Covers;
pub(crate) use sample::{Thinned, client_name, sound};
