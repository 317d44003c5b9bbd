//! When a node was traced, by what the manifests of its parts say.

use super::part::Part;
use crate::manifest::Session;

/// What lies no further apart was traced through: the kernel writes its log once a second.
const TOGETHER_US: i64 = 1_000_000;

/// A time in which a session traced everything, and of which all rows are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) session: Session,
    /// Microseconds since the epoch.
    pub(super) from_us: i64,
    pub(super) to_us: i64,
    /// Tracing was switched on and off at these times, and not just when a session began or when its log was read so far.
    switched: bool,
}

impl Stretch {
    /// Whether a sample that was taken in this time is of it. The one that ends a stretch was begun at its end.
    pub(super) fn holds(&self, begun_us: i64, ended_us: i64) -> bool {
        self.from_us <= begun_us && (if self.switched { begun_us } else { ended_us }) <= self.to_us
    }
}

/// The stretches of all sessions, in the order of the parts.
pub(super) fn stretches(parts: &[Part]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for parts in parts.chunk_by(|a, b| a.manifest.session == b.manifest.session) {
        of_session(parts, &mut stretches);
    }
    stretches
}

/// What of the log was traced, if not all of it was: sessions that were switched off meanwhile, or time between sessions.
pub(super) fn in_part(parts: &[Part]) -> Vec<[i64; 2]> {
    let stretches = stretches(parts);
    let was_switched = parts.iter().any(|part| !part.manifest.facts.summary.traced_us.is_empty());
    let mut spans: Vec<[i64; 2]> = stretches.iter().map(|it| [it.from_us, it.to_us]).collect();
    spans.sort_unstable();
    let mut joined: Vec<[i64; 2]> = Vec::new();
    for [from_us, to_us] in spans {
        match joined.last_mut() {
            Some([_, last_us]) if from_us <= last_us.saturating_add(TOGETHER_US) => *last_us = to_us.max(*last_us),
            _ => joined.push([from_us, to_us]),
        }
    }
    if was_switched || joined.len() > 1 { joined } else { Vec::new() }
}

fn of_session(parts: &[Part], stretches: &mut Vec<Stretch>) {
    let Some(session) = parts.first().map(|part| part.manifest.session.clone()) else { return };
    let earlier = stretches.clone();
    let mut add = |from_us: i64, to_us: i64, switched: bool| {
        if from_us >= to_us {
            return;
        }
        match stretches.last_mut() {
            Some(last) if last.session == session && from_us <= last.to_us => {
                last.from_us = from_us.min(last.from_us);
                (last.to_us, last.switched) = (to_us.max(last.to_us), switched);
            }
            _ => stretches.push(Stretch { session: session.clone(), from_us, to_us, switched }),
        }
    };
    // Parts before the first time that tracing was switched off do not say that it was on.
    let first_switched = parts.iter().position(|part| !part.manifest.facts.traced_us.is_empty());
    // What a killed session left over was logged before the session began that makes rows of it, and of nothing else.
    let is_left_over = parts.iter().filter_map(times).all(|(_, last_us)| last_us < session.start_us);
    let mut from_us = session.start_us;
    if is_left_over && let Some((first_us, _)) = parts.iter().find_map(times) {
        // It goes on where the last part of the killed session ended, however long nothing was logged.
        let before = earlier.iter().filter(|it| it.to_us <= first_us).max_by_key(|it| it.to_us);
        from_us = before.filter(|it| !it.switched).map_or(first_us, |it| it.to_us);
    }
    for (at, part) in parts.iter().enumerate() {
        let facts = &part.manifest.facts;
        if !facts.traced_us.is_empty() {
            for &[from_us, to_us] in &facts.traced_us {
                add(from_us, to_us, true);
            }
            // What was lost after the last record that is there.
            let traced_us = facts.traced_us.iter().map(|[_, to_us]| *to_us).fold(i64::MIN, i64::max);
            for [from_us, to_us] in lost(part) {
                add(from_us.max(traced_us), to_us, true);
            }
        } else if first_switched.is_none_or(|first| at < first)
            && let Some((first_us, last_us)) = times(part)
        {
            let through_us = facts.traced_until_us.or(facts.through_us).unwrap_or(last_us);
            let through_us = lost(part).map(|[_, to_us]| to_us).fold(through_us, i64::max);
            // Earlier than what came before it: the clock was set back.
            add(from_us.min(first_us), through_us, facts.traced_until_us.is_some());
        }
        from_us = from_us.max(facts.through_us.unwrap_or(i64::MIN));
    }
}

/// First and last time of what a part holds.
fn times(part: &Part) -> Option<(i64, i64)> {
    let (manifest, summary) = (&part.manifest, &part.manifest.facts.summary);
    let there = summary.first_us.or(manifest.first_us).zip(summary.last_us.or(manifest.last_us));
    // Where nothing is left, it was traced all the same.
    there.or_else(|| Some((lost(part).map(|[from, _]| from).min()?, lost(part).map(|[_, to]| to).max()?)))
}

