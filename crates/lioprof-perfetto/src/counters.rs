//! Bandwidth and requests in flight, per target.
//!
//! Sums per time bin, written when the file or the node ends. Rows need not come in order, and however long the log is, a
//! series has so many bins: they become wider.

use std::collections::BTreeMap;

use lioprof_model::Direction;
use lioprof_model::units::real;

use crate::packets::{TraceFile, Unit, ns};

/// Narrowest bins.
const MIN_BIN_US: i64 = 10_000;
/// Most bins of a series, below which it has at least half as many if it is busy all the time.
const MAX_BINS: usize = 8192;

/// What happened in a bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    read_bytes: u64,
    write_bytes: u64,
    /// Microseconds that requests spent in it, added up.
    in_flight_us: u64,
}

/// The series of a target.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    bin_us: i64,
    bins: BTreeMap<i64, Bin>,
}

impl Default for Series {
    fn default() -> Self {
        Self { bin_us: MIN_BIN_US, bins: BTreeMap::new() }
    }
}

impl Series {
    /// Bytes count when their RPC ended, as in the analysis.
    pub(crate) fn bytes(&mut self, end_us: i64, direction: Direction, bytes: u64) {
        let bin = self.bins.entry(end_us.div_euclid(self.bin_us)).or_default();
        *direction.pick(&mut bin.read_bytes, &mut bin.write_bytes) += bytes;
        self.widen();
    }

    /// A request was on the server.
    pub(crate) fn in_flight(&mut self, arrival_us: i64, end_us: i64) {
        // One that was stuck for an hour must not make a hundred thousand bins first.
        while end_us.saturating_sub(arrival_us) / self.bin_us >= 1024 {
            self.double();
        }
        let mut from_us = arrival_us;
        while from_us < end_us {
            let number = from_us.div_euclid(self.bin_us);
            let to_us = ((number + 1) * self.bin_us).min(end_us);
            self.bins.entry(number).or_default().in_flight_us += to_us.abs_diff(from_us);
            from_us = to_us;
        }
        self.widen();
    }

    fn widen(&mut self) {
        while self.bins.len() > MAX_BINS {
            self.double();
        }
    }

    fn double(&mut self) {
        self.bin_us *= 2;
        for (number, bin) in std::mem::take(&mut self.bins) {
            let sum = self.bins.entry(number.div_euclid(2)).or_default();
            sum.read_bytes += bin.read_bytes;
            sum.write_bytes += bin.write_bytes;
            sum.in_flight_us += bin.in_flight_us;
        }
    }

    /// Writes the series and forgets it; each figure gets a track.
    pub(crate) fn write(
        &mut self,
        file: &mut TraceFile,
        mut track: impl FnMut(&mut TraceFile, &str, i32, Unit) -> u64,
    ) {
        let series = std::mem::take(self);
        let bin_us = real(series.bin_us.unsigned_abs());
        let rate = |bytes: u64| real(bytes) / (bin_us / 1e6);
        let tracks = [
            track(file, "read", 0, Unit::BytesPerSecond),
            track(file, "write", 1, Unit::BytesPerSecond),
            track(file, "in flight", 2, Unit::Rpcs),
        ];
        series.write_one(tracks[0], file, |bin| rate(bin.read_bytes));
        series.write_one(tracks[1], file, |bin| rate(bin.write_bytes));
        series.write_one(tracks[2], file, |bin| real(bin.in_flight_us) / bin_us);
    }

    /// Each bin has one value at its start; behind the last of several there is a 0.
    fn write_one(&self, track: u64, file: &mut TraceFile, value: impl Fn(&Bin) -> f64) {
        let start_ns = |number: i64| number.checked_mul(self.bin_us).and_then(|us| ns(us.max(0)));
        let mut end = None;
        for (&number, bin) in &self.bins {
            if let Some(end) = end.filter(|end| *end != number).and_then(start_ns) {
                file.counter(track, end, 0.0);
            }
            if let Some(start) = start_ns(number) {
                file.counter(track, start, value(bin));
            }
            end = Some(number + 1);
        }
        if let Some(end) = end.and_then(start_ns) {
            file.counter(track, end, 0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_survive_widening() {
        let mut series = Series::default();
        for n in 0..50_000_i64 {
            series.bytes(n * 10_000, Direction::Write, 3);
            series.in_flight(n * 10_000 - 4_000, n * 10_000);
        }
        assert!(series.bins.len() <= MAX_BINS, "{}", series.bins.len());
        assert_eq!(series.bins.values().map(|bin| bin.write_bytes).sum::<u64>(), 150_000);
        assert_eq!(series.bins.values().map(|bin| bin.in_flight_us).sum::<u64>(), 200_000_000);
    }

    #[test]
    fn a_request_is_in_each_bin_for_its_share() {
        let mut series = Series::default();
        series.in_flight(5_000, 25_000);
        let shares: Vec<(i64, u64)> = series.bins.iter().map(|(&number, bin)| (number, bin.in_flight_us)).collect();
        assert_eq!(shares, [(0, 5_000), (1, 10_000), (2, 5_000)]);
    }

    #[test]
    fn a_request_that_was_stuck_costs_few_bins() {
        let mut series = Series::default();
        series.in_flight(0, 86_400_000_000);
        assert!(series.bins.len() <= 1024, "{}", series.bins.len());
        assert_eq!(series.bins.values().map(|bin| bin.in_flight_us).sum::<u64>(), 86_400_000_000);
    }
}
