//! `--from` and `--to`: times, or marks that have to be found in the log first.
//!
//! Users repeat a run with the same marks, and a log may begin with the marks of an earlier attempt. If marks repeat, the last
//! complete pair therefore counts. Since it is unknown at the beginning of a log how often a mark will come, the first pair is
//! used at first, and [`Interval::chosen`] says afterwards whether it was the right one.

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::units::plural;
use serde::{Deserialize, Serialize};

use crate::config::{Bound, Config};

/// A limit in time that may still have to be found in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Limit {
    /// Microseconds since the epoch.
    At(i64),
    /// The text of a mark, or its beginning.
    Marker(String),
}

impl Limit {
    fn new(bound: &Bound) -> Self {
        match bound {
            // Of a time of day `Days` has made a moment.
            Bound::Time(us) | Bound::TimeOfDay(us) => Self::At(*us),
            Bound::Marker(text) => Self::Marker(text.clone()),
        }
    }

    /// The time, once it is known.
    pub(crate) fn at(&self) -> Option<i64> {
        match self {
            Self::At(us) => Some(*us),
            Self::Marker(_) => None,
        }
    }
}

/// Both limits of one node's log, as far as its marks have come up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Interval {
    pub(crate) from: Option<Limit>,
    pub(crate) to: Option<Limit>,
    /// The marks of `--from` and `--to`, and when they occurred.
    from_marks: Option<Occurrences>,
    to_marks: Option<Occurrences>,
}

impl Interval {
    /// The limits of `--from` and `--to`.
    pub(crate) fn new(config: &Config) -> Self {
        let [from, to] = [&config.from, &config.to].map(|bound| bound.as_ref().map(Limit::new));
        let [from_marks, to_marks] = [&from, &to].map(|limit| match limit {
            Some(Limit::Marker(text)) => Some(Occurrences::of(text)),
            _ => None,
        });
        Self { from, to, from_marks, to_marks }
    }

    /// The same of a log that is read with its times on another clock: a time that is asked for is of the log's own.
    pub(crate) fn on_its_clock(config: &Config, to: &ClockLine) -> Self {
        let asked = Self::new(config);
        let Self { from, to, .. } = asked.on_clock(to);
        Self { from, to, ..asked }
    }

