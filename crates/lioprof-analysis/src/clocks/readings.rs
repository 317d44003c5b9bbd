//! Clocks that were read from outside while the logs were written, for nodes that exchange no RPCs.

use std::collections::BTreeMap;

use lioprof_model::ClockReading;
use lioprof_model::parts::clock_line::whole;
use lioprof_model::units::seconds;

use super::estimate::{Bounds, Estimate, MAX_DRIFT_PPM, estimate};
use super::pairs::NodeLog;

/// Compares nodes' clocks with that of one of them, the reference if it was read: those of which RPCs do not tell.
pub(super) fn add(
    logs: &[NodeLog<'_>],
    reference: Option<usize>,
    contradictory: &[(usize, usize)],
    links: &mut BTreeMap<(usize, usize), Estimate>,
) {
    let was_read = |&node: &usize| !logs[node].readings.is_empty();
    let servers = (0..logs.len()).filter(|&node| !logs[node].is_client);
    let Some(first) = reference.into_iter().chain(servers).find(was_read) else { return };
    for other in (0..logs.len()).filter(|&node| node != first).filter(was_read) {
        let (a, b) = (first.min(other), first.max(other));
        let Some(span_us) = logs[a].span_us else { continue };
        // A clock that was set fits no line, whoever read it.
        if links.contains_key(&(a, b)) || contradictory.contains(&(a, b)) {
            continue;
        }
        let bounds = bounds(logs[a].readings, logs[b].readings);
        if let Some(estimate) = estimate(&bounds, span_us) {
            links.insert((a, b), estimate);
        }
    }
}

/// Bounds on the second clock relative to the first one.
fn bounds(first: &[ClockReading], second: &[ClockReading]) -> Bounds {
    let mut bounds = Bounds::default();
    for a in first {
        let apart_us = |b: &&ClockReading| (b.read_us() - a.read_us()).abs();
        let Some(b) = second.iter().min_by_key(apart_us) else { continue };
        // They were not read at the same time, and both may run unevenly.
        let drifted_us = whole(2.0 * MAX_DRIFT_PPM * seconds(apart_us(&b)));
        bounds.within(a.at_us, b.ahead_us - a.ahead_us, a.error_us + b.error_us + drifted_us);
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::super::network::clocks;
    use super::super::sample::ExchangeSample;
    use super::super::worth_aligning;
    use super::*;

    const START_US: i64 = 1_795_250_000_000_000;
    const RUN_US: i64 = 600_000_000;

    fn reading(at_us: i64, ahead_us: i64) -> ClockReading {
        ClockReading { at_us, ahead_us, error_us: 2_000 }
    }

    /// Nodes whose clocks were read at these times of a run of ten minutes, with how far they were ahead.
    fn logs(readings: &[Vec<ClockReading>]) -> Vec<NodeLog<'_>> {
        let span_us = Some((START_US, START_US + RUN_US));
        let exchanges = ExchangeSample::default;
        readings
            .iter()
            .map(|readings| NodeLog { exchanges: exchanges(), is_client: false, span_us, readings })
            .collect()
    }

    #[test]
    fn nodes_without_rpcs_are_compared_by_readings() {
        let ends = |ahead_us: [i64; 2]| vec![reading(START_US, ahead_us[0]), reading(START_US + RUN_US, ahead_us[1])];
        // The second one is two seconds ahead of the first one, and runs faster; nobody read the third one.
        let readings = [ends([-500_000, -500_000]), ends([1_500_000, 1_506_000]), Vec::new()];
        let found = clocks(logs(&readings));
        let second = found.nodes[1].unwrap();
        assert_eq!((second.reference, second.pairs), (0, 0));
        assert!((second.offset_us() - 2_003_000.0).abs() < 100.0, "{second:?}");
        assert!((second.to_reference.back().drift - 10e-6).abs() < 1e-6, "{second:?}");
        // Both readings' errors, and what clocks may drift in the two seconds between them.
        assert!((4_000.0..8_000.0).contains(&second.error_us), "{second:?}");
        assert!(worth_aligning(&second, 1_000_000));
        assert!(found.nodes[2].is_none());
    }

    #[test]
    fn a_single_reading_says_less_and_less() {
        let readings = [vec![reading(START_US, 0)], vec![reading(START_US, 100_000)]];
        let second = clocks(logs(&readings)).nodes[1].unwrap();
        // After ten minutes the clocks may have drifted apart by 0.3 s.
        assert!((300_000.0..310_000.0).contains(&second.error_us), "{second:?}");
        assert!(!worth_aligning(&second, 1_000_000), "they may well agree");
    }
}
