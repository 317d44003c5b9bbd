//! Which finding comes first, and which is only the effect of another one.

use std::cmp::Reverse;

use lioprof_model::units::share;
use lioprof_model::{Analysis, Confidence, Finding, Severity};

use super::case::Question;
use super::draft::Cost;
use super::judged_time::is_explained;
use super::queue_bound;
use super::registry::{explains, question};

/// What a cause brings about: these are then no findings of their own. Causes of causes come first.
const EFFECTS: &[(&str, &[&str])] = &[
    (
        "evictions",
        &[
            "resends",
            "slow-tail",
            "load-imbalance",
            "slow-client-link",
            "unfair-sharing",
            "queue-bound",
            "below-available",
        ],
    ),
    (
        "sluggish-ost",
        &[
            "load-imbalance",
            "reads-not-lustre-aware",
            "unfair-sharing",
            "queue-bound",
            "slow-tail",
            "disk-bound",
            "below-available",
        ],
    ),
    ("glimpses", &["single-writer", "load-imbalance", "slow-tail", "below-available"]),
    ("slow-client-link", &["load-imbalance", "unfair-sharing", "queue-bound", "slow-tail", "below-available"]),
    ("hot-ost", &["load-imbalance", "reads-not-lustre-aware", "queue-bound", "slow-tail", "below-available"]),
    ("single-writer", &["load-imbalance", "queue-bound", "slow-tail", "below-available"]),
    ("unfair-sharing", &["load-imbalance", "queue-bound", "slow-tail", "below-available"]),
    ("throttled", &["queue-bound", "unfair-sharing", "slow-tail", "load-imbalance", "below-available"]),
    ("load-imbalance", &["queue-bound", "below-available"]),
    ("queue-bound", &["below-available"]),
    (
        "lock-ping-pong",
        &[
            "many-writers",
            "gapped-rpcs",
            "small-rpcs",
            "hot-ost",
            "load-imbalance",
            "queue-bound",
            "slow-tail",
            "below-available",
        ],
    ),
    ("many-writers", &["slow-tail", "queue-bound", "below-available"]),
    ("reads-not-lustre-aware", &["load-imbalance", "queue-bound", "slow-tail", "below-available"]),
    ("small-io-between-large", &["small-rpcs", "strided-reads", "unaligned-rpcs", "slow-tail", "below-available"]),
    ("gapped-rpcs", &["small-rpcs", "unaligned-rpcs", "slow-tail", "below-available"]),
    ("unaligned-rpcs", &["small-rpcs", "below-available"]),
    ("strided-reads", &["small-rpcs", "unaligned-rpcs", "below-available"]),
    ("backward-reads", &["small-rpcs", "below-available"]),
    ("small-rpcs", &["slow-tail", "below-available"]),
];

/// Demotes effects, then sorts: what failed, what is more than a note, what the run would save (what it costs, where that is not known), severity,
/// confidence, the order of the rules, each rule's own order.
pub(super) fn rank(findings: &mut [Finding], analysis: &Analysis, place: impl Fn(&str) -> Option<usize>) {
    for (cause, effects) in EFFECTS {
        demote(findings, cause, effects);
    }
    let clients = analysis.clients.iter().filter(|client| client.read.rpcs + client.write.rpcs > 0).count().max(1);
    // What failed comes before what is slow.
    let failed = |finding: &Finding| finding.is_more_than_a_note() && question(&finding.id) == Some(Question::Failure);
    findings.sort_by(|a, b| {
        let cost = |finding: &Finding| finding.saves_s.unwrap_or_else(|| wall_s(finding, analysis, clients));
        Reverse(failed(a))
            .cmp(&Reverse(failed(b)))
            .then(b.is_more_than_a_note().cmp(&a.is_more_than_a_note()))
            .then(cost(b).total_cmp(&cost(a)))
            .then(Reverse(a.severity).cmp(&Reverse(b.severity)))
            .then(b.confidence.cmp(&a.confidence))
            .then(place(&a.id).cmp(&place(&b.id)))
    });
}

/// What it costs as seconds of the run: clients wait at the same time, and for many requests at once; it is no more of the run than what it
/// explains is of their time.
#[expect(clippy::cast_precision_loss, reason = "a number of clients")]
fn wall_s(finding: &Finding, analysis: &Analysis, clients: usize) -> f64 {
    let Some(cost_s) = finding.cost_s else {
        // What is critical may cost more than all that is known.
        return if finding.severity == Severity::Critical { f64::INFINITY } else { 0.0 };
    };
    if finding.cost_of.as_deref() != Some(Cost::RequestSeconds.text()) {
        return cost_s;
    }
    let all = analysis.time_account.all.as_ref().filter(|_| !explains(&finding.id).is_empty());
    let most_s = all.map_or(f64::INFINITY, |all| {
        let explained = all.spent.iter().filter(|spent| is_explained(spent, finding));
        share(explained.map(|spent| spent.us).sum(), all.span_us) * analysis.window.duration_s
    });
    most_s.min(cost_s / clients as f64)
}

