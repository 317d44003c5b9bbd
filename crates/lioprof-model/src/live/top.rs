//! Lists of bounded length.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// The first rows of a list, and the sum of the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "T: Deserialize<'de>"))]
pub struct Top<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// How many rows are left out, at least: of several servers some may be the same.
    pub omitted: u64,
    /// What those add up to; `null` if none is left out. It has no names.
    pub others: Option<T>,
}

impl<T> Default for Top<T> {
    fn default() -> Self {
        Self { rows: Vec::new(), omitted: 0, others: None }
    }
}

/// A row of such a list.
pub trait LiveRow: Clone {
    /// Order by what it is called: rows of the same names are of the same thing.
    fn by_name(&self, other: &Self) -> Ordering;

    /// The largest come first.
    fn weight(&self) -> f64;

    /// Adds what another server says of the same thing, or another thing.
    fn add(&mut self, other: &Self);

    /// The same without a name.
    #[must_use]
    fn nameless(&self) -> Self;
}

impl<T: LiveRow> Top<T> {
    /// All rows, in order; rows have different names.
    #[must_use]
    pub fn new(mut rows: Vec<T>, most: usize) -> Self {
        rows.sort_by(|a, b| b.weight().total_cmp(&a.weight()).then_with(|| a.by_name(b)));
        let mut top = Self { rows, omitted: 0, others: None };
        top.drop_from(most);
        top
    }

    /// Adds another list's rows; [`Self::cut`] brings them in order.
    pub fn merge(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.omitted += other.omitted;
        if let Some(theirs) = other.others {
            self.add_to_others(&theirs);
        }
    }

    /// Adds up rows of the same names, orders them, and leaves out all but the first.
    pub fn cut(&mut self, most: usize) {
        let mut all = std::mem::take(&mut self.rows);
        all.sort_by(T::by_name);
        all.dedup_by(|row, known| {
            let same = known.by_name(row).is_eq();
            if same {
                known.add(row);
            }
            same
        });
        let Self { rows, omitted, others } = Self::new(all, most);
        self.rows = rows;
        self.omitted += omitted;
        if let Some(others) = others {
            self.add_to_others(&others);
        }
    }

    /// Adds something that has no row of its own.
    pub fn leave_out(&mut self, row: &T) {
        self.omitted += 1;
        self.add_to_others(row);
    }

    fn drop_from(&mut self, most: usize) {
        for row in self.rows.split_off(most.min(self.rows.len())) {
            self.leave_out(&row);
        }
    }

    fn add_to_others(&mut self, row: &T) {
        match &mut self.others {
            Some(others) => others.add(row),
            None => self.others = Some(row.nameless()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::{LiveIo, LiveJob};

    fn job(name: &str, bytes: f64) -> LiveJob {
        let read = LiveIo { rpcs_per_s: 1.0, bytes_per_s: Some(bytes) };
        LiveJob { job: Some(name.to_owned()), read, clients: 1, ..LiveJob::default() }
    }

    fn names(top: &Top<LiveJob>) -> Vec<&str> {
        top.rows.iter().filter_map(|row| row.job.as_deref()).collect()
    }

    #[test]
    fn what_is_left_out_is_summed_up() {
        let top = Top::new(vec![job("a", 1.0), job("b", 3.0), job("c", 2.0), job("d", 4.0)], 2);
        assert_eq!((names(&top), top.omitted), (vec!["d", "b"], 2));
        let others = top.others.unwrap();
        assert_eq!((others.job, others.read.bytes_per_s, others.read.rpcs_per_s), (None, Some(3.0), 2.0));
    }

    #[test]
    fn servers_add_up() {
        let mut all = Top::new(vec![job("a", 1.0), job("b", 3.0), job("x", 0.5)], 2);
        all.merge(Top::new(vec![job("a", 5.0), job("c", 1.0)], 2));
        all.cut(2);
        assert_eq!((names(&all), all.omitted), (vec!["a", "b"], 2));
        assert_eq!(all.rows[0].read.bytes_per_s, Some(6.0));
        assert_eq!(all.others.unwrap().read.bytes_per_s, Some(1.5));
    }
}
