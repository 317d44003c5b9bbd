//! `trace-quality`: what the capture lost or cannot tell, and what to change in the next one.

use lioprof_model::{Analysis, Confidence, Finding, Io, Severity};

use super::case::Case;
use super::stats::{real, share};
use super::{Limit, Look, Rule};

pub(super) const RULE: Rule = Rule {
    id: "trace-quality",
    meaning: "the capture has lost records, or lacks what is needed to tell who moved how much where",
    limits: &[
        Limit {
            name: "lost_share",
            default: 0.01,
            meaning: "share of RPCs, or of bytes of the log, lost from which figures are too low",
        },
        Limit { name: "critical_share", default: 0.2, meaning: "the same from which they are worth little" },
        Limit {
            name: "half_share",
            default: 0.02,
            meaning: "share of RPCs of which only one half is there, beginning and end aside",
        },
        Limit {
            name: "unknown_share",
            default: 0.05,
            meaning: "share of reads and writes of unknown OST or size, from which it is worth a note",
        },
        Limit {
            name: "estimated_share",
            default: 0.1,
            meaning: "width of the bounds on all bytes over the best estimate, from which it is worth a note",
        },
    ],
    plots: &[],
    look,
};

const MASKS: &str = "Capture with `lctl set_param subsystem_debug=\"rpc filter ldlm\" debug=\"+rpctrace +dlmtrace +net\"`: then every OST \
     and every size is known.";

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let found: Vec<Finding> = [no_rpcs(case), lost(case), clock(case), unknown(case)].into_iter().flatten().collect();
    if found.is_empty() && analysis.loss.estimated_lost_fraction.is_none() {
        return Look::NotEnoughEvidence(analysis.loss.estimate.clone());
    }
    Look::of(found)
}

fn no_rpcs(case: &Case<'_>) -> Option<Finding> {
    let records: u64 = case.analysis.inputs.iter().map(|input| input.records).sum();
    if case.analysis.totals.rpcs > 0 || records == 0 {
        return None;
    }
    let finding = case
        .finding(Severity::Critical, Confidence::High, "There is no handled RPC in the capture")
        .explain(format!(
            "The log has {records} records, none of them of a request that a service handled: rpctrace was not in the mask, it is \
             a client's log, or the selection leaves nothing.",
        ))
        .evidence("records", real(records))
        .remedy("Enable it on the servers before the capture: `lctl set_param debug=+rpctrace`.")
        .done();
    Some(finding)
}

/// Records that are gone: what can be counted, and what cannot.
fn lost(case: &Case<'_>) -> Option<Finding> {
    let loss = &case.analysis.loss;
    let bytes: u64 = case.analysis.inputs.iter().map(|input| input.bytes).sum::<u64>() + loss.dropped_segment_bytes;
    let skipped: u64 =
        case.analysis.inputs.iter().map(|input| input.skipped_bytes).sum::<u64>() + loss.dropped_segment_bytes;
    let bytes_share = share(real(skipped), real(bytes));
    let rpcs_share = loss.estimated_lost_fraction;
    let halves = loss.missing_handled + loss.missing_handling;
    // Requests that run when the capture begins or ends are no loss: as many as there are threads, at most.
    let threads: u64 = case.analysis.services.iter().map(|service| service.threads).sum();
    let half_share = share(real(halves.saturating_sub(threads)), real(case.analysis.totals.rpcs));
    let share_lost = rpcs_share.unwrap_or(0.0).max(bytes_share);
    let overflow = loss.discarded_heads + loss.kernel_overflows;
    let limit = case.limit("lost_share");
    let known = share_lost >= limit;
    if !known && !loss.head_overwritten && overflow == 0 && half_share < case.limit("half_share") {
        return None;
    }
    let severity = if share_lost >= case.limit("critical_share") { Severity::Critical } else { Severity::Warning };
    let title = if known {
        format!(
            "{:.1} % of the {} not in the capture",
            100.0 * share_lost,
            if rpcs_share.unwrap_or(0.0) >= bytes_share { "RPCs are" } else { "log is" }
        )
    } else if loss.head_overwritten {
        "The beginning of the capture was overwritten".to_owned()
    } else if overflow > 0 {
        format!("The kernel's debug buffer overflowed at {overflow} places")
    } else {
        format!("Of {:.1} % of the RPCs only one half is in the capture", 100.0 * half_share)
    };
    let mut finding = case
        .finding(severity, Confidence::High, title)
        .explain(format!(
            "Counts and bytes are too low by what is missing, and pairs of lines are torn. Rates and mixes of what is left are \
             good. The estimate rests on: {}.",
            loss.estimate,
        ))
        .evidence("log_bytes_lost_share", bytes_share)
        .evidence("rpcs_of_one_half", real(halves))
        .evidence("buffer_overflows", real(overflow))
        .evidence("dropped_segments", real(loss.dropped_segments))
        .evidence("torn_seams", real(loss.torn_seams))
        .evidence("bad_records", real(loss.bad_records));
    if let Some(rpcs_share) = rpcs_share {
        finding = finding.evidence("rpcs_lost_share", rpcs_share);
    }
    if loss.torn_seams > 0 || loss.head_overwritten {
        finding = finding.remedy(
            "Let the debug daemon's file be larger (`lctl debug_daemon start FILE MEGABYTES`), capture for a shorter time, or \
             use `lioprof daemon`, which drains it while it grows. Run `lctl clear` before.",
        );
    }
    if overflow > 0 || known {
        finding = finding
            .remedy("Enlarge the kernel's buffer: `lctl set_param debug_mb=1024` (it is divided among the CPUs).")
            .remedy(
                "Trace less: `subsystem_debug=\"rpc filter ldlm\"`, no mask net, or profile light of `lioprof daemon`.",
            );
    }
    if loss.dropped_segments > 0 {
        finding = finding.remedy(
            "Give the capture daemon more CPU time and room for segments: `lioprof status` shows what it lacks.",
        );
    }
    Some(
        finding
            .remedy("Capture with both `rpctrace` lines of each request: no `grep` and no size limit on the log.")
            .done(),
    )
}