/// Stretches of the log that are lost, and whose times are known.
fn lost(part: &Part) -> impl Iterator<Item = [i64; 2]> {
    part.manifest.facts.dropped.iter().filter(|it| it.from_us > 0 && it.to_us > 0).map(|it| [it.from_us, it.to_us])
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::manifest::{DroppedStretch, Manifest, ManifestFacts};

    const S: i64 = 1_000_000;

    fn part(session: i64, number: u64, [first, last]: [i64; 2], traced_us: &[[i64; 2]]) -> Part {
        let mut facts = ManifestFacts { through_us: Some(last * S), ..ManifestFacts::default() };
        (facts.summary.first_us, facts.summary.last_us) = (Some(first * S), Some(last * S));
        facts.summary.records = 1;
        facts.traced_us = traced_us.iter().map(|span| span.map(|at| at * S)).collect();
        facts.summary.traced_us.clone_from(&facts.traced_us);
        let session = Session { start_us: session * S, id: format!("{session}") };
        let manifest = Manifest { session, part: number, facts, ..Manifest::default() };
        Part { manifest, manifest_path: PathBuf::new(), dir: PathBuf::new() }
    }

    fn traced_s(parts: &[Part]) -> Vec<[i64; 2]> {
        in_part(parts).iter().map(|span| span.map(|us| us / S)).collect()
    }

    #[test]
    fn a_session_that_traced_all_the_time_says_nothing() {
        assert_eq!(traced_s(&[part(0, 1, [1, 10], &[]), part(0, 2, [10, 20], &[])]), [[0; 2]; 0]);
    }

    #[test]
    fn parts_before_the_first_pause_were_traced() {
        // As a budget does it: all of the first 30 s, then 3 s of each 20.
        let parts = [
            part(0, 1, [0, 10], &[]),
            part(0, 2, [10, 25], &[]),
            part(0, 3, [25, 53], &[[25, 30], [50, 53]]),
            part(0, 4, [70, 73], &[[70, 73]]),
        ];
        assert_eq!(traced_s(&parts), [[0, 30], [50, 53], [70, 73]]);
    }

    #[test]
    fn time_between_sessions_was_not_traced() {
        let parts = [part(0, 1, [0, 40], &[]), part(190, 1, [191, 230], &[])];
        assert_eq!(traced_s(&parts), [[0, 40], [190, 230]]);
        // A session that goes on where another one was killed.
        assert_eq!(traced_s(&[part(0, 1, [0, 40], &[]), part(40, 1, [40, 60], &[])]), [[0; 2]; 0]);
    }

    #[test]
    fn what_is_left_over_goes_on_where_the_killed_session_ended() {
        // Nothing was logged from 40 to 60, and the daemon was killed at 65.
        let parts = [part(0, 1, [0, 40], &[]), part(100, 1, [60, 65], &[])];
        assert_eq!(traced_s(&parts), [[0; 2]; 0]);
        // A session that ended well does not go on.
        let mut ended = part(0, 1, [0, 40], &[]);
        ended.manifest.facts.traced_until_us = Some(41 * S);
        assert_eq!(traced_s(&[ended, part(100, 1, [60, 65], &[])]), [[0, 41], [60, 65]]);
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_pause() {
        let parts = [part(800, 1, [900, 901], &[]), part(800, 2, [20, 30], &[]), part(800, 3, [30, 35], &[])];
        assert_eq!(traced_s(&parts), [[0; 2]; 0]);
    }

    #[test]
    fn what_a_killed_session_left_over_belongs_to_its_time() {
        let left = [part(0, 1, [0, 40], &[]), part(99, 1, [40, 45], &[]), part(99, 2, [50, 55], &[])];
        let parts = [&left[..], &[part(100, 1, [100, 130], &[])]].concat();
        assert_eq!(traced_s(&parts), [[0, 55], [100, 130]]);
    }

    #[test]
    fn what_was_lost_when_the_node_went_down_was_traced() {
        let lost = |part: &mut Part, [from_us, to_us]: [i64; 2]| {
            let lost = DroppedStretch { from_us: from_us * S, to_us: to_us * S, ..DroppedStretch::default() };
            part.manifest.facts.dropped.push(lost);
        };
        // Records until 45, segments until 60.
        let mut left = [part(0, 1, [0, 40], &[]), part(99, 1, [41, 45], &[])];
        lost(&mut left[1], [45, 50]);
        lost(&mut left[1], [50, 60]);
        let next = [part(100, 1, [100, 130], &[])];
        assert_eq!(traced_s(&[&left[..], &next].concat()), [[0, 60], [100, 130]]);
        // Switched on and off before.
        left[0] = part(0, 1, [0, 40], &[[0, 10], [35, 40]]);
        left[1] = part(99, 1, [41, 45], &[[41, 45]]);
        lost(&mut left[1], [20, 25]);
        lost(&mut left[1], [45, 60]);
        assert_eq!(traced_s(&[&left[..], &next].concat()), [[0, 10], [35, 60], [100, 130]]);
        // Nothing is left of it.
        let mut nothing = part(99, 1, [0, 0], &[]);
        nothing.manifest.facts = ManifestFacts::default();
        lost(&mut nothing, [40, 60]);
        assert_eq!(traced_s(&[&[part(0, 1, [0, 40], &[]), nothing], &next[..]].concat()), [[0, 60], [100, 130]]);
    }

    #[test]
    fn samples_count_while_everything_was_traced_and_is_there() {
        let mut parts = [part(0, 1, [0, 40], &[])];
        let holds = |parts: &[Part], at: i64| stretches(parts).iter().any(|it| it.holds(at * S, at * S + 1000));
        assert!(holds(&parts, 0) && holds(&parts, 39));
        // Rows of that time may be in a part to come.
        assert!(!holds(&parts, 41));
        parts[0].manifest.facts.traced_until_us = Some(42 * S);
        assert!(holds(&parts, 41) && holds(&parts, 42) && !holds(&parts, 43));
    }
}
