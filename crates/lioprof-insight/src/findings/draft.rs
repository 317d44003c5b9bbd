//! How a rule says what it found.

use lioprof_model::{Finding, Interval, MAX_NAMES, ObjectId};

/// What a cost counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// Seconds that the run would have been shorter.
    WallTime,
    /// Seconds that requests waited, added up, also those that waited at the same time.
    RequestSeconds,
}

impl Cost {
    /// As it stands in `cost_of`.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::WallTime => "wall time",
            Self::RequestSeconds => "request-seconds of waiting",
        }
    }
}

macro_rules! lists {
    ($($(#[$meta:meta])* $list:ident;)+) => {
        $($(#[$meta])*
        pub(super) fn $list<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
            self.finding.$list = few(names);
            self
        })+
    };
}

/// A finding that is being written.
pub(super) struct Draft {
    finding: Finding,
    plots: &'static [&'static str],
}

impl Draft {
    /// Of a rule with these plots.
    pub(super) fn new(finding: Finding, plots: &'static [&'static str]) -> Self {
        Self { finding, plots }
    }

    /// What was seen and how it is to be read: two or three sentences.
    pub(super) fn explain(mut self, text: impl Into<String>) -> Self {
        self.finding.explanation = text.into();
        self
    }

    /// A figure that it rests on, with its unit in the name, if it is known. JSON has no infinity: such a figure is left out.
    pub(super) fn evidence(mut self, name: &str, value: impl Into<Option<f64>>) -> Self {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            // The sum of nothing is -0.
            self.finding.evidence.insert(name.to_owned(), value + 0.0);
        }
        self
    }

    /// What to do; the most effective first.
    pub(super) fn remedy(mut self, text: impl Into<String>) -> Self {
        self.finding.remedies.push(text.into());
        self
    }

    lists! {
        /// Targets, worst first.
        targets;
        /// Clients, worst first.
        clients;
        /// Jobs, worst first.
        jobs;
        /// Nodes, worst first.
        nodes;
    }

    /// Objects, worst first.
    pub(super) fn objects(mut self, objects: impl IntoIterator<Item = ObjectId>) -> Self {
        self.finding.objects = objects.into_iter().take(MAX_NAMES).collect();
        self
    }

    /// When it was seen.
    pub(super) fn interval(mut self, interval: Option<Interval>) -> Self {
        self.finding.interval = interval;
        self
    }

    /// What it costs.
    pub(super) fn cost(mut self, seconds: f64, of: Cost) -> Self {
        if seconds.is_finite() {
            self.finding.cost_s = Some(seconds);
            self.finding.cost_of = Some(of.text().to_owned());
        }
        self
    }

    /// The one of the rule's plots that shows it best, if that is not the first one.
    pub(super) fn plot(mut self, name: &str) -> Self {
        debug_assert!(self.plots.contains(&name), "{} does not declare the plot {name}", self.finding.id);
        self.finding.plot = Some(name.to_owned());
        self
    }

    /// The finding.
    pub(super) fn done(self) -> Finding {
        let finding = self.finding;
        debug_assert!(
            !finding.explanation.is_empty() && !finding.remedies.is_empty(),
            "{} says too little",
            finding.id
        );
        finding
    }
}

/// The first few of these names, each once.
fn few<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Vec<String> {
    let mut few: Vec<String> = Vec::new();
    for name in names {
        let name = name.into();
        if few.len() == MAX_NAMES {
            break;
        }
        if !few.contains(&name) {
            few.push(name);
        }
    }
    few
}
