//! Comparisons, collected before anything fails.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

/// One comparison.
struct Row {
    unit: String,
    figure: String,
    lioprof: String,
    truth: String,
    good: bool,
}

/// Comparisons of figures with the truth.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// A comparison whose outcome is known.
    pub(crate) fn row(&mut self, unit: &str, figure: &str, lioprof: impl Display, truth: impl Display, good: bool) {
        let (lioprof, truth) = (lioprof.to_string(), truth.to_string());
        self.rows.push(Row { unit: unit.to_owned(), figure: figure.to_owned(), lioprof, truth, good });
    }

    /// Must be equal; `None` is a figure that the JSON does not have.
    pub(crate) fn equal(&mut self, unit: &str, figure: &str, lioprof: Option<u64>, truth: u64) {
        self.row(unit, figure, shown(lioprof), truth, lioprof == Some(truth));
    }

    /// `low <= truth <= high`; without `high` there is no upper bound.
    pub(crate) fn within(&mut self, unit: &str, figure: &str, low: Option<u64>, high: Option<u64>, truth: u64) {
        let good = low.is_some_and(|low| low <= truth) && high.is_none_or(|high| truth <= high);
        let high = high.map_or_else(|| "..".to_owned(), |high| high.to_string());
        self.row(unit, figure, format!("{} to {high}", shown(low)), truth, good);
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.rows.extend(other.rows);
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// What is compared, by capture, and how often: a comparison that vanishes would not be noticed otherwise. Names of clients, objects
    /// and the like are left out.
    pub(crate) fn figures(&self) -> String {
        let mut figures: BTreeMap<String, u64> = BTreeMap::new();
        for Row { unit, figure, .. } in &self.rows {
            let is_name = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit() || b"@/.".contains(&byte));
            let words: Vec<&str> = figure.split(' ').map(|word| if is_name(&word) { "*" } else { word }).collect();
            *figures.entry(format!("{unit}: {}", words.join(" "))).or_default() += 1;
        }
        figures.iter().map(|(figure, times)| format!("{figure}: {times}\n")).collect()
    }

    pub(crate) fn mismatches(&self) -> usize {
        self.rows.iter().filter(|row| !row.good).count()
    }

    /// As Markdown; `all` or only what does not fit.
    pub(crate) fn markdown(&self, all: bool) -> String {
        let mut out = "| capture | figure | lioprof | truth | verdict |\n|---|---|---|---|---|\n".to_owned();
        for row in self.rows.iter().filter(|row| all || !row.good) {
            let Row { unit, figure, lioprof, truth, good } = row;
            let verdict = if *good { "ok" } else { "**MISMATCH**" };
            writeln!(out, "| {unit} | {figure} | {lioprof} | {truth} | {verdict} |").unwrap();
        }
        out
    }

    /// Fails with the rows that do not fit.
    #[track_caller]
    pub(crate) fn check(&self) {
        let bad = self.mismatches();
        assert!(bad == 0, "{bad} of {} figures differ from the truth:\n{}", self.len(), self.markdown(false));
    }
}

fn shown(figure: Option<u64>) -> String {
    figure.map_or_else(|| "missing".to_owned(), |figure| figure.to_string())
}
