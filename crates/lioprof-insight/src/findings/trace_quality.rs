//! `trace-quality`: what the capture lost or cannot tell, and what to change in the next one.

use std::collections::BTreeSet;

use lioprof_model::analysis::NOTED_LOSS;
use lioprof_model::time::utc_of;
use lioprof_model::units::{human_bytes, percent, plural};
use lioprof_model::{
    Analysis, Confidence, Filtered, Finding, Format, Io, Loss, LossEvidence, Node, NodeRole, Severity, SpentOn,
    TargetKindName, UnreadRpcs, WhyNoTarget,
};

use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "trace-quality",
    question: Question::Capture,
    explains: &[],
    meaning: "the capture has lost records, or lacks what is needed to tell who moved how much where",
    limits: &[
        limit("lost_share", NOTED_LOSS, "share of RPCs, or of bytes of the log, lost from which figures are too low"),
        limit("critical_share", 0.2, "the same from which they are worth little"),
        limit("half_share", 0.02, "share of RPCs of which only one half is there, beginning and end aside"),
        limit(
            "open_share",
            0.25,
            "requests that are being handled when the capture ends over reads and writes before, from which nothing is called healthy",
        ),
        limit(
            "elsewhere_share",
            0.25,
            "share of the clients' time that is spent at no traced server, from which nothing is called healthy while the log of an OSS is missing",
        ),
        limit("unknown_share", 0.05, "share of reads and writes of unknown OST or size, from which it is worth a note"),
        limit(
            "estimated_share",
            0.1,
            "width of the bounds on all bytes over the best estimate, from which it is worth a note",
        ),
    ],
    plots: &[],
    note: false,
    look,
};

/// What the device's name has by which an MDT talks to OSTs (`lustre/lod/lod_dev.c`, `lustre/osp/osp_dev.c`: the client's uuid is that of
/// the MDT's logical object device).
const MDT_TO_OSTS: &str = "-mdtlov";

const MASKS: &str = "Capture with `lctl set_param subsystem_debug=\"rpc filter ldlm\" debug=\"+rpctrace +dlmtrace +net\"`: then every OST \
     and every size is known.";

const NOTHING_LOST: &str =
    "Capture without loss, with masks as they are: what loses records is told under trace-quality.";

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let found: Vec<Finding> = [no_rpcs(case), filtered(case), one_server(case), lost(case), clock(case), unknown(case)]
        .into_iter()
        .flatten()
        .collect();
    Nothing::cannot_tell_if(
        found.is_empty() && analysis.loss.estimated_lost_fraction.is_none(),
        analysis.loss.estimate.clone(),
    )?;
    let ended = analysis.totals.read.rpcs + analysis.totals.write.rpcs;
    let open = analysis.loss.missing_handled + analysis.window.under_way_rpcs.unwrap_or(0);
    Nothing::cannot_tell_if(
        found.is_empty() && open > 0 && real(open) >= case.limit("open_share") * real(ended),
        format!(
            "at its end {open} requests are being handled, after {ended} reads and writes: those that take longest are missing"
        ),
    )?;
    let elsewhere = analysis.time_account.all.as_ref().map_or(0.0, |all| all.share_on(SpentOn::Nothing));
    let missing = missing_servers(analysis);
    Nothing::cannot_tell_if(
        found.is_empty() && !missing.is_empty() && elsewhere >= case.limit("elsewhere_share"),
        format!(
            "{} of the clients' time is spent elsewhere than at these servers, and the log of an OSS is missing: MDTs talk to OSTs at {}; \
             add it",
            percent(elsewhere, 0),
            missing.join(", ")
        ),
    )?;
    Ok(found)
}

