//! What a rule is.

use lioprof_model::units::plural;

pub(super) use super::draft::Draft;
use crate::facts::ServerFacts;
use crate::outcome::{Result, Status};

/// A rule.
pub(super) struct Rule {
    /// Stable name for scripts.
    pub(super) id: &'static str,
    /// What is checked.
    pub(super) title: &'static str,
    /// What is counted: `OST`.
    pub(super) noun: &'static str,
    /// What is expected.
    pub(super) expected: &'static str,
    /// What to do if it is otherwise.
    pub(super) remedy: &'static str,
    /// Looks at all servers.
    pub(super) check: fn(&[ServerFacts], &mut Draft),
}

impl Rule {
    /// The result: the worst of all; `None` if these servers have nothing of the kind.
    pub(super) fn judge(&self, servers: &[ServerFacts]) -> Option<Result> {
        let mut draft = Draft::default();
        (self.check)(servers, &mut draft);
        if draft.known == 0 && draft.details.is_empty() {
            return None;
        }
        draft.details.sort_by(|a, b| (a.status, &a.server, &a.target).cmp(&(b.status, &b.server, &b.target)));
        let first = draft.details.first().map(|detail| detail.status);
        let status = first.unwrap_or(Status::Ok);
        let wrong = draft.details.iter().filter(|detail| detail.status < Status::Unknown).count() as u64;
        let found = match status {
            Status::Critical | Status::Warning if draft.known == wrong => plural(wrong, self.noun),
            Status::Critical | Status::Warning => format!("{wrong} of {}", plural(draft.known, self.noun)),
            Status::Unknown if draft.known == 0 => "not known".to_owned(),
            Status::Unknown => format!("{} fine, {} not known", plural(draft.known, self.noun), draft.details.len()),
            Status::Ok => draft.fine.take().unwrap_or_else(|| plural(draft.known, self.noun)),
        };
        let Self { id, title, expected, remedy, .. } = *self;
        Some(Result { id, title, status, found, expected, remedy, details: draft.details })
    }
}
