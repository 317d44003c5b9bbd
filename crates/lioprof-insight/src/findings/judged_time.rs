//! The state of each part of the clients' time: as it should be, with a finding that is its cause, or that it cannot be told.

use std::cell::OnceCell;

use lioprof_model::units::{percent, real, share, two_digits};
use lioprof_model::{
    Analysis, Check, CheckResult, Direction, Finding, MAX_NAMES, Operation, Service, SpentOn, SpentState, Target,
    TargetIo, TargetKindName, TimeOf, TimeSpent,
};

use super::bottleneck::{Bottleneck, HARDLY_HELD_UP, as_long_as_alone};
use super::registry::explains;
use super::stats::median;
use super::waits::{IO_SERVICE, waits};
use super::{below_available, metadata_bound, slow_link, sluggish_ost, trace_quality};

/// What takes this share of the clients' time, all places together, has a state,
const MATTERS: f64 = 0.2;
/// each place of it that takes so much.
const PLACE_MATTERS: f64 = 0.02;
/// Mean times in a queue below this are no waiting: waking a thread up takes as long, ms.
const NO_WAIT_MS: f64 = 1.0;
/// Requests at a time up to which they hardly hold each other up.
const NEARLY_ALONE: f64 = 2.0;
/// Part of a target's time that its peers would not have needed, from which they are not called as fast.
const MUCH_LONGER: f64 = 0.5;
/// How many times as long a target's reads or writes take as on its peers, from which it is not called as fast.
const TIMES_PEERS: f64 = 4.0;
/// How many times as long requests of one client take as those of the others, from which it is no longer the work that was asked for,
const TIMES_OTHERS: f64 = 10.0;
/// if each of them sent so many, and they took so long, s.
const FEWEST: u64 = 10;
const NOTICED_S: f64 = 1.0;
/// Requests of so many bytes in the mean are large: on no type of OSD do they take several times as long as on another.
const LARGE_BYTES: u64 = 512 << 10;
const AS_ALONE: &str = "requests take about as long among many as alone: the work that was asked for";
/// Share of a client in the requests for metadata from which it is named.
const NAMED_SHARE: f64 = 0.2;

/// A state, and why.
type State = (SpentState, String);

fn as_it_should_be(why: impl Into<String>) -> State {
    (SpentState::AsItShouldBe, why.into())
}

fn cannot_tell(why: impl Into<String>) -> State {
    (SpentState::CannotTell, why.into())
}

/// What it is judged by.
struct Judge<'a> {
    analysis: &'a Analysis,
    /// Where reads and writes spend their time: worked out if somebody asks.
    headroom: OnceCell<Option<f64>>,
}

/// The account with the state of all that takes much of it.
pub(super) fn judged(analysis: &Analysis) -> Option<TimeOf> {
    let mut all = analysis.time_account.all.clone()?;
    let judge = Judge { analysis, headroom: OnceCell::new() };
    let matters = SpentOn::ALL.map(|on| all.share_on(on) >= MATTERS);
    for spent in &mut all.spent {
        (spent.state, spent.reason, spent.finding) = (None, None, None);
        if matters[spent.on as usize] && share(spent.us, all.span_us) >= PLACE_MATTERS {
            judge.write(spent);
        }
    }
    Some(all)
}