/// NIDs of servers with OSTs, if there are more than servers with OSTs whose logs are here. Which of them those are is in no log.
fn missing_servers(analysis: &Analysis) -> Vec<&str> {
    // An OSS that had next to nothing to do may not name its OSTs.
    let is_oss = |node: &Node| {
        matches!(node.role, Some(NodeRole::Oss | NodeRole::MdsOss))
            || analysis.targets.iter().any(|it| it.node == node.name && it.kind == TargetKindName::Ost)
    };
    let peers = |node: &str| -> Vec<&str> {
        let of_mdts = analysis
            .sent
            .iter()
            .filter(|it| it.node == node && it.device.contains(MDT_TO_OSTS) && it.name.starts_with("OST_"));
        let nids = of_mdts.filter(|sent| !sent.nid.ends_with("@lo")).map(|sent| sent.nid.as_str());
        let nids: BTreeSet<&str> = nids.collect();
        let others = analysis.nodes.iter().filter(|other| other.name != node && is_oss(other)).count();
        if nids.len() > others { nids.into_iter().collect() } else { Vec::new() }
    };
    analysis.nodes.iter().map(|node| peers(&node.name)).max_by_key(Vec::len).unwrap_or_default()
}

fn no_rpcs(case: &Case<'_>) -> Option<Finding> {
    let debug_logs = case.analysis.inputs.iter().filter(|input| input.format != Format::KernelLog);
    let records: u64 = debug_logs.map(|input| input.records).sum();
    // Logs of clients are as they should be, only not enough: a note says so.
    if case.analysis.totals.rpcs > 0 || records == 0 || case.analysis.sent_by_clients().is_some() {
        return None;
    }
    let (selected, all) = (&case.analysis.selected, plural(records, "record"));
    let (title, explanation, remedy) = if case.analysis.window.limited {
        let of = if selected.is_everything() { String::new() } else { format!(" that matches {}", selected.options()) };
        let inputs = &case.analysis.inputs;
        let first = inputs.iter().filter_map(|input| input.first).reduce(f64::min);
        let last = inputs.iter().filter_map(|input| input.last).reduce(f64::max);
        let span =
            first.zip(last).map(|(first, last)| format!(" The logs go from {} to {}.", utc_of(first), utc_of(last)));
        (
            format!("No handled RPC{of} ended in the time that was chosen"),
            format!("--from and --to leave nothing of {all}.{}", span.unwrap_or_default()),
            "Choose another time: `lioprof analyze` without --from and --to tells when what happened.",
        )
    } else if let Some(text) = unread_rpcs(case.analysis) {
        text
    } else if case.analysis.filtered() == Some(Filtered::Starts) {
        // It has been told what is missing.
        return None;
    } else if selected.is_everything() {
        (
            "There is no handled RPC in the capture".to_owned(),
            format!(
                "The log has {all}, none of them of a request that a service handled: rpctrace was not in the mask, or there was \
                 no request."
            ),
            "Enable it on the servers before the capture: `lctl set_param debug=+rpctrace`.",
        )
    } else {
        (
            format!("No handled RPC matches {}", selected.options()),
            format!("None of {all} is of a request that was selected."),
            "See who and what is in the capture: `lioprof analyze` without these options.",
        )
    };
    // What the log tells of without rpctrace is what it is for.
    let events = case.analysis.events.len() as u64;
    let severity = if selected.is_everything() && events > 0 { Severity::Info } else { Severity::Critical };
    let finding = case
        .finding(severity, Confidence::High, title)
        .explain(explanation)
        .evidence("records", real(records))
        .evidence("events", (events > 0).then(|| real(events)))
        .remedy(remedy)
        .done();
    Some(finding)
}

