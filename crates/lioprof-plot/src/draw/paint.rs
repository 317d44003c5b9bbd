//! A scene on a plotters drawing area.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::area::Point;
use super::color::Ink;
use super::num::{pixel, size};
use super::scene::{Item, Scene};
use super::text::{Align, Text};
use crate::error::PlotError;

/// What an SVG asks for. Verdana has the metrics of DejaVu Sans, Arial and others are narrower.
pub(crate) const FAMILY: &str = "DejaVu Sans, Verdana, Arial, Helvetica, sans-serif";

/// plotters divides a font size by this to get pixels per em.
pub(crate) const PLOTTERS_EM: f64 = 1.24;

/// Where both backends put the base line below the anchor of a text, in ems.
pub(crate) const BASE_LINE: f64 = 0.76;

/// Draws every item, `scale` backend pixels per page pixel.
pub(crate) fn paint<DB: DrawingBackend>(
    scene: &Scene,
    on: &DrawingArea<DB, Shift>,
    scale: f64,
) -> Result<(), PlotError> {
    let failed = |err: DrawingAreaErrorKind<DB::ErrorType>| PlotError::Draw(err.to_string());
    on.fill(&WHITE).map_err(failed)?;
    let at = |p: &Point| (pixel(p.0 * scale), pixel(p.1 * scale));
    let polygon = |points: &[Point]| points.iter().map(at).collect::<Vec<_>>();
    for item in &scene.items {
        match item {
            Item::Rect { area, ink } => {
                let (from, to) = (at(&(area.x0, area.y0)), at(&(area.x1, area.y1)));
                // A thin rectangle must not vanish by rounding.
                let to = (to.0.max(from.0 + 1), to.1.max(from.1 + 1));
                on.draw(&Rectangle::new([from, to], color(*ink).filled()))
            }
            Item::Line { points, ink, width } => {
                let style = color(*ink).stroke_width(size(width * scale).max(1));
                on.draw(&PathElement::new(polygon(points), style))
            }
            Item::Polygon { points, ink } => on.draw(&Polygon::new(polygon(points), color(*ink).filled())),
            Item::Dot { at: center, radius, ink, filled } => {
                let style = ShapeStyle { color: color(*ink), filled: *filled, stroke_width: size(1.5 * scale) };
                on.draw(&Circle::new(at(center), size(radius * scale).max(1), style))
            }
            Item::Text(text) => draw_text(text, on, scale),
        }
        .map_err(failed)?;
    }
    on.present().map_err(failed)
}

fn draw_text<DB: DrawingBackend>(
    text: &Text,
    on: &DrawingArea<DB, Shift>,
    scale: f64,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let h = match text.align {
        Align::Start => HPos::Left,
        Align::Middle => HPos::Center,
        Align::End => HPos::Right,
    };
    let weight = if text.bold { FontStyle::Bold } else { FontStyle::Normal };
    let turn = if text.upright { FontTransform::Rotate270 } else { FontTransform::None };
    let em = text.size * scale;
    let ink = color(text.ink);
    let style = TextStyle::from((FAMILY, em * PLOTTERS_EM, weight).into_font().transform(turn))
        .color(&ink)
        .pos(Pos::new(h, VPos::Top));
    let (x, y) = (text.at.0 * scale, text.at.1 * scale);
    let drop = em * BASE_LINE;
    let (x, y) = if text.upright { (x - drop, y) } else { (x, y - drop) };
    on.draw_text(&text.text, &style, (pixel(x), pixel(y)))
}

fn color(ink: Ink) -> RGBAColor {
    let [r, g, b] = ink.rgb;
    RGBAColor(r, g, b, ink.alpha)
}
