//! Rates of the totals, over the time of the log that they came from: segments are decoded whenever they come, in lumps.

use lioprof_model::units::real;

use crate::status::{Rates, Status, Totals};

/// Less of the log says little of a rate.
const SHORTEST_US: i64 = 2_000_000;
/// If no log comes for so long, nothing happens.
const STALE_US: i64 = 30_000_000;

/// The totals when the rates were last worked out.
#[derive(Debug)]
struct Basis {
    /// Time of the last record that was decoded.
    decoded_us: i64,
    /// When that was.
    at_us: i64,
    totals: Totals,
}

/// Works out rates.
#[derive(Debug, Default)]
pub(super) struct RateMeter {
    basis: Option<Basis>,
    rates: Rates,
}

impl RateMeter {
    /// The rates now that the log is decoded up to this time.
    pub(super) fn measure(&mut self, status: &Status, decoded_us: Option<i64>) -> Rates {
        let Some(decoded_us) = decoded_us else { return Rates::default() };
        let now = Basis { decoded_us, at_us: status.now_us, totals: status.totals };
        let Some(basis) = &self.basis else {
            self.basis = Some(now);
            return Rates::default();
        };
        let passed_us = decoded_us - basis.decoded_us;
        if passed_us >= SHORTEST_US {
            self.rates = rates(&basis.totals, &now.totals, real(u64::try_from(passed_us).unwrap_or(1)) / 1e6);
            self.basis = Some(now);
        } else if now.at_us - basis.at_us >= STALE_US || passed_us < 0 {
            // Nothing was logged, or the clock was set back.
            self.rates = Rates::default();
            self.basis = Some(now);
        }
        self.rates
    }
}

fn rates(before: &Totals, now: &Totals, passed_s: f64) -> Rates {
    let per_s = |now: u64, before: u64| real(now.saturating_sub(before)) / passed_s;
    Rates {
        records_per_s: per_s(now.records, before.records),
        rpcs_per_s: per_s(now.rpcs, before.rpcs),
        sent_rpcs_per_s: per_s(now.sent_rpcs, before.sent_rpcs),
        read_bytes_per_s: per_s(now.read_bytes, before.read_bytes),
        write_bytes_per_s: per_s(now.write_bytes, before.write_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 500 RPC/s, looked at each second, decoded in lumps of eight seconds.
    #[test]
    fn lumps_are_no_bursts() {
        let mut meter = RateMeter::default();
        let seen: Vec<f64> = (0..40)
            .map(|second| {
                let decoded_s = second / 8 * 8;
                let mut status = Status { now_us: second * 1_000_000, ..Status::default() };
                status.totals.rpcs = u64::try_from(decoded_s).unwrap() * 500;
                meter.measure(&status, (decoded_s > 0).then_some(decoded_s * 1_000_000)).rpcs_per_s
            })
            .collect();
        assert!(seen[..16].iter().all(|rate| *rate == 0.0), "{seen:?}");
        assert!(seen[16..].iter().all(|rate| *rate == 500.0), "{seen:?}");
    }

    #[test]
    fn without_a_log_nothing_happens() {
        let mut meter = RateMeter::default();
        let mut status = Status::default();
        for (now_s, decoded_s, rpcs, rate) in
            [(0, 1, 0, 0.0), (3, 4, 300, 100.0), (10, 4, 300, 100.0), (34, 4, 300, 0.0)]
        {
            status.now_us = now_s * 1_000_000;
            status.totals.rpcs = rpcs;
            assert_eq!(meter.measure(&status, Some(decoded_s * 1_000_000)).rpcs_per_s, rate, "at {now_s} s");
        }
    }
}
