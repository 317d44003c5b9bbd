//! `load-imbalance`: OSTs, or clients, that have far more to do than the others and keep everybody waiting at the end.

use std::collections::BTreeMap;

use lioprof_model::{Analysis, Confidence, Finding, Severity, SpentOn};
use lioprof_stats::Share;

use super::load::{Ost, Work, alone_s, goes_on, interval, osts, seconds, span};
use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "load-imbalance",
    question: Question::Time,
    explains: &[SpentOn::Bulk, SpentOn::Queue],
    meaning: "some OSTs or clients have far more bytes than others, so the others wait for them at the end",
    limits: &[
        limit("max_over_mean", 1.5, "bytes of the busiest over the mean, from which a load is not balanced"),
        limit("tail_share", 0.1, "share of the time with I/O in which less than half of them had something to do"),
        limit(
            "in_flight",
            1.5,
            "requests in flight of the busiest, at least: one after the other does not make a queue",
        ),
        limit(
            "busy_share",
            0.5,
            "share of the time with I/O in which the busiest has a request in flight, at least: an idle one holds up nobody",
        ),
    ],
    plots: &["bandwidth-per-ost", "client-ost-matrix", "requests-per-client"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    case.data_were_moved()?;
    case.all_osts()?;
    case.all_clients()?;
    case.osts_are_known()?;
    let mut found = Vec::new();
    for look in [over_osts, over_clients] {
        match look(case) {
            Ok(finding) => found.push(finding),
            Err(Nothing::Healthy) => {}
            Err(no_answer) => return Err(no_answer),
        }
    }
    Ok(found)
}

/// 0: all have the same; near 1: one has all.
fn gini(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let (count, sum) = (values.len() as f64, values.iter().sum::<f64>());
    let weighted: f64 = values.iter().enumerate().map(|(index, value)| (index + 1) as f64 * value).sum();
    if sum > 0.0 { (2.0 * weighted / sum - count - 1.0) / count } else { 0.0 }
}

/// Seconds in which less than half of the columns had something to do, and the seconds in which any had.
fn thin_s(bins: usize, bin_s: f64, count: usize, busy: impl Fn(usize, usize) -> bool) -> (f64, f64) {
    let (mut thin, mut any) = (0, 0);
    for bin in 0..bins {
        let now = (0..count).filter(|&index| busy(index, bin)).count();
        any += usize::from(now > 0);
        thin += usize::from(now > 0 && 2 * now < count);
    }
    (thin as f64 * bin_s, any as f64 * bin_s)
}

