//! Colours that people with colour blindness can tell apart, and that survive a black and white print.

use lioprof_model::Direction;

use super::num::{channel, index};

/// A colour with opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ink {
    pub(crate) rgb: [u8; 3],
    pub(crate) alpha: f64,
}

impl Ink {
    pub(crate) const fn new(hex: u32) -> Self {
        let [_, r, g, b] = hex.to_be_bytes();
        Self { rgb: [r, g, b], alpha: 1.0 }
    }

    pub(crate) const fn alpha(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    /// Mixed with white: `share` of this colour is left. Unlike [`Ink::alpha`] it hides what is below.
    pub(crate) fn tint(self, share: f64) -> Self {
        let mix = |c: u8| channel(255.0 - share * (255.0 - f64::from(c)));
        let [r, g, b] = self.rgb;
        Self { rgb: [mix(r), mix(g), mix(b)], alpha: self.alpha }
    }
}

/// Text.
pub(crate) const BLACK: Ink = Ink::new(0x1a_1a1a);
/// Subtitles, notes, tick labels.
pub(crate) const GREY: Ink = Ink::new(0x4d_4d4d);
/// Frames of panels.
pub(crate) const FRAME: Ink = Ink::new(0x80_8080);
/// Grid lines.
pub(crate) const GRID: Ink = Ink::new(0xe2_e2e2);
/// Heat map cells without anything in them, bands behind every other row.
pub(crate) const PALE: Ink = Ink::new(0xf4_f4f4);
/// Warnings.
pub(crate) const WARN: Ink = Ink::new(0xb0_1010);
/// Everything that has no colour of its own.
pub(crate) const OTHERS: Ink = Ink::new(0x8c_8c8c);

/// Reads (Okabe-Ito blue).
pub(crate) const READ: Ink = Ink::new(0x00_72b2);
/// Writes (Okabe-Ito vermillion).
pub(crate) const WRITE: Ink = Ink::new(0xd5_5e00);
/// Waiting for a service thread (Okabe-Ito orange).
pub(crate) const QUEUE: Ink = Ink::new(0xe6_9f00);
/// Being handled (Okabe-Ito bluish green).
pub(crate) const SERVICE: Ink = Ink::new(0x00_9e73);

/// The parts of service time; these three also differ in grey.
pub(crate) const BEFORE_TRANSFER: Ink = Ink::new(0xcc_79a7);
/// The bulk transfer.
pub(crate) const TRANSFER: Ink = Ink::new(0x9a_d0f5);
/// After it.
pub(crate) const AFTER_TRANSFER: Ink = Ink::new(0x00_4f7c);

/// Lock conflicts whose requests overlap; these three also differ in grey.
pub(crate) const TRUE_CONFLICT: Ink = Ink::new(0x5c_1a4d);
/// Lock conflicts in which only an expanded grant overlaps (Okabe-Ito reddish purple).
pub(crate) const EXPANSION: Ink = Ink::new(0xcc_79a7);
/// Lock conflicts of an unknown kind.
pub(crate) const UNCLASSIFIED: Ink = Ink::new(0xcf_cfcf);

/// The first of two analyses: light and warm beside [`AFTER`], also in grey.
pub(crate) const BEFORE: Ink = Ink::new(0xe6_9f00);
/// The second of two analyses.
pub(crate) const AFTER: Ink = Ink::new(0x22_5ea8);

/// Colour of a direction.
pub(crate) fn direction(direction: Direction) -> Ink {
    direction.pick(READ, WRITE)
}

/// Colours of categories such as clients: Okabe-Ito without the yellow, which is too pale for thin
/// lines on white.
pub(crate) const CATEGORIES: [Ink; 7] = [
    Ink::new(0x00_72b2),
    Ink::new(0xd5_5e00),
    Ink::new(0x00_9e73),
    Ink::new(0xcc_79a7),
    Ink::new(0xe6_9f00),
    Ink::new(0x56_b4e9),
    Ink::new(0x00_0000),
];

/// Anchors of the sequential scale: light is little, dark is much (after ColorBrewer YlGnBu, but
/// dark enough at its start to be seen on a pale background).
const SEQUENTIAL: [u32; 8] = [0xd3_ea8e, 0xa3_d99b, 0x6c_c5b0, 0x3a_abc3, 0x1d_88bd, 0x22_5ea8, 0x25_3494, 0x08_1d58];

/// Number of colours of the sequential scale; few enough that neighbouring cells often share one.
pub(crate) const STEPS: usize = 48;

/// Colour `step` of [`STEPS`] on the sequential scale.
pub(crate) fn sequential(step: usize) -> Ink {
    let last = SEQUENTIAL.len() - 1;
    let at = step.min(STEPS - 1) as f64 / (STEPS - 1) as f64 * last as f64;
    let low = index(at).min(last - 1);
    let (from, to) = (Ink::new(SEQUENTIAL[low]).rgb, Ink::new(SEQUENTIAL[low + 1]).rgb);
    let part = at - low as f64;
    let mix = |i: usize| channel(f64::from(from[i]) + part * (f64::from(to[i]) - f64::from(from[i])));
    Ink { rgb: [mix(0), mix(1), mix(2)], alpha: 1.0 }
}

/// Text on a cell of that colour: black on light, white on dark.
pub(crate) fn readable_on(ink: Ink) -> Ink {
    let [r, g, b] = ink.rgb.map(f64::from);
    if 0.299 * r + 0.587 * g + 0.114 * b > 140.0 { BLACK } else { Ink::new(0xff_ffff) }
}