impl Judge<'_> {
    fn write(&self, spent: &mut TimeSpent) {
        if let Some(cause) = self.cause(spent) {
            (spent.state, spent.reason) = (Some(SpentState::Cause), Some(cause.title.clone()));
            spent.finding = Some(cause.id.clone());
            return;
        }
        let (state, reason) = match spent.on {
            SpentOn::LockWait => cannot_tell("no two clients fight for it: one may hold its locks for long"),
            SpentOn::Bulk => self.bulk(spent),
            SpentOn::Sync => self.sync(&spent.node),
            SpentOn::Queue => self.queue(&spent.node),
            SpentOn::Metadata => self.metadata(spent),
            SpentOn::Other => self.other(),
            SpentOn::Unknown => cannot_tell("the log has only the ends of these requests"),
            SpentOn::Nothing => self.nothing(),
        };
        (spent.state, spent.reason) = (Some(state), Some(reason));
    }

    /// The worst finding that explains it.
    fn cause(&self, spent: &TimeSpent) -> Option<&Finding> {
        let mut told = self.analysis.findings.iter().filter(|finding| finding.is_more_than_a_note());
        told.find(|finding| is_explained(spent, finding))
    }

    fn check(&self, id: &str) -> Option<&Check> {
        self.analysis.checks.iter().find(|check| check.id == id)
    }

    fn result(&self, id: &str) -> Option<CheckResult> {
        self.check(id).map(|check| check.result)
    }

    /// Why a check has no answer, if it has none.
    fn open(&self, id: &str) -> Option<State> {
        self.check(id)?.without_answer().map(cannot_tell)
    }

    /// How many times as much OSTs could deliver ([`Bottleneck::headroom`]).
    fn headroom(&self) -> Option<f64> {
        *self.headroom.get_or_init(|| Bottleneck::of(self.analysis)?.headroom)
    }

    fn bulk(&self, spent: &TimeSpent) -> State {
        if spent.target.is_none() {
            return cannot_tell("which target handled these reads and writes is unknown (mask dlmtrace)");
        }
        if self.result(below_available::RULE.id) == Some(CheckResult::Healthy) {
            return as_it_should_be("as fast as the baseline says");
        }
        if let Some(open) = self.open(slow_link::RULE.id) {
            return open;
        }
        let is_apart = self.is_told_as_another_type(spent);
        let excess = spent.excess_us.filter(|excess_us| share(*excess_us, spent.us) >= MUCH_LONGER);
        if let Some(excess_us) = excess.filter(|_| !is_apart) {
            return cannot_tell(format!(
                "its peers would have needed {} s less for the same requests, but it did not hold up enough to be called slow",
                two_digits(real(excess_us) / 1e6)
            ));
        }
        let own = self.target_of(spent);
        if let Some(longer) = own.filter(|_| !is_apart).and_then(|own| self.takes_longer(own)) {
            return cannot_tell(longer);
        }
        // That OSTs of another type take far longer is known of small requests only.
        if is_apart && own.is_some_and(has_large_requests) {
            return cannot_tell(format!(
                "all OSTs of {} that were used take far longer than those of other servers: slow disks, or another type of OSD \
                 (`lctl get_param osd-*.*.fstype`)",
                spent.node
            ));
        }
        let compared = matches!(self.result(sluggish_ost::RULE.id), Some(CheckResult::Healthy | CheckResult::Found));
        if compared && self.analysis.targets.len() > 1 {
            return as_it_should_be(if is_apart {
                "small requests take so long on another type of OSD, which its server's OSTs look like"
            } else {
                "as fast as on its peers"
            });
        }
        if let Some(open) = self.open(sluggish_ost::RULE.id) {
            return open;
        }
        let own = self.headroom().is_some_and(|most| most >= HARDLY_HELD_UP);
        if own {
            return as_it_should_be(AS_ALONE);
        }
        cannot_tell("it has no peer to be held against: a baseline (--baseline) or the log of a good run would tell")
    }

    /// The OST that served these reads and writes.
    fn target_of(&self, spent: &TimeSpent) -> Option<&Target> {
        let is_it = |target: &&Target| Some(&target.name) == spent.target.as_ref() && target.node == spent.node;
        self.analysis.targets.iter().filter(|target| target.kind == TargetKindName::Ost).find(is_it)
    }

    /// How much longer a target's reads or writes take than those of about the same size on the others, without any test of chance: enough not
    /// to call it as fast.
    fn takes_longer(&self, own: &Target) -> Option<String> {
        let osts = || self.analysis.targets.iter().filter(|target| target.kind == TargetKindName::Ost);
        let facts = |io: &TargetIo| {
            let mean_us = io.latency.service_us.mean.filter(|_| io.io.rpcs >= FEWEST)?;
            Some((mean_us, share(io.io.bytes, io.io.rpcs)))
        };
        [Direction::Read, Direction::Write].into_iter().find_map(|direction| {
            let io = |target: &Target| facts(direction.pick(&target.read, &target.write));
            let (own_us, own_bytes) = io(own)?;
            let alike = |(_, bytes): &(f64, f64)| (0.5..=2.0).contains(&(bytes / own_bytes));
            let peers = osts().filter(|target| !std::ptr::eq(*target, own)).filter_map(io).filter(alike);
            let peers_us = median(peers.map(|(us, _)| us))?;
            let [own_ms, peers_ms] = [own_us, peers_us].map(|us| two_digits(us / 1e3));
            (own_us >= TIMES_PEERS * peers_us).then(|| {
                format!(
                    "its {} take {own_ms} ms each, those of the same size on other OSTs {peers_ms} ms, but it did not hold up enough to be called slow",
                    direction.requests()
                )
            })
        })
    }

    /// Whether a note says that its server's OSTs differ from others as another type of OSD does.
    fn is_told_as_another_type(&self, spent: &TimeSpent) -> bool {
        let mut notes = self.analysis.findings.iter().filter(|finding| finding.id == sluggish_ost::RULE.id);
        notes.any(|finding| spent.target.as_ref().is_none_or(|target| finding.targets.contains(target)))
    }

    fn sync(&self, node: &str) -> State {
        if let Some(open) = self.open(sluggish_ost::RULE.id) {
            return open;
        }
        let spent = self.analysis.time_account.all.iter().flat_map(|all| &all.spent);
        let (own_us, others_us) = spent.filter(|spent| spent.on == SpentOn::Sync).fold((0, 0), |(own, others), it| {
            if it.node == node { (own + it.us, others) } else { (own, it.us.max(others)) }
        });
        if own_us <= 2 * others_us {
            return as_it_should_be("they take no longer than those of another server");
        }
        // Others of the same server may all be as slow.
        let has_like = self.analysis.syncs.iter().any(|syncs| syncs.node == node);
        if has_like && others_us == 0 {
            return as_it_should_be(format!("they take about as long as others of {node}"));
        }
        if has_like {
            return cannot_tell(format!(
                "they take about as long as others of {node}, and more time than those of other servers: other disks, or slow ones"
            ));
        }
        cannot_tell(format!("{node} has no syncs of another OST to hold them against"))
    }

    fn queue(&self, node: &str) -> State {
        let waits = waits(self.analysis, 1.0);
        let Some(longest) = waits.iter().find(|waits| waits.service.node == node) else {
            return cannot_tell("the log does not say of which service");
        };
        let (name, queue_ms) = (longest.name(), longest.queue_ms);
        if queue_ms < NO_WAIT_MS {
            return as_it_should_be(format!("{queue_ms:.2} ms each in {name}: little"));
        }
        if let Some(open) = self.open(super::queue_bound::RULE.id) {
            return open;
        }
        let disks_set_the_pace = self.headroom().is_some_and(|most| most < HARDLY_HELD_UP);
        if longest.service.service == IO_SERVICE && disks_set_the_pace {
            return as_it_should_be(format!(
                "the disks are at their limit: what waits {queue_ms:.1} ms for a thread of {name} would wait in them"
            ));
        }
        let Service { queue_us, held_us, .. } = longest.service;
        let busy = share(queue_us.saturating_sub(*held_us), *queue_us);
        let why = if busy >= 0.5 {
            format!(
                "for {} of that time no thread was free: too little to be called a lack of threads",
                percent(busy, 0)
            )
        } else {
            "neither busy threads nor a rule of the scheduler explain it".to_owned()
        };
        cannot_tell(format!("requests wait {queue_ms:.1} ms each in {name}, and {why}"))
    }

    fn metadata(&self, spent: &TimeSpent) -> State {
        if let Some(open) = self.open(metadata_bound::RULE.id) {
            return open;
        }
        let (node, whose) = (spent.node.as_str(), self.most_metadata());
        if let Some(apart) = self.one_client_apart() {
            return cannot_tell(apart);
        }
        if let Some(longer) = self.longer_than_other_mds(node) {
            return cannot_tell(longer);
        }
        let own = self.analysis.services.iter().filter(|service| service.node == node);
        let (of_mds, others): (Vec<_>, Vec<_>) = own.partition(|service| metadata_bound::is_of_mds(&service.service));
        let service_us = of_mds.iter().map(|service| service.service_us).sum::<u64>();
        // Time is shared with what is under way elsewhere: there may be fewer at a time, not more.
        let at_a_time = real(service_us) / real(spent.us).max(1.0);
        if at_a_time <= NEARLY_ALONE {
            return as_it_should_be(format!(
                "requests are handled {at_a_time:.1} at a time: the work that was asked for{whose}"
            ));
        }
        // Requests of an OSS on the same node would pass for those of the MDS.
        let series = self.analysis.series.nodes.iter().find(|series| series.node == node && others.is_empty());
        match series.and_then(as_long_as_alone) {
            Some(true) => as_it_should_be(format!("{AS_ALONE}{whose}")),
            Some(false) => cannot_tell(format!(
                "requests hold each other up on {node}{whose}: whether it could be faster, the log of a good run would tell"
            )),
            None => cannot_tell(format!(
                "{node} handles {at_a_time:.1} requests at a time{whose}, and has no peer to be held against"
            )),
        }
    }

    /// How much longer a request takes in a service of this MDS than in the same one of another.
    fn longer_than_other_mds(&self, node: &str) -> Option<String> {
        let of_mds = |it: &&Service| metadata_bound::is_of_mds(&it.service) && it.rpcs >= FEWEST;
        let services = || self.analysis.services.iter().filter(of_mds);
        let mean_us = |it: &Service| share(it.service_us, it.rpcs);
        services().filter(|it| it.node == node).find_map(|own| {
            let others = services().filter(|it| it.node != node && it.service == own.service);
            let other = others.min_by(|a, b| mean_us(a).total_cmp(&mean_us(b)))?;
            let is_longer = mean_us(own) >= TIMES_OTHERS * mean_us(other) && real(own.service_us) / 1e6 >= NOTICED_S;
            is_longer.then(|| {
                let [slow, quick] = [own, other].map(|it| two_digits(mean_us(it) / 1e3));
                format!("{} of {node} takes {slow} ms for a request, that of {} {quick} ms", own.service, other.node)
            })
        })
    }

    /// A client whose requests for metadata take many times as long as the same of the others.
    fn one_client_apart(&self) -> Option<String> {
        let operations = self.analysis.operations.iter().filter(|operation| metadata_bound::is_metadata(operation));
        operations.filter_map(|operation| self.apart(&operation.name)).next()
    }

    /// The same of one operation: `LDLM_ENQUEUE of 10.9.8.14@tcp take 500 ms each, those of 7 others 0.19 ms`.
    fn apart(&self, operation: &str) -> Option<String> {
        let clients = self.analysis.clients.iter().filter(|client| !client.server);
        let mut means: Vec<(f64, u64, &str)> = clients
            .filter_map(|client| {
                let rpcs = *client.opcodes.get(operation)?;
                let us = *client.service_us.get(operation)?;
                (rpcs >= FEWEST).then(|| (real(us) / real(rpcs), us, client.nid.as_str()))
            })
            .collect();
        means.sort_by(|a, b| b.0.total_cmp(&a.0));
        let [(slow_us, sum_us, nid), others @ ..] = means.as_slice() else { return None };
        let next_us = others.first().filter(|_| others.len() > 1)?.0;
        let is_apart = *slow_us >= TIMES_OTHERS * next_us && real(*sum_us) / 1e6 >= NOTICED_S;
        is_apart.then(|| {
            let [slow, next] = [*slow_us, next_us].map(|us| two_digits(us / 1e3));
            format!(
                "{operation} of {nid} take {slow} ms each, those of {} other clients {next} ms at most: look at its locks and its network",
                others.len()
            )
        })
    }

    /// Who sent most of the requests for metadata.
    fn most_metadata(&self) -> String {
        let most = metadata_bound::most(self.analysis, NAMED_SHARE);
        most.map(|most| format!(", {}", most.in_words())).unwrap_or_default()
    }

    fn other(&self) -> State {
        let seconds = |it: &&Operation| it.latency.service_us.mean.unwrap_or(0.0) * real(it.latency.service_us.count);
        let others = self.analysis.operations.iter().filter(|operation| is_other(operation));
        let most = others.max_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        cannot_tell(most.map_or_else(
            || "the log does not say of which kind".to_owned(),
            |it| {
                format!(
                    "most of it is {}, {:.1} ms each, with nothing to hold it against",
                    it.name,
                    it.latency.service_us.mean.unwrap_or(0.0) / 1e3
                )
            },
        ))
    }

    fn nothing(&self) -> State {
        match self.open(trace_quality::RULE.id) {
            Some(open) => open,
            None if self.lost() => cannot_tell("requests of the log were lost, some of them may have been under way"),
            None => as_it_should_be("outside these servers: the clients' own work, their page caches, the network"),
        }
    }

    /// Whether the capture lost enough to be said.
    fn lost(&self) -> bool {
        self.analysis.findings.iter().any(|it| it.id == trace_quality::RULE.id && it.is_more_than_a_note())
    }
}

