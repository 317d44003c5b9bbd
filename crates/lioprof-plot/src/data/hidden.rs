//! What a page has no room for.

use crate::draw::num::ratio;
use crate::figure::units::{more_have, percent};

/// The rest of a list.
pub(crate) struct Hidden {
    count: usize,
    /// Of the sum of the whole list.
    share: f64,
}

/// Cuts a list to its first `most`; `None` if there are no others. What these have of the whole is counted in `weight`.
pub(crate) fn cut<T>(list: &mut Vec<T>, most: usize, weight: impl Fn(&T) -> f64) -> Option<Hidden> {
    let hidden = list.split_off(list.len().min(most));
    let sum = |some: &[T]| some.iter().map(&weight).sum::<f64>();
    let (shown, rest) = (sum(list), sum(&hidden));
    (!hidden.is_empty()).then(|| Hidden { count: hidden.len(), share: ratio(rest, shown + rest) })
}

impl Hidden {
    /// `3 more OSTs have 12 %`.
    pub(crate) fn have(&self, what: &str) -> String {
        format!("{} {}", more_have(self.count, what), percent(self.share))
    }
}