/// Title, explanation and remedy for records of rpctrace of which no request could be read.
fn unread_rpcs(analysis: &Analysis) -> Option<(String, String, &'static str)> {
    let unread: Vec<(&str, &UnreadRpcs)> =
        analysis.inputs.iter().filter_map(|input| Some((input.path.as_str(), input.unread.as_ref()?))).collect();
    let records = unread.iter().map(|(_, unread)| unread.records).sum();
    if records == 0 {
        return None;
    }
    let title = format!("No request could be read of {} of rpctrace", plural(records, "record"));
    let first =
        unread.iter().find_map(|(path, it)| Some((path, it.text.as_ref()?, it.word.as_deref().unwrap_or_default())));
    Some(match first {
        Some((path, text, word)) => (
            title,
            format!(
                "rpctrace was on, but the lines of requests are not in a form that is known. The first of them, in {path}: \"{text}\"; \
                 \"{word}\" does not fit. Expected: \"Handling RPC [req@POINTER] pname:cluuid+ref:pid:xid:nid:opc[:job] ..\"."
            ),
            "Give the log as `lctl dk` or `lctl debug_file` wrote it, not copied out of a window or a mail; if it is, please report this line \
             with the version of Lustre.",
        ),
        None => (
            title,
            "The log has neither `Handling RPC` nor `Handled RPC`, which rpctrace logs for each request: it was filtered, or it is of \
             a client."
                .to_owned(),
            "Give the whole log: without these lines nobody knows which requests there were.",
        ),
    })
}

/// Not all of each request's lines: somebody filtered the log.
fn filtered(case: &Case<'_>) -> Option<Finding> {
    let (severity, title, missing, remains) = match case.analysis.filtered()? {
        Filtered::Starts => {
            let starts = plural(case.analysis.loss.missing_handled, "request");
            (
                Severity::Critical,
                format!("The log has only the beginnings of {starts} (`Handling RPC`) and no end (`Handled RPC`)"),
                "A request's duration, result and bytes are in the lines that are missing",
                "who asked for what, and when, is all that is left",
            )
        }
        Filtered::Ends => {
            let ends = plural(case.analysis.totals.rpcs, "request");
            (
                Severity::Warning,
                format!("The log has only the ends of {ends} (`Handled RPC`) and no beginning (`Handling RPC`)"),
                "OSTs, objects and the bytes of writes are in lines that are missing",
                "clients, jobs, times and the bytes of reads are right",
            )
        }
        Filtered::NoArrivals => (
            Severity::Warning,
            "The log has no line of a request's arrival (`peer:`, `got req`): lines were picked out of it".to_owned(),
            "Whatever was not picked, such as other clients, jobs or threads, or lines that name an OST, is missing",
            "what there is of a request is right",
        ),
    };
    let finding = case
        .finding(severity, Confidence::High, title)
        .explain(format!(
            "rpctrace logs all lines of each request, and an overflow or a crash takes lines of all kinds: the log was filtered, for \
             example by `grep`. {missing}; {remains}."
        ))
        .evidence("rpcs_of_one_half", real(case.analysis.loss.missing_handled + case.analysis.loss.missing_handling))
        .remedy("Give the whole log, as `lctl dk` or `lctl debug_file` wrote it: lioprof selects by itself (`--opcode`, `--target`, `--job`).")
        .done();
    Some(finding)
}

