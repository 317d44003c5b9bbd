//! Two analyses side by side: the layout of `comparison.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::analysis::{Generator, Window};
use crate::findings::{CheckResult, Finding, Severity};
use crate::units::{change as change_text, plural};

/// Version of the layout of `comparison.json`. Adding keys keeps it, renaming or removing one changes it.
pub const COMPARISON_SCHEMA: &str = "lioprof.comparison/1";

/// What became of the figures between two analyses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: String,
    /// What made it.
    pub generator: Generator,
    /// What was compared.
    pub before: Side,
    /// With what.
    pub after: Side,
    /// When a change counts.
    pub rules: ComparisonRules,
    /// What to know before believing the figures; one sentence each.
    pub notes: Vec<String>,
    /// Findings that came and went.
    pub findings: FindingChanges,
    /// Figures of everything, by name.
    pub totals: BTreeMap<String, Figure>,
    /// The OSTs.
    pub targets: Rows,
    /// The clients.
    pub clients: Rows,
    /// Operations, as `OST_READ ll_ost_io`.
    pub operations: Rows,
    /// What locks cost, by name; empty if neither side looked at locks.
    pub locks: BTreeMap<String, Figure>,
}

/// One of the two.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// The servers, as the analysis names them.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// First to last record.
    pub window: Window,
    /// First to last time bin in which bytes of OSTs moved, seconds; `null` if none did.
    pub activity_s: Option<f64>,
    /// Time bins with traffic.
    pub busy_bins: u64,
    /// Width of a bin, seconds.
    pub bin_s: f64,
    /// Share of the RPCs lost; `null` if unknown.
    pub estimated_lost_fraction: Option<f64>,
    /// At least this share; `null` if unknown.
    #[serde(default)]
    pub lost_fraction_min: Option<f64>,
    /// At most this share; `null` if there is no bound.
    #[serde(default)]
    pub lost_fraction_max: Option<f64>,
    /// The head of the capture was overwritten.
    pub head_overwritten: bool,
    /// How it went, to be drawn beside the other side.
    #[serde(default)]
    pub course: Course,
}

/// The reads and writes of one side, over time and by duration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Bytes read from OSTs per time bin, from the first bin in which any moved to the last.
    pub read_bytes: Vec<u64>,
    /// Bytes written to OSTs, in the same bins.
    pub written_bytes: Vec<u64>,
    /// Arrival to end of the reads: lower edge of the bucket in microseconds, RPCs. Four buckets per factor of two.
    pub read_total_hist_us: Vec<(u64, u64)>,
    /// The same of the writes.
    pub write_total_hist_us: Vec<(u64, u64)>,
}

/// When a change counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonRules {
    /// Fewest bins with traffic on each side from which noise is estimated.
    pub min_bins: u64,
    /// Fewest samples of each side from which a percentile is judged.
    pub min_samples: u64,
    /// Fewest samples beyond a percentile.
    pub min_tail_samples: u64,
    /// A change within this many times its noise is none.
    pub noise_factor: f64,
    /// Runs whose bytes differ by no more than this share did the same work: their durations may be compared.
    pub same_work_share: f64,
    /// Reads or writes that are less than this share of the bytes on both sides do not have their bandwidth judged.
    pub min_direction_share: f64,
}

impl Default for ComparisonRules {
    fn default() -> Self {
        Self {
            min_bins: 8,
            min_samples: 20,
            min_tail_samples: 2,
            noise_factor: 2.0,
            same_work_share: 0.05,
            min_direction_share: 0.05,
        }
    }
}

/// Findings of one side and not of the other, and of both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FindingChanges {
    /// Only before.
    pub lost: Vec<FindingChange>,
    /// Only after.
    pub gained: Vec<FindingChange>,
    /// On both sides.
    pub kept: Vec<FindingPair>,
}

/// A finding that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingChange {
    /// The finding.
    pub finding: Finding,
    /// What looking for it gave on the other side; `null` if it was not looked for.
    pub other: Option<CheckResult>,
    /// Why the other side could not be judged.
    pub other_reason: Option<String>,
}

/// A finding of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingPair {
    /// Before.
    pub before: Finding,
    /// After.
    pub after: Finding,
}

