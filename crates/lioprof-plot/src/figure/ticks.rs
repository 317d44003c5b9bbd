//! Axes with round numbers at their ticks.

use super::axis::{Axis, Scale, Tick};
use super::units::{axis_unit, bytes, count, duration_us, short_count};
use crate::draw::num::{index, ratio};

/// The smallest of 1, 2, 5, 10, .. times a power of ten that gives at most `parts` parts of `span`.
pub(crate) fn time_step(span: f64, parts: f64) -> f64 {
    step_of(span, parts, &[1.0, 2.0, 5.0, 10.0])
}

/// The same with 2.5 as well.
fn nice_step(span: f64, parts: f64) -> f64 {
    step_of(span, parts, &[1.0, 2.0, 2.5, 5.0, 10.0])
}

fn step_of(span: f64, parts: f64, steps: &[f64]) -> f64 {
    let rough = ratio(span, parts).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(rough.log10().floor());
    let step = steps.iter().find(|m| *m * power >= rough * 0.999_999);
    step.unwrap_or(&10.0) * power
}

/// Multiples of `step` from `lo` to `hi`, at most 50, as whole numbers of steps to avoid rounding.
pub(crate) fn multiples(lo: f64, hi: f64, step: f64) -> Vec<f64> {
    let (first, last) = ((lo / step - 1e-9).ceil(), (hi / step + 1e-9).floor());
    let n = index(ratio(last - first, 1.0) + 1.0).min(50);
    (0..n).map(|i| (first + i as f64) * step).collect()
}

/// A number with as many digits as its step needs.
pub(crate) fn plain(value: f64, step: f64) -> String {
    let digits = index((-step.log10()).ceil().clamp(0.0, 9.0));
    // 2.5 needs one digit more than its power of ten.
    let digits = digits + usize::from(((step * 10_f64.powf(digits as f64)) % 1.0).abs() > 1e-6);
    let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
    format!("{value:.digits$}")
}

/// Above the largest value, so that a line there does not run along the frame.
const HEADROOM: f64 = 1.03;

/// An axis from 0 to a round number above `max`.
pub(crate) fn from_zero(max: f64, parts: f64, title: &str) -> Axis {
    zero_based(max * HEADROOM, 1.0, parts, title.to_owned())
}

/// The same for bytes or, with `per = "/s"`, bytes per second; the unit goes into the title.
pub(crate) fn bytes_from_zero(max: f64, parts: f64, what: &str, per: &str) -> Axis {
    bytes_up_to(max, HEADROOM, parts, what, per)
}

/// The same for a colour scale, which needs no headroom.
pub(crate) fn bytes_colors(max: f64, what: &str, per: &str) -> Axis {
    bytes_up_to(max, 1.0, 5.0, what, per)
}

/// The same for numbers without a unit of their own.
pub(crate) fn colors(max: f64, title: &str) -> Axis {
    zero_based(max, 1.0, 5.0, title.to_owned())
}

/// The same for counts.
pub(crate) fn count_colors(max: f64, title: &str) -> Axis {
    stepped(max, 1.0, 5.0, 1.0, title.to_owned())
}

/// Offsets in a file from `lo` to `hi`, which need not be round.
pub(crate) fn offsets(lo: f64, hi: f64, parts: f64, what: &str) -> Axis {
    let lo = if lo.is_finite() { lo.clamp(0.0, 1e19) } else { 0.0 };
    let hi = if hi.is_finite() { hi.clamp(lo, 2e19) } else { lo };
    let hi = hi.max(lo * 1.000_001 + 1.0);
    let coarse = axis_unit(hi);
    // A small part of a large file would need too many digits.
    let far = (hi - lo) / coarse.size < 0.05;
    let unit = if far { axis_unit(hi - lo) } else { coarse };
    let step = nice_step((hi - lo) / unit.size, parts);
    let step = if unit.size <= 1.0 { step.ceil() } else { step };
    let label = |v: f64| if step.fract() == 0.0 { count(index(v) as u64) } else { plain(v, step) };
    let marks = multiples(lo / unit.size, hi / unit.size, step);
    let ticks = marks.into_iter().map(|v| Tick::new(v * unit.size, label(v))).collect();
    Axis { scale: Scale::Linear { lo, hi }, ticks, title: format!("{what} ({})", unit.name) }
}

fn bytes_up_to(max: f64, headroom: f64, parts: f64, what: &str, per: &str) -> Axis {
    let max = if max.is_finite() { max } else { 0.0 };
    let unit = axis_unit(max);
    zero_based(max * headroom, unit.size, parts, format!("{what} ({}{per})", unit.name))
}

/// The same for counts: no fractions, and room for a figure above the tallest bar.
pub(crate) fn counts_from_zero(max: f64, parts: f64, title: &str) -> Axis {
    stepped(max * 1.05, 1.0, parts, 1.0, title.to_owned())
}

fn zero_based(max: f64, unit: f64, parts: f64, title: String) -> Axis {
    stepped(max, unit, parts, 0.0, title)
}

