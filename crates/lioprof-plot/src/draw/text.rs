//! Text: what it measures, where it breaks, how it is shortened.
//!
//! DejaVu Sans is wider than Arial, Helvetica, Roboto and Liberation Sans: text that fits with its
//! metrics also fits where an SVG viewer picks one of those.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, ScaleFont};

use super::area::Point;
use super::color::{BLACK, Ink};
use super::num::single;

/// Size of the title.
pub(crate) const TITLE: f64 = 16.0;
/// Size of subtitles, axis titles, panel titles and legends.
pub(crate) const BODY: f64 = 12.0;
/// Size of tick labels and notes.
pub(crate) const SMALL: f64 = 11.0;
/// Smallest size, for dense row labels.
pub(crate) const TINY: f64 = 10.0;

/// Height of a capital letter, in ems.
pub(crate) const CAP_HEIGHT: f64 = 0.73;
/// Distance between lines, in ems.
pub(crate) const LINE: f64 = 1.4;

/// Which point of the text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    /// On the base line.
    pub(crate) at: Point,
    pub(crate) text: String,
    /// Pixels per em.
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) ink: Ink,
    pub(crate) align: Align,
    /// Written from bottom to top.
    pub(crate) upright: bool,
}

impl Text {
    pub(crate) fn new(at: Point, text: impl Into<String>, size: f64) -> Self {
        let text = text.into().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self { at, text, size, bold: false, ink: BLACK, align: Align::Start, upright: false }
    }

    pub(crate) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(crate) fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    pub(crate) fn align(self, align: Align) -> Self {
        Self { align, ..self }
    }

    pub(crate) fn upright(self) -> Self {
        Self { upright: true, ..self }
    }
}

/// The bundled font.
pub(crate) fn font(bold: bool) -> &'static FontRef<'static> {
    static REGULAR: OnceLock<FontRef<'static>> = OnceLock::new();
    static BOLD: OnceLock<FontRef<'static>> = OnceLock::new();
    let load = |bytes| FontRef::try_from_slice(bytes).expect("the bundled font is sound");
    if bold {
        BOLD.get_or_init(|| load(dejavu::sans::bold()))
    } else {
        REGULAR.get_or_init(|| load(dejavu::sans::regular()))
    }
}

/// The font library's scale for a size in pixels per em.
pub(crate) fn scale(font: &FontRef<'static>, size: f64) -> ab_glyph::PxScale {
    let per_em = font.units_per_em().unwrap_or(2048.0);
    ab_glyph::PxScale::from(single(size) * font.height_unscaled() / per_em)
}

/// Width of a text.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let font = font(bold);
    let scaled = font.as_scaled(scale(font, size));
    text.chars().map(|c| f64::from(scaled.h_advance(font.glyph_id(c)))).sum()
}

/// The widest of several texts.
pub(crate) fn widest<'a>(texts: impl IntoIterator<Item = &'a str>, size: f64) -> f64 {
    texts.into_iter().map(|t| width(t, size, false)).fold(0.0, f64::max)
}

/// The text, with an ellipsis in its middle if it is wider than `room`.
pub(crate) fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size, false) <= room {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().take(400).collect();
    let shortened = |keep: usize| -> String {
        let tail = keep / 2;
        let head = keep - tail;
        chars[..head].iter().copied().chain(['…']).chain(chars[chars.len() - tail..].iter().copied()).collect()
    };
    let (mut fits, mut too_long) = (1, chars.len());
    while fits + 1 < too_long {
        let keep = usize::midpoint(fits, too_long);
        if width(&shortened(keep), size, false) <= room {
            fits = keep;
        } else {
            too_long = keep;
        }
    }
    shortened(fits.min(chars.len()))
}

/// Lines no wider than `room`, broken at blanks; a word that is too long is shortened.
pub(crate) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = fit(word, size, room);
        if let Some(line) = lines.last_mut() {
            let longer = format!("{line} {word}");
            if width(&longer, size, false) <= room {
                *line = longer;
                continue;
            }
        }
        lines.push(word);
    }
    lines
}
