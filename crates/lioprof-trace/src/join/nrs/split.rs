//! Two counters that explain what was seen.

use super::stretches::{Stretch, follows};

/// The best way to explain stretches by two counters.
pub(super) struct Split {
    /// Numbers that are missing all the same.
    pub(super) missing: u64,
    /// The second counter, in the order of numbers, begins with this stretch; 0 if one counter explains all.
    pub(super) second: usize,
}

/// Where the counters are after some stretches: which one the last of them belongs to, and the last stretch of the other.
#[derive(Clone, Copy, Debug)]
struct CountersSoFar {
    missing: u64,
    /// First stretch that is not of the counter of the very first one.
    second: usize,
}

/// Explains stretches by two counters, each of which goes up with time, and one of which holds requests only that may be of
/// high priority; with as few missing numbers as possible. `None` if two counters cannot do it.
pub(super) fn split(stretches: &[Stretch]) -> Option<Split> {
    let n = stretches.len();
    if n == 0 {
        return None;
    }
    // `places[urgent][j]`: the last stretch belongs to the urgent (1) or regular (0) queue, and the last one of the other
    // queue is `j - 1` (0: none yet).
    let mut places: [Vec<Option<CountersSoFar>>; 2] = [vec![None; n + 1], vec![None; n + 1]];
    places[0][0] = Some(CountersSoFar { missing: 0, second: 0 });
    places[1][0] = stretches[0].urgent.then_some(CountersSoFar { missing: 0, second: 0 });
    for at in 1..n {
        let (last, next) = (&stretches[at - 1], &stretches[at]);
        let mut after: [Vec<Option<CountersSoFar>>; 2] = [vec![None; n + 1], vec![None; n + 1]];
        for queue in 0..2 {
            for other in 0..=at {
                let Some(place) = places[queue][other] else { continue };
                let same = follows(last, next) && (queue == 0 || next.urgent);
                if same {
                    let missing = place.missing + (next.first - last.last - 1);
                    better(&mut after[queue][other], CountersSoFar { missing, ..place });
                }
                if queue == 1 || next.urgent {
                    let begins = other == 0;
                    let fits = begins || follows(&stretches[other - 1], next);
                    if fits {
                        let gap = if begins { 0 } else { next.first - stretches[other - 1].last - 1 };
                        let second = if begins { at } else { place.second };
                        better(&mut after[1 - queue][at], CountersSoFar { missing: place.missing + gap, second });
                    }
                }
            }
        }
        places = after;
    }
    let best = places.iter().flatten().flatten().min_by_key(|place| place.missing)?;
    Some(Split { missing: best.missing, second: best.second })
}

fn better(place: &mut Option<CountersSoFar>, new: CountersSoFar) {
    if place.is_none_or(|old| new.missing < old.missing) {
        *place = Some(new);
    }
}