    /// Whether both intervals have the same limits.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.from, &self.to) == (&other.from, &other.to)
    }

    /// Whether it is over after the first of these times and before the second.
    pub(crate) fn ends_between(&self, from_us: i64, to_us: i64) -> bool {
        self.ends_at().is_some_and(|end_us| from_us <= end_us && end_us < to_us)
    }

    /// Whether there is a limit.
    pub(crate) fn is_limited(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Whether a limit is a mark.
    pub(crate) fn has_marks(&self) -> bool {
        self.from_marks.is_some() || self.to_marks.is_some()
    }

    /// Whether something that happened at this time is within the limits. Events come in time order: a mark that has not
    /// come up yet lies ahead.
    pub(crate) fn contains(&self, time_us: i64) -> bool {
        let after = self.from.as_ref().is_none_or(|from| from.at().is_some_and(|from_us| time_us >= from_us));
        let before = self.to.as_ref().and_then(Limit::at).is_none_or(|to_us| time_us <= to_us);
        after && before
    }

    /// A mark of the log, in time order.
    pub(crate) fn mark(&mut self, time_us: i64, text: &[u8]) {
        if let Some(marks) = &mut self.from_marks
            && marks.add(time_us, text)
            && let Some(Limit::Marker(_)) = self.from
        {
            self.from = Some(Limit::At(time_us));
        }
        let has_begun = self.from.as_ref().is_none_or(|from| from.at().is_some_and(|from_us| from_us <= time_us));
        if let Some(marks) = &mut self.to_marks
            && marks.add(time_us, text)
            && has_begun
            && let Some(Limit::Marker(_)) = self.to
        {
            self.to = Some(Limit::At(time_us));
        }
    }

    /// The limits by the marks of the whole log: the last complete pair, or the last mark if only one limit is a mark.
    pub(crate) fn chosen(&self) -> Self {
        let (from, to) = match (&self.from_marks, &self.to_marks) {
            (None, None) => return self.clone(),
            (Some(from), None) => (from.last_until(self.ends_at()), self.ends_at()),
            (None, Some(to)) => (self.starts_at(), to.last_since(self.starts_at())),
            (Some(from), Some(to)) => {
                let first = from.times().next();
                let pair = to.times().filter(|&at| first.is_some_and(|first| first <= at)).last();
                (pair.map_or(first, |at| from.last_until(Some(at))), pair)
            }
        };
        let or_asked = |at: Option<i64>, limit: &Option<Limit>, marks: &Option<Occurrences>| {
            at.map(Limit::At).or_else(|| marks.as_ref().map(|it| Limit::Marker(it.text.clone()))).or(limit.clone())
        };
        Self {
            from: or_asked(from, &self.from, &self.from_marks),
            to: or_asked(to, &self.to, &self.to_marks),
            from_marks: None,
            to_marks: None,
        }
    }

    /// The same limits on another clock. Its marks are known already.
    pub(crate) fn on_clock(&self, to: &ClockLine) -> Self {
        let shift = |limit: &Option<Limit>| {
            limit.as_ref().map(|limit| match limit {
                Limit::At(us) => Limit::At(to.there_us(*us)),
                Limit::Marker(text) => Limit::Marker(text.clone()),
            })
        };
        Self { from: shift(&self.from), to: shift(&self.to), from_marks: None, to_marks: None }
    }

    /// The marks of `--from` and `--to`, if the second one occurs, but never after the first one.
    pub(crate) fn only_before(&self) -> Option<(&str, &str)> {
        let (from, to) = (self.from_marks.as_ref()?, self.to_marks.as_ref()?);
        let is_open = matches!(self.to, Some(Limit::Marker(_)));
        (is_open && to.times().next().is_some() && from.times().next().is_some()).then_some((&from.text, &to.text))
    }

    /// The warning about marks of `node` that occur more than once. `taken` says which of them were used.
    pub(crate) fn repeated(&self, node: &str, taken: Taken) -> Option<String> {
        let marks = [&self.from_marks, &self.to_marks].into_iter().flatten();
        let mut repeated: Vec<String> = marks
            .filter(|marks| marks.times().count() > 1)
            .map(|marks| format!("`{}` {}", marks.text, plural(marks.times().count() as u64, "time")))
            .collect();
        repeated.dedup();
        if repeated.is_empty() {
            return None;
        }
        let which = match (taken, self.from_marks.is_some() && self.to_marks.is_some()) {
            (Taken::Last, true) => "the last complete pair is used",
            (Taken::Last, false) => "the last one is used",
            (Taken::First, true) => "an input that can be read only once gives the first complete pair",
            (Taken::First, false) => "an input that can be read only once gives the first one",
        };
        Some(format!(
            "the log of {node} has the mark {}: {which}; for another one give times, which are listed under markers",
            repeated.join(" and ")
        ))
    }

    /// When the interval starts, microseconds since the epoch; `None` if unknown or unlimited.
    pub(crate) fn starts_at(&self) -> Option<i64> {
        self.from.as_ref().and_then(Limit::at)
    }

    /// When the interval ends, microseconds since the epoch; `None` if unknown or unlimited.
    pub(crate) fn ends_at(&self) -> Option<i64> {
        self.to.as_ref().and_then(Limit::at)
    }
}

/// Which of several marks were used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The last complete pair.
    Last,
    /// The first, because the input cannot be read again.
    First,
}

/// When a mark occurred. Marks with exactly the given text take precedence over those that begin with it: `run 1` is not `run 10`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Occurrences {
    text: String,
    exact_us: Vec<i64>,
    begin_us: Vec<i64>,
}

impl Occurrences {
    fn of(text: &str) -> Self {
        Self { text: text.to_owned(), exact_us: Vec::new(), begin_us: Vec::new() }
    }

    /// Adds a mark; returns whether its text matches.
    fn add(&mut self, time_us: i64, text: &[u8]) -> bool {
        if text == self.text.as_bytes() {
            self.exact_us.push(time_us);
        } else if text.starts_with(self.text.as_bytes()) {
            self.begin_us.push(time_us);
        } else {
            return false;
        }
        true
    }

