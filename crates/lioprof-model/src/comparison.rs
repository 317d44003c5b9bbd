//! Two analyses side by side: the layout of `comparison.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::analysis::{Generator, Window};
use crate::findings::{CheckResult, Finding};
use crate::units::{change as change_text, figure_name, plural, two_digits};

/// Version of the layout of `comparison.json`. Adding keys keeps it, renaming or removing one changes it.
pub const COMPARISON_SCHEMA: &str = "lioprof.comparison/1";

/// Changes of the figures between two analyses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`COMPARISON_SCHEMA`].
    pub schema: String,
    /// Program that made the comparison.
    pub generator: Generator,
    /// Reference analysis.
    pub before: Side,
    /// Analysis that is compared with `before`.
    pub after: Side,
    /// Rules that decide which changes count.
    pub rules: ComparisonRules,
    /// Caveats about the figures; one sentence each.
    pub notes: Vec<String>,
    /// Findings that are new, gone or on both sides.
    pub findings: FindingChanges,
    /// Figures over all nodes, by name.
    pub totals: BTreeMap<String, Figure>,
    /// Figures per OST.
    pub targets: Rows,
    /// Figures per client.
    pub clients: Rows,
    /// Figures per opcode and service, such as `OST_READ ll_ost_io`.
    pub operations: Rows,
    /// Figures of lock contention, by name; empty if neither analysis looked at locks.
    pub locks: BTreeMap<String, Figure>,
    /// Probability with which each interval of `totals` and `locks` is wrong: smaller than the rules' `error_rate`, because many
    /// figures are judged; `null` in comparisons of older versions.
    #[serde(default)]
    pub error: Option<f64>,
}

/// Facts about one of the two analyses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Names of the servers.
    #[serde(default)]
    pub nodes: Vec<String>,
    /// Time from the first to the last record.
    pub window: Window,
    /// Time from the first to the last bin with OST traffic, seconds; `null` if there is none.
    pub activity_s: Option<f64>,
    /// Number of time bins with OST traffic.
    pub busy_bins: u64,
    /// Width of a time bin, seconds.
    pub bin_s: f64,
    /// Best estimate of the share of RPCs lost, 0 to 1; `null` if unknown.
    pub estimated_lost_fraction: Option<f64>,
    /// Lower bound of that share; `null` if unknown.
    #[serde(default)]
    pub lost_fraction_min: Option<f64>,
    /// Upper bound of that share; `null` if there is none.
    #[serde(default)]
    pub lost_fraction_max: Option<f64>,
    /// Whether the beginning of the capture was overwritten.
    pub head_overwritten: bool,
    /// Traffic over time, for plots beside the other side.
    #[serde(default)]
    pub course: ActivityOverTime,
}

/// Reads and writes of one side, over time and by duration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ActivityOverTime {
    /// Bytes read from OSTs per time bin, from the first bin in which any moved to the last.
    pub read_bytes: Vec<u64>,
    /// Bytes written to OSTs, in the same bins.
    pub written_bytes: Vec<u64>,
    /// Histogram of the reads' total times: lower edge of the bucket in microseconds, number of RPCs. Four buckets per factor of two.
    pub read_total_hist_us: Vec<(u64, u64)>,
    /// The same histogram for the writes.
    pub write_total_hist_us: Vec<(u64, u64)>,
}

crate::with_defaults! {
    /// Rules that decide which changes count.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ComparisonRules {
        /// An interval of a mean needs at least this many bins with traffic on each side.
        pub min_bins: u64 = 2,
        /// An interval of a percentile needs at least this many samples on each side: as many as the median's. Others need more.
        pub min_samples: u64 = 6,
        /// Not used since intervals decide; 0.
        pub min_tail_samples: u64 = 0,
        /// On a scale of ratios, intervals reach this many times the noise to both sides if many samples are independent.
        pub noise_factor: f64 = 1.96,
        /// Compare the durations of two runs only if their bytes differ by at most this share.
        pub same_work_share: f64 = 0.05,
        /// The bandwidth of reads or writes is a headline figure only if they are at least this share of the bytes on one side.
        pub min_direction_share: f64 = 0.05,
        /// A change within this share, up or down, matters to nobody.
        #[serde(default)]
        pub min_change: f64 = 0.05,
        /// On average at most this share of the changes that a table claims is false, and at most this share of the intervals is wrong.
        #[serde(default)]
        pub error_rate: f64 = 0.05,
    }
}