fn over_osts(case: &Case<'_>) -> Result<Finding, Nothing> {
    let analysis = case.analysis;
    let osts: Vec<Ost<'_>> = osts(analysis);
    Nothing::healthy_if(osts.len() < 3)?;
    let bin_s = analysis.series.bin_s;
    let works: Vec<Work> = osts.iter().map(|ost| ost.work(bin_s, 0..analysis.series.bins)).collect();
    let bytes: Vec<f64> = works.iter().map(|work| work.bytes).collect();
    let mean = bytes.iter().sum::<f64>() / osts.len() as f64;
    let busiest = bytes.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    let (most, most_bytes) = busiest.ok_or(Nothing::Healthy)?;
    let ratio = share(most_bytes, mean);
    let (thin, any) = thin_s(analysis.series.bins, bin_s, osts.len(), |index, bin| osts[index].is_busy(bin));
    let in_flight = share(works[most].handling_s + works[most].queue_s, works[most].in_flight_s);
    Nothing::healthy_if(in_flight < case.limit("in_flight"))?;
    let matters = |thin_share: f64| matters(case, ratio, thin_share, share(works[most].busy_s, any));
    let held_up = matters(share(thin, any));
    // Who waits for the busiest shows at the end, when the others have nothing left to do.
    Nothing::healthy_if(!(held_up || goes_on(analysis, &osts) && matters(1.0)))?;
    sure(case, works.iter().map(|work| work.rpcs).sum(), ratio, osts.len())?;
    let name = osts[most].name;
    Nothing::cannot_tell_if(
        !held_up,
        format!(
            "OST {name} has {ratio:.1} times the mean of the bytes, but the capture ends before the others are done"
        ),
    )?;
    // The work of the busiest, spread over all, would have taken the mean's share of its time.
    let whole_s = span(&osts).map_or(0.0, |span| seconds(interval(analysis, span)));
    let cost_s = (whole_s * (1.0 - 1.0 / ratio)).min(thin);
    let mut order: Vec<usize> = (0..osts.len()).collect();
    order.sort_by(|&a, &b| bytes[b].total_cmp(&bytes[a]).then_with(|| osts[a].name.cmp(osts[b].name)));
    let heavy = order.iter().filter(|&&index| bytes[index] >= mean).map(|&index| osts[index].name);
    let title = format!("OST {name} has {ratio:.1} times the mean of the OSTs' bytes");
    let finding = case
        .finding(Severity::Warning, Confidence::High, title)
        .explain(format!(
            "The OSTs' shares differ (Gini coefficient {:.2}; 0 is equal). In {thin:.2} of {any:.2} s with I/O less than half \
             of the {} OSTs had something to do, {:.2} s of it {name} alone.",
            gini(&bytes),
            osts.len(),
            alone_s(&osts, bin_s)[most],
        ))
        .evidence("max_over_mean", ratio)
        .evidence("gini", gini(&bytes))
        .evidence("less_than_half_busy_s", thin)
        .evidence("with_io_s", any)
        .evidence("osts", osts.len() as f64)
        .targets(heavy)
        .interval(span(&osts).map(|span| interval(analysis, span)))
        .cost(cost_s, Cost::WallTime)
        .remedy("Give large files all OSTs (`lfs setstripe -c -1`), small ones a single stripe (`-c 1`).")
        .remedy(
            "With a stripe count c on n OSTs, the number of files times c should be a multiple of n, or far larger than n: \
             otherwise some OSTs hold a stripe more.",
        )
        .remedy("If OSTs differ in free space, the MDT prefers the emptier ones: `lctl get_param lod.*.qos_threshold_rr`, `lfs df`.")
        .done();
    Ok(finding)
}

/// Clients are only compared while there are series of all of them.
fn over_clients(case: &Case<'_>) -> Result<Finding, Nothing> {
    let analysis = case.analysis;
    let clients = moved(analysis);
    // Clients of jobs of their own do not wait for each other.
    let mut jobs = analysis.jobs.iter().filter(|it| it.read.rpcs + it.write.rpcs > 0).peekable();
    let are_named = jobs.peek().is_some_and(|it| it.job.as_deref().is_some_and(|job| !job.is_empty()));
    Nothing::healthy_if(are_named && jobs.all(|it| it.clients <= 1))?;
    Nothing::healthy_if(clients.len() < 3 || analysis.series.flows.iter().any(|flow| flow.nid.is_none()))?;
    let mean = clients.iter().map(|(_, bytes)| bytes).sum::<f64>() / clients.len() as f64;
    let &(nid, most_bytes) = clients.first().ok_or(Nothing::Healthy)?;
    let ratio = share(most_bytes, mean);
    let spans = client_spans(analysis);
    let active: Vec<Option<(usize, usize)>> = clients.iter().map(|(nid, _)| spans.get(nid).copied()).collect();
    let busy = |index: usize, bin: usize| active[index].is_some_and(|(first, last)| (first..=last).contains(&bin));
    let bin_s = analysis.series.bin_s;
    let (thin, any) = thin_s(analysis.series.bins, bin_s, clients.len(), busy);
    Nothing::healthy_if(!matters(case, ratio, share(thin, any), share(request_s(analysis, nid), any)))?;
    sure(case, real(analysis.totals.read.rpcs + analysis.totals.write.rpcs), ratio, clients.len())?;
    let bytes: Vec<f64> = clients.iter().map(|(_, bytes)| *bytes).collect();
    let finding = case
        .finding(Severity::Warning, Confidence::Medium, format!("Client {nid} moved {ratio:.1} times the mean of the clients' bytes"))
        .explain(format!(
            "The clients' shares differ (Gini coefficient {:.2}; 0 is equal), and in {thin:.2} of {any:.2} s with I/O less than \
             half of the {} clients were at it. If they belong to one job, they wait for the busiest.",
            gini(&bytes),
            clients.len(),
        ))
        .evidence("max_over_mean", ratio)
        .evidence("gini", gini(&bytes))
        .evidence("less_than_half_busy_s", thin)
        .evidence("with_io_s", any)
        .evidence("clients", clients.len() as f64)
        .clients(clients.iter().filter(|(_, bytes)| *bytes >= mean).map(|(nid, _)| *nid))
        .plot("requests-per-client")
        .cost((any * (1.0 - 1.0 / ratio)).min(thin), Cost::WallTime)
        .remedy("Give each process the same amount, or use collective I/O with aggregators on several nodes (`cb_nodes`).")
        .done();
    Ok(finding)
}

