//! The clock of a kernel log: when its lines were logged.

use lioprof_model::LoggedEvent;
use lioprof_model::time::year;
use lioprof_trace::{HostLog, as_if_utc_until};
use lustre_debuglog::kernel_log::Stamp;
use rustc_hash::FxHashMap;

/// Zones differ from UTC by a multiple of this.
const ZONE_STEP_US: i64 = 15 * 60 * 1_000_000;
/// A syslog tells whole seconds, and its daemon may be late.
const SYSLOG_ERROR_US: i64 = 3_000_000;
/// Further from the others than this, plus a part of the distance, two lines of the same text are not the same line.
const STRAY_US: i64 = 60_000_000;

/// What is known besides the log itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    /// A time of debug logs: the year is that in which lines are nearest to it.
    pub(super) captured_us: Option<i64>,
    /// When the log was last changed, or now: no line is younger.
    pub(super) latest_us: i64,
    /// When the node was booted, microseconds since the epoch.
    pub(super) boot_us: Option<i64>,
    /// Offset from UTC of stamps without zone, microseconds.
    pub(super) zone_us: Option<i64>,
}

/// How the times of a log are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClockFrom {
    /// By so many lines that are in the debug log, too.
    BothLogs(usize),
    /// The stamps say it themselves.
    Stamps,
    /// The user said when the node was booted, or in which zone its stamps are.
    User,
    /// Only the order is known.
    Nothing,
}

/// The clock of a kernel log.
#[derive(Debug)]
pub(super) struct Clock {
    known: Known,
    /// What a stamp of each kind needs to be a moment.
    offsets: Option<Offsets>,
    pub(super) from: ClockFrom,
}

#[derive(Debug)]
enum Offsets {
    /// The same for all stamps.
    One(i64),
    /// Stamps and their moments, in order: between them it changes evenly.
    Between(Vec<(i64, i64)>),
}

impl Clock {
    /// The clock of `log`, whose lines stand partly in a debug log, too: `debug_log` has keys of texts and times.
    pub(super) fn of(log: &HostLog, debug_log: impl Iterator<Item = (u64, i64)>, known: Known) -> Self {
        let stamps = log.events.iter().filter_map(|event| Some((event.event.key, event.stamp?)));
        let stamps: Vec<(u64, Stamp)> = stamps.chain(log.marks.iter().map(|(stamp, key)| (*key, *stamp))).collect();
        let clock = Self { known, offsets: None, from: ClockFrom::Nothing };
        let Some(&(_, first)) = stamps.first() else { return clock };
        let raw = stamps.iter().filter_map(|(key, stamp)| Some((*key, raw_us(*stamp, known)?)));
        let pairs = without_strays(once(raw), &once(debug_log));
        let lines = pairs.len();
        let said = |offset: i64| Self { known, offsets: Some(Offsets::One(offset)), from: ClockFrom::User };
        let by_lines = |offsets| Self { known, offsets: Some(offsets), from: ClockFrom::BothLogs(lines) };
        match first {
            Stamp::Boot(_) if !pairs.is_empty() => by_lines(Offsets::Between(pairs)),
            Stamp::Local { .. } if !pairs.is_empty() => {
                let offset = median_offset(&pairs);
                let zone = (offset + offset.signum() * ZONE_STEP_US / 2) / ZONE_STEP_US * ZONE_STEP_US;
                // `dmesg -T` goes wrong where a node was suspended.
                let fits = pairs.iter().all(|(raw_us, us)| (us - raw_us - zone).abs() <= SYSLOG_ERROR_US);
                by_lines(if fits { Offsets::One(zone) } else { Offsets::Between(pairs) })
            }
            Stamp::Unix(_) => {
                let offset = if pairs.is_empty() { 0 } else { median_offset(&pairs) };
                Self { known, offsets: Some(Offsets::One(offset)), from: ClockFrom::Stamps }
            }
            Stamp::Boot(_) => known.boot_us.map_or(clock, said),
            // None is left where lines are read.
            Stamp::Since(_) => clock,
            Stamp::Local { .. } => known.zone_us.map_or(clock, |zone_us| said(-zone_us)),
        }
    }