/// Findings that only one side has, and findings of both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FindingChanges {
    /// Findings that only `before` has.
    pub lost: Vec<FindingChange>,
    /// Findings that only `after` has.
    pub gained: Vec<FindingChange>,
    /// Findings that both sides have.
    pub kept: Vec<FindingPair>,
}

/// A finding that only one side has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingChange {
    /// The finding.
    pub finding: Finding,
    /// Result of the same check on the other side; `null` if it was not made.
    pub other: Option<CheckResult>,
    /// Why the other side could not be checked, or has nothing that it is about; `null` if it could.
    pub other_reason: Option<String>,
}

impl FindingChange {
    /// Whether the same check was made on the other side: only then is the finding gone, or new.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        matches!(self.other, Some(CheckResult::Found | CheckResult::Healthy))
    }
}

/// A finding that both sides have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingPair {
    /// The finding in `before`.
    pub before: Finding,
    /// The finding in `after`.
    pub after: Finding,
}

/// Figures per target, client or operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// The rows; first those with the most bytes (operations: RPCs) on either side.
    pub rows: Vec<Row>,
    /// Number of further rows that are not listed.
    pub left_out: u64,
    /// Probability with which each interval of these rows is wrong, see [`Comparison::error`].
    #[serde(default)]
    pub error: Option<f64>,
}

/// Figures of one target, client or operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the target, NID of the client, or opcode and service.
    pub name: String,
    /// Whether `before` has this row.
    pub is_before: bool,
    /// Whether `after` has this row.
    pub is_after: bool,
    /// Figures by name; the name says the unit.
    pub figures: BTreeMap<String, Figure>,
}

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Value in `before`; `null` if unknown.
    pub before: Option<f64>,
    /// Value in `after`; `null` if unknown.
    pub after: Option<f64>,
    /// `after / before - 1`; `null` if either is unknown, or `before` is 0.
    pub change: Option<f64>,
    /// The change is not smaller than this, whatever chance did: the lower end of its interval; -1 if nothing is known, `null` if there is
    /// no interval.
    #[serde(default)]
    pub change_min: Option<f64>,
    /// The upper end; `null` if there is no limit.
    #[serde(default)]
    pub change_max: Option<f64>,
    /// Standard error of `change`; `null` if it cannot be estimated.
    pub noise: Option<f64>,
    /// Whether the figure became better or worse: what the interval says.
    pub verdict: ChangeVerdict,
    /// Why the change cannot be judged, for [`ChangeVerdict::Unknown`].
    pub reason: Option<String>,
    /// Whether a higher or a lower value is better; `null` if neither is.
    pub better: Option<Better>,
    /// Whether this figure helps to decide if the run became worse.
    pub headline: bool,
}

impl Figure {
    /// Whether either side has it.
    fn has_values(&self) -> bool {
        self.before.or(self.after).is_some()
    }

    /// The least that the figure changed by, up or down; `None` if it has no interval, or came from 0.
    #[must_use]
    pub fn nearest_change(&self) -> Option<f64> {
        let (min, max) = (self.change_min, self.change_max);
        match (min, max) {
            (Some(min), _) if min > 0.0 => Some(min),
            (_, Some(max)) if max < 0.0 => Some(-max),
            (None, None) => None,
            _ => Some(0.0),
        }
    }
}

/// Whether a higher or a lower value is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// A higher value is better, as for bandwidth.
    Higher,
    /// A lower value is better, as for latency.
    Lower,
}

named! {
    /// Whether a figure became better or worse.
    pub enum ChangeVerdict {
        /// The figure became better: all of the interval is on that side, and not all of it within `min_change`.
        Better = "better",
        /// The figure became worse, in the same way.
        Worse = "worse",
        /// All of the interval is within `min_change`.
        Same = "same",
        /// The interval leaves open whether there is a change that matters, or there is no interval.
        Unknown = "unknown",
    }
}

