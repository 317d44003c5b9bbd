//! Estimates which share of the RPCs is missing from the trace, with bounds.
//!
//! For each node the best source decides: its own counters, if they were sampled during the trace; otherwise the sequence
//! numbers of the request schedulers, corrected by RPCs of which only one half is there, and the capture daemon's own count of
//! what it gave up.

use lioprof_model::Merge;
use lioprof_model::counted::ledger::lost as counted_lost;
use lioprof_model::units::share;
use lioprof_model::{
    Counted, CountedRpcs, Loss, LossEvidence, NEVER_ON_DISK, ServiceLoss, TargetLoss, TraceLoss, TraceSummary,
};

use crate::node::NodeAccount;

/// Estimated number of lost RPCs of one node or of several, with bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lost {
    evidence: LossEvidence,
    /// RPCs handled, including the lost ones.
    of: u64,
    min: u64,
    best: u64,
    /// `None`: there is no upper bound.
    max: Option<u64>,
}

/// The sequence numbers are believed to one part in this many: if the first or last requests of a service are lost, no hole
/// shows it, and a request's lines may lie on both sides of a hole.
const MARGIN: u64 = 50;

/// Loss of all nodes together.
pub(crate) fn loss(nodes: &[NodeAccount]) -> Loss {
    let mut sum = TraceLoss::default();
    for node in nodes {
        sum.merge(&node.summary.loss);
    }
    let mut loss = Loss {
        nrs_sequence_gaps: nodes.iter().map(|node| missing_numbers(&node.summary).1).sum(),
        nrs_sequence_gaps_min: nodes.iter().map(|node| missing_numbers(&node.summary).0).sum(),
        nrs_sequence_seen: sum.nrs_sequence_seen,
        missing_handled: sum.missing_handled,
        missing_handling: sum.missing_handling,
        lost_starts: sum.lost_starts,
        lost_ends: sum.lost_ends,
        never_handled: sum.never_handled,
        logs_without_arrivals: sum.logs_without_arrivals,
        torn_seams: sum.torn_seams,
        dropped_segments: sum.dropped_segments,
        dropped_segment_bytes: sum.dropped_segment_bytes,
        dropped_segment_rpcs: sum.dropped_segment_rpcs,
        dropped_reasons: sum.dropped_reasons,
        kernel_overflows: sum.kernel_overflows,
        unread_parts: sum.unread_parts,
        unread_rpcs: sum.unread_rpcs,
        discarded_heads: sum.discarded_heads,
        streams_without_head: sum.streams_without_head,
        bad_records: sum.bad_records,
        clock_steps: sum.clock_steps,
        by_service: nodes.iter().flat_map(|node| services(&node.name, &node.summary)).collect(),
        by_target: nodes.iter().flat_map(|node| targets(&node.name, &node.summary.counted)).collect(),
        ..Loss::default()
    };
    // The flagged records may only have been filtered out, or cut from the text. If RPCs lack their beginnings as well, the log
    // really begins in the middle. That some have not ended says nothing: they may hang.
    loss.head_overwritten = loss.torn_seams > 0 || (loss.streams_without_head > 0 && loss.missing_handling > 0);
    let judged: Vec<Option<Lost>> = nodes.iter().map(|node| judge(&node.summary)).collect();
    let by_counters = |lost: &Lost| lost.evidence == LossEvidence::Counters;
    let all_counted = judged.iter().flatten().count() > 0 && judged.iter().flatten().all(by_counters);
    if loss.never_on_disk() > 0 {
        // The counters were not sampled in that time, and the sequence numbers begin anew after a boot.
        loss.lost_fraction_min = known(&judged).map(|lost| share(lost.min, lost.of));
        loss.estimate = format!("pieces of the log are lost ({NEVER_ON_DISK}), and how many RPCs they held is unknown");
        return loss;
    }
    if loss.head_overwritten && !all_counted {
        loss.lost_fraction_min = known(&judged).map(|lost| share(lost.min, lost.of));
        loss.estimate = "an unknown number of records before the first ones was overwritten".to_owned();
        return loss;
    }
    let Some(lost) = known(&judged) else {
        loss.estimate = if sum.of_several_servers > 0 {
            "the log holds records of several servers, whose request schedulers' numbers cannot be told apart"
        } else {
            "no request scheduler numbers in the log"
        }
        .to_owned();
        return loss;
    };
    loss.lost_fraction_min = Some(share(lost.min, lost.of));
    loss.lost_fraction_max = lost.max.map(|max| share(max, lost.of));
    loss.decided_by = lost.evidence;
    if lost.max.is_none() && lost.evidence != LossEvidence::GivenUp {
        loss.decided_by = LossEvidence::Unknown;
        loss.estimate =
            "records are missing, and it is not known which numbers of the request schedulers may be: the policy was switched \
             meanwhile, or the older lioprof that wrote these rows did not keep them"
                .to_owned();
        return loss;
    }
    loss.estimated_lost_fraction = Some(share(lost.best, lost.of));
    loss.estimate = match lost.evidence {
        LossEvidence::Counters => "the servers' own counters, sampled during the trace, minus the RPCs in the trace",
        LossEvidence::GivenUp => "share of the RPCs whose segments the capture daemon gave up",
        LossEvidence::Mixed => {
            "the servers' own counters where they were sampled, and the request schedulers' numbers elsewhere"
        }
        LossEvidence::Sequence | LossEvidence::Unknown => {
            "share of the request schedulers' sequence numbers that are missing"
        }
    }
    .to_owned();
    if loss.unread_rpcs > 0 {
        loss.estimate += ", and RPCs whose rows cannot be read";
    }
    loss
}