/// Whether a finding may be the cause of what time was spent on.
pub(super) fn is_explained(spent: &TimeSpent, finding: &Finding) -> bool {
    explains(&finding.id).contains(&spent.on) && is_there(finding, spent)
}

/// Whether a finding is about the place where time was spent; without names it is about all.
fn is_there(finding: &Finding, spent: &TimeSpent) -> bool {
    let names = |list: &[String], name: Option<&str>| {
        list.is_empty() || list.len() >= MAX_NAMES || name.is_none_or(|name| list.iter().any(|it| it == name))
    };
    names(&finding.targets, spent.target.as_deref())
        && names(&finding.nodes, Some(spent.node.as_str()).filter(|node| !node.is_empty()))
}

/// Whether an OST's reads and writes carry much each.
fn has_large_requests(target: &Target) -> bool {
    let [read, write] = [&target.read.io, &target.write.io];
    read.bytes + write.bytes >= LARGE_BYTES * (read.rpcs + write.rpcs)
}

/// Whether an operation is no read or write, and not for an MDS.
fn is_other(operation: &Operation) -> bool {
    !matches!(operation.name.as_str(), "OST_READ" | "OST_WRITE" | "OBD_PING") && !metadata_bound::is_metadata(operation)
}

#[cfg(test)]
mod tests {
    use lioprof_model::{Confidence, Severity, TimeAccount};

