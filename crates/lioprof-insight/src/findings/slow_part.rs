//! Whose part of the service time is longer than its peers': what tells a slow disk from a slow link.

use lioprof_model::{AgainstPeers, Direction, Part, Parts};

use super::case::Case;
use super::draft::Draft;
use super::limits::{Limit, limit};
use super::stats::{real, share};

/// Thresholds of the rules that compare parts.
pub(super) const PART_RATIO: Limit = limit(
    "part_ratio",
    2.5,
    "mean time of a part of the service over that of its peers for the same mix of requests, at least",
);
pub(super) const LONGER_SHARE: Limit =
    limit("longer_share", 0.9, "share of all pairs with a peer's request in which the own one took longer, at least");
pub(super) const PART_SHARE: Limit = limit(
    "part_share",
    0.25,
    "what the part takes longer than its peers', as a share of the whole service time, at least",
);
pub(super) const CHANCE: Limit =
    limit("chance", 0.01, "probability that chance alone makes any of those compared look like this, at most");

/// One of the three parts of service time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Before,
    Transfer,
    After,
}

/// A part that takes longer than it should.
pub(super) struct SlowPart<'a> {
    pub(super) parts: &'a Parts,
    pub(super) which: Which,
    pub(super) against: AgainstPeers,
    /// Own mean over the peers'.
    pub(super) ratio: f64,
    /// Seconds that it took longer than with the peers' mean, over all requests.
    pub(super) longer_s: f64,
}

/// The part that takes longest beyond its peers', if that is beyond doubt. `compared`: how many are looked at.
pub(super) fn slow_part<'a>(case: &Case<'_>, parts: &'a Parts, compared: usize) -> Option<SlowPart<'a>> {
    let service_us: f64 = parts.in_order().iter().filter_map(|(_, part)| part.us.mean).sum();
    let parts_in_order =
        [(Which::Before, &parts.before), (Which::Transfer, &parts.transfer), (Which::After, &parts.after)];
    let slow = parts_in_order.into_iter().filter_map(|(which, part)| {
        let against = part.against_peers?;
        let ratio = against.ratio?;
        let longer_us = part.us.mean? - against.peers_mean_us;
        let is_slow = ratio >= case.limit(PART_RATIO.name)
            && against.longer_share >= case.limit(LONGER_SHARE.name)
            && share(longer_us, service_us) >= case.limit(PART_SHARE.name)
            && by_chance(&against) * real(3 * compared as u64) <= case.limit(CHANCE.name);
        is_slow.then(|| SlowPart { parts, which, against, ratio, longer_s: longer_us * real(against.rpcs) / 1e6 })
    });
    slow.max_by(|a, b| a.longer_s.total_cmp(&b.longer_s))
}

/// A bound of the probability that a standard normal variable is this large or larger.
fn by_chance(against: &AgainstPeers) -> f64 {
    if against.z > 0.0 { 0.5 * (-against.z * against.z / 2.0).exp() } else { 1.0 }
}

impl SlowPart<'_> {
    /// What happens in the part.
    pub(super) fn what(&self) -> &'static str {
        match (self.which, self.parts.direction) {
            (Which::Transfer, _) => "moving the data",
            (Which::Before, Direction::Read) => "reading from disk",
            (Which::Before, Direction::Write) => "preparing writes",
            (Which::After, Direction::Read) => "the work after sending the data",
            (Which::After, Direction::Write) => "writing to disk",
        }
    }

    /// Figures that a finding rests on.
    pub(super) fn evidence(&self, draft: Draft) -> Draft {
        let ms = |part: &Part| part.us.mean.map(|us| us / 1000.0);
        let peers_ms = |part: &Part| part.against_peers.map(|against| against.peers_mean_us / 1000.0);
        let Parts { before, transfer, after, .. } = self.parts;
        draft
            .evidence("part_ratio", self.ratio)
            .evidence("longer_share", self.against.longer_share)
            .evidence("longer_z", self.against.z)
            .evidence("rpcs_compared", real(self.against.rpcs))
            .evidence("peers_rpcs_compared", real(self.against.peer_rpcs))
            .evidence("before_ms", ms(before))
            .evidence("transfer_ms", ms(transfer))
            .evidence("after_ms", ms(after))
            .evidence("peers_before_ms", peers_ms(before))
            .evidence("peers_transfer_ms", peers_ms(transfer))
            .evidence("peers_after_ms", peers_ms(after))
    }

    /// The parts in words, the peers' in brackets where they are known.
    pub(super) fn in_words(&self) -> String {
        let ms = |part: &Part| part.us.mean.unwrap_or(0.0) / 1000.0;
        let words = self.parts.in_order().map(|(name, part)| match part.against_peers {
            Some(against) => format!("{:.1} ms {name} ({:.1})", ms(part), against.peers_mean_us / 1000.0),
            None => format!("{:.1} ms {name}", ms(part)),
        });
        format!("{}, {} and {}", words[0], words[1], words[2])
    }
}

/// Reads or writes.
pub(super) fn requests(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
    }
}
