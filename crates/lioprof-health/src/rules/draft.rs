//! Collects what a rule finds.

use crate::facts::Fact;
use crate::outcome::{Detail, Status};

/// What a rule has found up to now.
#[derive(Default)]
pub(super) struct Draft {
    /// How many things were looked at and known.
    pub(super) known: u64,
    pub(super) details: Vec<Detail>,
    /// Summary if nothing is wrong.
    pub(super) fine: Option<String>,
}

impl Draft {
    /// One more thing was looked at, and is as it should be.
    pub(super) fn fine(&mut self) {
        self.known += 1;
    }

    /// One more thing was looked at: what is wrong with it, if anything.
    pub(super) fn judge(&mut self, server: &str, target: &str, wrong: Option<(Status, String)>) {
        match wrong {
            Some((status, found)) => self.wrong(status, server, target, found),
            None => self.fine(),
        }
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

    /// What is known; what is not is noted, with the reason.
    pub(super) fn fact<'a, T>(&mut self, fact: &'a Fact<T>, server: &str, target: &str) -> Option<&'a T> {
        if let Fact::Unknown(why) = fact {
            self.unknown(server, target, why);
        }
        fact.known()
    }

    /// What to say if nothing is wrong.
    pub(super) fn summary(&mut self, text: impl Into<String>) {
        self.fine = Some(text.into());
    }

    fn push(&mut self, status: Status, server: &str, target: &str, found: String) {
        self.details.push(Detail { status, server: server.to_owned(), target: target.to_owned(), found });
    }
}
