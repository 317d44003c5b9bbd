//! `hot-ost`: nearly all bytes of several clients go to one OST while others that exist have nothing to do.

use lioprof_model::units::percent;
use lioprof_model::{Confidence, Flow, Severity, SpentOn};
use lioprof_stats::Share;

use super::load::{interval, known_osts, osts};
use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "hot-ost",
    question: Question::Time,
    explains: &[SpentOn::Bulk, SpentOn::Queue],
    meaning: "several clients put nearly all their bytes on one OST while others are idle",
    limits: &[
        limit("bytes_share", 0.8, "share of all bytes on one OST from which it is a hot spot"),
        limit("clients", 2.0, "clients that read or write it, at least: one client may want no more"),
        limit("in_flight", 1.5, "requests at a time while it is busy, at least: with fewer, other OSTs would not help"),
    ],
    plots: &["bandwidth-per-ost", "client-ost-matrix"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let analysis = case.analysis;
    let known = known_osts(analysis);
    case.data_were_moved()?;
    case.all_osts()?;
    case.osts_are_known()?;
    case.most_succeeded()?;
    let osts = osts(analysis);
    let bin_s = analysis.series.bin_s;
    let works: Vec<_> = osts.iter().map(|ost| ost.work(bin_s, 0..analysis.series.bins)).collect();
    let bytes: f64 = works.iter().map(|work| work.bytes).sum();
    let Some((hot, work)) = osts.iter().zip(&works).max_by(|a, b| a.1.bytes.total_cmp(&b.1.bytes)) else {
        return Err(Nothing::not_applicable("no reads or writes on OSTs"));
    };
    let bytes_share = share(work.bytes, bytes);
    let moved = |flow: &&Flow| flow.target.as_deref() == Some(hot.name) && flow.read.bytes + flow.write.bytes > 0;
    let mut flows: Vec<&Flow> = analysis.flows.iter().filter(moved).collect();
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.read.bytes + flow.write.bytes));
    // Those that count: a look at a header is no use of an OST.
    let largest = flows.first().map_or(0.0, |flow| real(flow.read.bytes + flow.write.bytes));
    flows.retain(|flow| real(flow.read.bytes + flow.write.bytes) >= 0.1 * largest);
    let in_flight = share(work.handling_s + work.queue_s, work.in_flight_s);
    Nothing::healthy_if(
        bytes_share < case.limit("bytes_share")
            || real(flows.len() as u64) < case.limit("clients")
            || in_flight < case.limit("in_flight"),
    )?;
    let rpcs: f64 = works.iter().map(|work| work.rpcs).sum();
    // Spread evenly, each OST would get its part; nobody will see 80 % where as many requests chose their OST by chance.
    let even = 1.0 / known.max(2) as f64;
    Nothing::cannot_tell_if(
        !Share::among(rpcs * bytes_share, rpcs, known).proves(f64::midpoint(even, case.limit("bytes_share"))),
        format!("{rpcs} reads and writes are too few to say that OST {} gets more", hot.name),
    )?;
    // OSTs that nobody used are only named by what else goes on: pings, lock requests.
    let others = known.saturating_sub(1);
    let (severity, confidence) =
        if others > 0 { (Severity::Warning, Confidence::High) } else { (Severity::Info, Confidence::Medium) };
    let all = if others > 0 { format!("{known}") } else { "-1".to_owned() };
    let own = |object: &&lioprof_model::Object| object.target.as_deref() == Some(hot.name);
    let objects: Vec<_> = analysis.objects.iter().filter(own).collect();
    let shared = objects.iter().find(|object| {
        object.clients.is_some_and(|clients| clients > 1)
            && real(object.read.bytes + object.write.bytes) > work.bytes / 2.0
    });
    let finding = case
        .finding(
            severity,
            confidence,
            match others {
                0 => format!("All bytes of {} clients went to {}, the only OST in the log", flows.len(), hot.name),
                _ => {
                    format!("{} of the bytes went to {}, one of {} OSTs", percent(bytes_share, 0), hot.name, others + 1)
                }
            },
        )
        .explain(format!(
            "{} clients used {}, {in_flight:.1} requests at a time while it was busy; {}. The other OSTs moved {} \
             of the bytes together.",
            flows.len(),
            hot.name,
            if shared.is_some() {
                "most of the bytes belong to one object, so one file"
            } else {
                "each file has one stripe there, or so it seems"
            },
            percent(1.0 - bytes_share, 0),
        ))
        .evidence("bytes_share", bytes_share)
        .evidence("clients", flows.len() as f64)
        .evidence("requests_in_flight", in_flight)
        .evidence("busy_s", work.busy_s)
        .evidence("osts_known", known as f64)
        .targets([hot.name])
        .clients(flows.iter().map(|flow| flow.nid.as_str()))
        .nodes([hot.node])
        .interval(hot.span().map(|span| interval(analysis, span)));
    // At most: if all OSTs are alike and the clients can fill them.
    let cost_s = work.busy_s * (1.0 - 1.0 / known as f64);
    let finding = if others > 0 { finding.cost(cost_s, Cost::WallTime) } else { finding };
    let finding = match shared {
        Some(object) => finding
            .objects(object.fid.iter().map(|fid| lioprof_model::ObjectId { target: hot.name.to_owned(), fid: fid.clone() }))
            .remedy(format!(
                "Stripe the shared file over more OSTs before it is written: `lfs setstripe -c {all} FILE`, or \
                 `lfs migrate -c {all} FILE` for one that exists."
            ))
            .remedy("As a default that grows with the file: `lfs setstripe -E 1G -c 1 -E -1 -c -1 DIRECTORY` (progressive layout)."),
        None => finding
            .remedy(format!(
                "Let the file system choose the OST: `lfs getstripe DIRECTORY` shows a fixed one (`stripe_offset`, a pool); \
                 `lfs setstripe -i -1 DIRECTORY` takes it away. Move what lies there with `lfs migrate -i -1 FILE`, off {}.",
                hot.name
            ))
            .remedy("If nothing is fixed, see whether the others take new objects: `lctl get_param osp.*.prealloc_status` and `lfs df`."),
    };
    finding.alone()
}
