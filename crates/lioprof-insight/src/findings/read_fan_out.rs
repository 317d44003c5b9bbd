//! `reads-not-lustre-aware`: every client reads from all OSTs, and at any moment they crowd on few of them.

use lioprof_model::units::percent;
use lioprof_model::{Confidence, Severity, SpentOn};
use lioprof_stats::Share;

use super::rule::{Case, Cost, Look, Nothing, Question, Rule, limit, median, real, share};

pub(super) const RULE: Rule = Rule {
    id: "reads-not-lustre-aware",
    question: Question::Time,
    explains: &[SpentOn::Bulk, SpentOn::Queue],
    meaning: "every client reads from all OSTs, and at any moment their requests crowd on few of them",
    limits: &[
        limit("fan_out", 0.5, "share of the OSTs that the median client reads from, at least"),
        limit(
            "crowding",
            0.5,
            "OSTs beyond the first that the requests are spread over at a moment, as a share of what chance would give, at most",
        ),
        limit(
            "evenness",
            0.6,
            "OSTs that the requests are spread over in the long run, as a share of all, at least: otherwise it is a hot spot",
        ),
        limit("critical_gap", 0.5, "share of the bandwidth that is not used, from which it is critical"),
    ],
    plots: &["bandwidth-per-ost", "client-ost-matrix"],
    note: false,
    look,
};

const NO_MOMENTS: &str = "there are no moments with several reads in flight";

fn look(case: &Case<'_>) -> Look {
    let spread = &case.analysis.access.read_spread;
    Nothing::not_applicable_if(spread.loaded_pictures == 0, NO_MOMENTS)?;
    Nothing::not_applicable_if(spread.targets < 2, "reads went to one OST only")?;
    let (Some(at_once), Some(chance), Some(long_run), Some(busy), Some(in_flight)) = (
        spread.mean_spread,
        spread.chance_spread,
        spread.long_run_spread,
        spread.mean_busy_targets,
        spread.mean_in_flight,
    ) else {
        return Err(Nothing::not_applicable(NO_MOMENTS));
    };
    let osts = real(spread.targets);
    let mut reach: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for flow in case.analysis.flows.iter().filter(|flow| flow.read.rpcs > 0 && flow.target.is_some()) {
        *reach.entry(&flow.nid).or_default() += 1;
    }
    let fan_out = median(reach.values().map(|&targets| real(targets) / osts)).unwrap_or(0.0);
    let crowding = share(at_once - 1.0, chance - 1.0);
    let evenness = long_run / osts;
    Nothing::healthy_if(reach.len() < 2 || fan_out < case.limit("fan_out") || evenness < case.limit("evenness"))?;
    // Pictures that show the same requests are not independent of each other: there are as many as requests came one after the other.
    let rpcs = real(case.analysis.totals.read.rpcs);
    let moments = (rpcs / in_flight).min(real(spread.loaded_pictures)).floor();
    let alone = Share::of((1.0 - crowding).clamp(0.0, 1.0) * moments, moments);
    Nothing::healthy_if(crowding > case.limit("crowding") && !alone.proves(1.0 - case.limit("crowding")))?;
    Nothing::unless_above(alone.against(1.0 - case.limit("crowding")), || {
        format!(
            "reads crowd on {busy:.1} of {osts} OSTs at a time, but {rpcs} reads, {in_flight:.1} at a time, may do so by chance"
        )
    })?;
    // What as many requests could keep busy.
    let possible = osts.min(in_flight);
    let gap = (1.0 - busy / possible).max(0.0);
    let reading_s = real(spread.pictures) * spread.step_s;
    let severity = if gap >= case.limit("critical_gap") { Severity::Critical } else { Severity::Warning };
    let title = format!(
        "{} clients read from all {} OSTs, but {busy:.1} of them are busy at a time: {} of the bandwidth is not used",
        reach.len(),
        spread.targets,
        percent(gap, 0)
    );
    case
        .finding(severity, Confidence::High, title)
        .explain(format!(
            "In the long run all OSTs are read alike, but at any moment the requests are spread over {at_once:.1} OSTs; \
             {in_flight:.1} requests that choose by chance would be spread over {chance:.1}. The clients walk through \
             the stripes in step, so that they wait for one OST while the others have nothing to do."
        ))
        .evidence("osts", osts)
        .evidence("busy_osts", busy)
        .evidence("spread_osts", at_once)
        .evidence("chance_spread_osts", chance)
        .evidence("long_run_spread_osts", long_run)
        .evidence("reads_in_flight", in_flight)
        .evidence("fan_out_share", fan_out)
        .evidence("unused_bandwidth_share", gap)
        .evidence("reading_s", reading_s)
        .remedy("Lustre-aware collective buffering: each aggregator reads from its own OSTs (MPI-IO hints romio_cb_read=enable, romio_ds_read=disable, cb_nodes = stripe count).")
        .remedy("Let each client start with another stripe, or give each its own contiguous stripes (`lfs getstripe` shows them).")
        .remedy("If every client reads the same data: one reads and broadcasts (MPI_Bcast).")
        .targets(case.analysis.series.targets.iter().filter(|row| row.read_rpcs.iter().sum::<u64>() > 0).filter_map(|row| row.name.clone()))
        .clients(reach.keys().copied())
        .cost(reading_s * gap, Cost::WallTime)
        .alone()
}
