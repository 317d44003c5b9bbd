//! `sluggish-ost` by syncs: where a server writes to memory first, the time of a slow disk is in the syncs.

use lioprof_model::units::{few, plural};
use lioprof_model::{Confidence, Finding, Interval, Severity, SyncTimes};

use super::rule::{Case, Cost, real, share};
use super::slow_part::CHANCE;

/// Adds disks whose syncs take far longer than others of the same server; what may be chance is a sentence.
pub(super) fn look(case: &Case<'_>, found: &mut Vec<Finding>, perhaps: &mut Vec<String>) {
    let whole_us = case.analysis.time_account.all.as_ref().map_or(0, |all| all.span_us);
    for syncs in &case.analysis.syncs {
        let longer_us = real(syncs.covered_us) * (1.0 - 1.0 / syncs.ratio.max(1.0));
        let is_slow =
            syncs.ratio >= case.limit("sync_ratio") && share(longer_us, real(whole_us)) >= case.limit("sync_share");
        let is_told = found
            .iter()
            .any(|it| it.is_more_than_a_note() && it.targets.iter().any(|name| syncs.targets.contains(name)));
        if !is_slow || is_told {
            continue;
        }
        if syncs.chance.is_none_or(|chance| chance <= case.limit(CHANCE.name)) {
            found.push(disk(case, syncs, (longer_us / 1e6, share(real(syncs.covered_us), real(whole_us)))));
        } else {
            perhaps.push(format!(
                "{} of OST {} take {:.1} times as long as on others of {}, but that may be chance",
                plural(syncs.rpcs, "sync"),
                syncs.targets.join(", "),
                syncs.ratio,
                syncs.node
            ));
        }
    }
}

fn disk(case: &Case<'_>, syncs: &SyncTimes, (longer_s, covered_share): (f64, f64)) -> Finding {
    let SyncTimes { node, targets, rpcs, others, ratio, .. } = syncs;
    let names: Vec<&str> = targets.iter().map(String::as_str).collect();
    let ms = |us: Option<f64>| us.unwrap_or(0.0) / 1e3;
    let (own_ms, others_ms) = (ms(syncs.service_us.mean), ms(syncs.others_service_us.mean));
    let title = match &names[..] {
        [one] => {
            format!(
                "The disk of OST {one} is slow: its syncs take {ratio:.1} times as long as those of other OSTs of {node}"
            )
        }
        several => format!(
            "A disk of {node} ({}) is slow: {rpcs} of {} syncs take at least {ratio:.1} times as long as the others",
            several.join(" or "),
            rpcs + others
        ),
    };
    let severity = if covered_share >= case.limit("critical_share") { Severity::Critical } else { Severity::Warning };
    let draft = case
        .finding(severity, Confidence::Medium, title)
        .explain(format!(
            "They took {own_ms:.0} ms on average, the others {others_ms:.0} ms; one of them or more was under way for {:.2} s. No log names the \
             OST of a sync. {} A server that keeps what is written in memory at first (ZFS) shows a slow disk in syncs only.",
            real(syncs.covered_us) / 1e6,
            match &names[..] {
                [_] => "Their clients had written to this one only of the server's.",
                _ => "Their clients had written as much to each of these.",
            }
        ))
        .evidence("sync_ratio", *ratio)
        .evidence("sync_share", covered_share)
        .evidence("syncs", real(*rpcs))
        .evidence("other_syncs", real(*others))
        .evidence("sync_ms", own_ms)
        .evidence("other_sync_ms", others_ms)
        .evidence("chance", syncs.chance)
        .targets(names.iter().copied())
        .nodes([node.as_str()])
        .interval(Some(Interval { start: syncs.first, end: syncs.last }))
        .cost(longer_s, Cost::WallTime);
    match &names[..] {
        [one] => draft.remedies_of_device(one),
        several => draft.remedy(format!(
            "Look at the devices below {}: RAID rebuild, failing disk, full or fragmented pool (`iostat -x`, `zpool iostat -v`, `lfs df`); which of \
             them it is, a file on each shows (`lfs setstripe -i`, write, fsync), or obdfilter-survey.",
            few(several)
        )),
    }
    .done()
}
