//! Colour scales of heat maps, and the bar that explains them.

use super::axis::{Axis, Scale};
use crate::draw::{
    Align, Area, BODY, CAP_HEIGHT, FRAME, GREY, Ink, PALE, SMALL, STEPS, Scene, index, sequential, widest,
};
use crate::figure::panel::y_title;

/// Colours for the values of an axis.
#[derive(Clone, Debug)]
pub(crate) struct HeatScale {
    pub(crate) axis: Axis,
}

impl HeatScale {
    /// Logarithmic if the largest value is more than 30 times the median.
    pub(crate) fn wants_log(values: impl Iterator<Item = f64>) -> bool {
        let mut values: Vec<f64> = values.filter(|v| *v > 0.0 && v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        match (values.get(values.len() / 2), values.last()) {
            (Some(median), Some(max)) => max / median > 30.0,
            _ => false,
        }
    }

    /// Step of the colour scale; `None` for nothing (0, NaN).
    pub(crate) fn step(&self, value: f64) -> Option<usize> {
        if value > 0.0 { Some(index(self.axis.scale.place(value) * STEPS as f64).min(STEPS - 1)) } else { None }
    }

    /// The colour of a value.
    pub(crate) fn ink(&self, value: f64) -> Ink {
        self.step(value).map_or(PALE, sequential)
    }

    /// Width that [`HeatScale::bar`] takes.
    pub(crate) fn bar_width(&self) -> f64 {
        16.0 + 14.0 + widest(self.axis.ticks.iter().map(|t| t.label.as_str()), SMALL) + 14.0 + BODY * 1.4
    }

    /// A vertical bar in the left part of `area`, with ticks and title on its right.
    pub(crate) fn bar(&self, scene: &mut Scene, area: Area) {
        let bar = Area::new(area.x0 + 16.0, area.y0, area.x0 + 30.0, area.y1);
        let each = bar.height() / STEPS as f64;
        for step in 0..STEPS {
            let y1 = bar.y1 - step as f64 * each;
            // Reaches into the next one, so that no seam shows.
            let y0 = if step + 1 == STEPS { bar.y0 } else { y1 - each - 0.5 };
            scene.rect(Area::new(bar.x0, y0, bar.x1, y1), sequential(step));
        }
        scene.outline(bar, FRAME, 1.0);
        let mut free = f64::INFINITY;
        for tick in &self.axis.ticks {
            let y = bar.y1 - self.axis.scale.place(tick.at) * bar.height();
            let long = if tick.label.is_empty() { 2.5 } else { 4.5 };
            scene.line(&[(bar.x1, y), (bar.x1 + long, y)], FRAME, 1.0);
            let half = SMALL * CAP_HEIGHT / 2.0;
            if !tick.label.is_empty() && y + half < free {
                scene.label(bar.x1 + 7.0, y, Align::Start, SMALL, GREY, &tick.label);
                free = y - half - 3.0;
            }
        }
        let title = match self.axis.scale {
            Scale::Linear { .. } => self.axis.title.clone(),
            Scale::Log { .. } => format!("{}, log scale", self.axis.title),
        };
        y_title(scene, area.x0 + self.bar_width() - 2.0, bar, &title);
    }
}
