//! How large, and in which format.

/// Format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Vector graphics: small, sharp at any size, text can be searched.
    Svg,
    /// Pixels.
    Png,
}

impl Format {
    /// File extension, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

lioprof_model::with_defaults! {
    /// Size of the pictures.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PlotOptions {
        /// Width of the page. Text has 11 to 16 of these pixels, so the default of 860 printed 170 mm
        /// wide gives text of 6 to 9 points. Kept within 480 and 4,000.
        pub width_px: u32 = 860,
        /// Largest height of the page; a plot with little to show is lower. Kept within 360 and 4,000.
        pub height_px: u32 = 680,
        /// Pixels of the PNG per pixel of the page. Kept within 1 and 4.
        pub png_scale: u32 = 2,
        /// Without a title and without the sentence below it, for papers, which have captions; what is doubtful or lost is still said.
        pub bare: bool = false,
    }
}

impl PlotOptions {
    /// The same within the limits.
    pub(crate) fn clamped(&self) -> Self {
        Self {
            width_px: self.width_px.clamp(480, 4000),
            height_px: self.height_px.clamp(360, 4000),
            png_scale: self.png_scale.clamp(1, 4),
            bare: self.bare,
        }
    }
}