impl Comparison {
    /// The figures that decide whether a run became worse, by name.
    pub fn headlines(&self) -> impl Iterator<Item = (&str, &Figure)> {
        let all = self.totals.iter().chain(&self.locks);
        all.filter(|(_, figure)| figure.headline).map(|(name, figure)| (name.as_str(), figure))
    }

    /// The headline figures that certainly became worse by more than `share`: the near end of their interval is beyond it.
    #[must_use]
    pub fn regressions(&self, share: f64) -> Vec<(&str, &Figure)> {
        let beyond = |figure: &Figure| {
            figure.verdict == ChangeVerdict::Worse
                // A change from 0 has no share, and exceeds every one.
                && figure.nearest_change().is_none_or(|change| change > share)
        };
        self.headlines().filter(|(_, figure)| beyond(figure)).collect()
    }

    /// Sums up the comparison in one sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let of = |verdict| {
            let mut names: Vec<(&str, &Figure)> = self.headlines().filter(|(_, it)| it.verdict == verdict).collect();
            let size = |figure: &Figure| figure.change.map_or(f64::INFINITY, f64::abs);
            names.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)).then_with(|| a.0.cmp(b.0)));
            // What everybody understands comes first.
            names.sort_by_key(|it| it.0 != ACTIVITY);
            names
        };
        let (better, worse) = (of(ChangeVerdict::Better), of(ChangeVerdict::Worse));
        let FindingChanges { gained, lost, .. } = &self.findings;
        let one_sided = unjudged(gained) + unjudged(lost);
        let (gained, lost) = (above_info(gained), above_info(lost));
        let first = match (better.len(), worse.len()) {
            (0, 0) if self.is_unjudged() => "Cannot tell whether the figures changed".to_owned(),
            (0, 0) => {
                let unknown = of(ChangeVerdict::Unknown);
                let open: Vec<&str> = unknown.iter().filter(|it| it.1.has_values()).map(|it| it.0).collect();
                match open.as_slice() {
                    [] => format!("No change of {:.0} % or more", 100.0 * self.rules.min_change),
                    open => format!("No change found; cannot tell of {}", some_names(open)),
                }
            }
            (_, 0) => format!("Better: {}", list(&better)),
            (0, _) => format!("Worse: {}", list(&worse)),
            _ => format!("Mixed: better: {}; worse: {}", list(&better), list(&worse)),
        };
        let mut sentence = first;
        if lost > 0 {
            sentence.push_str(&format!("; {} gone", plural(lost, "finding")));
        }
        if gained > 0 {
            sentence.push_str(&format!("; {} new", plural(gained, "finding")));
        }
        if one_sided > 0 {
            sentence.push_str(&format!("; {} not checked on the other side", plural(one_sided, "finding")));
        }
        sentence + "."
    }

    /// Whether the run became better or worse, by its headline figures and its findings above `info`.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let any = |verdict| self.headlines().any(|(_, figure)| figure.verdict == verdict);
        let good = any(ChangeVerdict::Better) || above_info(&self.findings.lost) > 0;
        let bad = any(ChangeVerdict::Worse) || above_info(&self.findings.gained) > 0;
        match (good, bad) {
            (true, true) => Outcome::Mixed,
            (true, false) => Outcome::Better,
            (false, true) => Outcome::Worse,
            (false, false) if self.is_open() => Outcome::Unknown,
            (false, false) => Outcome::Same,
        }
    }

    /// Whether a headline figure that has values may have changed all the same, or none could be judged.
    fn is_open(&self) -> bool {
        let is_open = |figure: &Figure| figure.verdict == ChangeVerdict::Unknown && figure.has_values();
        self.is_unjudged() || self.headlines().any(|(_, figure)| is_open(figure))
    }

    fn is_unjudged(&self) -> bool {
        self.headlines().all(|(_, figure)| figure.verdict == ChangeVerdict::Unknown)
    }
}

/// How many findings above `info` really came or went.
fn above_info(changes: &[FindingChange]) -> u64 {
    of_weight(changes).filter(|change| change.is_judged()).count() as u64
}

/// How many of them may have come or gone.
fn unjudged(changes: &[FindingChange]) -> u64 {
    of_weight(changes).filter(|change| !change.is_judged()).count() as u64
}

