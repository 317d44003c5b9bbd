//! An operation's time, cut into parts by those who claim stretches of it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lioprof_model::{Part, Parts};

/// Who claims a stretch: the strongest gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// An RPC for the same file is in flight.
    OtherRpc,
    /// An RPC is in flight that may belong to the operation, or one of its lines is missing.
    Doubt,
    /// The operation waits for a lock that it has asked for.
    Lock,
    /// A request of the operation waits to be sent.
    Queue,
    /// An RPC of the operation is in flight: of several, the one that is answered last.
    Rpc {
        /// When it is answered.
        answered_us: i64,
        /// A wait within the server's work.
        is_wait: bool,
    },
}

/// A stretch of time, and what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) strength: Strength,
    pub(super) from_us: i64,
    pub(super) to_us: i64,
    pub(super) part: Part,
}

impl Ord for Claim {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |claim: &Self| (claim.strength, claim.part, claim.from_us, claim.to_us);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Claim {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Cuts the time from `begin_us` to `end_us`; what nobody claims is the client's own work. The parts add up to the whole.
pub(super) fn parts(begin_us: i64, end_us: i64, mut claims: Vec<Claim>) -> Parts {
    for claim in &mut claims {
        claim.from_us = claim.from_us.max(begin_us);
        claim.to_us = claim.to_us.min(end_us);
    }
    claims.retain(|claim| claim.from_us < claim.to_us);
    claims.sort_unstable_by_key(|claim| claim.from_us);
    let mut cuts: Vec<i64> = claims.iter().flat_map(|claim| [claim.from_us, claim.to_us]).collect();
    cuts.extend([begin_us, end_us]);
    cuts.sort_unstable();
    cuts.dedup();
    let mut waiting = claims.into_iter().peekable();
    let mut active: BinaryHeap<Claim> = BinaryHeap::new();
    let mut sum = Sum::default();
    for pair in cuts.windows(2) {
        let &[from_us, to_us] = pair else { continue };
        while let Some(claim) = waiting.next_if(|claim| claim.from_us <= from_us) {
            active.push(claim);
        }
        while active.peek().is_some_and(|claim| claim.to_us <= from_us) {
            active.pop();
        }
        sum.add(active.peek(), u64::try_from(to_us - from_us).unwrap_or(0));
    }
    sum.finish()
}

/// Adds up stretches in their order.
///
/// A doubt says that something was under way at a time, not when it began and ended: it takes along the time around it that nothing else
/// claims.
#[derive(Default)]
struct Sum {
    parts: Parts,
    /// Time that nothing claims, or only a doubt, since the last other claim.
    open_us: u64,
    is_doubtful: bool,
}

impl Sum {
    fn add(&mut self, claim: Option<&Claim>, us: u64) {
        match claim {
            None => self.open_us += us,
            Some(claim) if claim.strength == Strength::Doubt => {
                self.open_us += us;
                self.is_doubtful = true;
            }
            Some(claim) => {
                self.close();
                self.parts.add(claim.part, us);
            }
        }
    }

    fn close(&mut self) {
        let part = if std::mem::take(&mut self.is_doubtful) { Part::Unknown } else { Part::ClientWork };
        self.parts.add(part, std::mem::take(&mut self.open_us));
    }

    fn finish(mut self) -> Parts {
        self.close();
        self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rpc(answered_us: i64, from_us: i64, to_us: i64, part: Part) -> Claim {
        Claim { strength: Strength::Rpc { answered_us, is_wait: false }, from_us, to_us, part }
    }

    #[test]
    fn the_rpc_that_is_answered_last_counts() {
        let claims = vec![
            rpc(50, 10, 50, Part::ServerWork),
            rpc(80, 20, 80, Part::Disk),
            Claim { strength: Strength::Doubt, from_us: 0, to_us: 90, part: Part::Unknown },
        ];
        let parts = parts(5, 100, claims);
        let found = [Part::Unknown, Part::ServerWork, Part::Disk, Part::ClientWork].map(|part| parts.get(part));
        // The last 10 us may belong to what is in doubt.
        assert_eq!(found, [5 + 10 + 10, 10, 60, 0]);
    }

    proptest! {
        #[test]
        fn parts_add_up(
            begin_us in -50i64..50,
            length_us in 0i64..200,
            claims in proptest::collection::vec((0u8..4, -100i64..200, -100i64..200, 0usize..10), 0..30),
        ) {
            let claim = |(strength, from_us, to_us, part): (u8, i64, i64, usize)| Claim {
                strength: match strength {
                    0 => Strength::Doubt,
                    1 => Strength::Lock,
                    2 => Strength::Queue,
                    _ => Strength::Rpc { answered_us: to_us, is_wait: false },
                },
                from_us,
                to_us,
                part: Part::ALL[part],
            };
            let parts = parts(begin_us, begin_us + length_us, claims.into_iter().map(claim).collect());
            prop_assert_eq!(parts.sum(), u64::try_from(length_us).unwrap());
        }
    }
}
