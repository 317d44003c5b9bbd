//! The time axis: seconds (or milliseconds, minutes, hours) since the start of the capture.

use lioprof_model::Analysis;

use super::axis::{Axis, Scale, Tick};
use super::ticks::{multiples, plain, time_step};
use super::units::{iso_utc, short};

/// The window of an analysis, made safe to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    /// Unix seconds of 0 on the axis.
    pub(crate) origin: f64,
    /// Seconds after `origin`; more than 0.
    pub(crate) span: f64,
}

impl Window {
    /// The analysis' window; if that has no length, what the series cover; else one second.
    pub(crate) fn of(analysis: &Analysis) -> Self {
        let sane = |t: f64| t.is_finite() && t.abs() < 1e12;
        let (window, series) = (&analysis.window, &analysis.series);
        let length = window.end - window.start;
        if sane(window.start) && sane(window.end) && length >= 1e-6 {
            return Self { origin: window.start, span: length };
        }
        let length = series.bin_s * series.bins as f64;
        let start = if sane(window.start) && window.start > 0.0 { window.start } else { series.start };
        let origin = if sane(start) { start } else { 0.0 };
        let span = if (1e-6..1e10).contains(&length) { length } else { 1.0 };
        Self { origin, span }
    }

    /// Seconds since the origin.
    pub(crate) fn since(&self, unix_s: f64) -> f64 {
        unix_s - self.origin
    }

    /// `60 s from 2026-11-21T09:30:05Z`.
    pub(crate) fn describe(&self) -> String {
        let (factor, unit) = unit(self.span);
        let length = format!("{} {unit}", short(self.span / factor));
        match iso_utc(self.origin) {
            Some(start) => format!("{length} from {start}"),
            None => length,
        }
    }

    /// The axis over a part of the window, in seconds.
    pub(crate) fn part(lo: f64, hi: f64, parts: f64) -> Axis {
        let step = time_step(hi - lo, parts);
        let ticks = multiples(lo, hi, step).into_iter().map(|v| Tick::new(v, plain(v, step)));
        Axis { scale: Scale::Linear { lo, hi }, ticks: ticks.collect(), title: "time since start (s)".to_owned() }
    }

    /// The axis over the window, with room for about `parts` labels.
    pub(crate) fn axis(&self, parts: f64) -> Axis {
        let (factor, unit) = unit(self.span);
        let span = self.span / factor;
        let steps: &[f64] = match unit {
            "min" => &[0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0],
            "h" => &[0.25, 0.5, 1.0, 2.0, 3.0, 6.0, 12.0, 24.0, 48.0],
            _ => &[],
        };
        let step = steps.iter().copied().find(|step| span / step <= parts);
        let step = step.unwrap_or_else(|| time_step(span, parts));
        let ticks = multiples(0.0, span, step).into_iter().map(|v| Tick::new(v * factor, plain(v, step)));
        Axis {
            scale: Scale::Linear { lo: 0.0, hi: self.span },
            ticks: ticks.collect(),
            title: format!("time since start ({unit})"),
        }
    }
}

/// Seconds per unit, and the unit, for a span.
fn unit(span_s: f64) -> (f64, &'static str) {
    match span_s {
        s if s < 1e-3 => (1e-6, "µs"),
        s if s < 1.0 => (1e-3, "ms"),
        s if s < 600.0 => (1.0, "s"),
        s if s < 4.0 * 3600.0 => (60.0, "min"),
        _ => (3600.0, "h"),
    }
}
