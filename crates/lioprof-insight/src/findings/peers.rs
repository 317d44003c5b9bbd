//! Whose requests take longer than their like: the comparison that needs no parts of service times, from single requests.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Direction, SampledRpc};
use lioprof_stats::{AgainstPeers, RankSum, Stratum, stand_out};

use super::stats::{real, share};

/// Requests that should take equally long if whose they are makes no difference: the other side, direction, nearest power of two of the size.
type Like = (Option<u32>, Direction, u32);

/// The service times of one against those of its peers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Against {
    /// Own requests that have peers.
    pub(super) rpcs: u64,
    /// Own mean over the peers', for the same mix of requests.
    pub(super) ratio: f64,
    /// Probability that chance makes it look this slow, adjusted for how many are compared.
    pub(super) chance: f64,
}

/// Clients, by their index in the analysis, against other clients on the same targets.
pub(super) fn clients(analysis: &Analysis) -> BTreeMap<u32, Against> {
    compared(analysis, |rpc| Some(rpc.client), |rpc| rpc.target)
}

/// Targets, by their index in the analysis, against others that the same clients use.
pub(super) fn targets(analysis: &Analysis) -> BTreeMap<u32, Against> {
    compared(analysis, |rpc| rpc.target, |rpc| Some(rpc.client))
}