/// Records that are gone: what can be counted, and what cannot.
fn lost(case: &Case<'_>) -> Option<Finding> {
    // What somebody filtered out was not lost.
    if case.analysis.filtered().is_some() {
        return None;
    }
    let loss = &case.analysis.loss;
    let bytes: u64 = case.analysis.inputs.iter().map(|input| input.bytes).sum::<u64>() + loss.dropped_segment_bytes;
    let skipped: u64 =
        case.analysis.inputs.iter().map(|input| input.skipped_bytes).sum::<u64>() + loss.dropped_segment_bytes;
    let bytes_share = share(real(skipped), real(bytes));
    let rpcs_share = loss.estimated_lost_fraction;
    let halves = loss.missing_handled + loss.missing_handling;
    // Requests that run when the capture ends are no loss, nor those when it begins: as many as there are threads, at most.
    let ended = halves.saturating_sub(case.analysis.under_way.len() as u64);
    let threads: u64 = case.analysis.services.iter().map(|service| service.threads).sum();
    let half_share = share(real(ended.saturating_sub(threads)), real(case.analysis.totals.rpcs));
    let share_lost = rpcs_share.unwrap_or(0.0).max(bytes_share);
    let overflow = loss.discarded_heads + loss.kernel_overflows;
    let limit = case.limit("lost_share");
    let known = share_lost >= limit;
    let never = loss.never_on_disk();
    if !known && !loss.head_overwritten && never == 0 && overflow == 0 && half_share < case.limit("half_share") {
        return None;
    }
    let severity = if share_lost >= case.limit("critical_share") { Severity::Critical } else { Severity::Warning };
    let title = if never > 0 {
        format!("The node went down: {} of the log never came to disk", plural(never, "piece"))
    } else if known {
        match about(loss).filter(|_| rpcs_share.unwrap_or(0.0) >= bytes_share) {
            Some(missing) => format!("The capture lost {missing} of the RPCs"),
            None => format!("The capture lost {} of the log", percent(share_lost, 0)),
        }
    } else if loss.head_overwritten {
        "The beginning of the capture was overwritten".to_owned()
    } else if overflow > 0 {
        format!("The kernel's debug buffer overflowed at {}", plural(overflow, "place"))
    } else {
        format!("For {} of the RPCs the log has only the start or only the end", percent(half_share, 0))
    };
    let unless_estimate = |bound: Option<f64>| {
        bound.zip(rpcs_share).filter(|(bound, share)| (bound - share).abs() > 0.0).map(|(bound, _)| bound)
    };
    let mut finding = case
        .finding(severity, Confidence::High, title)
        .explain(format!(
            "Counts and bytes are too low by what is missing. What was captured is still representative. The estimate rests \
             on: {}.",
            loss.estimate,
        ))
        .evidence("log_bytes_lost_share", bytes_share)
        .evidence("rpcs_of_one_half", real(halves))
        .evidence("buffer_overflows", real(overflow))
        .evidence("dropped_segments", real(loss.dropped_segments))
        .evidence("torn_seams", real(loss.torn_seams))
        .evidence("bad_records", real(loss.bad_records))
        .evidence("rpcs_lost_share", rpcs_share)
        .evidence("rpcs_lost_share_min", unless_estimate(loss.lost_fraction_min))
        .evidence("rpcs_lost_share_max", unless_estimate(loss.lost_fraction_max));
    if loss.torn_seams > 0 || loss.head_overwritten {
        finding = finding.remedy(
            "Let the debug daemon's file be larger (`lctl debug_daemon start FILE MEGABYTES`), capture for a shorter time, or \
             use `lioprof daemon`, which drains it while it grows. Run `lctl clear` before.",
        );
    }
    // What the daemon gave up was in the kernel's buffer, and in a file.
    if never > 0 {
        finding = finding.remedy(
            "Have parts closed more often (`keep.file_age`): their rows survive a power failure. Segments in memory, as in /run, do \
             not, and of those on a disk (`capture.spool_dir`) only what had been written back.",
        );
    }
    let unexplained = known && overflow + loss.dropped_segments + loss.unread_rpcs == 0;
    if unexplained && loss.is_of_daemon() {
        // Of an overflow the daemon knows: from what is left of the buffer, and from the kernel.
        finding = finding.remedy(
            "The kernel's buffer did not overflow: look for whoever took rpctrace out of the mask or emptied the buffer meanwhile (`lctl set_param debug=..`, `lctl clear`, `lctl dk`). The daemon's messages say which settings somebody else changed.",
        );
    } else if overflow > 0 || unexplained {
        finding = finding
            .remedy(if loss.is_of_daemon() {
                "Let the capture daemon use a larger buffer (`capture.buffer_mib`, or with \"auto\" `capture.buffer_limit_mib`)."
            } else {
                "Enlarge the kernel's buffer as far as the node's memory allows: `lctl set_param debug_mb=512` (it is divided \
                 among the CPUs)."
            })
            .remedy(
                "Look at the file system that the log is written to: the buffer also overflows while a slow, full or frozen one \
                 takes no data (`capture.spool_dir` of the daemon).",
            )
            .remedy(
                "Trace less: `subsystem_debug=\"rpc filter ldlm\"`, no mask net, or profile light of `lioprof daemon`.",
            );
    }
    if loss.unread_rpcs > 0 {
        finding = finding.remedy("Copy the dataset again: files of its rows are damaged, missing or copied in part.");
    }
    if let Some(why) = loss.given_up_because() {
        finding = finding.remedy(format!(
            "The capture daemon gave up pieces of the log ({why}): give it more CPU time and room for segments \
             (`budget.cpu_percent`, `capture.spool_limit_mib`), or trace less; `lioprof status` shows what it lacks.",
        ));
    }
    Some(
        finding
            .remedy("Capture with both `rpctrace` lines of each request: no `grep` and no size limit on the log.")
            .done(),
    )
}

