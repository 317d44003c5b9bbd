//! PNG files.

use plotters::prelude::IntoDrawingArea;

use super::num::size;
use super::paint::paint;
use super::scene::Scene;
use super::smooth::Smooth;
use crate::error::PlotError;

/// Pixels per metre of a screen or printer that shows 96 page pixels per inch.
const PER_METRE: u32 = 3780;

/// The scene as a PNG file.
pub(crate) fn encode(scene: &Scene, scale: u32) -> Result<Vec<u8>, PlotError> {
    let (width, height) = (size(scene.width) * scale, size(scene.height) * scale);
    let mut pixels = vec![0xff; width as usize * height as usize * 3];
    {
        let backend = Smooth::new(&mut pixels, (width, height));
        paint(scene, &backend.into_drawing_area(), f64::from(scale))?;
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: PER_METRE * scale,
        yppu: PER_METRE * scale,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(out)
}