    use super::*;

    fn account(spent: Vec<TimeSpent>) -> Analysis {
        let all = TimeOf { span_us: spent.iter().map(|it| it.us).sum(), spent, ..TimeOf::default() };
        Analysis { time_account: TimeAccount { all: Some(all), ..TimeAccount::default() }, ..Analysis::default() }
    }

    fn of(on: SpentOn, target: Option<&str>, node: &str, us: u64) -> TimeSpent {
        TimeSpent::new(on, target.map(str::to_owned), node.to_owned(), us)
    }

    fn states(analysis: &Analysis, findings: &[Finding]) -> Vec<(Option<SpentState>, Option<String>)> {
        let all = judged(&Analysis { findings: findings.to_vec(), ..analysis.clone() }).unwrap();
        all.spent.into_iter().map(|spent| (spent.state, spent.finding)).collect()
    }

    #[test]
    fn whatever_takes_a_fifth_has_a_state() {
        for on in SpentOn::ALL {
            let analysis = account(vec![of(on, None, "s1", 20), of(SpentOn::Nothing, None, "", 80)]);
            assert!(states(&analysis, &[]).iter().all(|(state, _)| state.is_some()), "{on:?}");
        }
        // Many places with little each are much together.
        let places = (0..10).map(|place| of(SpentOn::Queue, None, &format!("s{place}"), 3));
        let analysis = account(places.chain([of(SpentOn::Nothing, None, "", 70)]).collect());
        assert!(states(&analysis, &[]).iter().all(|(state, _)| state.is_some()));
        let analysis = account(vec![of(SpentOn::Queue, None, "s1", 19), of(SpentOn::Nothing, None, "", 81)]);
        assert_eq!(states(&analysis, &[])[0], (None, None));
    }

