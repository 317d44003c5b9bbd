//! The warnings of an analysis: one sentence for each reason not to trust its figures blindly.

use std::collections::BTreeMap;

use lioprof_model::units::share;
use lioprof_model::units::{human_bounds, human_bytes, plural, thousands};
use lioprof_model::{
    Analysis, Format, Input, Loss, LossEvidence, NEVER_ON_DISK, SeveralServers, UnreadRpcs, WhyNoTarget,
};

use crate::aggregate::both;
use crate::interval::Limit;
use crate::node::NodeAccount;

/// Warn if a larger share of the reads and writes has an unknown OST, or an unknown or estimated size.
const UNCERTAIN: f64 = 0.01;

/// What was done to an input that did not arrive as it was logged.
pub(crate) fn repaired(input: &Input) -> Option<String> {
    if input.envelope.is_empty() {
        return None;
    }
    let kinds: Vec<String> =
        input.envelope.iter().map(|(kind, lines)| format!("{kind} {}", thousands(*lines))).collect();
    let has = |kind: &str| input.envelope.contains_key(kind);
    let lost = if input.format == Format::KernelLog { "events" } else { "requests, or what they were about," };
    // A break may have gone through what stood for a character, or have come first: then nobody knows where lines were full.
    let doubt = if has("wrapped") && (has("characters") || has("at_sign")) {
        let by = if input.format == Format::KernelLog { "the kernel" } else { "`lctl`" };
        format!(
            "; its lines were broken and characters in them replaced, too, in one order or the other, so {lost} may be missing from the \
             figures: hand in the log as {by} wrote it if you can"
        )
    } else {
        String::new()
    };
    Some(format!(
        "{} did not arrive as it was logged; lines repaired, by kind: {}{doubt}",
        input.path,
        kinds.join(", ")
    ))
}

