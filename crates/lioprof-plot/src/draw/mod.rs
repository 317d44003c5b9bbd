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
