//! Cutting a list.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::other_rows::OtherRows;

/// Cuts lists, and keeps what the others sum up to.
pub(super) struct Cut<'a>(pub(super) &'a mut BTreeMap<String, OtherRows>);

impl Cut<'_> {
    /// The `top` rows with most of `by`, in the order of the list; of equals the first.
    pub(super) fn rows<T: Clone>(
        &mut self,
        name: &str,
        rows: &[T],
        top: usize,
        by: &str,
        weight: impl Fn(&T) -> u64,
        add: impl Fn(&mut OtherRows, &T),
    ) -> Vec<T> {
        if rows.len() <= top {
            return rows.to_vec();
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&index| (Reverse(weight(&rows[index])), index));
        let mut others =
            OtherRows { kept: top as u64, by: by.to_owned(), rows: (rows.len() - top) as u64, ..OtherRows::default() };
        for &index in &order[top..] {
            add(&mut others, &rows[index]);
        }
        self.0.insert(name.to_owned(), others);
        order.truncate(top);
        order.sort_unstable();
        order.into_iter().map(|index| rows[index].clone()).collect()
    }
}
