//! Whether anybody's requests take longer than their like: the question that needs no parts of service times.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Direction, SampledRpc};

use super::stats::share;

/// Requests that should take equally long if whose they are makes no difference: the other side, direction, size within a factor of two.
type Like = (Option<u32>, Direction, u32);

/// The service time of the client whose requests take longest against those of others on the same OST; `None` without any to compare.
pub(super) fn longest_of_clients(analysis: &Analysis) -> Option<f64> {
    longest(analysis, |rpc| Some(rpc.client), |rpc| rpc.target)
}

/// The same of the OST whose requests take longest against those of the same client on others.
pub(super) fn longest_of_osts(analysis: &Analysis) -> Option<f64> {
    longest(analysis, |rpc| rpc.target, |rpc| Some(rpc.client))
}

fn longest(
    analysis: &Analysis,
    whose: fn(&SampledRpc) -> Option<u32>,
    other_side: fn(&SampledRpc) -> Option<u32>,
) -> Option<f64> {
    let mut sums: BTreeMap<Like, BTreeMap<u32, (f64, f64)>> = BTreeMap::new();
    for rpc in &analysis.sample.rpcs {
        let (Some(whose), Some(octave)) = (whose(rpc), rpc.bytes.and_then(u64::checked_ilog2)) else { continue };
        let like = sums.entry((other_side(rpc), rpc.direction, octave)).or_default();
        let (count, service_s) = like.entry(whose).or_default();
        *count += 1.0;
        *service_s += rpc.end - rpc.start;
    }
    // By whose they are: how long requests took, and how long as many of others would have.
    let mut times: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for like in sums.into_values().filter(|like| like.len() > 1) {
        let (all, all_s) = like.values().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        for (whose, (count, service_s)) in like {
            let (own_s, others_s) = times.entry(whose).or_default();
            *own_s += service_s;
            *others_s += count * (all_s - service_s) / (all - count);
        }
    }
    times.into_values().map(|(own_s, others_s)| share(own_s, others_s)).max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_like_is_compared() {
        let rpc = |client, target, bytes, service_s: f64| SampledRpc {
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
        };
        let mut analysis = Analysis::default();
        // The second client's requests take three times as long; those of the third one are larger.
        analysis.sample.rpcs =
            vec![rpc(1, 0, 4096, 1.0), rpc(1, 1, 4096, 1.0), rpc(2, 0, 4096, 3.0), rpc(3, 0, 1 << 20, 50.0)];
        assert_eq!(longest_of_clients(&analysis), Some(3.0));
        assert_eq!(longest_of_osts(&analysis), Some(1.0));
        assert_eq!(longest_of_osts(&Analysis::default()), None);
    }
}