/// Makes notes of the findings that a sure enough finding explains, where both concern the same targets.
fn demote(findings: &mut [Finding], cause: &str, effects: &[&str]) {
    let causes: Vec<Finding> = findings
        .iter()
        .filter(|finding| finding.id == cause && finding.is_more_than_a_note() && finding.confidence > Confidence::Low)
        .cloned()
        .collect();
    // Threads for something else than reads and writes, which name their OSTs, are not what these hold up.
    let of_service = |finding: &Finding| finding.id == queue_bound::RULE.id && finding.targets.is_empty();
    let is_effect = |finding: &&mut Finding| effects.contains(&finding.id.as_str()) && !of_service(finding);
    for effect in findings.iter_mut().filter(is_effect) {
        // However bad the effect looks: what brought it about comes first.
        let explains = |cause: &&Finding| shares(&cause.targets, &effect.targets);
        if let Some(cause) = causes.iter().find(explains) {
            effect.severity = Severity::Info;
            effect.explained_by = Some(cause.id.clone());
        }
    }
}

/// Whether two lists have a name in common; an empty one stands for all.
fn shares(a: &[String], b: &[String]) -> bool {
    a.is_empty() || b.is_empty() || a.iter().any(|name| b.contains(name))
}

#[cfg(test)]
mod tests {
    use lioprof_model::Client;

    use super::super::case::{Case, Shared};
    use super::super::draft::Draft;
    use super::super::limits::Limits;
    use super::super::registry::{place, rules};
    use super::*;

    fn draft(analysis: &Analysis, id: &str, severity: Severity, confidence: Confidence) -> Draft {
        let rule = rules().iter().find(|rule| rule.id == id).unwrap();
        let case = Case { analysis, rule, limits: &Limits::default(), shared: &Shared::default() };
        case.finding(severity, confidence, id).explain("what").remedy("do")
    }

    fn ids(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.id.as_str()).collect()
    }

    #[test]
    fn the_worst_comes_first() {
        let analysis = Analysis::default();
        let make = |id, severity, confidence| draft(&analysis, id, severity, confidence);
        let mut findings = vec![
            make("small-rpcs", Severity::Warning, Confidence::High).done(),
            make("trace-quality", Severity::Warning, Confidence::Medium).done(),
            make("metadata-bound", Severity::Warning, Confidence::High).cost(1.0, Cost::WallTime).done(),
            make("many-writers", Severity::Critical, Confidence::Low).done(),
            make("reads-not-lustre-aware", Severity::Warning, Confidence::High).done(),
        ];
        rank(&mut findings, &analysis, place);
        let order = ["many-writers", "metadata-bound", "reads-not-lustre-aware", "small-rpcs", "trace-quality"];
        assert_eq!(ids(&findings), order);
    }

    #[test]
    fn the_larger_one_comes_first_whatever_its_severity() {
        let analysis = Analysis::default();
        let make = |id, severity, s| draft(&analysis, id, severity, Confidence::High).cost(s, Cost::WallTime).done();
        let mut findings =
            vec![make("lock-ping-pong", Severity::Critical, 1.0), make("slow-client-link", Severity::Warning, 3.0)];
        rank(&mut findings, &analysis, place);
        assert_eq!(ids(&findings), ["slow-client-link", "lock-ping-pong"]);
    }

    #[test]
    fn what_waits_for_other_threads_is_no_effect_of_a_disk() {
        let analysis = Analysis::default();
        let make = |id, targets: &[&str]| {
            draft(&analysis, id, Severity::Warning, Confidence::High).targets(targets.iter().copied()).done()
        };
        let mut findings =
            vec![make("queue-bound", &[]), make("queue-bound", &["a-OST0000"]), make("sluggish-ost", &["a-OST0000"])];
        rank(&mut findings, &analysis, place);
        let told: Vec<bool> = findings.iter().map(Finding::is_more_than_a_note).collect();
        assert_eq!(
            (ids(&findings), told),
            (vec!["sluggish-ost", "queue-bound", "queue-bound"], vec![true, true, false])
        );
    }

    #[test]
    fn effects_on_the_same_targets_are_notes() {
        let analysis = Analysis::default();
        let make =
            |id, target: &str| draft(&analysis, id, Severity::Warning, Confidence::High).targets([target]).done();
        let mut findings = vec![
            make("many-writers", "a-OST0000"),
            make("many-writers", "a-OST0001"),
            make("lock-ping-pong", "a-OST0000"),
        ];
        rank(&mut findings, &analysis, place);
        assert_eq!(ids(&findings), ["lock-ping-pong", "many-writers", "many-writers"]);
        assert_eq!(findings[1].explained_by, None);
        assert_eq!(findings[2].explained_by.as_deref(), Some("lock-ping-pong"));
        assert_eq!(findings[2].severity, Severity::Info);
    }

    #[test]
    fn waiting_clients_wait_at_the_same_time() {
        let mut analysis = Analysis::default();
        let mut io = lioprof_model::Io::default();
        io.add(lioprof_model::RpcSize::Exact(1), false);
        for nid in ["10.0.0.1@tcp", "10.0.0.2@tcp", "10.0.0.3@tcp"] {
            analysis.clients.push(Client {
                nid: nid.to_owned(),
                uuids: Vec::new(),
                server: false,
                rpcs: 1,
                read: io.clone(),
                write: io.clone(),
                targets: 1,
                ..Client::default()
            });
        }
        let make = |id, s, of| draft(&analysis, id, Severity::Warning, Confidence::High).cost(s, of).done();
        let mut findings = vec![
            make("lock-ping-pong", 6.0, Cost::RequestSeconds),
            make("reads-not-lustre-aware", 3.0, Cost::WallTime),
        ];
        rank(&mut findings, &analysis, place);
        assert_eq!(ids(&findings), ["reads-not-lustre-aware", "lock-ping-pong"]);
    }
}
