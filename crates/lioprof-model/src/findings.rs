//! Findings: what is wrong, how sure that is, what to do about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::locks::Interval;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Costs time that a remedy would save.
    Warning,
    /// Decides how long the run takes, or makes its figures wrong.
    Critical,
}

/// How sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Consistent with the evidence, as other causes are.
    Low,
    /// Other causes are unlikely.
    Medium,
    /// The log shows it.
    High,
}

/// Something that an admin or a developer should look at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Kind: `lock-ping-pong`. Stable; a page of the documentation explains each.
    pub id: String,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// One sentence with the decisive figure.
    pub title: String,
    /// What was seen and how it is to be read: two or three sentences.
    pub explanation: String,
    /// The figures it rests on, units in the names.
    pub evidence: BTreeMap<String, f64>,
    /// The limits that they were held against, by the names under which they can be changed.
    pub thresholds: BTreeMap<String, f64>,
    /// What to do, most effective first.
    pub remedies: Vec<String>,
    /// Targets concerned, worst first; of each list at most 20.
    pub targets: Vec<String>,
    /// Clients concerned, by NID.
    pub clients: Vec<String>,
    /// Objects concerned.
    pub objects: Vec<ObjectId>,
    /// Jobs concerned.
    pub jobs: Vec<String>,
    /// Nodes concerned.
    pub nodes: Vec<String>,
    /// When, Unix seconds; `null`: all the time.
    pub interval: Option<Interval>,
    /// Seconds that it costs, estimated; `null` if that cannot be said. What it means (client-seconds, wall time) stands in `cost_of`.
    pub cost_s: Option<f64>,
    /// What `cost_s` counts: "wall time", "client-seconds of waiting".
    pub cost_of: Option<String>,
    /// Kind of the finding that is the likely cause of this one; it is then worth no more than a note.
    #[serde(default)]
    pub explained_by: Option<String>,
    /// Name of the plot that shows it best.
    pub plot: Option<String>,
    /// Anchor in `docs/findings.md`.
    pub docs: String,
}

/// An object of a target.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ObjectId {
    /// Target.
    pub target: String,
    /// FID, or as old versions print it.
    pub fid: String,
}

/// What became of looking for one kind of finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Kind.
    pub id: String,
    /// Result.
    pub result: CheckResult,
    /// Why nothing can be said, for [`CheckResult::NotEnoughEvidence`].
    pub reason: Option<String>,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// There are findings of this kind.
    Found,
    /// Looked, and all is well.
    Healthy,
    /// Too few samples, or the log does not hold what is needed.
    NotEnoughEvidence,
}

impl Severity {
    /// Its name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl Confidence {
    /// Its name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl Finding {
    /// A finding that says no more than this yet. Its documentation has the anchor of its kind.
    #[must_use]
    pub fn new(id: &str, severity: Severity, confidence: Confidence, title: impl Into<String>) -> Self {
        Self {
            id: id.to_owned(),
            severity,
            confidence,
            title: title.into(),
            explanation: String::new(),
            evidence: BTreeMap::new(),
            thresholds: BTreeMap::new(),
            remedies: Vec::new(),
            targets: Vec::new(),
            clients: Vec::new(),
            objects: Vec::new(),
            jobs: Vec::new(),
            nodes: Vec::new(),
            interval: None,
            cost_s: None,
            cost_of: None,
            explained_by: None,
            plot: None,
            docs: id.to_owned(),
        }
    }
}