    /// When a line with this stamp was logged, microseconds since the epoch.
    pub(super) fn time_us(&self, stamp: Option<Stamp>) -> Option<i64> {
        let raw_us = raw_us(stamp?, self.known)?;
        Some(raw_us.saturating_add(match self.offsets.as_ref()? {
            Offsets::One(offset) => *offset,
            Offsets::Between(pairs) => offset_between(pairs, raw_us),
        }))
    }
}

/// A stamp as a number that grows as time does; local times as if they were UTC.
fn raw_us(stamp: Stamp, known: Known) -> Option<i64> {
    match stamp {
        Stamp::Boot(us) | Stamp::Unix(us) => Some(us),
        Stamp::Since(_) => None,
        Stamp::Local { year: Some(year), .. } => stamp.as_if_utc_us(year),
        Stamp::Local { year: None, .. } => match known.captured_us {
            Some(captured_us) => {
                let year = year(captured_us);
                let years = (year - 1..=year + 1).filter_map(|year| stamp.as_if_utc_us(year));
                years.min_by_key(|us| (us - captured_us).abs())
            }
            None => as_if_utc_until(stamp, known.latest_us),
        },
    }
}

/// What has a key of its own.
fn once(keyed: impl Iterator<Item = (u64, i64)>) -> FxHashMap<u64, i64> {
    let mut seen: FxHashMap<u64, Option<i64>> = FxHashMap::default();
    for (key, us) in keyed {
        // Both logs of one node may be given twice; the same time is no second line.
        seen.entry(key).and_modify(|known| *known = known.filter(|known| *known == us)).or_insert(Some(us));
    }
    seen.into_iter().filter_map(|(key, us)| Some((key, us?))).collect()
}

/// Stamps and moments of the lines that are in both logs, by stamp.
fn without_strays(stamps: FxHashMap<u64, i64>, moments: &FxHashMap<u64, i64>) -> Vec<(i64, i64)> {
    let mut pairs: Vec<(i64, i64)> =
        stamps.into_iter().filter_map(|(key, raw_us)| Some((raw_us, *moments.get(&key)?))).collect();
    pairs.sort_unstable();
    if pairs.is_empty() {
        return pairs;
    }
    let usual = median_offset(&pairs);
    let middle = pairs[pairs.len() / 2].0;
    pairs.retain(|(raw_us, us)| (us - raw_us - usual).abs() <= STRAY_US + (raw_us - middle).abs() / 1000);
    pairs
}

fn median_offset(pairs: &[(i64, i64)]) -> i64 {
    let mut offsets: Vec<i64> = pairs.iter().map(|(raw_us, us)| us - raw_us).collect();
    offsets.sort_unstable();
    offsets[offsets.len() / 2]
}

/// The offset at a stamp: that of the nearest line outside of all, even change between two.
fn offset_between(pairs: &[(i64, i64)], raw_us: i64) -> i64 {
    let after = pairs.partition_point(|(stamp, _)| *stamp <= raw_us);
    let offset = |(stamp, us): &(i64, i64)| us - stamp;
    match (after.checked_sub(1).and_then(|at| pairs.get(at)), pairs.get(after)) {
        (Some(before), Some(next)) if next.0 > before.0 => {
            let (from, to) = (i128::from(offset(before)), i128::from(offset(next)));
            let part = (to - from) * i128::from(raw_us - before.0) / i128::from(next.0 - before.0);
            i64::try_from(from + part).unwrap_or_else(|_| offset(before))
        }
        (Some(one), _) | (None, Some(one)) => offset(one),
        (None, None) => 0,
    }
}