    #[test]
    fn a_finding_is_the_cause_of_what_it_explains_where_it_is() {
        let finding = |id: &str, severity, target: &str| Finding {
            targets: vec![target.to_owned()],
            ..Finding::new(id, severity, Confidence::High, id)
        };
        let bulk = |target| of(SpentOn::Bulk, Some(target), "s1", 50);
        let analysis = account(vec![bulk("a-OST0000"), bulk("a-OST0001")]);
        let found = states(&analysis, &[finding("sluggish-ost", Severity::Warning, "a-OST0001")]);
        assert_eq!(found[1], (Some(SpentState::Cause), Some("sluggish-ost".to_owned())));
        assert_eq!(found[0].0, Some(SpentState::CannotTell));
        // A note is no cause, nor is what explains something else.
        for finding in [
            finding("sluggish-ost", Severity::Info, "a-OST0001"),
            finding("metadata-bound", Severity::Warning, "a-OST0001"),
        ] {
            assert_eq!(states(&analysis, &[finding])[1].0, Some(SpentState::CannotTell));
        }
    }

    #[test]
    fn syncs_are_held_against_those_of_other_servers() {
        let sync = |node, us| of(SpentOn::Sync, None, node, us);
        let analysis = account(vec![sync("s1", 60), sync("s2", 40)]);
        assert!(states(&analysis, &[]).iter().all(|(state, _)| *state == Some(SpentState::AsItShouldBe)));
        let analysis = account(vec![sync("s1", 90), sync("s2", 10)]);
        let found: Vec<_> = states(&analysis, &[]).into_iter().filter_map(|(state, _)| state).collect();
        assert_eq!(found, [SpentState::CannotTell, SpentState::AsItShouldBe]);
    }

    #[test]
    fn short_queues_are_little() {
        let mut analysis = account(vec![of(SpentOn::Queue, None, "s1", 100)]);
        let service = |queue_us| Service {
            node: "s1".to_owned(),
            service: "mdt".to_owned(),
            rpcs: 100,
            queue_us,
            service_us: 1_000,
            ..Service::default()
        };
        analysis.services = vec![service(100 * 900)];
        assert_eq!(states(&analysis, &[])[0].0, Some(SpentState::AsItShouldBe));
        analysis.services = vec![service(100 * 30_000)];
        assert_eq!(states(&analysis, &[])[0].0, Some(SpentState::CannotTell));
    }
}
