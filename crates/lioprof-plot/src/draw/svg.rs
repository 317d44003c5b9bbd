//! SVG files.

use plotters::prelude::{IntoDrawingArea, SVGBackend};

use super::num::size;
use super::paint::paint;
use super::scene::Scene;
use crate::error::PlotError;

/// The backend knows whole pixels only: draw larger and let the view box scale it down.
const SCALE: u32 = 2;

/// The scene as an SVG file.
pub(crate) fn encode(scene: &Scene, title: &str) -> Result<Vec<u8>, PlotError> {
    let (width, height) = (size(scene.width), size(scene.height));
    let mut text = String::new();
    {
        let backend = SVGBackend::with_string(&mut text, (width * SCALE, height * SCALE));
        paint(scene, &backend.into_drawing_area(), f64::from(SCALE))?;
    }
    let body = text.split_once('\n').map_or("", |(_, body)| body);
    // Defaults of SVG: a third of the file.
    let body = body.replace(" opacity=\"1\"", "").replace(" stroke=\"none\"", "");
    // Titles have no characters that XML would need escaped.
    let head = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" \
         xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" stroke-linejoin=\"round\">\n\
         <title>{title}</title>\n",
        width * SCALE,
        height * SCALE,
    );
    Ok((head + &body).into_bytes())
}