/// The share of RPCs that is missing, without digits that chance makes: `about 20 %`; `None` if it is unknown or nothing.
fn about(loss: &Loss) -> Option<String> {
    loss.missing()?;
    let best = loss.estimated_lost_fraction.filter(|best| *best > 0.0);
    let whole = |share: f64| percent(share, usize::from(share < 0.01));
    Some(match best {
        Some(best) if loss.decided_by == LossEvidence::Counters => whole(best),
        Some(best) => format!("about {}", whole(best)),
        None => format!("up to {}", whole(loss.lost_fraction_max?)),
    })
}

/// Logs of one server that are taken for several servers'.
fn one_server(case: &Case<'_>) -> Option<Finding> {
    let servers = case.analysis.servers_with_several_names();
    let names = servers.first()?;
    let finding = case
        .finding(Severity::Critical, Confidence::High, format!("{} are one server", names.join(", ")))
        .explain(
            "Their logs hold the same RPCs, at the same microseconds: they are copies, or overlap. What they share is counted once for \
             each name, so sums are too high, and no two servers can be compared.",
        )
        .evidence("servers_with_several_names", real(servers.len() as u64))
        .remedy("Give all logs of the server one name (`--node NAME=PATTERN`): what several of them hold is then counted once.")
        .done();
    Some(finding)
}

fn clock(case: &Case<'_>) -> Option<Finding> {
    let steps = case.analysis.loss.clock_steps;
    // Where a ring was overwritten, or a log follows on another server's, time goes back without any clock.
    let several_servers =
        case.analysis.inputs.iter().any(|input| input.several_servers.as_ref().is_some_and(|it| it.since.is_none()));
    if steps == 0 || case.analysis.loss.torn_seams > 0 || several_servers {
        return None;
    }
    let finding = case
        .finding(Severity::Warning, Confidence::Medium, format!("Time goes back at {} of the log", plural(steps, "place")))
        .explain(
            "The clock was stepped, the records are not in the order in which they were written, or dumps follow on each \
             other in one file. Times and waits around these places are wrong; RPCs across one have none. What two dumps \
             hold counts twice.",
        )
        .evidence("clock_steps", real(steps))
        .remedy("Let chrony or ntpd slew the clock during captures, and not step it (`chronyc tracking`).")
        .remedy("Give the log as the kernel wrote it: binary, or `lctl debug_file` output that nobody has sorted otherwise.")
        .remedy("Give each dump as a file of its own: what stands in two of them then counts once.")
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
    let why_no_target = case.analysis.why_no_target();
    let title = if unattributed_share >= unknown && why_no_target == WhyNoTarget::Failed {
        format!("{} of the reads and writes failed before they reached an OST", percent(unattributed_share, 0))
    } else if unattributed_share >= unknown.max(unsized_share) {
        format!("The OST of {} of the reads and writes is unknown", percent(unattributed_share, 0))
    } else if unsized_share >= unknown {
        format!("The size of {} of the reads and writes is unknown", percent(unsized_share, 0))
    } else if width < 1.0 {
        format!("The bytes moved are known within {} only", percent(width, 0))
    } else {
        let [least, most] = [all.bytes_min, all.bytes_max].map(human_bytes);
        format!("The bytes moved are only known to be {least} to {most}")
    };
    let why = match why_no_target {
        WhyNoTarget::Failed => "Those without an OST ended with an error before a line named it.",
        WhyNoTarget::Filtered => "The lines that tell it were filtered out.",
        WhyNoTarget::LinesLost => "The lines that tell it are among those that the capture lost.",
        WhyNoTarget::Masks => {
            "rpctrace alone shows neither for direct I/O, and Lustre 2.17 turns large buffered I/O into direct I/O."
        }
    };
    let finding = case
        .finding(Severity::Info, Confidence::High, title)
        .explain(format!(
            "Of {} reads and writes, {} name no OST, {} have no size and {} have one within bounds. {why} Figures per OST and rules that compare \
             OSTs rest on the others.",
            all.rpcs, unattributed.rpcs, all.unsized_rpcs, all.bounded_rpcs,
        ))
        .evidence("unattributed_share", unattributed_share)
        .evidence("unsized_share", unsized_share)
        .evidence("bytes_uncertainty_share", width)
        .remedy(match why_no_target {
            WhyNoTarget::Filtered => "Give the whole log: lines that name the OST and the size were filtered out.",
            WhyNoTarget::Failed if unsized_share < unknown => "See why they failed: failed-requests.",
            WhyNoTarget::LinesLost if unsized_share < unknown => NOTHING_LOST,
            _ => MASKS,
        })
        .done();
    Some(finding)
}

