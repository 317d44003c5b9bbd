//! Parts that figures are made of: page, axes, legends, small multiples, heat maps, hatching.

pub(crate) mod axis;
pub(crate) mod grid;
pub(crate) mod hatch;
pub(crate) mod heat;
pub(crate) mod heat_scale;
pub(crate) mod lanes;
pub(crate) mod legend;
pub(crate) mod page;
pub(crate) mod panel;
pub(crate) mod range;
pub(crate) mod rows;
pub(crate) mod steps;
pub(crate) mod ticks;
pub(crate) mod time_axis;
pub(crate) mod units;
