//! One coordinate system: frame, grid, ticks.

use super::axis::{Axis, Tick};
use crate::draw::{Align, Area, BLACK, BODY, CAP_HEIGHT, FRAME, GREY, GRID, SMALL, Scene, Text, fit, widest, width};

/// Where data is drawn, and its axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Panel<'a> {
    pub(crate) area: Area,
    pub(crate) x: &'a Axis,
    pub(crate) y: &'a Axis,
}

/// Height of the tick labels and the title below a panel.
pub(crate) const BELOW: f64 = 38.0;
/// How far below a panel the middle of its axis' title is.
const TITLE: f64 = 29.0;
/// Height of a panel's title.
pub(crate) const HEAD: f64 = 20.0;

/// Width of tick labels and the rotated title left of a panel.
pub(crate) fn left_of(axis: &Axis) -> f64 {
    widest(axis.ticks.iter().map(|t| t.label.as_str()), SMALL) + 8.0 + BODY * 1.7
}

impl Panel<'_> {
    /// Horizontal place of a value.
    pub(crate) fn x(&self, value: f64) -> f64 {
        self.area.x0 + self.x.scale.place(value) * self.area.width()
    }

    /// Vertical place of a value.
    pub(crate) fn y(&self, value: f64) -> f64 {
        self.area.y1 - self.y.scale.place(value) * self.area.height()
    }

    /// Grid lines; first, so that data covers them.
    pub(crate) fn grid(&self, scene: &mut Scene, vertical: bool, horizontal: bool) {
        scene.panels.push(self.area);
        let Area { x0, y0, x1, y1 } = self.area;
        if vertical {
            for tick in self.x.ticks.iter().filter(|t| !t.label.is_empty()) {
                let x = self.x(tick.at);
                scene.line(&[(x, y0), (x, y1)], GRID, 1.0);
            }
        }
        if horizontal {
            for tick in self.y.ticks.iter().filter(|t| !t.label.is_empty()) {
                let y = self.y(tick.at);
                scene.line(&[(x0, y), (x1, y)], GRID, 1.0);
            }
        }
    }

    /// The outline; last, so that data does not cover it.
    pub(crate) fn frame(&self, scene: &mut Scene) {
        scene.outline(self.area, FRAME, 1.0);
    }

    /// Marks and labels below.
    pub(crate) fn x_ticks(&self, scene: &mut Scene) {
        let mut free = f64::NEG_INFINITY;
        for Tick { at, label } in &self.x.ticks {
            let x = self.x(*at);
            let long = if label.is_empty() { 2.5 } else { 4.5 };
            scene.line(&[(x, self.area.y1), (x, self.area.y1 + long)], FRAME, 1.0);
            let half = width(label, SMALL, false) / 2.0;
            let on_page = x + half <= scene.width - 2.0;
            if !label.is_empty() && x - half > free && on_page {
                let y = self.area.y1 + 12.0;
                scene.label(x, y, Align::Middle, SMALL, GREY, label);
                free = x + half + 6.0;
            }
        }
    }

    /// Marks and labels on the left.
    pub(crate) fn y_ticks(&self, scene: &mut Scene) {
        let mut free = f64::INFINITY;
        for Tick { at, label } in &self.y.ticks {
            let y = self.y(*at);
            let long = if label.is_empty() { 2.5 } else { 4.5 };
            scene.line(&[(self.area.x0 - long, y), (self.area.x0, y)], FRAME, 1.0);
            let half = SMALL * CAP_HEIGHT / 2.0;
            if !label.is_empty() && y + half < free {
                scene.label(self.area.x0 - 7.0, y, Align::End, SMALL, GREY, label);
                free = y - half - 3.0;
            }
        }
    }

    /// What the horizontal axis shows, below its labels.
    pub(crate) fn x_title(&self, scene: &mut Scene) {
        let (x, _) = self.area.center();
        scene.label(x, self.area.y1 + TITLE, Align::Middle, BODY, BLACK, &self.x.title);
    }

    /// Marks, labels and title below.
    pub(crate) fn x_axis(&self, scene: &mut Scene) {
        self.x_ticks(scene);
        self.x_title(scene);
    }

    /// What the panel shows, above it: a name on the left, figures on the right.
    pub(crate) fn head(&self, scene: &mut Scene, name: &str, figures: &str) {
        let y = self.area.y0 - 7.0;
        // The name comes first: figures that would take more than half of its place are left out.
        let all = self.area.width();
        let taken = width(figures, SMALL, false) + 14.0;
        let named = width(name, BODY, true);
        let (figures, room) = if named.min(all * 0.5) + taken <= all { (figures, all - taken) } else { ("", all) };
        // Bold is about an eighth wider.
        let name = if named <= room { name.to_owned() } else { fit(name, BODY * 1.13, room) };
        scene.text(Text::new((self.area.x0, y), name, BODY).bold());
        let figures = Text::new((self.area.x1, y), figures, SMALL).ink(GREY);
        scene.text(figures.align(Align::End));
    }

    /// The same with the first of several figures, from long to short, that fits beside the name.
    pub(crate) fn head_fitting(&self, scene: &mut Scene, name: &str, figures: &[String]) {
        let room = self.area.width() - width(name, BODY, true) - 14.0;
        let fits = figures.iter().find(|text| width(text, SMALL, false) <= room);
        self.head(scene, name, fits.or(figures.last()).map_or("", String::as_str));
    }
}

/// The vertical axis' title: upwards in the middle of `area`, its base line at `x`. Beside an area that is too low for that it is level, in
/// the line of the horizontal axis' title, or left out if there is no room left of the area.
pub(crate) fn y_title(scene: &mut Scene, x: f64, area: Area, title: &str) {
    let long = width(title, BODY, false);
    let (_, y) = area.center();
    if long <= area.height() {
        scene.text(Text::new((x, y), title, BODY).align(Align::Middle).upright());
    } else if long <= area.x0 - x {
        scene.label(area.x0 - 6.0, area.y1 + TITLE, Align::End, BODY, BLACK, title);
    }
}
