//! Drawing without any knowledge of I/O: shapes, text, colours, and the two file formats.

pub(crate) mod area;
pub(crate) mod bitmap;
pub(crate) mod color;
pub(crate) mod num;
pub(crate) mod paint;
pub(crate) mod scene;
pub(crate) mod smooth;
pub(crate) mod svg;
pub(crate) mod text;

pub(crate) use area::{Area, Point};
pub(crate) use color::{
    AFTER, AFTER_TRANSFER, BEFORE, BEFORE_TRANSFER, BLACK, CATEGORIES, EXPANSION, FRAME, GREY, GRID, Ink, OTHERS, PALE,
    QUEUE, READ, SERVICE, STEPS, TRANSFER, TRUE_CONFLICT, UNCLASSIFIED, WARN, WRITE, direction, readable_on,
    sequential,
};
pub(crate) use num::{index, ratio};
pub(crate) use scene::{Item, Scene};
pub(crate) use text::{Align, BODY, CAP_HEIGHT, LINE, SMALL, TINY, TITLE, Text, fit, widest, width, wrap};
