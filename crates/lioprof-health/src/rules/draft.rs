//! Collects what a rule finds.

use super::rule::Rule;
use crate::outcome::{Detail, Result, Status};
use lioprof_model::units::plural;

/// What a rule has found up to now.
#[derive(Default)]
pub(super) struct Draft {
    /// How many things were looked at and known.
    known: u64,
    details: Vec<Detail>,
    /// Summary if nothing is wrong.
    fine: Option<String>,
}

impl Draft {
    /// One more thing was looked at, and is as it should be.
    pub(super) fn fine(&mut self) {
        self.known += 1;
    }

    /// One more thing was looked at, and is not as it should be.
    pub(super) fn wrong(&mut self, status: Status, server: &str, target: &str, found: impl Into<String>) {
        self.known += 1;
        self.push(status, server, target, found.into());
    }

    /// It could not be told, for this reason.
    pub(super) fn unknown(&mut self, server: &str, target: &str, why: impl Into<String>) {
        self.push(Status::Unknown, server, target, why.into());
    }

    /// What to say if nothing is wrong.
    pub(super) fn summary(&mut self, text: impl Into<String>) {
        self.fine = Some(text.into());
    }

    fn push(&mut self, status: Status, server: &str, target: &str, found: String) {
        self.details.push(Detail { status, server: server.to_owned(), target: target.to_owned(), found });
    }

    /// The result: the worst of all.
    pub(super) fn conclude(mut self, rule: &Rule) -> Result {
        self.details.sort_by(|a, b| (a.status, &a.server, &a.target).cmp(&(b.status, &b.server, &b.target)));
        let nothing = self.known == 0 && self.details.is_empty();
        let first = self.details.first().map(|detail| detail.status);
        let status = if nothing { Status::Unknown } else { first.unwrap_or(Status::Ok) };
        let wrong = self.details.iter().filter(|detail| detail.status < Status::Unknown).count() as u64;
        let found = match status {
            Status::Critical | Status::Warning if self.known == wrong => plural(wrong, rule.noun),
            Status::Critical | Status::Warning => format!("{wrong} of {}", plural(self.known, rule.noun)),
            Status::Unknown if nothing => format!("no {} on these servers", rule.noun),
            Status::Unknown if self.known == 0 => "not known".to_owned(),
            Status::Unknown => format!("{} fine, {} not known", plural(self.known, rule.noun), self.details.len()),
            Status::Ok => self.fine.take().unwrap_or_else(|| plural(self.known, rule.noun)),
        };
        let Rule { id, title, expected, remedy, .. } = *rule;
        Result { id, title, status, found, expected, remedy, details: self.details }
    }
}
