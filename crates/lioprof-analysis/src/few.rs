//! The first few of many.

use std::cmp::Ordering;
use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Those behind the first `count` in an order in which no two are equal. They come in no order: nothing is sorted, so it takes time
/// in proportion to their number.
pub(crate) fn beyond_first<T>(items: &mut [T], count: usize, order: impl FnMut(&T, &T) -> Ordering) -> &[T] {
    if count >= items.len() {
        return &[];
    }
    items.select_nth_unstable_by(count, order);
    &items[count..]
}

/// Takes all out but those with most weight. Of equals the first by key stay.
pub(crate) fn keep_heaviest<K: Copy + Eq + Hash + Ord, V, W: Ord>(
    map: &mut FxHashMap<K, V>,
    count: usize,
    weight: impl Fn(&V) -> W,
) -> Vec<V> {
    let mut order: Vec<(W, K)> = map.iter().map(|(key, value)| (weight(value), *key)).collect();
    let beyond = beyond_first(&mut order, count, |a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    beyond.iter().filter_map(|(_, key)| map.remove(key)).collect()
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

    #[test]
    fn of_equals_the_first_stay() {
        let mut map: FxHashMap<u32, u32> = (0..10).map(|key| (key, key / 5)).collect();
        assert_eq!(keep_heaviest(&mut map, 7, |weight| *weight), [0, 0, 0]);
        let mut left: Vec<u32> = map.into_keys().collect();
        left.sort_unstable();
        assert_eq!(left, [0, 1, 5, 6, 7, 8, 9]);
    }
}