/// Warnings that follow from the inputs and from what is lost; of RPCs, a larger share than `noted_loss`.
pub(crate) fn early(results: &[NodeAccount], analysis: &Analysis, noted_loss: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    for result in results {
        for limit in [&result.interval.from, &result.interval.to] {
            if let Some(Limit::Marker(text)) = limit {
                let name = &result.name;
                warnings.push(format!(
                    "the log of {name} has no marker `{text}`: its `lctl mark` lines are listed under `markers`"
                ));
            }
        }
        warnings.extend(result.warnings.iter().cloned());
        if result.duplicates > 0 {
            let (name, n) = (&result.name, result.duplicates);
            let were = if n == 1 { "was" } else { "were" };
            warnings.push(format!("{name}: {} {were} in two inputs, but counted only once", plural(n, "record")));
        }
    }
    for input in &analysis.inputs {
        warnings.extend(repaired(input));
        if let Some(UnreadRpcs { text: Some(text), word, .. }) = &input.unread {
            let word = word.as_deref().unwrap_or_default();
            warnings.push(format!(
                "{}: rpctrace was on, but no request can be read. The first such text is \"{text}\"; \"{word}\" does not fit",
                input.path
            ));
        }
        if input.bad_records > 0 && !analysis.loss.head_overwritten {
            // Stored rows keep no bad places.
            let first = input.bad_places.first();
            let first = first.map(|place| format!("; first at byte {}: {}", place.offset, place.why));
            warnings.push(format!(
                "{}: {} in {} could not be decoded as records{}",
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
                "{}: could not parse {} of known kinds ({}): cut lines, as at the end of a log that was copied while it grew, or wordings of a newer Lustre version (please report these)",
                input.path,
                plural(malformed, "message"),
                kinds.join(", ")
            ));
        }
    }
    warnings.extend(of_several_servers(analysis));
    let loss = &analysis.loss;
    if loss.torn_seams > 0 {
        warnings.push(
            "the debug daemon's file has wrapped and overwritten an unknown number of older records: start the daemon with \
             a larger size, or rotate its file"
                .to_owned(),
        );
    } else if loss.streams_without_head > 0 && analysis.filtered().is_none() {
        warnings.push(format!(
            "the log of {} begins in the middle: earlier records were overwritten or filtered out; run `lctl clear` \
             before each capture, and use the debug daemon for long captures",
            plural(loss.streams_without_head, "CPU buffer")
        ));
    }
    let most = loss.estimated_lost_fraction.map(|lost| lost.max(loss.lost_fraction_max.unwrap_or(lost)));
    if let Some(missing) = loss.missing().filter(|_| most.is_some_and(|lost| lost > noted_loss)) {
        let cause = match loss.given_up_because() {
            None if !loss.overflowed() && loss.unread_rpcs > 0 => "rows cannot be read".to_owned(),
            Some(why) if !loss.overflowed() => format!("the capture daemon gave up pieces of the log: {why}"),
            Some(why) => {
                format!("the kernel's debug buffer overflowed, and the capture daemon gave up pieces of the log: {why}")
            }
            None if loss.overflowed() => {
                format!("the kernel's debug buffer overflowed: {}, or trace less", larger_buffer(loss))
            }
            None => format!("{}, or trace less", larger_buffer(loss)),
        };
        warnings.push(format!(
            "{missing} of the RPCs are not in the log, according to {}: {cause}",
            evidence(loss.decided_by)
        ));
    } else if loss.estimated_lost_fraction.is_none() && loss.overflowed() && !loss.head_overwritten {
        warnings.push(format!("an unknown number of records is missing: {}", loss.estimate));
    }
    let never = loss.never_on_disk();
    if never > 0 {
        warnings.push(format!(
            "{} of the log {} lost ({NEVER_ON_DISK}), with an unknown number of RPCs; the manifests beside the rows say when. \
             Rows survive a crash once their part is closed (lower keep.file_age to close parts more often). Segments in memory, \
             such as in /run, never survive; of segments on a disk (capture.spool_dir) only what was written back does",
            plural(never, "piece"),
            if never == 1 { "is" } else { "are" },
        ));
    }
    if loss.unread_rpcs > 0 {
        warnings.push(format!(
            "{} in {} of the dataset cannot be read: files are damaged, missing or copied in part; copy the dataset again",
            plural(loss.unread_rpcs, "RPC"),
            plural(loss.unread_parts, "part"),
        ));
    }
    if let Some(why) = loss.given_up_because() {
        let were = if loss.given_up() == 1 { "was" } else { "were" };
        warnings.push(format!(
            "{} of the log ({}, {}) {were} lost unread: {why}; the manifests beside the rows say when. Trace \
             less, or allow the capture daemon more CPU time (budget.cpu_percent) and more room for segments (capture.spool_limit_mib)",
            plural(loss.given_up(), "piece"),
            human_bytes(loss.dropped_segment_bytes),
            plural(loss.dropped_segment_rpcs, "RPC")
        ));
    }
    if loss.discarded_heads > 0 {
        warnings.push(format!(
            "the kernel discarded records at {} (debug buffer overflow): {}",
            plural(loss.discarded_heads, "place"),
            larger_buffer(loss)
        ));
    }
    if loss.kernel_overflows > 0 {
        warnings.push(format!(
            "the kernel reported {} of its debug buffer: {}",
            plural(loss.kernel_overflows, "overflow"),
            larger_buffer(loss)
        ));
    }
    // Where one server's log follows on another's, time goes back, too.
    if loss.clock_steps > 0
        && analysis.inputs.iter().all(|input| input.several_servers.as_ref().is_none_or(|it| it.since.is_some()))
    {
        warnings.push(format!(
            "time goes backwards at {}: the clock was stepped, the log is sorted otherwise, or dumps follow on each other in \
             one file; nearby times are wrong, and what two dumps hold counts twice",
            plural(loss.clock_steps, "place")
        ));
    }
    for result in results {
        if result.summary.rpctrace_records == 0 {
            let name = &result.name;
            warnings.push(format!(
                "the log of {name} has no rpctrace records: enable them with `lctl set_param debug=+rpctrace` before capturing"
            ));
        }
    }
    warnings
}

/// Logs that were put together of several servers' logs.
fn of_several_servers(analysis: &Analysis) -> Vec<String> {
    let mut nodes: BTreeMap<&str, (&SeveralServers, Vec<&str>)> = BTreeMap::new();
    for input in &analysis.inputs {
        if let Some(evidence) = &input.several_servers {
            nodes.entry(&input.node).or_insert((evidence, Vec::new())).1.push(&input.path);
        }
    }
    let sentences = nodes.into_values().map(|(evidence, paths)| {
        let clock = match evidence.pids {
            _ if evidence.since.is_some() => ", unless the server was booted meanwhile",
            [one, other] if one == other => ", unless its clock was set back",
            _ => "",
        };
        if let [path] = paths[..] {
            format!(
                "{path} holds the logs of two servers or more{clock}: {evidence}. Their RPCs are counted, but as those of one node; \
                 give each server's log as a file of its own, or the lines with their hosts' names before them (as `pdsh` prints them)"
            )
        } else {
            format!(
                "{} are taken for one server's logs, but hold those of two servers or more{clock}: {evidence}; say which node each is \
                 of with --node NAME=PATTERN",
                paths.join(", ")
            )
        }
    });
    sentences.collect()
}

