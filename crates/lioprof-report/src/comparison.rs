//! What the page of a comparison shows. Field names are those that `web/comparison/*.js` reads.

use std::collections::BTreeMap;

use lioprof_model::units::{Measure, figure_label};
use lioprof_model::{ActivityOverTime, ChangeVerdict, Comparison, Figure, Finding, FindingChange, Row, Rows, Side};
use serde::Serialize;

use crate::numbered::Numbered;
use crate::object::object;
use crate::view::findings::evidence;
use crate::view::number::{Dense, Exact, drawn};

/// Cards of each kind.
const MAX_FINDINGS: usize = 60;
const MAX_NOTES: usize = 50;
/// Steps of a run's bandwidth.
const MAX_BINS: usize = 600;

/// Figures of OSTs, clients and operations that the page has; the JSON has more.
const TARGET_FIGURES: [&str; 8] = [
    "read_bytes",
    "written_bytes",
    "read_bandwidth_bytes_per_s",
    "write_bandwidth_bytes_per_s",
    "read_total_p50_us",
    "read_total_p99_us",
    "write_total_p50_us",
    "write_total_p99_us",
];
const CLIENT_FIGURES: [&str; 4] = ["bandwidth_bytes_per_s", "read_bytes", "written_bytes", "rpcs"];
const OPERATION_FIGURES: [&str; 6] =
    ["total_p99_us", "total_p50_us", "service_p99_us", "queue_p99_us", "rpcs", "errors"];

/// Version of this layout.
const SCHEMA: &str = "lioprof.comparison-page/1";

/// Before, after, change, from where and to where it may lie, verdict, whether it is a headline figure, number of the reason.
#[derive(Debug, Serialize)]
struct FigureView(Value, Value, Option<f64>, Option<f64>, Option<f64>, Judged, bool, Option<u32>);

/// A value with all its digits: bytes can be more than a browser's numbers hold.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Value {
    Whole(Exact),
    Part(Option<f64>),
}

/// The verdict, `null` for what is neither better nor worse.
type Judged = Option<ChangeVerdict>;

/// Reasons by number: there are few, for many figures.
#[derive(Default)]
struct Reasons<'a>(Numbered<&'a str>);

impl<'a> Reasons<'a> {
    fn figure(&mut self, it: &'a Figure) -> FigureView {
        let judged = (it.better.is_some() || it.verdict == ChangeVerdict::Same).then_some(it.verdict);
        let reason = it.reason.as_deref().filter(|_| it.better.is_some()).map(|reason| self.0.number(reason));
        let (min, max) = (it.change_min, it.change_max);
        FigureView(value(it.before), value(it.after), it.change, min, max, judged, it.headline, reason)
    }

    fn figures(&mut self, all: &'a BTreeMap<String, Figure>) -> BTreeMap<&'a str, FigureView> {
        all.iter().map(|(name, it)| (name.as_str(), self.figure(it))).collect()
    }

    /// OSTs, clients or operations.
    fn rows(&mut self, rows: &'a Rows, figures: &[&'static str]) -> impl Serialize + use<'a> {
        let row = |it: &'a Row| {
            let own = figures.iter().filter_map(|&name| Some((name, self.figure(it.figures.get(name)?))));
            object!(Row {
                name: &it.name,
                before: it.is_before,
                after: it.is_after,
                figures: own.collect::<BTreeMap<_, _>>(),
            })
        };
        object!(Rows { rows: rows.rows.iter().map(row).collect::<Vec<_>>(), left_out: rows.left_out })
    }
}

fn value(value: Option<f64>) -> Value {
    const MAX: f64 = 9e18;
    match value {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and within the limits of u64"
        )]
        Some(whole) if whole.fract() == 0.0 && (0.0..MAX).contains(&whole) => Value::Whole(Exact(whole as u64)),
        other => Value::Part(other),
    }
}

/// The data of the page.
pub(crate) fn comparison<'a>(it: &'a Comparison, title: &'a str, verdict: &'a str) -> impl Serialize + use<'a> {
    let mut reasons = Reasons::default();
    let kept = it.findings.kept.iter().take(MAX_FINDINGS).map(|pair| {
        // When it was seen after.
        let interval_s = since_start(&pair.after, &it.after);
        let evidence = evidence(&[&pair.before, &pair.after]);
        object!(Pair { before: &pair.before, after: &pair.after, evidence, interval_s })
    });
    object!(Comparison {
        schema: SCHEMA,
        generator: &it.generator,
        title,
        verdict: object!(Verdict { outcome: it.outcome(), text: verdict }),
        rules: it.rules,
        notes: &it.notes[..it.notes.len().min(MAX_NOTES)],
        before: side(&it.before),
        after: side(&it.after),
        gained: changes(&it.findings.gained, &it.after),
        lost: changes(&it.findings.lost, &it.before),
        kept: kept.collect::<Vec<_>>(),
        totals: reasons.figures(&it.totals),
        locks: reasons.figures(&it.locks),
        targets: reasons.rows(&it.targets, &TARGET_FIGURES),
        clients: reasons.rows(&it.clients, &CLIENT_FIGURES),
        operations: reasons.rows(&it.operations, &OPERATION_FIGURES),
        // What they are called and measured in.
        figures: names(it),
        // Why a figure was not judged, by number.
        reasons: reasons.0.names,
    })
}