fn clock(case: &Case<'_>) -> Option<Finding> {
    let steps = case.analysis.loss.clock_steps;
    // Where a ring was overwritten, time goes back without any clock.
    if steps == 0 || case.analysis.loss.torn_seams > 0 {
        return None;
    }
    let finding = case
        .finding(Severity::Warning, Confidence::Medium, format!("Time goes back at {steps} places of the log"))
        .explain(
            "The clock was stepped, or the records are not in the order in which they were written. Times and waits around \
             these places are wrong; RPCs across one have none.",
        )
        .evidence("clock_steps", real(steps))
        .remedy("Let chrony or ntpd slew the clock during captures, and not step it (`chronyc tracking`).")
        .remedy("Give the log as the kernel wrote it: binary, or `lctl debug_file` output that nobody has sorted otherwise.")
        .done();
    Some(finding)
}

/// Reads and writes of which OST or size is unknown.
fn unknown(case: &Case<'_>) -> Option<Finding> {
    let (all, unattributed) = io(case.analysis);
    let unattributed_share = share(real(unattributed.rpcs), real(all.rpcs));
    let unsized_share = share(real(all.unsized_rpcs), real(all.rpcs));
    let width = share(real(all.bytes_max - all.bytes_min.min(all.bytes_max)), real(all.bytes));
    let unknown = case.limit("unknown_share");
    let estimated = width >= case.limit("estimated_share");
    if unattributed_share < unknown && unsized_share < unknown && !estimated {
        return None;
    }
    let title = if unattributed_share >= unknown.max(unsized_share) {
        format!("The OST of {:.0} % of the reads and writes is unknown", 100.0 * unattributed_share)
    } else if unsized_share >= unknown {
        format!("The size of {:.0} % of the reads and writes is unknown", 100.0 * unsized_share)
    } else {
        format!("The bytes moved are known within {:.0} % only", 100.0 * width)
    };
    let finding = case
        .finding(Severity::Info, Confidence::High, title)
        .explain(format!(
            "Of {} reads and writes, {} name no OST, {} have no size and {} have one within bounds. rpctrace alone shows neither \
             for direct I/O, and Lustre 2.17 turns large buffered I/O into direct I/O. Figures per OST and rules that compare \
             OSTs rest on the others.",
            all.rpcs, unattributed.rpcs, all.unsized_rpcs, all.bounded_rpcs,
        ))
        .evidence("unattributed_share", unattributed_share)
        .evidence("unsized_share", unsized_share)
        .evidence("bytes_uncertainty_share", width)
        .remedy(MASKS)
        .done();
    Some(finding)
}

/// Reads and writes, and those of unknown OST.
fn io(analysis: &Analysis) -> (Io, Io) {
    let totals = &analysis.totals;
    let mut all = totals.read.clone();
    all.merge(&totals.write);
    let mut unattributed = totals.unattributed.read.clone();
    unattributed.merge(&totals.unattributed.write);
    (all, unattributed)
}