/// Sum over the nodes whose loss is known; `None` if it is known of none.
fn known(judged: &[Option<Lost>]) -> Option<Lost> {
    judged.iter().flatten().copied().reduce(|a, b| Lost {
        evidence: if a.evidence == b.evidence { a.evidence } else { LossEvidence::Mixed },
        of: a.of + b.of,
        min: a.min + b.min,
        best: a.best + b.best,
        max: a.max.zip(b.max).map(|(a, b)| a + b),
    })
}

/// Loss of one node; `None` if its log has no counters, sequence numbers or counts of given-up RPCs.
fn judge(summary: &TraceSummary) -> Option<Lost> {
    // Counters and rows are compared where these are. Numbers were counted when the rows were written.
    by_counters(summary).or_else(|| by_numbers(summary).map(|lost| with_unread(lost, summary.loss.unread_rpcs)))
}

fn with_unread(lost: Lost, unread_rpcs: u64) -> Lost {
    let Lost { min, best, max, .. } = lost;
    Lost { min: min + unread_rpcs, best: best + unread_rpcs, max: max.map(|max| max + unread_rpcs), ..lost }
}

fn by_counters(summary: &TraceSummary) -> Option<Lost> {
    let counted = &summary.counted;
    let (mut of, mut lost) = (0, 0);
    if counted.services.is_empty() {
        for io in counted.targets.values() {
            of += io.counted_rpcs;
            lost += io.counted_rpcs.saturating_sub(io.seen_rpcs);
        }
        let Counted { unattributed, .. } = counted;
        let edges = counted.targets.values().map(|io| io.edge_rpcs).sum::<u64>() + unattributed.edge_rpcs;
        lost = counted_lost(lost.saturating_sub(unattributed.seen_rpcs), edges);
    } else {
        for (service, rpcs) in &counted.services {
            of += rpcs.counted;
            lost += lost_rpcs(rpcs, slack(service, rpcs, &summary.loss));
        }
    }
    (of > 0).then_some(Lost { evidence: LossEvidence::Counters, of, min: lost, best: lost, max: Some(lost) })
}

/// Requests that the counter may include and the trace may not, without being lost: those under way at an end.
fn slack(service: &str, rpcs: &CountedRpcs, loss: &TraceLoss) -> u64 {
    rpcs.edge + loss.open_at_end.get(service).copied().unwrap_or(0)
}

fn lost_rpcs(rpcs: &CountedRpcs, slack: u64) -> u64 {
    counted_lost(rpcs.counted.saturating_sub(rpcs.seen), slack)
}

/// Whether there is evidence of lost records apart from the sequence numbers.
fn records_are_lost(loss: &TraceLoss) -> bool {
    let TraceLoss { lost_starts, lost_ends, discarded_heads, bad_records, dropped_segments, kernel_overflows, .. } =
        *loss;
    lost_starts + lost_ends + discarded_heads + bad_records + dropped_segments + kernel_overflows > 0
}

/// Missing sequence numbers of the request schedulers: lower bound, best estimate, and upper bound if one is known.
fn missing_numbers(summary: &TraceSummary) -> (u64, u64, Option<u64>) {
    let loss = &summary.loss;
    let sure = loss.nrs_sequence_gaps;
    if !records_are_lost(loss) {
        return (sure, sure, Some(sure));
    }
    let likely = sure + loss.nrs_sequence_likely;
    match loss.nrs_sequence_doubtful {
        Some(doubtful) => (likely, likely + doubtful, Some(likely + doubtful + loss.nrs_sequence_possible)),
        None => (likely, likely, None),
    }
}