/// Servers, by name, against others whose OSTs the same clients use.
pub(super) fn servers(analysis: &Analysis) -> BTreeMap<&str, Against> {
    let mut nodes: Vec<&str> = analysis.targets.iter().map(|target| target.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |node: &str| nodes.binary_search(&node).ok().and_then(|place| u32::try_from(place).ok());
    let of_targets: Vec<Option<u32>> = analysis.targets.iter().map(|target| place(&target.node)).collect();
    let server = |rpc: &SampledRpc| of_targets.get(rpc.target? as usize).copied().flatten();
    let compared = compared(analysis, server, |rpc| Some(rpc.client));
    compared.into_iter().filter_map(|(place, against)| Some((*nodes.get(place as usize)?, against))).collect()
}

#[derive(Default)]
struct Sum {
    ranks: RankSum,
    own_s: f64,
    peers_s: f64,
}

fn compared(
    analysis: &Analysis,
    whose: impl Fn(&SampledRpc) -> Option<u32>,
    other_side: impl Fn(&SampledRpc) -> Option<u32>,
) -> BTreeMap<u32, Against> {
    let mut strata: BTreeMap<Like, Vec<Time>> = BTreeMap::new();
    for rpc in &analysis.sample.rpcs {
        let (Some(whose), Some(octave)) = (whose(rpc), rpc.bytes.and_then(octave)) else { continue };
        let service_s = rpc.end - rpc.start;
        let time = Time { us: microseconds(service_s), service_s, whose };
        strata.entry((other_side(rpc), rpc.direction, octave)).or_default().push(time);
    }
    let mut sums: BTreeMap<u32, Sum> = BTreeMap::new();
    strata.into_values().for_each(|times| add(&mut sums, times));
    let ratio = |sum: &Sum| share(sum.own_s, sum.peers_s);
    let group = sums.values().map(|sum| AgainstPeers { ratio: ratio(sum), chance: sum.ranks.chance() }).collect();
    let chances = stand_out(&[group]).concat();
    let all = sums.iter().zip(chances);
    all.map(|((&whose, sum), chance)| (whose, Against { rpcs: sum.ranks.own(), ratio: ratio(sum), chance })).collect()
}

/// Service time of a request.
#[derive(Clone, Copy)]
struct Time {
    us: u64,
    service_s: f64,
    whose: u32,
}

/// Adds the times of a stratum.
fn add(sums: &mut BTreeMap<u32, Sum>, mut times: Vec<Time>) {
    times.sort_by(|a, b| a.us.cmp(&b.us).then(a.service_s.total_cmp(&b.service_s)));
    let stratum: Stratum = times.iter().map(|time| (time.us, 1)).collect();
    let mut everyone: BTreeMap<u32, (Vec<(u64, u64)>, f64)> = BTreeMap::new();
    for time in &times {
        let (own, own_s) = everyone.entry(time.whose).or_default();
        match own.last_mut().filter(|last| last.0 == time.us) {
            Some(last) => last.1 += 1,
            None => own.push((time.us, 1)),
        }
        *own_s += time.service_s;
    }
    let all_s: f64 = everyone.values().map(|own| own.1).sum();
    for (whose, (own, own_s)) in everyone {
        let count: u64 = own.iter().map(|own| own.1).sum();
        if count < stratum.count() {
            let sum = sums.entry(whose).or_default();
            sum.ranks.add(&stratum, &own);
            sum.own_s += own_s;
            sum.peers_s += real(count) * (all_s - own_s) / real(stratum.count() - count);
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are not negative, and far below 2^53 us"
)]
fn microseconds(time_s: f64) -> u64 {
    (time_s * 1e6).round().max(0.0) as u64
}

/// The power of two that a size is nearest to: requests that are just not full are like full ones.
fn octave(bytes: u64) -> Option<u32> {
    let below = bytes.checked_ilog2()?;
    // More than the square root of two above it.
    let nearer_above = u128::from(bytes) * u128::from(bytes) > 2 << (2 * below);
    Some(below + u32::from(nearer_above))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rpc(client: u32, target: u32, bytes: u64, service_s: f64) -> SampledRpc {
        SampledRpc {
            client,
            target: Some(target),
            direction: Direction::Write,
            bytes: Some(bytes),
            arrival: 0.0,
            start: 0.0,
            end: service_s,
            object: None,
            offset: None,
            last: None,
            job: None,
            before_us: None,
            transfer_us: None,
        }
    }

    #[test]
    fn only_like_is_compared() {
        let mut analysis = Analysis::default();
        // The second client's requests take three times as long; those of the third one are larger.
        analysis.sample.rpcs =
            vec![rpc(1, 0, 4096, 1.0), rpc(1, 1, 4096, 1.0), rpc(2, 0, 4096, 3.0), rpc(3, 0, 1 << 20, 50.0)];
        let clients = clients(&analysis);
        assert_eq!(clients.keys().copied().collect::<Vec<_>>(), [1, 2]);
        assert_eq!((clients[&2].ratio, clients[&2].rpcs), (3.0, 1));
        // One against one proves nothing.
        assert!(clients[&2].chance > 0.2, "{clients:?}");
        assert_eq!(targets(&analysis)[&1].ratio, 1.0);
        assert_eq!(targets(&Analysis::default()), BTreeMap::new());
    }

    #[test]
    fn two_that_are_far_off_are_enough() {
        let mut analysis = Analysis::default();
        // Two requests of 9 s where fifty others take 0.6 s.
        let others = (0..50).map(|n| rpc(n % 2, 1 + n % 3, 4 << 20, 0.6 + f64::from(n % 7) / 50.0));
        analysis.sample.rpcs = others.chain([rpc(0, 0, 4 << 20, 9.0), rpc(1, 0, 4 << 20, 9.2)]).collect();
        let targets = targets(&analysis);
        assert!(targets[&0].chance < 0.01 && targets[&0].ratio > 10.0, "{targets:?}");
        assert!((1..4).all(|target| targets[&target].chance > 0.5), "{targets:?}");
    }

    #[test]
    fn requests_that_are_just_not_full_are_like_full_ones() {
        let sizes = [1, 2, 3, 4096, 5792, 5793, 4_169_728, 4_194_304, 5_900_000];
        assert_eq!(sizes.map(octave), [0, 1, 2, 12, 12, 13, 22, 22, 22].map(Some));
        assert_eq!(octave(0), None);
    }

    #[test]
    fn equal_times_count_half() {
        let mut sums = BTreeMap::new();
        let time = |(service_s, whose)| Time { us: microseconds(service_s), service_s, whose };
        add(&mut sums, [(1.0, 0), (2.0, 0), (2.0, 1), (2.0, 1), (3.0, 1)].map(time).to_vec());
        // Of 0's pairs with 1: none longer, two equal.
        assert!((sums[&0].ranks.longer_share() - 1.0 / 6.0).abs() < 1e-12);
        assert!((sums[&1].ranks.longer_share() - 5.0 / 6.0).abs() < 1e-12);
    }
}