/// Targets, clients or operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Those with most bytes (operations: RPCs) on either side first.
    pub rows: Vec<Row>,
    /// How many more there are.
    pub left_out: u64,
}

/// One target, client or operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// It is in the analysis before.
    pub is_before: bool,
    /// It is in the analysis after.
    pub is_after: bool,
    /// Figures, by name; the unit is in the name.
    pub figures: BTreeMap<String, Figure>,
}

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Before; `null` if unknown.
    pub before: Option<f64>,
    /// After; `null` if unknown.
    pub after: Option<f64>,
    /// `after / before - 1`; `null` if either is unknown, or `before` is 0.
    pub change: Option<f64>,
    /// Standard error of `change`; `null` if it cannot be estimated.
    pub noise: Option<f64>,
    /// What the change means.
    pub verdict: ChangeVerdict,
    /// Why nothing can be said, for [`ChangeVerdict::Unknown`].
    pub reason: Option<String>,
    /// Which direction is better; `null` if neither is.
    pub better: Option<Better>,
    /// One of the figures that decide whether a run became worse.
    pub headline: bool,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better: bandwidth.
    Higher,
    /// Less is better: latency.
    Lower,
}

/// What a change means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeVerdict {
    /// Better, beyond noise.
    Better,
    /// Worse, beyond noise.
    Worse,
    /// No change beyond noise.
    Same,
    /// It cannot be said.
    Unknown,
}

impl ChangeVerdict {
    /// Its name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Unknown => "unknown",
        }
    }
}

impl Comparison {
    /// The figures that decide whether a run became worse, by name.
    pub fn headlines(&self) -> impl Iterator<Item = (&str, &Figure)> {
        let all = self.totals.iter().chain(&self.locks);
        all.filter(|(_, figure)| figure.headline).map(|(name, figure)| (name.as_str(), figure))
    }

    /// The headline figures that became worse by more than `share` beyond noise.
    #[must_use]
    pub fn regressions(&self, share: f64) -> Vec<(&str, &Figure)> {
        let beyond = |figure: &Figure| {
            figure.verdict == ChangeVerdict::Worse
                // From nothing to something: no share is large enough.
                && figure.change.is_none_or(|change| {
                    change.abs() - self.rules.noise_factor * figure.noise.unwrap_or(0.0) > share
                })
        };
        self.headlines().filter(|(_, figure)| beyond(figure)).collect()
    }

    /// The whole comparison in one sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let of = |verdict| {
            let mut names: Vec<(&str, &Figure)> = self.headlines().filter(|(_, it)| it.verdict == verdict).collect();
            let size = |figure: &Figure| figure.change.map_or(f64::INFINITY, f64::abs);
            names.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)).then_with(|| a.0.cmp(b.0)));
            names
        };
        let (better, worse) = (of(ChangeVerdict::Better), of(ChangeVerdict::Worse));
        let (gained, lost) = (above_info(&self.findings.gained), above_info(&self.findings.lost));
        let first = match (better.len(), worse.len()) {
            (0, 0) if self.is_unjudged() => "Not enough evidence to compare the figures".to_owned(),
            (0, 0) => "No change beyond noise".to_owned(),
            (_, 0) => format!("Better: {}", list(&better)),
            (0, _) => format!("Worse: {}", list(&worse)),
            _ => format!("Mixed: better {}; worse {}", list(&better), list(&worse)),
        };
        let mut sentence = first;
        if lost > 0 {
            sentence.push_str(&format!("; {} gone", plural(lost, "finding")));
        }
        if gained > 0 {
            sentence.push_str(&format!("; {} new", plural(gained, "finding")));
        }
        sentence + "."
    }

    /// What became of the run, in a word: headline figures and findings above `info` together.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let any = |verdict| self.headlines().any(|(_, figure)| figure.verdict == verdict);
        let good = any(ChangeVerdict::Better) || above_info(&self.findings.lost) > 0;
        let bad = any(ChangeVerdict::Worse) || above_info(&self.findings.gained) > 0;
        match (good, bad) {
            (true, true) => Outcome::Mixed,
            (true, false) => Outcome::Better,
            (false, true) => Outcome::Worse,
            (false, false) if self.is_unjudged() => Outcome::Unknown,
            (false, false) => Outcome::Same,
        }
    }

    fn is_unjudged(&self) -> bool {
        self.headlines().all(|(_, figure)| figure.verdict == ChangeVerdict::Unknown)
    }
}

