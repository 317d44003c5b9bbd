//! The first few of many.

use std::cmp::Ordering;

/// Those behind the first `count` in an order in which no two are equal. They come in no order: nothing is sorted, so it takes time
/// in proportion to their number.
pub(crate) fn beyond_first<T>(items: &mut [T], count: usize, order: impl FnMut(&T, &T) -> Ordering) -> &[T] {
    if count >= items.len() {
        return &[];
    }
    items.select_nth_unstable_by(count, order);
    &items[count..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_if_sorted() {
        let numbers: Vec<u32> = (0..1000).map(|n| n * 7919 % 1009).collect();
        for count in [0, 1, 500, 999, 1000, 2000] {
            let mut items = numbers.clone();
            let mut beyond = beyond_first(&mut items, count, |a, b| b.cmp(a)).to_vec();
            let mut sorted = numbers.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            beyond.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(beyond, sorted.get(count..).unwrap_or_default());
        }
    }
}