    fn times(&self) -> impl Iterator<Item = i64> {
        if self.exact_us.is_empty() { &self.begin_us } else { &self.exact_us }.iter().copied()
    }

    /// The last occurrence up to a time; `None` if there is none.
    fn last_until(&self, to_us: Option<i64>) -> Option<i64> {
        self.times().filter(|&at| to_us.is_none_or(|to_us| at <= to_us)).last()
    }

    fn last_since(&self, from_us: Option<i64>) -> Option<i64> {
        self.times().filter(|&at| from_us.is_none_or(|from_us| at >= from_us)).last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(from: Option<&str>, to: Option<&str>, marks: &[(i64, &str)]) -> Interval {
        let bound = |text: Option<&str>| text.map(|text| Bound::Marker(text.to_owned()));
        let mut interval = Interval::new(&Config { from: bound(from), to: bound(to), ..Config::default() });
        for &(at, text) in marks {
            interval.mark(at, text.as_bytes());
        }
        interval
    }

    fn chosen(from: Option<&str>, to: Option<&str>, marks: &[(i64, &str)]) -> (Option<i64>, Option<i64>) {
        let chosen = interval(from, to, marks).chosen();
        (chosen.starts_at(), chosen.ends_at())
    }

    const TWICE: [(i64, &str); 5] = [(1, "start"), (5, "end"), (10, "start"), (15, "end"), (20, "start")];

    #[test]
    fn the_last_complete_pair() {
        assert_eq!(chosen(Some("start"), Some("end"), &TWICE), (Some(10), Some(15)));
        assert_eq!(chosen(Some("start"), Some("end"), &TWICE[..3]), (Some(1), Some(5)));
        // An attempt that was given up.
        assert_eq!(chosen(Some("start"), Some("end"), &TWICE[2..]), (Some(10), Some(15)));
        let given_up = [(1, "start"), (2, "start"), (5, "end")];
        assert_eq!(chosen(Some("start"), Some("end"), &given_up), (Some(2), Some(5)));
    }

    #[test]
    fn one_mark_alone_is_the_last_of_its_kind() {
        assert_eq!(chosen(Some("start"), None, &TWICE), (Some(20), None));
        assert_eq!(chosen(None, Some("end"), &TWICE), (None, Some(15)));
    }

    #[test]
    fn the_first_pair_while_reading() {
        let reading = interval(Some("start"), Some("end"), &TWICE);
        assert_eq!((reading.starts_at(), reading.ends_at()), (Some(1), Some(5)));
        assert!(reading.contains(5) && !reading.contains(6) && !reading.contains(12));
        // An end of an earlier attempt, whose start is not in the log.
        let reading = interval(Some("start"), Some("end"), &TWICE[1..]);
        assert_eq!((reading.starts_at(), reading.ends_at()), (Some(10), Some(15)));
    }

    #[test]
    fn the_whole_text_before_its_beginning() {
        let marks = [(1, "run 1 start"), (2, "run 10 start")];
        assert_eq!(chosen(Some("run 1 start"), None, &marks), (Some(1), None));
        assert_eq!(chosen(Some("run 1"), None, &marks), (Some(2), None));
        let marks = [(1, "run 1"), (2, "run 10")];
        assert_eq!(chosen(Some("run 1"), None, &marks), (Some(1), None));
    }

    #[test]
    fn a_mark_that_is_missing_stays_open() {
        let open = interval(Some("start"), Some("stop"), &TWICE).chosen();
        assert_eq!(open.to, Some(Limit::Marker("stop".to_owned())));
        let open = interval(Some("begin"), Some("end"), &TWICE).chosen();
        assert_eq!(open.from, Some(Limit::Marker("begin".to_owned())));
        assert!(!open.contains(10));
    }

    #[test]
    fn what_is_said_of_repeated_marks() {
        let said = interval(Some("start"), Some("end"), &TWICE).repeated("oss1", Taken::Last).unwrap();
        assert!(said.contains("oss1") && said.contains("`start` 3 times and `end` 2 times"), "{said}");
        assert!(said.contains("last complete pair"), "{said}");
        assert_eq!(interval(Some("start"), Some("end"), &TWICE[..2]).repeated("oss1", Taken::Last), None);
    }
}
