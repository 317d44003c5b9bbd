//! Conversions that cannot go wrong: out of range saturates, NaN is 0.

/// To a pixel.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates, and a page is small")]
pub(crate) fn pixel(value: f64) -> i32 {
    value.round() as i32
}

/// To an index or a count; negative is 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates at both ends")]
pub(crate) fn index(value: f64) -> usize {
    value as usize
}

/// To a colour channel.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates at both ends")]
pub(crate) fn channel(value: f64) -> u8 {
    value.round() as u8
}

/// To an integer of 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates")]
pub(crate) fn whole(value: f64) -> i64 {
    value as i64
}

/// To single precision, for the font library.
#[expect(clippy::cast_possible_truncation, reason = "sizes and positions on a page")]
pub(crate) fn single(value: f64) -> f32 {
    value as f32
}

/// To the size of a bitmap.
pub(crate) fn size(value: f64) -> u32 {
    u32::try_from(pixel(value)).unwrap_or(0)
}

/// Coordinate of a pixel of a small box.
pub(crate) fn offset(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// `a / b`, or 0 where that is no number.
pub(crate) fn ratio(a: f64, b: f64) -> f64 {
    let ratio = a / b;
    if ratio.is_finite() { ratio } else { 0.0 }
}
