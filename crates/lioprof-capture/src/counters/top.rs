//! The busiest of many, and the others as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use lioprof_model::ReadWrite;
use lioprof_model::counters::{Count, Counter as _, OfTarget, Reading};

/// The busiest entities of a target.
pub(super) struct Top {
    /// Names, busiest first.
    pub(super) names: Vec<Arc<str>>,
    /// Counters of all the others.
    pub(super) others: ReadWrite<Count>,
    /// How many others there are.
    pub(super) others_count: u64,
}

/// Those whose bytes (then operations) grew most since `before`; those that did nothing at all are never named.
pub(super) fn top(
    target: &Arc<str>,
    now: &BTreeMap<OfTarget, Reading>,
    before: &BTreeMap<OfTarget, Reading>,
    count: usize,
) -> Top {
    let mine = now.range((Arc::clone(target), Arc::from(""))..).take_while(|((of, _), _)| of == target);
    let mut ranked: Vec<_> = mine
        .map(|(key, reading)| {
            let earlier = before.get(key).copied().unwrap_or_default();
            let ever = growth(reading, &Reading::default());
            ((growth(reading, &earlier), ever), &key.1, reading.rw)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let named = ranked.iter().take(count).take_while(|((_, ever), ..)| *ever > (0, 0)).count();
    let mut others = ReadWrite::default();
    for (_, _, rw) in &ranked[named..] {
        others.merge(rw);
    }
    Top {
        names: ranked[..named].iter().map(|(_, name, _)| Arc::clone(name)).collect(),
        others,
        others_count: u64::try_from(ranked.len() - named).unwrap_or(u64::MAX),
    }
}

/// How busy since `earlier`, for ranking: bytes, then operations.
fn growth(reading: &Reading, earlier: &Reading) -> (u64, u64) {
    let grown = reading.since(earlier).zip(reading.operations.checked_sub(earlier.operations));
    let (rw, operations) = grown.unwrap_or((reading.rw, reading.operations));
    (rw.both().bytes, operations)
}

#[cfg(test)]
mod tests {
    use lioprof_model::counters::Count;

    use super::*;

    fn readings(rows: &[(&str, &str, u64)]) -> BTreeMap<OfTarget, Reading> {
        let reading = |bytes| {
            let read = Count { rpcs: bytes / 2, bytes };
            Reading { rw: ReadWrite { read, ..ReadWrite::default() }, operations: read.rpcs, start_us: None }
        };
        rows.iter().map(|&(target, nid, bytes)| ((target.into(), nid.into()), reading(bytes))).collect()
    }

    #[test]
    fn growth_ranks_and_others_are_summed() {
        let before = readings(&[("t", "a", 1000), ("t", "b", 10), ("t", "c", 500)]);
        let now = readings(&[
            ("s", "z", 9999),
            ("t", "a", 1001),
            ("t", "b", 400),
            ("t", "c", 40),
            ("t", "d", 0),
            ("u", "z", 9),
        ]);
        let names = |top: &Top| top.names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let top_two = top(&"t".into(), &now, &before, 2);
        assert_eq!(names(&top_two), ["b", "c"], "c began anew and has 40 since");
        assert_eq!((top_two.others.read.bytes, top_two.others_count), (1001, 2));
        let first = top(&"t".into(), &now, &BTreeMap::new(), 10);
        assert_eq!(names(&first), ["a", "b", "c"]);
        assert_eq!((first.others.read.bytes, first.others_count), (0, 1), "idle ones are not named");
    }
}
