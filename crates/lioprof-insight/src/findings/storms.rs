//! `ping-storm` and `statfs-storm`: clients that ask for nothing but signs of life, or free space, again and again.

use lioprof_model::units::percent;
use lioprof_model::{Client, Confidence, NodeRole, Severity, SpentOn};
use lioprof_stats::{Rate, Share, Stands};

use super::load::busiest;
use super::rule::{Case, Limit, Look, Nothing, Question, Rule, limit, real, share};

const SHARE: Limit = limit("share", 0.5, "share of all RPCs, from which they are a storm");
/// Targets that a node is taken to have unless the log names more.
const TARGETS_PER_NODE: usize = 10;

pub(super) const PING: Rule = Rule {
    id: "ping-storm",
    question: Question::Time,
    explains: &[],
    meaning: "clients ping their targets far more often than an idle connection does",
    limits: &[
        SHARE,
        limit(
            "per_second",
            0.5,
            "pings per second of a client to one target; an idle connection pings every 25 s (a quarter of obd_timeout)",
        ),
    ],
    plots: &["requests-per-client"],
    note: false,
    look: pings,
};

pub(super) const STATFS: Rule = Rule {
    id: "statfs-storm",
    question: Question::Time,
    explains: &[SpentOn::Metadata, SpentOn::Other],
    meaning: "clients ask for free space again and again",
    limits: &[
        SHARE,
        limit("per_second", 0.5, "statfs requests per second of a client to one target; a `df` asks each target once"),
    ],
    plots: &["requests-per-client"],
    note: false,
    look: statfs,
};

fn pings(case: &Case<'_>) -> Look {
    let storm = storm(case, "pings", &["OBD_PING"])?;
    storm
        .begin(case, "pings")
        .explain(format!(
            "{} of {} RPCs are OBD_PING. The busiest client sent {:.1} per second to each target; an idle connection sends \
             one every 25 s.",
            storm.rpcs, storm.all, storm.per_second,
        ))
        .remedy(
            "Look at the clients named: `lctl get_param osc.*.import mdc.*.import` (connections that come and go), \
             `lctl get_param timeout ping_interval` on them and on the servers.",
        )
        .remedy("Where a monitor or health check of its own does it (`lctl check_servers`, `lfs check all`), let it run less often.")
        .remedy("On large systems an idle client need not ping at all: `lctl set_param osc.*.idle_timeout=20` disconnects it.")
        .alone()
}

fn statfs(case: &Case<'_>) -> Look {
    let storm = storm(case, "requests for free space", &["OST_STATFS", "MDS_STATFS"])?;
    storm
        .begin(case, "requests for free space")
        .explain(format!(
            "{} of {} RPCs are statfs requests of clients. The busiest client sent {:.1} per second to each target. Each `df`, \
             `statvfs` or `lfs df` asks all targets.",
            storm.rpcs, storm.all, storm.per_second,
        ))
        .remedy("Find the process on the clients named: monitoring, `df` in a loop, a library that asks before each write.")
        .remedy("Let clients use an answer for longer than a second: `lctl set_param llite.*.statfs_max_age=N` (Lustre 2.12 and later).")
        .alone()
}

struct Storm<'a> {
    rpcs: u64,
    all: u64,
    /// Of the busiest client, to each target.
    per_second: f64,
    clients: Vec<&'a str>,
}

impl Storm<'_> {
    fn begin(&self, case: &Case<'_>, what: &str) -> super::draft::Draft {
        let part = share(real(self.rpcs), real(self.all));
        case.finding(Severity::Warning, Confidence::High, format!("{} of all RPCs are {what}", percent(part, 0)))
            .evidence("share", part)
            .evidence("rpcs", real(self.rpcs))
            .evidence("rpcs_per_second", share(real(self.rpcs), case.analysis.window.duration_s))
            .evidence("per_client_and_target_per_second", self.per_second)
            .evidence("clients", real(self.clients.len() as u64))
            .clients(self.clients.iter().copied())
    }
}

fn storm<'a>(case: &Case<'a>, what: &str, opcodes: &[&str]) -> Result<Storm<'a>, Nothing> {
    let analysis = case.analysis;
    let count = |client: &Client| -> u64 { opcodes.iter().filter_map(|&name| client.opcodes.get(name)).sum() };
    let clients = busiest(analysis, count);
    let rpcs: u64 = clients.iter().map(|(rpcs, _)| rpcs).sum();
    let all = analysis.totals.rpcs;
    // A log names the targets that somebody used; what is pinged may be more.
    let servers = analysis.nodes.iter().filter(|node| node.role != Some(NodeRole::Client)).count();
    let targets = analysis.targets.len().max(TARGETS_PER_NODE * servers.max(1)) as u64;
    let &(most, _) = clients.first().ok_or(Nothing::Healthy)?;
    // A second at least: a burst is no rate.
    let per_target_and_second = 1.0 / real(targets) / analysis.window.duration_s.max(1.0);
    let part = Share::of(real(rpcs), real(all)).against(case.limit("share"));
    let rate = Rate::count(real(most)).times(per_target_and_second).against(case.limit("per_second"));
    match (part, rate) {
        (Stands::Below, _) | (_, Stands::Below) => Err(Nothing::Healthy),
        (Stands::Above, Stands::Above) => {
            let per_second = real(most) * per_target_and_second;
            Ok(Storm { rpcs, all, per_second, clients: clients.into_iter().map(|(_, nid)| nid).collect() })
        }
        _ => Err(Nothing::cannot_tell(format!("{rpcs} of {all} RPCs are {what}: too few to say how often they come"))),
    }
}