/// Names and units of all figures, by key.
fn names(it: &Comparison) -> BTreeMap<&str, (String, Measure)> {
    let all = it.totals.keys().chain(it.locks.keys()).map(String::as_str);
    let of_rows = [&TARGET_FIGURES[..], &CLIENT_FIGURES, &OPERATION_FIGURES].concat();
    all.chain(of_rows).map(|key| (key, (figure_label(key), Measure::of(key)))).collect()
}

/// The servers, if both sides have the same.
pub(crate) fn title(it: &Comparison) -> String {
    let servers = &it.after.nodes;
    match servers.as_slice() {
        [] => "Before and after".to_owned(),
        _ if *servers != it.before.nodes => "Before and after".to_owned(),
        few @ ([_] | [_, _] | [_, _, _]) => format!("Before and after: {}", few.join(", ")),
        [first, .., last] => format!("Before and after: {} servers, {first} to {last}", servers.len()),
    }
}

/// Findings of one side only.
fn changes<'a>(all: &'a [FindingChange], side: &Side) -> Vec<impl Serialize + use<'a>> {
    let change = |it: &'a FindingChange| {
        object!(Change {
            finding: &it.finding,
            evidence: evidence(&[&it.finding]),
            interval_s: since_start(&it.finding, side),
            is_judged: it.is_judged(),
            other_reason: it.other_reason.as_deref(),
        })
    };
    all.iter().take(MAX_FINDINGS).map(change).collect()
}

/// When a finding was seen, in seconds since the start of its side.
fn since_start(finding: &Finding, side: &Side) -> Option<(f64, f64)> {
    finding.interval.map(|it| (it.start - side.window.start, it.end - side.window.start))
}

/// One of the two runs.
fn side(it: &Side) -> impl Serialize {
    let ActivityOverTime { read_bytes, written_bytes, read_total_hist_us, write_total_hist_us } = &it.course;
    let bins = read_bytes.len().max(written_bytes.len());
    let width = bins.div_ceil(MAX_BINS).max(1);
    let steps = |bytes: &[u64]| {
        let sum = |bins: &[u64]| drawn(bins.iter().fold(0, |sum, bytes| sum.saturating_add(*bytes)));
        Dense(bytes.chunks(width).map(sum).collect())
    };
    let bin_s = if it.bin_s.is_finite() && it.bin_s > 0.0 { it.bin_s } else { 1.0 };
    object!(Side {
        nodes: &it.nodes,
        // Unix seconds.
        start: it.window.start,
        duration_s: it.window.duration_s,
        activity_s: it.activity_s,
        busy_bins: it.busy_bins,
        bin_s: it.bin_s,
        // Width of the steps of bytes; the last one may be cut short.
        step_s: width as f64 * bin_s,
        // Seconds from the first to the end of the last bin.
        span_s: bins as f64 * bin_s,
        read_bytes: steps(read_bytes),
        written_bytes: steps(written_bytes),
        read_total_hist_us,
        write_total_hist_us,
    })
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;

    use super::*;

    #[test]
    fn reasons_are_in_the_page_once() {
        let figure = |reason: &str| Figure {
            before: Some(1.5),
            after: None,
            change: None,
            change_min: None,
            change_max: None,
            noise: None,
            verdict: ChangeVerdict::Unknown,
            reason: Some(reason.to_owned()),
            better: Some(lioprof_model::Better::Lower),
            headline: true,
        };
        let totals = [("a", "few"), ("b", "none"), ("c", "few")];
        let it = Comparison {
            totals: totals.iter().map(|(name, why)| ((*name).to_owned(), figure(why))).collect(),
            ..Comparison::default()
        };
        let json = serde_json::to_value(comparison(&it, "", "")).unwrap();
        assert_eq!(json["reasons"], serde_json::json!(["few", "none"]));
        assert_eq!(json["totals"]["c"], serde_json::json!([1.5, null, null, null, null, "unknown", true, 0]));
    }

    #[test]
    fn bytes_of_joined_bins_add_up() {
        let bins = MAX_BINS * 2 + 3;
        let course =
            ActivityOverTime { read_bytes: vec![3; bins], written_bytes: vec![0; bins], ..ActivityOverTime::default() };
        let run = Side { bin_s: 0.5, course, ..Side::default() };
        let view = serde_json::to_value(side(&run)).unwrap();
        let steps = base64::engine::general_purpose::STANDARD.decode(view["read_bytes"].as_str().unwrap()).unwrap();
        let (steps, rest) = steps.as_chunks::<4>();
        assert!(steps.len() <= MAX_BINS && rest.is_empty());
        assert_eq!(steps.iter().map(|step| f32::from_le_bytes(*step)).sum::<f32>(), 3.0 * bins as f32);
        assert_eq!((&view["step_s"], &view["span_s"]), (&1.5.into(), &(0.5 * bins as f64).into()));
    }
}
