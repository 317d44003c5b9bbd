//! An operation's time, cut into parts by those who claim stretches of it.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lioprof_model::{Part, Stretch};

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

/// Cuts the time from `begin_us` to `end_us`; what nobody claims is the client's own work. The stretches cover it without gaps.
pub(super) fn cut(begin_us: i64, end_us: i64, mut claims: Vec<Claim>) -> Vec<Stretch> {
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
    let mut account = Account { stretches: Vec::new(), at_us: begin_us, open: None };
    for pair in cuts.windows(2) {
        let &[from_us, to_us] = pair else { continue };
        while let Some(claim) = waiting.next_if(|claim| claim.from_us <= from_us) {
            active.push(claim);
        }
        while active.peek().is_some_and(|claim| claim.to_us <= from_us) {
            active.pop();
        }
        account.add(active.peek(), to_us);
    }
    account.close();
    account.stretches
}

/// Puts stretches together in their order.
///
/// A doubt says that something was under way at a time, not when it began and ended: it takes along the time around it that nothing else
/// claims.
struct Account {
    stretches: Vec<Stretch>,
    /// Where they end.
    at_us: i64,
    /// What nothing claims, or only a doubt, since then: what it is so far, and its end.
    open: Option<(Part, i64)>,
}

impl Account {
    /// The time up to `to_us` goes to the claim.
    fn add(&mut self, claim: Option<&Claim>, to_us: i64) {
        match claim {
            Some(claim) if claim.strength != Strength::Doubt => {
                self.close();
                self.push(claim.part, to_us);
            }
            claim => {
                let was_doubtful = self.open.is_some_and(|(part, _)| part == Part::Unknown);
                let part = if claim.is_some() || was_doubtful { Part::Unknown } else { Part::ClientWork };
                self.open = Some((part, to_us));
            }
        }
    }

    fn close(&mut self) {
        if let Some((part, to_us)) = self.open.take() {
            self.push(part, to_us);
        }
    }

    fn push(&mut self, part: Part, to_us: i64) {
        match self.stretches.last_mut() {
            Some(last) if last.part == part => last.to_us = to_us,
            _ => self.stretches.push(Stretch { part, from_us: self.at_us, to_us }),
        }
        self.at_us = to_us;
    }
}

#[cfg(test)]
mod tests {
    use lioprof_model::Parts;
    use proptest::prelude::*;

    use super::*;

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
        let parts: Parts = cut(5, 100, claims).into_iter().collect();
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
            let stretches = cut(begin_us, begin_us + length_us, claims.into_iter().map(claim).collect());
            let mut at_us = begin_us;
            for stretch in &stretches {
                prop_assert!(stretch.from_us == at_us && stretch.from_us < stretch.to_us, "{:?}", stretches);
                at_us = stretch.to_us;
            }
            let parts: Parts = stretches.into_iter().collect();
            prop_assert_eq!(parts.sum(), u64::try_from(length_us).unwrap());
        }
    }
}
