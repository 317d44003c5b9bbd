//! What a user must know before believing the figures, in sentences.

use lioprof_model::units::{human_bounds, human_bytes, plural, thousands};
use lioprof_model::{Analysis, Io};

use crate::aggregate::both;
use crate::node::{Limit, NodeAccount};
use crate::run::share;

/// Loss above this share is warned about.
const LOSS: f64 = 0.01;
/// Unsized, unattributed or estimated traffic above this share is warned about.
const UNCERTAIN: f64 = 0.01;

/// What the inputs show.
pub(crate) fn early(results: &[NodeAccount], analysis: &Analysis) -> Vec<String> {
    let mut warnings = Vec::new();
    for result in results {
        for limit in [&result.from, &result.to] {
            if let Some(Limit::Marker(text)) = limit {
                let name = &result.name;
                warnings.push(format!(
                    "the marker `{text}` is not in the log of {name}: `lctl mark` lines are listed under markers"
                ));
            }
        }
        if result.duplicates > 0 {
            let (name, n) = (&result.name, result.duplicates);
            warnings.push(format!("{name}: {n} records were in two inputs and counted once"));
        }
    }
    for input in &analysis.inputs {
        if input.bad_records > 0 && !analysis.loss.head_overwritten {
            // Rows that were kept do not say where.
            let first = input.bad_places.first();
            let first = first.map(|place| format!("; first at byte {}: {}", place.offset, place.why));
            warnings.push(format!(
                "{}: {} in {} are no records{}",
                input.path,
                plural(input.skipped_bytes, "byte"),
                plural(input.bad_records, "place"),
                first.unwrap_or_default()
            ));
        }
        let malformed: u64 = input.malformed.values().sum();
        if malformed > 0 {
            let kinds: Vec<&str> = input.malformed.keys().map(String::as_str).collect();
            warnings.push(format!(
                "{}: {malformed} messages of known kinds have an unknown form ({}): a newer Lustre? please report",
                input.path,
                kinds.join(", ")
            ));
        }
    }
    let loss = &analysis.loss;
    if loss.torn_seams > 0 {
        warnings.push(
            "the debug daemon's file has wrapped: older records are overwritten, how many is unknown; start the daemon \
             with a larger size, or rotate its file"
                .to_owned(),
        );
    } else if loss.streams_without_head > 0 {
        warnings.push(format!(
            "the log of {} begins in the middle: records before it were overwritten, or filtered out; run `lctl clear` \
             before a capture, and use the debug daemon for long ones",
            plural(loss.streams_without_head, "CPU buffer")
        ));
    }
    if let Some(lost) = loss.estimated_lost_fraction.filter(|&lost| lost > LOSS) {
        warnings.push(format!(
            "about {:.1} % of the RPCs are not in the log: enlarge debug_mb, or trace less",
            100.0 * lost
        ));
    }
    if loss.dropped_segment_bytes > 0 {
        warnings.push(format!(
            "the capture daemon gave up {} of log with {} because decoding could not keep up: trace less, or allow \
             it more CPU time and more room for segments",
            human_bytes(loss.dropped_segment_bytes),
            plural(loss.dropped_segment_rpcs, "RPC")
        ));
    }
    if loss.discarded_heads > 0 {
        warnings.push(format!(
            "the kernel discarded records at {} (debug buffer overflow): enlarge debug_mb",
            plural(loss.discarded_heads, "place")
        ));
    }
    if loss.kernel_overflows > 0 {
        warnings.push(format!(
            "the kernel said {} that its debug buffer overflowed: enlarge debug_mb",
            plural(loss.kernel_overflows, "time")
        ));
    }
    if loss.dropped_segments > 0 {
        warnings.push(format!(
            "{} of the log ({}) went before they were read: the manifests beside the rows say when and why",
            plural(loss.dropped_segments, "piece"),
            human_bytes(loss.dropped_segment_bytes)
        ));
    }
    if loss.clock_steps > 0 {
        warnings.push(format!(
            "time goes back at {}: the clock was stepped, or the log is not sorted; times around there are wrong",
            plural(loss.clock_steps, "place")
        ));
    }
    for result in results {
        if result.summary.rpctrace_records == 0 {
            let name = &result.name;
            warnings.push(format!(
                "{name}: no rpctrace records: enable them with `lctl set_param debug=+rpctrace` before capturing"
            ));
        }
    }
    warnings
}

/// What the figures show.
pub(crate) fn late(analysis: &Analysis) -> Vec<String> {
    let mut warnings = Vec::new();
    let totals = &analysis.totals;
    let all = both(totals);
    let mut unattributed = Io::default();
    unattributed.merge(&totals.unattributed.read);
    unattributed.merge(&totals.unattributed.write);
    for node in &analysis.nodes {
        if let Some(sampled) = &node.sampled {
            warnings.push(format!(
                "{} was traced {:.1} % of the time only: counts and bytes are of that time; `sampled` in the JSON estimates \
                 the whole ({} RPCs, {} read, {} written)",
                node.name,
                100.0 * sampled.traced_share,
                thousands(whole(sampled.estimated_rpcs)),
                human_bytes(whole(sampled.estimated_read_bytes)),
                human_bytes(whole(sampled.estimated_write_bytes)),
            ));
        }
    }
    let remedy = "capture with `lctl set_param subsystem_debug=\"rpc filter ldlm\" debug=\"+rpctrace +dlmtrace +net\"`";
    if share(unattributed.rpcs, all.rpcs) > UNCERTAIN {
        warnings.push(format!(
            "the OST of {} of {} reads and writes is unknown (direct I/O names none under rpctrace alone): {remedy}",
            unattributed.rpcs, all.rpcs
        ));
    }
    if share(all.unsized_rpcs, all.rpcs) > UNCERTAIN {
        warnings
            .push(format!("the size of {} of {} reads and writes is unknown: {remedy}", all.unsized_rpcs, all.rpcs));
    }
    if share(all.bounded_rpcs, all.rpcs) > UNCERTAIN {
        warnings.push(format!(
            "the size of {} of {} reads and writes is estimated, the true sum is {}: {remedy}",
            all.bounded_rpcs,
            all.rpcs,
            human_bounds(all.bytes_min, all.bytes_max)
        ));
    }
    if totals.rpcs == 0 {
        warnings.push("no handled RPC is in the selected part of the log".to_owned());
    }
    warnings
}

/// An estimate as a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "estimates are not negative; too large ones saturate"
)]
fn whole(estimate: f64) -> u64 {
    estimate.round() as u64
}
