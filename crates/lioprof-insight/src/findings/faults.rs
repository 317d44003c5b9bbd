//! `evictions` and `resends`: clients that were thrown out, and requests that did not get through at the first time.

use lioprof_model::units::{few, plural};
use lioprof_model::{Analysis, ClientFaults, Confidence, Interval, Severity, SpentOn};

use super::evicted;
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const EVICTIONS: Rule = Rule {
    id: "evictions",
    question: Question::Failure,
    explains: &[SpentOn::LockWait],
    meaning: "servers threw clients out: what these had not written yet is lost, and others waited for them",
    limits: &[limit("evictions", 1.0, "evictions from which it is a finding")],
    plots: &["lock-timeline"],
    note: false,
    look: evictions,
};

pub(super) const RESENDS: Rule = Rule {
    id: "resends",
    question: Question::Failure,
    explains: &[],
    meaning: "requests were sent again, dropped, or timed out",
    limits: &[
        limit("rpcs", 3.0, "such requests from which it is a finding"),
        limit("warning_share", 0.001, "their share of all RPCs from which it is a warning"),
    ],
    plots: &["io-timeline"],
    note: false,
    look: resends,
};

fn evictions(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let evictions = analysis.totals.evictions;
    if analysis.totals.rpcs == 0 || evictions == 0 {
        return evicted::look(case);
    }
    Nothing::healthy_if(real(evictions) < case.limit("evictions"))?;
    let thrown_out: Vec<&ClientFaults> = analysis.client_faults.iter().filter(|client| client.evictions > 0).collect();
    let locks = analysis.locks.as_ref();
    let targets = locks.into_iter().flat_map(|locks| &locks.targets).filter(|target| target.totals.evictions > 0);
    let targets: Vec<&str> = targets.map(|target| target.target.as_str()).collect();
    let timeouts = locks.map_or(0, |locks| locks.totals.callback_timeouts + locks.mdt_totals.callback_timeouts);
    let waits = locks.and_then(|locks| locks.targets.iter().filter_map(|target| target.wait_us.max).max());
    let not_connected: u64 = thrown_out.iter().map(|client| client.not_connected_rpcs).sum();
    // Not every line that tells of an eviction names the client.
    let title = match thrown_out.as_slice() {
        [one] if evictions == 1 => format!("{} was evicted", one.nid),
        _ if evictions == 1 => "One client was evicted".to_owned(),
        [one] if one.evictions == evictions => format!("{} was evicted {evictions} times", one.nid),
        [one] => format!("{} and perhaps others were evicted: {evictions} evictions", one.nid),
        [] => format!("{evictions} evictions"),
        many => {
            let nids: Vec<&str> = many.iter().map(|client| client.nid.as_str()).collect();
            format!("{} clients were evicted ({}): {evictions} evictions", many.len(), few(&nids))
        }
    };
    case
        .finding(Severity::Critical, Confidence::High, title)
        .explain(format!(
            "A client that does not give a lock back in time, does not answer a callback, or is not heard of any more loses its \
             connection and its locks; what it had not written yet is gone. Their requests that were then \
             refused with ENOTCONN: {not_connected}. Whoever wanted the lock waited until then{}.",
            waits.map_or_else(String::new, |us| format!(" (longest wait {:.1} s)", real(us) / 1e6)),
        ))
        .evidence("evictions", real(evictions))
        .evidence("callback_timeouts", real(timeouts))
        .evidence("not_connected_rpcs", real(not_connected))
        .evidence("resent_rpcs", real(analysis.totals.resent_rpcs))
        .evidence("dropped_rpcs", real(analysis.totals.dropped_rpcs))
        .evidence("longest_lock_wait_s", waits.map(|us| real(us) / 1e6))
        .targets(targets)
        .clients(thrown_out.iter().map(|client| client.nid.as_str()))
        .interval(interval(thrown_out.iter().copied()))
        .remedy(
            "On the clients named, look for `This client was evicted by` in the kernel's log at that time, and for what came \
             before: network errors (`lnetctl stats show`, `lnetctl peer show -v`), a hung or swapping node, lost power.",
        )
        .remedy(
            "If the client was only slow to write back what it had under the lock: smaller `osc.*.max_dirty_mb`, or more \
             time: `ldlm_enqueue_min` (a parameter of module ptlrpc, /sys/module/ptlrpc/parameters) on the servers.",
        )
        .alone()
}

fn resends(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let totals = &analysis.totals;
    Nothing::not_applicable_if(totals.rpcs == 0, "no RPC was handled")?;
    let timed_out: u64 = analysis.client_faults.iter().map(|client| client.timed_out_rpcs).sum();
    let bad = totals.resent_rpcs + totals.dropped_rpcs + totals.sent_timed_out + totals.replayed_rpcs + timed_out;
    Nothing::healthy_if(real(bad) < case.limit("rpcs"))?;
    let part = share(real(bad), real(totals.rpcs));
    let severity = if part >= case.limit("warning_share") { Severity::Warning } else { Severity::Info };
    let clients = || {
        analysis
            .client_faults
            .iter()
            .filter(|client| client.resent_rpcs + client.dropped_rpcs + client.timed_out_rpcs > 0)
    };
    let kinds = [
        (totals.resent_rpcs, "request", "sent again"),
        (totals.dropped_rpcs, "request", "dropped"),
        (totals.replayed_rpcs, "request", "replayed"),
        (timed_out, "bulk transfer", "timed out"),
        (totals.sent_timed_out, "callback", "timed out"),
    ];
    let some = kinds.iter().filter(|(rpcs, ..)| *rpcs > 0);
    let title = some.map(|(rpcs, what, how)| format!("{} {how}", plural(*rpcs, what))).collect::<Vec<_>>().join(", ");
    case
        .finding(severity, Confidence::High, title)
        .explain(
            "A client sends a request again if no reply came in time, and has waited that long. A server drops a request that is \
             too late or of an old connection. After a recovery clients replay what was not on disk.",
        )
        .evidence("resent_rpcs", real(totals.resent_rpcs))
        .evidence("dropped_rpcs", real(totals.dropped_rpcs))
        .evidence("replayed_rpcs", real(totals.replayed_rpcs))
        .evidence("bulk_timed_out_rpcs", real(timed_out))
        .evidence("sent_timed_out", real(totals.sent_timed_out))
        .evidence("share", part)
        .evidence("longest_rpc_s", longest_rpc_s(analysis))
        .clients(clients().map(|client| client.nid.as_str()))
        .interval(interval(clients()))
        .remedy("Look at the network between these clients and servers: `lnetctl stats show` (drops, errors), `lnetctl net show -v`.")
        .remedy(
            "If requests wait on the server longer than clients do (`longest_rpc_s`), the server is overloaded: see the other \
             findings. Raise `at_min` (`lctl set_param at_min=N`) to give it more time.",
        )
        .alone()
}

/// From the first to the last fault of these clients.
fn interval<'a>(clients: impl Iterator<Item = &'a ClientFaults>) -> Option<Interval> {
    clients
        .filter_map(|client| Some(Interval { start: client.first?, end: client.last? }))
        .reduce(|a, b| Interval { start: a.start.min(b.start), end: a.end.max(b.end) })
}

/// The longest request of any kind, seconds from arrival to end.
fn longest_rpc_s(analysis: &Analysis) -> Option<f64> {
    analysis.operations.iter().filter_map(|operation| operation.latency.total_us.max).max().map(|us| real(us) / 1e6)
}