fn stepped(max: f64, unit: f64, parts: f64, least: f64, title: String) -> Axis {
    let max = if max.is_finite() && max > 0.0 { max / unit } else { 1.0 };
    let step = nice_step(max, parts);
    let step = if step < least * 3.0 { step.ceil().max(least) } else { step };
    let hi = (max / step - 1e-9).ceil() * step;
    let label = |v: f64| {
        if hi >= 100_000.0 {
            short_count(v)
        } else if step >= 1.0 && step.fract() == 0.0 {
            count(index(v) as u64)
        } else {
            plain(v, step)
        }
    };
    let ticks = multiples(0.0, hi, step).into_iter().map(|v| Tick::new(v * unit, label(v))).collect();
    Axis { scale: Scale::Linear { lo: 0.0, hi: hi * unit }, ticks, title }
}

/// A logarithmic axis from one of 1, 2, 5, 10, .. to another, a factor of `least` at least; text by
/// `label`.
fn decades(lo: f64, hi: f64, least: f64, title: &str, label: fn(f64) -> String) -> Axis {
    let lo = if lo.is_finite() && lo >= 1.0 { lo.min(1e18) } else { 1.0 };
    let hi = if hi.is_finite() { hi.clamp(lo, 1e19) } else { lo };
    let round = |v: f64| [1.0, 2.0, 5.0, 10.0].map(|m| m * 10_f64.powf((v.log10() + 1e-9).floor()));
    let lo = round(lo).into_iter().rev().find(|r| *r <= lo * 1.000_001).unwrap_or(lo);
    let hi = hi.max(lo * least);
    let hi = round(hi).into_iter().find(|r| *r >= hi * 0.999_999).unwrap_or(hi);
    let (first, last) = ((lo.log10() + 1e-9).floor(), (hi.log10() + 1e-9).floor());
    let span = (hi / lo).log10();
    let mut ticks = Vec::new();
    for decade in 0..=index(last - first) {
        let power = 10_f64.powf(first + decade as f64);
        for digit in 1..10_u32 {
            let at = power * f64::from(digit);
            if at < lo * 0.999_999 || at > hi * 1.000_001 {
                continue;
            }
            let named = match digit {
                1 => span <= 9.0 || decade % 2 == 0,
                2 | 5 => span <= 2.0,
                _ => false,
            };
            ticks.push(Tick::new(at, if named { label(at) } else { String::new() }));
        }
    }
    Axis { scale: Scale::Log { lo, hi }, ticks, title: title.to_owned() }
}

/// Times in microseconds, logarithmic.
pub(crate) fn log_time(lo_us: f64, hi_us: f64, title: &str) -> Axis {
    decades(lo_us, hi_us, 10.0, title, duration_us)
}

/// Counts, logarithmic.
pub(crate) fn log_count(hi: f64, title: &str) -> Axis {
    decades(1.0, hi, 2.0, title, short_count)
}

/// Bytes, logarithmic: ticks at powers of two.
pub(crate) fn log_bytes(lo: f64, hi: f64, title: &str) -> Axis {
    let lo = if lo.is_finite() && lo >= 1.0 { lo.min(1e18) } else { 1.0 };
    let hi = if hi.is_finite() { hi.clamp(lo, 1e19) } else { lo };
    let first = (lo.log2() + 1e-9).floor();
    let last = (hi.log2() - 1e-9).ceil().max(first + 1.0);
    let every = [1, 2, 5, 10].into_iter().find(|&e| (last - first) / f64::from(e) <= 7.0);
    let every = index(f64::from(every.unwrap_or(20)));
    let ticks = (0..=index(last - first))
        .map(|i| {
            let at = 2_f64.powf(first + i as f64);
            Tick::new(at, if i % every == 0 { bytes(at) } else { String::new() })
        })
        .collect();
    let scale = Scale::Log { lo: 2_f64.powf(first), hi: 2_f64.powf(last) };
    Axis { scale, ticks, title: title.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.label.as_str()).filter(|l| !l.is_empty()).collect()
    }

    #[test]
    fn ticks_are_round_and_reach_the_maximum() {
        assert_eq!(labels(&from_zero(87.0, 5.0, "")), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&from_zero(1.15, 5.0, "")), ["0.00", "0.25", "0.50", "0.75", "1.00", "1.25"]);
        let axis = bytes_from_zero(2.9 * 1024.0 * 1024.0, 4.0, "bandwidth", "/s");
        assert_eq!(axis.title, "bandwidth (MiB/s)");
        assert_eq!(labels(&axis), ["0", "1", "2", "3"]);
    }

    #[test]
    fn log_axes_begin_and_end_at_round_numbers() {
        let axis = log_time(90.0, 1.9e6, "");
        assert_eq!(labels(&axis), ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
        let Scale::Log { lo, hi } = axis.scale else { panic!("{axis:?}") };
        assert!((lo - 50.0).abs() < 1e-6 && (hi - 2e6).abs() < 1e-3, "{lo} {hi}");
        assert_eq!(log_time(100.0, 100.0, "").scale, Scale::Log { lo: 100.0, hi: 1000.0 });
    }

    #[test]
    fn odd_values_make_an_axis_too() {
        for v in [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, f64::MIN_POSITIVE] {
            for axis in [
                from_zero(v, 5.0, ""),
                bytes_from_zero(v, 5.0, "", ""),
                log_time(v, v, ""),
                log_count(v, ""),
                log_bytes(v, v, ""),
                colors(v, ""),
                count_colors(v, ""),
                offsets(v, v, 4.0, ""),
                offsets(0.0, v, 4.0, ""),
            ] {
                assert!(axis.ticks.len() < 250, "{v}: {axis:?}");
                assert!(axis.scale.place(v).is_finite());
            }
        }
    }
}