fn above_info(changes: &[FindingChange]) -> u64 {
    changes.iter().filter(|change| change.finding.severity > Severity::Info).count() as u64
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Something became better, nothing worse.
    Better,
    /// Something became worse, nothing better.
    Worse,
    /// Both.
    Mixed,
    /// No change beyond noise.
    Same,
    /// It cannot be said.
    Unknown,
}

/// Headline figures named in the verdict.
const NAMED: usize = 3;

fn list(figures: &[(&str, &Figure)]) -> String {
    let one = |(name, figure): &(&str, &Figure)| match figure.change {
        Some(change) => format!("{} {}", figure_name(name), change_text(change)),
        None => format!("{} from none", figure_name(name)),
    };
    figures.iter().take(NAMED).map(one).collect::<Vec<_>>().join(", ")
}

/// A figure's name for people: `read_bandwidth_bytes_per_s` is `read bandwidth`.
#[must_use]
pub fn figure_name(name: &str) -> String {
    const UNITS: [&str; 6] = ["_bytes_per_s", "_s_per_gib", "_per_gib", "_per_s", "_us", "_s"];
    let bare = UNITS.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name);
    bare.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Confidence;

    fn figure(change: Option<f64>, noise: f64, verdict: ChangeVerdict) -> Figure {
        Figure {
            before: Some(1.0),
            after: change.map(|change| 1.0 + change),
            change,
            noise: Some(noise),
            verdict,
            reason: None,
            better: Some(Better::Lower),
            headline: true,
        }
    }

    fn comparison(figures: &[(&str, Figure)]) -> Comparison {
        let totals = figures.iter().map(|(name, figure)| ((*name).to_owned(), figure.clone())).collect();
        Comparison { totals, ..Comparison::default() }
    }

    #[test]
    fn a_regression_is_beyond_limit_and_noise() {
        let it = comparison(&[
            ("a_s", figure(Some(0.30), 0.05, ChangeVerdict::Worse)),
            ("b_s", figure(Some(0.30), 0.12, ChangeVerdict::Worse)),
            ("c_s", figure(Some(-0.90), 0.01, ChangeVerdict::Better)),
            ("d_s", figure(None, 0.0, ChangeVerdict::Worse)),
        ]);
        let names = |share| it.regressions(share).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(0.10), ["a_s", "d_s"]);
        assert_eq!(names(0.05), ["a_s", "b_s", "d_s"]);
        assert_eq!(names(0.21), ["d_s"]);
    }

    #[test]
    fn the_verdict_names_the_largest_changes() {
        let it = comparison(&[
            ("activity_s", figure(Some(-0.25), 0.01, ChangeVerdict::Better)),
            ("read_bandwidth_bytes_per_s", figure(Some(0.5), 0.01, ChangeVerdict::Better)),
        ]);
        assert_eq!(it.verdict(), "Better: read bandwidth +50 %, activity -25 %.");
        let same = comparison(&[("activity_s", figure(Some(0.01), 0.01, ChangeVerdict::Same))]);
        assert_eq!(same.verdict(), "No change beyond noise.");
        assert!(comparison(&[]).verdict().starts_with("Not enough evidence"));
    }

    #[test]
    fn a_finding_alone_can_make_a_run_worse() {
        let figures = [("activity_s", figure(Some(0.0), 0.01, ChangeVerdict::Same))];
        let found = |severity| {
            let finding = Finding::new("x", severity, Confidence::High, "");
            FindingChange { finding, other: Some(CheckResult::Healthy), other_reason: None }
        };
        let mut it = comparison(&figures);
        assert_eq!(it.outcome(), Outcome::Same);
        it.findings.gained = vec![found(Severity::Info)];
        assert_eq!(it.outcome(), Outcome::Same);
        it.findings.gained = vec![found(Severity::Warning)];
        assert_eq!(it.outcome(), Outcome::Worse);
        it.findings.lost = vec![found(Severity::Critical)];
        assert_eq!(it.outcome(), Outcome::Mixed);
        assert_eq!(comparison(&[]).outcome(), Outcome::Unknown);
    }
}