/// Reads and writes, and those of unknown OST.
fn io(analysis: &Analysis) -> (Io, Io) {
    let totals = &analysis.totals;
    let mut all = totals.read.clone();
    all.merge(&totals.write);
    (all, totals.unattributed.together())
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Distribution, SentRpcs};

    use super::super::case::Shared;
    use super::super::limits::Limits;
    use super::*;

    #[test]
    fn what_failed_before_it_had_an_ost_is_no_fault_of_the_masks() {
        let writes = |rpcs, errors| Io { rpcs, errors, ..Io::default() };
        let mut analysis = Analysis::default();
        analysis.totals.write = writes(100, 40);
        analysis.totals.unattributed.write = writes(40, 40);
        let title = |analysis: &Analysis| {
            let (limits, shared) = (Limits::default(), Shared::default());
            let finding = unknown(&Case { analysis, rule: &RULE, limits: &limits, shared: &shared }).unwrap();
            (finding.title, finding.remedies[0].contains("dlmtrace"))
        };
        assert_eq!(
            title(&analysis),
            ("40 % of the reads and writes failed before they reached an OST".to_owned(), false)
        );
        // One that did not fail has none either: the masks do not show it.
        analysis.totals.unattributed.write = writes(41, 40);
        assert_eq!(title(&analysis), ("The OST of 41 % of the reads and writes is unknown".to_owned(), true));
    }

    #[test]
    fn an_oss_that_does_not_name_its_osts_is_not_missing() {
        let node = |name: &str, role| Node { name: name.to_owned(), role: Some(role), ..Node::default() };
        let to = |nid: &str| SentRpcs {
            node: "mds".to_owned(),
            opcode: 13,
            name: "OST_STATFS".to_owned(),
            device: "lustre-MDT0000-mdtlov_UUID".to_owned(),
            target: None,
            nid: nid.to_owned(),
            rpcs: 4,
            round_trip_us: Distribution::default(),
        };
        let sent = vec![to("0@lo"), to("10.0.0.2@tcp")];
        let mut analysis = Analysis { nodes: vec![node("mds", NodeRole::MdsOss)], sent, ..Analysis::default() };
        assert_eq!(missing_servers(&analysis), ["10.0.0.2@tcp"]);
        analysis.nodes.push(node("oss", NodeRole::Oss));
        assert_eq!(missing_servers(&analysis), [] as [&str; 0]);
    }
}