/// A short remedy for overflows. Where the capture daemon runs, it sets the size of the buffer itself.
fn larger_buffer(loss: &Loss) -> &'static str {
    if loss.is_of_daemon() {
        "allow the capture daemon a larger buffer (capture.buffer_mib, capture.buffer_limit_mib), and put its spool on a file \
         system that is never full, slow or frozen (capture.spool_dir)"
    } else {
        "enlarge debug_mb, and write the log to a file system that is never full, slow or frozen"
    }
}

/// `1 read or write`, `2 reads and writes`.
fn plural_io(rpcs: u64) -> String {
    if rpcs == 1 { "1 read or write".to_owned() } else { format!("{} reads and writes", thousands(rpcs)) }
}

/// The source of the loss estimate, for people.
fn evidence(evidence: LossEvidence) -> &'static str {
    match evidence {
        LossEvidence::Counters => "the servers' own counters",
        LossEvidence::GivenUp => "the capture daemon's count",
        LossEvidence::Mixed => "the servers' own counters and the request schedulers' sequence numbers",
        LossEvidence::Sequence | LossEvidence::Unknown => "the request schedulers' sequence numbers",
    }
}

/// An estimated number of bytes, for people.
fn estimate(bytes: Option<f64>) -> String {
    bytes.map_or_else(|| "an unknown number of bytes".to_owned(), |bytes| human_bytes(whole(bytes)))
}

/// Warnings that follow from the figures.
pub(crate) fn late(analysis: &Analysis) -> Vec<String> {
    let mut warnings = Vec::new();
    let totals = &analysis.totals;
    let all = both(totals);
    let unattributed = totals.unattributed.together();
    for node in &analysis.nodes {
        if let Some(sampled) = &node.sampled {
            let stretches = sampled.traced.len() as u64 + sampled.traced_omitted;
            let of_unknown_size = if sampled.unsized_rpcs == 0 {
                String::new()
            } else {
                let known = sampled.estimated_read_bytes_min + sampled.estimated_write_bytes_min;
                let is_estimated = sampled.estimated_read_bytes.is_some() && sampled.estimated_write_bytes.is_some();
                format!(
                    "; {} of unknown size{}; the others moved {}",
                    plural(sampled.unsized_rpcs, "RPC"),
                    if is_estimated { " taken as large as the others" } else { "" },
                    human_bytes(whole(known))
                )
            };
            warnings.push(format!(
                "{} was traced for only {:.1} % of the time ({:.1} s in {}): counts and bytes cover that part; `sampled` in the \
                 JSON estimates all of the time ({} RPCs, {} read, {} written{of_unknown_size})",
                node.name,
                100.0 * sampled.traced_share,
                sampled.traced_s,
                plural(stretches, "part"),
                thousands(whole(sampled.estimated_rpcs)),
                estimate(sampled.estimated_read_bytes),
                estimate(sampled.estimated_write_bytes),
            ));
        }
    }
    let remedy = match analysis.filtered() {
        Some(_) => "give the whole log",
        None => "capture with `lctl set_param subsystem_debug=\"rpc filter ldlm\" debug=\"+rpctrace +dlmtrace +net\"`",
    };
    if share(unattributed.rpcs, all.rpcs) > UNCERTAIN {
        let why = match analysis.why_no_target() {
            WhyNoTarget::Failed => "they failed before they reached one".to_owned(),
            WhyNoTarget::Filtered => "the lines that name it were filtered out".to_owned(),
            WhyNoTarget::LinesLost => "the lines that name it were lost".to_owned(),
            WhyNoTarget::Masks => format!("direct I/O logs no OST under rpctrace alone; {remedy}"),
        };
        warnings.push(format!(
            "the OST of {} of {} is unknown: {why}",
            thousands(unattributed.rpcs),
            plural_io(all.rpcs),
        ));
    }
    if share(all.unsized_rpcs, all.rpcs) > UNCERTAIN {
        warnings.push(format!("the size of {} of {} is unknown: {remedy}", all.unsized_rpcs, plural_io(all.rpcs)));
    }
    if share(all.bounded_rpcs, all.rpcs) > UNCERTAIN {
        warnings.push(format!(
            "the size of {} of {} is only estimated, and the true sum is {}: {remedy}",
            all.bounded_rpcs,
            plural_io(all.rpcs),
            human_bounds(all.bytes_min, all.bytes_max)
        ));
    }
    if totals.rpcs == 0 {
        warnings.push(match analysis.sent_by_clients() {
            Some(sent) => {
                format!("{sent}; only the servers' logs show their outcome and size: add these logs")
            }
            None => "the selected part of the log has no handled RPC".to_owned(),
        });
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

#[cfg(test)]
#[path = "warnings_tests.rs"]
mod tests;
