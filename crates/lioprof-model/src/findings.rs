//! Findings: what is wrong, how certain that is, and what to do about it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::locks::Interval;
use crate::names::object;
use crate::units::{RULES, two_digits};

/// Names that each list of a finding has at most.
pub const MAX_NAMES: usize = RULES.max_names;

/// Savings below are not put into words, s.
const LEAST_WORTH_SAYING_S: f64 = 0.05;

named! {
    /// How serious a finding is.
    #[derive(Default)]
    pub enum Severity {
        /// The finding is worth knowing.
        #[default]
        Info = "info",
        /// The problem costs time that a remedy would save.
        Warning = "warning",
        /// The problem decides how long the run takes, or makes the figures wrong.
        Critical = "critical",
    }

    /// How certain a finding is.
    #[derive(Default)]
    pub enum Confidence {
        /// The evidence fits, but other causes would fit as well.
        #[default]
        Low = "low",
        /// Other causes are unlikely.
        Medium = "medium",
        /// The log shows the cause.
        High = "high",
    }
}

/// Something that an admin or a developer should look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Kind of the finding, such as `lock-ping-pong`. Stable; the documentation explains each kind.
    pub id: String,
    /// How serious the finding is.
    pub severity: Severity,
    /// How certain the finding is.
    pub confidence: Confidence,
    /// One sentence with the decisive figure.
    pub title: String,
    /// What was observed and what it means: two or three sentences.
    pub explanation: String,
    /// The figures that the finding rests on, by name; the name says the unit.
    pub evidence: BTreeMap<String, f64>,
    /// The limits that the figures were compared with, by the name of the setting that changes each.
    pub thresholds: BTreeMap<String, f64>,
    /// Remedies, most effective first.
    pub remedies: Vec<String>,
    /// Targets concerned, worst first; at most 20, like the other lists.
    pub targets: Vec<String>,
    /// Clients concerned, by NID.
    pub clients: Vec<String>,
    /// Objects concerned, worst first.
    pub objects: Vec<ObjectId>,
    /// Jobs concerned.
    pub jobs: Vec<String>,
    /// Nodes concerned.
    pub nodes: Vec<String>,
    /// When the problem occurred, Unix seconds; `null`: all the time.
    pub interval: Option<Interval>,
    /// Estimated cost in seconds; `null` if it cannot be estimated. `cost_of` says what kind of seconds (wall time, request-seconds).
    pub cost_s: Option<f64>,
    /// What `cost_s` counts: "wall time", "request-seconds of waiting".
    pub cost_of: Option<String>,
    /// Seconds that the run would have been shorter without it, predicted by replaying the requests; `null` if nothing honest can be
    /// said.
    #[serde(default)]
    pub saves_s: Option<f64>,
    /// Least that it may be.
    #[serde(default)]
    pub saves_s_min: Option<f64>,
    /// Most that it may be.
    #[serde(default)]
    pub saves_s_max: Option<f64>,
    /// Kind of the finding that probably causes this one, which is then only a note; `null` if there is none.
    #[serde(default)]
    pub explained_by: Option<String>,
    /// Name of the plot that shows the problem best; `null` if none does.
    pub plot: Option<String>,
    /// Anchor of this kind in `docs/findings.md`.
    pub docs: String,
}

/// An object of a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObjectId {
    /// Name of the target.
    pub target: String,
    /// FID of the object, or its id as old Lustre versions print it.
    pub fid: String,
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&object(&self.target, &self.fid))
    }
}

/// The outcome of a check for one kind of finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Kind of finding that the check looks for.
    pub id: String,
    /// What the check found.
    pub result: CheckResult,
    /// Why the check has no answer, for [`CheckResult::NotEnoughEvidence`] and [`CheckResult::NotApplicable`]; otherwise `null`.
    pub reason: Option<String>,
    /// The check looks for what is at most worth knowing: whether something is wrong does not depend on it.
    #[serde(default)]
    pub note: bool,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// The check has findings.
    Found,
    /// The check found no problem.
    Healthy,
    /// There are too few samples, or the log lacks what the check needs: it may be so or not.
    NotEnoughEvidence,
    /// There is nothing that the check is about, so nothing of the kind can be wrong.
    NotApplicable,
}

impl Check {
    /// Why the check has no answer although there is something that it is about; `None` if it has one.
    #[must_use]
    pub fn without_answer(&self) -> Option<&str> {
        let reason = self.reason.as_deref().unwrap_or("not enough evidence");
        (self.result == CheckResult::NotEnoughEvidence).then_some(reason)
    }
}

impl Finding {
    /// Whether something is wrong, not only worth knowing.
    #[must_use]
    pub fn is_more_than_a_note(&self) -> bool {
        self.severity > Severity::Info
    }

    /// What the run would have saved without it, to two digits: `would save about 29 s (25 to 33 s)`, `may save up to 33 s` if it may be
    /// nothing. `None` if that is not known, or next to nothing.
    #[must_use]
    pub fn saves_in_words(&self) -> Option<String> {
        let saves_s = self.saves_s.filter(|saves_s| *saves_s >= LEAST_WORTH_SAYING_S)?;
        Some(match self.saves_s_min.zip(self.saves_s_max) {
            None => format!("would save about {} s", two_digits(saves_s)),
            Some((min, max)) if min <= 0.0 => format!("may save up to {} s", two_digits(max)),
            Some((min, max)) => {
                format!("would save about {} s ({} to {} s)", two_digits(saves_s), two_digits(min), two_digits(max))
            }
        })
    }

    /// A finding with these fields; all others are empty, and the anchor in the documentation is its kind.
    #[must_use]
    pub fn new(id: &str, severity: Severity, confidence: Confidence, title: impl Into<String>) -> Self {
        Self { id: id.to_owned(), severity, confidence, title: title.into(), docs: id.to_owned(), ..Self::default() }
    }
}
