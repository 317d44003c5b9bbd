//! Slices of one track must lie inside or beside each other. What overlaps is put into lanes: tracks of the same name, which
//! the Perfetto UI shows as one.

/// Most lanes of one thing. The UI shows no more lines than that in any useful way.
const MAX_LANES: usize = 512;

/// The lanes of one thing, each with the time up to which it is taken.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Lane {
    uuid: u64,
    taken_until_us: i64,
}

impl Lanes {
    /// The lane for a slice, or a new one; `None` if there are too many already. Slices come about in the order of their
    /// ends, so a lane is free once its last slice ends before the new one begins; of those that are free, the one that was
    /// free for the shortest time leaves the most room to others.
    pub(crate) fn place(&mut self, start_us: i64, end_us: i64, new: impl FnOnce() -> u64) -> Option<u64> {
        let room = self.lanes.len() < MAX_LANES;
        let free = self.lanes.iter_mut().filter(|lane| lane.taken_until_us <= start_us);
        // The first of equals: not left to chance.
        match free.reduce(|best, lane| if lane.taken_until_us > best.taken_until_us { lane } else { best }) {
            Some(lane) => {
                lane.taken_until_us = end_us;
                Some(lane.uuid)
            }
            None => room.then(|| {
                let uuid = new();
                self.lanes.push(Lane { uuid, taken_until_us: end_us });
                uuid
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane of each slice; `None` if there is no room.
    fn lanes(slices: &[(i64, i64)]) -> Vec<Option<u64>> {
        let mut lanes = Lanes::default();
        let mut next = 0;
        let mut place = |&(start, end): &(i64, i64)| {
            lanes.place(start, end, || {
                next += 1;
                next
            })
        };
        slices.iter().map(&mut place).collect()
    }

    #[test]
    fn neighbours_share_a_lane() {
        assert_eq!(lanes(&[(0, 10), (10, 20), (20, 20), (20, 30)]), [Some(1); 4]);
    }

    #[test]
    fn what_overlaps_does_not() {
        assert_eq!(lanes(&[(0, 10), (5, 12), (9, 13)]), [Some(1), Some(2), Some(3)]);
        // A slice that comes late goes where there is room, not between others.
        assert_eq!(lanes(&[(10, 20), (0, 5)]), [Some(1), Some(2)]);
    }

    #[test]
    fn the_shortest_gap_is_filled() {
        assert_eq!(lanes(&[(0, 10), (5, 18), (20, 30)]), [Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn there_is_an_end_to_it() {
        let slices: Vec<(i64, i64)> = (0..600).map(|n| (0, n + 1)).collect();
        assert_eq!(lanes(&slices).iter().flatten().count(), MAX_LANES);
    }
}