fn by_numbers(summary: &TraceSummary) -> Option<Lost> {
    let loss = &summary.loss;
    let given_up = loss.dropped_segment_rpcs;
    if loss.nrs_sequence_seen == 0 {
        return (given_up > 0).then(|| {
            let of = given_up.max(1);
            Lost { evidence: LossEvidence::GivenUp, of, min: given_up, best: given_up, max: None }
        });
    }
    let (min, best, max) = missing_numbers(summary);
    // An RPC whose start is lost has no number, but is in the trace; one whose end is lost has a number, but is not.
    let of = loss.nrs_sequence_seen + best;
    let best = best.saturating_sub(loss.lost_starts) + loss.lost_ends;
    let (min, max) = if records_are_lost(loss) {
        // `missing_handling` may count lost starts, or RPCs that began before the log; `missing_handled` lost ends, or RPCs still running.
        let min = min.saturating_sub(loss.missing_handling) + loss.lost_ends;
        let margin = best / MARGIN + u64::from(best > 0);
        (min.saturating_sub(margin).min(best), max.map(|numbers| (numbers + loss.missing_handled + margin).max(best)))
    } else {
        (best, Some(best))
    };
    let lost = Lost { evidence: LossEvidence::Sequence, of, min, best, max };
    if given_up > lost.best {
        // A hole may have been explained without loss, but the daemon has counted what it gave up.
        let of = loss.nrs_sequence_seen + given_up;
        return Some(Lost {
            evidence: LossEvidence::GivenUp,
            of,
            min: given_up,
            best: given_up,
            max: max.map(|max| max.max(given_up)),
        });
    }
    Some(lost)
}

fn services<'a>(node: &'a str, summary: &'a TraceSummary) -> impl Iterator<Item = ServiceLoss> + 'a {
    summary.counted.services.iter().map(move |(service, rpcs)| {
        let slack = slack(service, rpcs, &summary.loss);
        let lost = lost_rpcs(rpcs, slack);
        ServiceLoss {
            node: node.to_owned(),
            service: service.clone(),
            counted_rpcs: rpcs.counted,
            seen_rpcs: rpcs.seen,
            edge_rpcs: slack,
            lost_rpcs: lost,
            lost_fraction: share(lost, rpcs.counted),
        }
    })
}

fn targets<'a>(node: &'a str, counted: &'a Counted) -> impl Iterator<Item = TargetLoss> + 'a {
    let Counted { targets, unattributed, .. } = counted;
    targets.iter().map(move |(target, io)| {
        let missing = io.counted_rpcs.saturating_sub(io.seen_rpcs);
        TargetLoss {
            node: node.to_owned(),
            target: target.clone(),
            counted_rpcs: io.counted_rpcs,
            counted_bytes: io.counted_bytes,
            seen_rpcs: io.seen_rpcs,
            seen_bytes: io.seen_bytes,
            edge_rpcs: io.edge_rpcs,
            lost_rpcs_min: missing.saturating_sub(io.edge_rpcs + unattributed.seen_rpcs + unattributed.edge_rpcs),
            lost_rpcs_max: missing,
        }
    })
}

#[cfg(test)]
mod tests {
    use lioprof_model::Analysis;
    use lioprof_model::analysis::NOTED_LOSS;

    use super::*;
    use crate::interval::Interval;

    fn node(name: &str, summary: TraceSummary) -> NodeAccount {
        NodeAccount {
            name: name.to_owned(),
            summary,
            duplicates: 0,
            is_client: false,
            interval: Interval::default(),
            warnings: Vec::new(),
        }
    }

    fn seen(loss: TraceLoss) -> TraceSummary {
        let loss = TraceLoss { nrs_sequence_doubtful: loss.nrs_sequence_doubtful.or(Some(0)), ..loss };
        TraceSummary { loss, rpctrace_records: 1, ..TraceSummary::default() }
    }

    fn counted(counted: u64, seen: u64, edge: u64) -> TraceSummary {
        let mut summary = TraceSummary::default();
        summary.counted.services.insert("ost_io".to_owned(), CountedRpcs { counted, seen, edge });
        summary
    }

