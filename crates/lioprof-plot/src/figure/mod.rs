//! Parts that figures are made of: axes, legends, small multiples, heat maps, hatching.

pub(crate) mod axis;
pub(crate) mod grid;
pub(crate) mod hatch;
pub(crate) mod heat;
pub(crate) mod heat_scale;
pub(crate) mod lanes;
pub(crate) mod legend;
pub(crate) mod panel;
pub(crate) mod range;
pub(crate) mod rows;
pub(crate) mod steps;
pub(crate) mod ticks;
pub(crate) mod time_axis;
pub(crate) mod units;

pub(crate) use axis::{Axis, Scale, Tick};
pub(crate) use grid::Grid;
pub(crate) use heat_scale::HeatScale;
pub(crate) use lanes::{LaneRows, PAD, assign};
pub(crate) use legend::{Key, Swatch, cross, wedge};
pub(crate) use panel::{BELOW, HEAD, Panel, left_of, y_title};
pub(crate) use range::{range, range_axis, range_keys};
pub(crate) use rows::{RowLabels, column_names, split, stripes};
pub(crate) use steps::Steps;
pub(crate) use ticks::{
    bytes_colors, bytes_from_zero, colors, count_colors, counts_from_zero, from_zero, log_bytes, log_count, log_time,
    offsets,
};
pub(crate) use time_axis::Window;
pub(crate) use units::{bytes, count, counted, duration_us, more_have, percent, short, short_count};