/// Keys and times of what a debug log tells.
pub(super) fn keyed<'a>(listed: impl Iterator<Item = &'a LoggedEvent>) -> impl Iterator<Item = (u64, i64)> {
    listed.map(|event| (event.key, event.time_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON_US: i64 = 1_795_608_000_000_000; // 2026-11-25T12:00:00Z
    const SECOND: i64 = 1_000_000;

    fn log(stamps: &[(Stamp, u64)]) -> HostLog {
        HostLog { marks: stamps.to_vec(), ..HostLog::default() }
    }

    fn at(day: u8, hour: i64, second: i64, year: Option<i32>) -> Stamp {
        Stamp::Local { year, month: 11, day, us: (hour * 3600 + second) * SECOND }
    }

    #[test]
    fn lines_in_both_logs_tell_when_the_node_was_booted() {
        let log = log(&[(Stamp::Boot(10 * SECOND), 1), (Stamp::Boot(20 * SECOND), 2), (Stamp::Boot(30 * SECOND), 2)]);
        let clock = Clock::of(&log, [(1, NOON_US), (2, 7), (9, 9)].into_iter(), Known::default());
        assert_eq!(clock.from, ClockFrom::BothLogs(1));
        assert_eq!(clock.time_us(Some(Stamp::Boot(25 * SECOND))), Some(NOON_US + 15 * SECOND));
    }

    #[test]
    fn a_clock_that_drifts_is_followed() {
        let log = log(&[(Stamp::Boot(0), 1), (Stamp::Boot(10_000 * SECOND), 2)]);
        let clock = Clock::of(&log, [(1, NOON_US), (2, NOON_US + 10_002 * SECOND)].into_iter(), Known::default());
        let time = |second: i64| clock.time_us(Some(Stamp::Boot(second * SECOND))).map(|us| (us - NOON_US) / SECOND);
        assert_eq!(
            [time(0), time(5_000), time(10_000), time(20_000)],
            [Some(0), Some(5_001), Some(10_002), Some(20_002)]
        );
    }

    #[test]
    fn a_zone_is_told_by_lines_in_both_logs() {
        // UTC+5:30; the syslog's second began before.
        let log = log(&[(at(25, 17, 1800, None), 1)]);
        let known = Known { captured_us: Some(NOON_US), ..Known::default() };
        let clock = Clock::of(&log, [(1, NOON_US + 900_000)].into_iter(), known);
        assert_eq!(clock.time_us(Some(at(25, 17, 1860, None))), Some(NOON_US + 60 * SECOND));
    }

    #[test]
    fn what_the_user_says_counts_without_them() {
        let boot = log(&[(Stamp::Boot(0), 1)]);
        let known = Known { boot_us: Some(NOON_US), zone_us: Some(3600 * SECOND), ..Known::default() };
        let clock = Clock::of(&boot, std::iter::empty(), known);
        assert_eq!((clock.from, clock.time_us(Some(Stamp::Boot(5)))), (ClockFrom::User, Some(NOON_US + 5)));
        let local = log(&[(at(25, 13, 0, Some(2026)), 1)]);
        let clock = Clock::of(&local, std::iter::empty(), known);
        assert_eq!(clock.time_us(Some(at(25, 13, 0, Some(2026)))), Some(NOON_US));
        let clock = Clock::of(&local, std::iter::empty(), Known::default());
        assert_eq!((clock.from, clock.time_us(Some(at(25, 13, 0, Some(2026))))), (ClockFrom::Nothing, None));
    }

    #[test]
    fn the_year_is_the_nearest_or_the_last_possible() {
        let captured = Known { captured_us: Some(NOON_US), latest_us: i64::MAX, ..Known::default() };
        let january = Stamp::Local { year: None, month: 1, day: 2, us: 0 };
        let shown = |us: Option<i64>| us.map(|us| lioprof_model::time::utc(us)[..10].to_owned());
        assert_eq!(shown(raw_us(january, captured)).as_deref(), Some("2027-01-02"));
        let changed = Known { latest_us: NOON_US, ..Known::default() };
        assert_eq!(shown(raw_us(january, changed)).as_deref(), Some("2026-01-02"));
        let december = Stamp::Local { year: None, month: 12, day: 2, us: 0 };
        assert_eq!(shown(raw_us(december, changed)).as_deref(), Some("2025-12-02"));
    }
}