/// An error if so many requests, sent to one of `count` by chance, could have made the same difference.
fn sure(case: &Case<'_>, rpcs: f64, max_over_mean: f64, count: usize) -> Result<(), Nothing> {
    let mean_share = 1.0 / count as f64;
    // The busiest of many has more by chance alone.
    let busiest = Share::among(rpcs * max_over_mean * mean_share, rpcs, count);
    let proven = busiest.proves(case.limit("max_over_mean") * mean_share);
    Nothing::cannot_tell_if(!proven, format!("{rpcs} reads and writes may differ so much by chance"))
}

fn matters(case: &Case<'_>, max_over_mean: f64, thin_share: f64, busy_share: f64) -> bool {
    max_over_mean >= case.limit("max_over_mean")
        && thin_share >= case.limit("tail_share")
        && busy_share >= case.limit("busy_share")
}

/// Request-seconds of a client's reads and writes, by the sample.
fn request_s(analysis: &Analysis, nid: &str) -> f64 {
    let is_own = |client: u32| analysis.clients.get(client as usize).is_some_and(|client| client.nid == nid);
    let own = analysis.sample.rpcs.iter().filter(|rpc| is_own(rpc.client));
    own.map(|rpc| rpc.end - rpc.arrival).sum::<f64>() * real(analysis.sample.one_in)
}

/// Clients that are no servers and their bytes, most first.
fn moved(analysis: &Analysis) -> Vec<(&str, f64)> {
    let clients = analysis.clients.iter().filter(|client| !client.server);
    let bytes = clients.map(|client| (client.nid.as_str(), real(client.read.bytes + client.write.bytes)));
    bytes.filter(|(_, bytes)| *bytes > 0.0).collect()
}

/// First and last bin in which an RPC of each client ended.
fn client_spans(analysis: &Analysis) -> BTreeMap<&str, (usize, usize)> {
    let mut spans: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for flow in &analysis.series.flows {
        let Some(nid) = flow.nid.as_deref() else { continue };
        for (bin, (reads, writes)) in flow.read_rpcs.iter().zip(&flow.write_rpcs).enumerate() {
            if reads + writes > 0 {
                let span = spans.entry(nid).or_insert((bin, bin));
                *span = (span.0.min(bin), span.1.max(bin));
            }
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gini_is_zero_for_equals_and_near_one_for_one() {
        assert!(gini(&[5.0; 4]).abs() < 1e-12);
        assert!((gini(&[0.0, 0.0, 0.0, 8.0]) - 0.75).abs() < 1e-12);
        assert_eq!(gini(&[]), 0.0);
    }

    #[test]
    fn thin_times_are_those_of_less_than_half() {
        let (thin, any) = thin_s(4, 0.5, 4, |index, bin| bin < 3 && index <= 2 - bin);
        assert_eq!((thin, any), (0.5, 1.5));
    }
}