fn of_weight(changes: &[FindingChange]) -> impl Iterator<Item = &FindingChange> {
    changes.iter().filter(|change| change.finding.is_more_than_a_note())
}

/// Whether a run became better or worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Something became better, and nothing became worse.
    Better,
    /// Something became worse, and nothing became better.
    Worse,
    /// Something became better, and something became worse.
    Mixed,
    /// Nothing changed by as much as matters.
    Same,
    /// Nothing is known to have changed, but a headline figure leaves it open.
    Unknown,
}

/// Name of the figure that is the duration of the I/O.
const ACTIVITY: &str = "activity_s";

/// Number of headline figures that the verdict names.
const NAMED: usize = 3;

fn list(figures: &[(&str, &Figure)]) -> String {
    let one = |(name, figure): &(&str, &Figure)| match figure.change {
        Some(change) if *name == ACTIVITY => match (figure.before, figure.after) {
            (Some(before), Some(after)) => {
                let [before, after] = [before, after].map(two_digits);
                format!("the I/O took {after} s instead of {before} s ({})", change_text(change))
            }
            _ => format!("{} {}", figure_name(name), change_text(change)),
        },
        Some(change) => format!("{} {}", figure_name(name), change_text(change)),
        None => format!("{} from none", figure_name(name)),
    };
    figures.iter().take(NAMED).map(one).collect::<Vec<_>>().join(", ")
}

/// The first names, and how many more there are.
fn some_names(names: &[&str]) -> String {
    let named: Vec<String> = names.iter().take(NAMED).map(|name| figure_name(name)).collect();
    let more = names.len().saturating_sub(NAMED);
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Confidence;
    use crate::findings::Severity;

    /// Its interval is `half` to both sides.
    fn figure(change: Option<f64>, half: f64, verdict: ChangeVerdict) -> Figure {
        Figure {
            before: Some(1.0),
            after: change.map(|change| 1.0 + change),
            change,
            change_min: change.map(|change| change - half),
            change_max: change.map(|change| change + half),
            noise: Some(half / 1.96),
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
    fn a_regression_is_beyond_the_limit_with_its_near_end() {
        let it = comparison(&[
            ("a_s", figure(Some(0.30), 0.10, ChangeVerdict::Worse)),
            ("b_s", figure(Some(0.30), 0.24, ChangeVerdict::Worse)),
            ("c_s", figure(Some(-0.90), 0.02, ChangeVerdict::Better)),
            ("d_s", figure(None, 0.0, ChangeVerdict::Worse)),
        ]);
        let names = |share| it.regressions(share).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names(0.10), ["a_s", "d_s"]);
        assert_eq!(names(0.05), ["a_s", "b_s", "d_s"]);
        assert_eq!(names(0.21), ["d_s"]);
        let higher = Figure { better: Some(Better::Higher), ..figure(Some(-0.5), 0.2, ChangeVerdict::Worse) };
        let it = comparison(&[("e_s", higher)]);
        assert_eq!((it.regressions(0.29).len(), it.regressions(0.31).len()), (1, 0));
    }

    #[test]
    fn the_verdict_names_the_largest_changes() {
        let it = comparison(&[
            ("activity_s", figure(Some(-0.25), 0.01, ChangeVerdict::Better)),
            ("read_bandwidth_bytes_per_s", figure(Some(0.5), 0.01, ChangeVerdict::Better)),
        ]);
        assert_eq!(it.verdict(), "Better: the I/O took 0.75 s instead of 1 s (-25 %), read bandwidth +50 %.");
        let same = comparison(&[("activity_s", figure(Some(0.01), 0.01, ChangeVerdict::Same))]);
        assert_eq!(same.verdict(), "No change of 5 % or more.");
        assert!(comparison(&[]).verdict().starts_with("Cannot tell"));
        let open = comparison(&[
            ("activity_s", figure(Some(0.01), 0.01, ChangeVerdict::Same)),
            ("bandwidth_bytes_per_s", figure(Some(0.01), 0.2, ChangeVerdict::Unknown)),
        ]);
        assert_eq!(open.verdict(), "No change found; cannot tell of bandwidth.");
        assert_eq!(open.outcome(), Outcome::Unknown);
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
