//! The plotters bitmap backend with smooth edges.
//!
//! The backend of plotters 0.3.7 draws wide lines with ragged edges and puts every glyph on a whole
//! pixel without its left bearing. This one wraps it: rectangles and pixels go through, everything
//! else is filled by the rasterizer of the font library, with exact coverage per pixel.

use ab_glyph::{Font, ScaleFont, point};
use ab_glyph_rasterizer::Rasterizer;
use plotters::prelude::{BitMapBackend, DrawingBackend};
use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind, FontStyle, FontTransform,
};

use super::area::Point;
use super::num::{index, offset, pixel, single};
use super::paint::{BASE_LINE, PLOTTERS_EM};
use super::text;

/// See the module.
pub(crate) struct Smooth<'a> {
    inner: BitMapBackend<'a>,
}

type Outcome<'a> = Result<(), DrawingErrorKind<<BitMapBackend<'a> as DrawingBackend>::ErrorType>>;

impl<'a> Smooth<'a> {
    pub(crate) fn new(pixels: &'a mut [u8], size: (u32, u32)) -> Self {
        Self { inner: BitMapBackend::with_buffer(pixels, size) }
    }

    /// Fills the union of closed shapes, which must all turn the same way where they overlap.
    fn fill(&mut self, shapes: &[Vec<Point>], color: BackendColor) -> Outcome<'a> {
        let (width, height) = self.inner.get_size();
        let all = || shapes.iter().flatten();
        let low = |of: fn(&Point) -> f64| all().map(of).fold(f64::INFINITY, f64::min);
        let high = |of: fn(&Point) -> f64| all().map(of).fold(f64::NEG_INFINITY, f64::max);
        let x0 = low(|p| p.0).floor().max(0.0);
        let y0 = low(|p| p.1).floor().max(0.0);
        let x1 = high(|p| p.0).ceil().min(f64::from(width));
        let y1 = high(|p| p.1).ceil().min(f64::from(height));
        // Written so that NaN returns.
        if !(x1 > x0 && y1 > y0) {
            return Ok(());
        }
        let (columns, rows) = (index(x1 - x0), index(y1 - y0));
        let mut raster = Rasterizer::new(columns + 2, rows + 1);
        let place = |p: &Point| {
            // The rasterizer must not see a point outside of its box.
            point(single((p.0 - x0).clamp(0.0, x1 - x0)), single((p.1 - y0).clamp(0.0, y1 - y0)))
        };
        for shape in shapes {
            for (from, to) in shape.iter().zip(shape.iter().cycle().skip(1)) {
                raster.draw_line(place(from), place(to));
            }
        }
        let (left, top) = (pixel(x0), pixel(y0));
        let mut outcome = Ok(());
        raster.for_each_pixel_2d(|x, y, coverage| {
            let coverage = f64::from(coverage.min(1.0));
            if coverage > 0.004 && outcome.is_ok() {
                let at = (left + offset(x), top + offset(y));
                outcome = self.inner.draw_pixel(at, color.mix(coverage));
            }
        });
        outcome
    }

    fn stroke(&mut self, points: &[BackendCoord], color: BackendColor, width: u32) -> Outcome<'a> {
        let half = f64::from(width) / 2.0;
        let mut shapes = Vec::with_capacity(points.len() * 2);
        let mut points: Vec<Point> = points.iter().map(|p| (f64::from(p.0), f64::from(p.1))).collect();
        points.dedup();
        for (i, pair) in points.windows(2).enumerate() {
            let ((ax, ay), (bx, by)) = (pair[0], pair[1]);
            let length = (bx - ax).hypot(by - ay);
            let (nx, ny) = (-(by - ay) / length * half, (bx - ax) / length * half);
            shapes.push(vec![(ax + nx, ay + ny), (ax - nx, ay - ny), (bx - nx, by - ny), (bx + nx, by + ny)]);
            if i > 0 && width > 1 {
                shapes.push(disc((ax, ay), half));
            }
        }
        self.fill(&shapes, color)
    }
}

/// A circle; turns the same way as the pieces of a stroke.
fn disc(center: Point, radius: f64) -> Vec<Point> {
    let corners = if radius < 4.0 { 12 } else { 32 };
    (0..corners)
        .map(|i| {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(corners);
            (center.0 + radius * angle.cos(), center.1 + radius * angle.sin())
        })
        .collect()
}

impl<'a> DrawingBackend for Smooth<'a> {
    type ErrorType = <BitMapBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.inner.get_size()
    }

    fn ensure_prepared(&mut self) -> Outcome<'a> {
        self.inner.ensure_prepared()
    }

    fn present(&mut self) -> Outcome<'a> {
        self.inner.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Outcome<'a> {
        self.inner.draw_pixel(at, color)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Outcome<'a> {
        self.inner.draw_rect(from, to, &style.color(), fill)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Outcome<'a> {
        self.stroke(&[from, to], style.color(), style.stroke_width())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Outcome<'a> {
        let points: Vec<_> = path.into_iter().collect();
        self.stroke(&points, style.color(), style.stroke_width())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Outcome<'a> {
        let shape = path.into_iter().map(|p| (f64::from(p.0), f64::from(p.1))).collect();
        self.fill(&[shape], style.color())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Outcome<'a> {
        let center = (f64::from(center.0), f64::from(center.1));
        let (radius, half) = (f64::from(radius), f64::from(style.stroke_width()) / 2.0);
        if fill {
            return self.fill(&[disc(center, radius)], style.color());
        }
        let mut hole = disc(center, (radius - half).max(0.0));
        hole.reverse();
        self.fill(&[disc(center, radius + half), hole], style.color())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, words: &str, style: &S, (x, y): BackendCoord) -> Outcome<'a> {
        let size = style.size() / PLOTTERS_EM;
        let bold = matches!(style.style(), FontStyle::Bold);
        let upright = matches!(style.transform(), FontTransform::Rotate270);
        let font = text::font(bold);
        let scale = text::scale(font, size);
        let scaled = font.as_scaled(scale);
        let mut along = match style.anchor().h_pos {
            HPos::Left => 0.0,
            HPos::Center => -text::width(words, size, bold) / 2.0,
            HPos::Right => -text::width(words, size, bold),
        };
        let down = size * BASE_LINE;
        let color = style.color();
        let (width, height) = self.inner.get_size();
        for c in words.chars() {
            let id = font.glyph_id(c);
            let glyph = id.with_scale_and_position(scale, point(single(along), single(down)));
            along += f64::from(scaled.h_advance(id));
            let Some(outline) = font.outline_glyph(glyph) else {
                continue;
            };
            let bounds = outline.px_bounds();
            let (left, top) = (pixel(f64::from(bounds.min.x)), pixel(f64::from(bounds.min.y)));
            let mut outcome = Ok(());
            outline.draw(|gx, gy, coverage| {
                let (gx, gy) = (left + offset(gx), top + offset(gy));
                let at = if upright { (x + gy, y - gx - 1) } else { (x + gx, y + gy) };
                let inside = at.0 >= 0 && at.1 >= 0 && at.0.unsigned_abs() < width && at.1.unsigned_abs() < height;
                if inside && coverage > 0.0 && outcome.is_ok() {
                    outcome = self.inner.draw_pixel(at, color.mix(f64::from(coverage.min(1.0))));
                }
            });
            outcome?;
        }
        Ok(())
    }
}