    fn shares(loss: &Loss) -> [Option<f64>; 3] {
        [loss.lost_fraction_min, loss.estimated_lost_fraction, loss.lost_fraction_max]
    }

    #[test]
    fn a_hole_that_may_be_a_second_counter_is_loss_if_records_are_lost() {
        let hole = TraceLoss { nrs_sequence_seen: 1000, nrs_sequence_likely: 1000, ..TraceLoss::default() };
        assert_eq!(shares(&loss(&[node("oss0", seen(hole.clone()))])), [Some(0.0); 3]);
        let found = loss(&[node("oss0", seen(TraceLoss { discarded_heads: 1, ..hole }))]);
        assert_eq!(shares(&found), [Some(0.4895), Some(0.5), Some(0.5105)]);
        assert_eq!((found.decided_by, found.nrs_sequence_gaps), (LossEvidence::Sequence, 1000));
        assert_eq!(found.missing().unwrap(), "about 50.00 % (48.9 to 51.0 %)");
    }

    #[test]
    fn counters_decide() {
        let found = loss(&[node("oss0", counted(4000, 3000, 0))]);
        assert_eq!((shares(&found), found.decided_by), ([Some(0.25); 3], LossEvidence::Counters));
        assert_eq!(found.missing().unwrap(), "25.00 %");
        // Requests under way at the ends are no loss.
        assert_eq!(shares(&loss(&[node("oss0", counted(4000, 3990, 10))])), [Some(0.0); 3]);
        let mut open = counted(4000, 3990, 0);
        open.loss.open_at_end.insert("ost_io".to_owned(), 10);
        assert_eq!(shares(&loss(&[node("oss0", open)])), [Some(0.0); 3]);
        // One node with counters, one without.
        let hole = TraceLoss { nrs_sequence_seen: 900, nrs_sequence_gaps: 100, ..TraceLoss::default() };
        let found = loss(&[node("oss0", counted(1000, 500, 0)), node("oss1", seen(hole))]);
        assert_eq!((found.estimated_lost_fraction, found.decided_by), (Some(0.3), LossEvidence::Mixed));
    }

    #[test]
    fn what_was_never_on_disk_is_unknown_whatever_counters_say_of_other_times() {
        let mut rebooted = counted(14, 14, 0);
        rebooted.loss.nrs_sequence_seen = 14;
        rebooted.loss.dropped_segments = 13;
        rebooted.loss.dropped_reasons =
            [(NEVER_ON_DISK.to_owned(), 12), ("decoding could not keep up".to_owned(), 1)].into();
        let nodes = [node("oss0", rebooted)];
        let analysis = Analysis { loss: loss(&nodes), ..Analysis::default() };
        let found = &analysis.loss;
        assert_eq!((shares(found), found.decided_by), ([Some(0.0), None, None], LossEvidence::Unknown));
        assert!(found.estimate.contains(NEVER_ON_DISK), "{}", found.estimate);
        let warnings = crate::warnings::early(&nodes, &analysis, NOTED_LOSS);
        let of = |text: &str| warnings.iter().filter(|warning| warning.contains(text)).collect::<Vec<_>>();
        let [never] = of("12 pieces of the log are lost")[..] else { panic!("{warnings:?}") };
        assert!(never.contains("unknown") && never.contains("keep.file_age") && !never.contains("keep up"), "{never}");
        let [given_up] = of("1 piece of the log")[..] else { panic!("{warnings:?}") };
        assert!(given_up.contains("decoding could not keep up") && !given_up.contains(NEVER_ON_DISK), "{given_up}");
    }

    #[test]
    fn what_was_given_up_is_not_blamed_on_the_kernels_buffer() {
        let lost = TraceLoss {
            nrs_sequence_seen: 800,
            dropped_segments: 1,
            dropped_segment_rpcs: 200,
            dropped_reasons: [("decoding could not keep up".to_owned(), 1)].into(),
            ..TraceLoss::default()
        };
        let nodes = [node("oss0", seen(lost))];
        let analysis = Analysis { loss: loss(&nodes), ..Analysis::default() };
        assert_eq!(
            (analysis.loss.estimated_lost_fraction, analysis.loss.decided_by),
            (Some(0.2), LossEvidence::GivenUp)
        );
        let warnings = crate::warnings::early(&nodes, &analysis, NOTED_LOSS).join("\n");
        assert!(warnings.contains("decoding could not keep up") && warnings.contains("spool_limit_mib"), "{warnings}");
        assert!(!warnings.contains("debug_mb"), "{warnings}");
    }
}
