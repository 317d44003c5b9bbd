//! Whose part of the service time is longer than its peers': what tells a slow disk from a slow link.

use lioprof_model::units::two_digits;
use lioprof_model::{AgainstPeers, Direction, ServiceSplit, SplitPart};

use super::rule::{Case, Draft, Limit, limit, real, share};

/// Thresholds of the rules that compare parts.
pub(super) const PART_RATIO: Limit = limit(
    "part_ratio",
    2.0,
    "mean time of a part of the service over that of its peers for the same mix of requests, at least",
);
pub(super) const PART_SHARE: Limit = limit(
    "part_share",
    0.25,
    "what the part takes longer than its peers', as a share of the whole service time, at least",
);
pub(super) const CHANCE: Limit = limit(
    "chance",
    AgainstPeers::CERTAIN,
    "probability that chance makes one look this slow, adjusted for how many are compared, at most",
);
/// Requests of so many bytes or fewer are small.
const SMALL_BYTES: f64 = 65_536.0;
/// How many times the usual ratio small ones have to take: where on the disk they go makes one take twice as long as another.
const SMALL_TIMES: f64 = 1.5;

/// By how much more than usual requests of this mean size have to differ to be called slow.
pub(super) fn times_usual(mean_bytes: f64) -> f64 {
    if mean_bytes <= SMALL_BYTES { SMALL_TIMES } else { 1.0 }
}

/// Standard deviations from which longer times may be no chance.
const PERHAPS: f64 = 1.0;

/// One of the three parts of service time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    Before,
    Transfer,
    After,
}

/// A part that takes longer than it should.
pub(super) struct SlowPart<'a> {
    pub(super) parts: &'a ServiceSplit,
    pub(super) which: Which,
    pub(super) against: AgainstPeers,
    /// Own mean over the peers'.
    pub(super) ratio: f64,
    /// Seconds that it took longer than with the peers' mean, over all requests.
    pub(super) longer_s: f64,
}

impl<'a> SlowPart<'a> {
    /// The parts that take longer than their peers' by the thresholds, those that cost most first, and whether that is certain.
    pub(super) fn of(case: &Case<'_>, parts: &'a ServiceSplit) -> Vec<(Self, bool)> {
        let service_us = parts.mean_service_us();
        let mean_bytes = share(real(parts.bytes), real(parts.rpcs));
        let parts_in_order =
            [(Which::Before, &parts.before), (Which::Transfer, &parts.transfer), (Which::After, &parts.after)];
        let slow = parts_in_order.into_iter().filter_map(|(which, part)| {
            let against = part.against_peers?;
            let ratio = against.ratio?;
            let longer_us = part.us.mean? - against.peers_mean_us;
            let usual = if which == Which::Transfer { 1.0 } else { times_usual(mean_bytes) };
            let is_slow = ratio >= usual * case.limit(PART_RATIO.name)
                && share(longer_us, service_us) >= case.limit(PART_SHARE.name)
                && against.z > PERHAPS;
            let slow = Self { parts, which, against, ratio, longer_s: longer_us * real(against.rpcs) / 1e6 };
            is_slow.then_some((slow, against.chance <= case.limit(CHANCE.name)))
        });
        let mut slow: Vec<(Self, bool)> = slow.collect();
        slow.sort_by(|a, b| b.0.longer_s.total_cmp(&a.0.longer_s));
        slow
    }
}

impl SlowPart<'_> {
    /// What happens in the part.
    pub(super) fn what(&self) -> &'static str {
        match (self.which, self.parts.direction) {
            (Which::Transfer, _) => "moving the data",
            (Which::Before, Direction::Read) => "reading from disk",
            (Which::Before, Direction::Write) => "preparing writes",
            (Which::After, Direction::Read) => "the work after sending the data",
            (Which::After, Direction::Write) => "writing to disk",
        }
    }

    /// How long it takes here and `elsewhere`, on average: `writing to disk takes 18 s per request, 27 ms on the other OSTs`.
    pub(super) fn than_peers(&self, elsewhere: &str) -> String {
        let part = match self.which {
            Which::Before => &self.parts.before,
            Which::Transfer => &self.parts.transfer,
            Which::After => &self.parts.after,
        };
        let own = two_digit_time(part.us.mean.unwrap_or(0.0));
        let peers = two_digit_time(self.against.peers_mean_us);
        format!("{} takes {own} per request, {peers} {elsewhere}", self.what())
    }

    /// Figures that a finding rests on.
    pub(super) fn evidence(&self, draft: Draft) -> Draft {
        let ms = |part: &SplitPart| part.us.mean.map(|us| us / 1000.0);
        let peers_ms = |part: &SplitPart| part.against_peers.map(|against| against.peers_mean_us / 1000.0);
        let ServiceSplit { before, transfer, after, .. } = self.parts;
        draft
            .evidence("part_ratio", self.ratio)
            .evidence("longer_share", self.against.longer_share)
            .evidence("chance", self.against.chance)
            .evidence("rpcs_compared", real(self.against.rpcs))
            .evidence("peers_rpcs_compared", real(self.against.peer_rpcs))
            .evidence("before_ms", ms(before))
            .evidence("transfer_ms", ms(transfer))
            .evidence("after_ms", ms(after))
            .evidence("peers_before_ms", peers_ms(before))
            .evidence("peers_transfer_ms", peers_ms(transfer))
            .evidence("peers_after_ms", peers_ms(after))
    }

    /// The parts in words, the peers' in brackets where they are known.
    pub(super) fn in_words(&self) -> String {
        let words = self.parts.in_order().map(|(name, part)| {
            let own = time(part.us.mean.unwrap_or(0.0));
            match part.against_peers {
                Some(against) => format!("{own} {name} ({})", time(against.peers_mean_us)),
                None => format!("{own} {name}"),
            }
        });
        format!("{}, {} and {}", words[0], words[1], words[2])
    }
}

/// `18 s`, `0.31 s`, `2.7 ms`: a mean, of which further digits are chance.
fn two_digit_time(us: f64) -> String {
    if us >= 1e5 { format!("{} s", two_digits(us / 1e6)) } else { format!("{} ms", two_digits(us / 1e3)) }
}

fn time(us: f64) -> String {
    if us >= 1e6 { format!("{:.1} s", us / 1e6) } else { format!("{:.1} ms", us / 1e3) }
}

#[cfg(test)]
mod tests {
    use lioprof_model::{
        Analysis, ClientParts, Distribution, NetworkParts, ServerParts, TargetKindName, TargetParts, TargetSeries,
    };

    use super::super::case::Shared;
    use super::super::limits::Limits;
    use super::super::registry::rules;
    use super::*;

    /// A part with this mean and the peers', which took longer in so many pairs.
    fn part(own_ms: f64, peers_ms: f64, longer_share: f64) -> SplitPart {
        let z = (longer_share - 0.5) * 10.0;
        let chance = if longer_share > 0.8 { 0.001 } else { 0.8 };
        let against = AgainstPeers {
            rpcs: 12,
            peer_rpcs: 36,
            peers_mean_us: peers_ms * 1e3,
            ratio: Some(own_ms / peers_ms),
            longer_share,
            z,
            chance,
        };
        SplitPart {
            us: Distribution { count: 12, mean: Some(own_ms * 1e3), ..Distribution::default() },
            against_peers: Some(against),
        }
    }

    fn parts([before, transfer, after]: [SplitPart; 3]) -> ServiceSplit {
        ServiceSplit {
            direction: Direction::Write,
            rpcs: 12,
            bytes: 12 << 22,
            first: 0.0,
            last: 10.0,
            before,
            transfer,
            after,
        }
    }

    fn found(analysis: &Analysis, id: &str) -> Vec<lioprof_model::Finding> {
        let rule = rules().iter().find(|rule| rule.id == id).unwrap();
        (rule.look)(&Case { analysis, rule, limits: &Limits::default(), shared: &Shared::default() })
            .unwrap_or_default()
    }

    /// Two servers with two OSTs each; those of the second one take this many times as long for the same bytes.
    fn two_servers(times: usize) -> Analysis {
        let series = |name: &str, node: &str, busy: usize| {
            let column =
                |value: u64| (0..20).map(|bin| if bin < busy { value / busy as u64 } else { 0 }).collect::<Vec<u64>>();
            let depth: Vec<f64> = (0..20).map(|bin| if bin < busy { 3.0 } else { 0.0 }).collect();
            TargetSeries {
                name: Some(name.to_owned()),
                node: node.to_owned(),
                kind: TargetKindName::Ost,
                read_bytes: column(0),
                write_bytes: column(48 << 20),
                read_bounded_bytes: column(0),
                write_bounded_bytes: column(0),
                read_rpcs: column(0),
                write_rpcs: column(12),
                rpcs: column(12),
                arrived: column(12),
                queued: vec![0.0; 20],
                in_process: depth.clone(),
                in_flight: depth,
                mean_total_us: vec![None; 20],
            }
        };
        let mut analysis = Analysis::default();
        analysis.window.end = 20.0;
        analysis.totals.write.rpcs = 48;
        analysis.series.bin_s = 1.0;
        analysis.series.bins = 20;
        analysis.series.targets = vec![
            series("a", "oss1", 4),
            series("b", "oss1", 4),
            series("c", "oss2", 4 * times),
            series("d", "oss2", 4 * times),
        ];
        analysis
    }

    /// Means of a real run whose server's link was throttled: the transfer is slow on both OSTs, the disk a little.
    #[test]
    fn a_servers_link_is_told_from_its_disks() {
        let mut analysis = two_servers(4);
        let slow = || parts([part(105.0, 135.0, 0.4), part(5200.0, 1120.0, 0.99), part(1080.0, 100.0, 0.95)]);
        let well = || parts([part(135.0, 105.0, 0.6), part(1120.0, 5200.0, 0.01), part(100.0, 1080.0, 0.05)]);
        analysis.service_parts.servers = vec![
            ServerParts { node: "oss1".to_owned(), osts: 2, apart: false, parts: well() },
            ServerParts { node: "oss2".to_owned(), osts: 2, apart: false, parts: slow() },
        ];
        let target =
            |name: &str, node: &str, parts| TargetParts { target: Some(name.to_owned()), node: node.to_owned(), parts };
        analysis.service_parts.targets = vec![
            target("a", "oss1", well()),
            target("b", "oss1", well()),
            target("c", "oss2", slow()),
            target("d", "oss2", slow()),
        ];
        let found = found(&analysis, "sluggish-ost");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].nodes.as_slice(), found[0].targets.len()), (["oss2".to_owned()].as_slice(), 2));
        assert!(found[0].title.starts_with("The network of server oss2 is slow"), "{}", found[0].title);
    }

    #[test]
    fn many_requests_at_a_time_make_nobody_slow() {
        // As much time for each, but the bytes flow as fast as elsewhere.
        let mut analysis = two_servers(1);
        let slow = parts([part(10.0, 10.0, 0.5), part(5200.0, 1120.0, 0.99), part(10.0, 10.0, 0.5)]);
        analysis.service_parts.servers =
            vec![ServerParts { node: "oss2".to_owned(), osts: 2, apart: false, parts: slow }];
        assert_eq!(found(&analysis, "sluggish-ost"), []);
    }

    /// Clients of two networks, of which so many of `tcp1` take eight times as long.
    fn two_networks(slow: usize) -> Analysis {
        two_groups(["tcp1", "o2ib"], |number, group| format!("10.0.0.{number}@{group}"), slow)
    }

    /// Three clients each of two groups, of which so many of the first take eight times as long.
    fn two_groups(groups: [&str; 2], nid: impl Fn(usize, &str) -> String, slow: usize) -> Analysis {
        let split = |is_slow: bool| {
            let transfer = if is_slow { part(80.0, 10.0, 0.99) } else { part(10.0, 80.0, 0.01) };
            let last = if is_slow { 80.0 } else { 10.0 };
            ServiceSplit { last, ..parts([part(1.0, 1.0, 0.5), transfer, part(1.0, 1.0, 0.5)]) }
        };
        let client = |(number, (network, is_slow)): (usize, (&str, bool))| ClientParts {
            nid: nid(number, network),
            targets: 4,
            // Half of all clients are slow: none stands out among them.
            parts: ServiceSplit {
                transfer: SplitPart { against_peers: None, ..split(is_slow).transfer },
                ..split(is_slow)
            },
        };
        let of_first = (0..3).map(|number| (groups[0], number < slow));
        let clients = of_first.chain([(groups[1], false); 3]).enumerate().map(client).collect();
        let network =
            |network: &str, is_slow| NetworkParts { network: network.to_owned(), clients: 3, parts: split(is_slow) };
        let mut analysis = Analysis::default();
        analysis.service_parts.clients = clients;
        analysis.service_parts.clients[0].parts.transfer = split(slow > 0).transfer;
        analysis.service_parts.networks = vec![network(groups[1], false), network(groups[0], true)];
        analysis
    }

    #[test]
    fn a_slow_network_is_named_instead_of_its_clients() {
        let [finding] = &found(&two_networks(3), "slow-client-link")[..] else { panic!("one") };
        assert_eq!(
            finding.title,
            "The network tcp1 is slow: data of its 3 clients take 8.0 times as long as those of clients of other networks"
        );
        assert_eq!(finding.clients.len(), 3);
        // One client that is slow makes no slow network.
        let [finding] = &found(&two_networks(1), "slow-client-link")[..] else { panic!("one") };
        assert!(finding.title.starts_with("The link of client 10.0.0.0@tcp1 is slow"), "{}", finding.title);
    }

    #[test]
    fn a_slow_subnet_of_a_network_is_named() {
        let groups = ["10.0.7.0/24@tcp", "10.0.8.0/24@tcp"];
        let nid = |number: usize, group: &str| group.replace("0/24", &number.to_string());
        let [finding] = &found(&two_groups(groups, nid, 3), "slow-client-link")[..] else { panic!("one") };
        assert!(
            finding.title.starts_with("The subnet 10.0.7.0/24@tcp is slow: data of its 3 clients"),
            "{}",
            finding.title
        );
        // Not once more where its network is slow.
        let mut analysis = two_groups(["tcp", "o2ib"], |number, group| format!("10.0.7.{number}@{group}"), 3);
        let slow = analysis.service_parts.networks[1].clone();
        analysis.service_parts.networks.push(NetworkParts { network: groups[0].to_owned(), ..slow });
        let [finding] = &found(&analysis, "slow-client-link")[..] else { panic!("one") };
        assert!(finding.title.starts_with("The network tcp is slow"), "{}", finding.title);
    }

    #[test]
    fn what_chance_may_do_is_not_found() {
        let analysis = Analysis::default();
        let rule = rules().iter().find(|rule| rule.id == "slow-client-link").unwrap();
        let case = Case { analysis: &analysis, rule, limits: &Limits::default(), shared: &Shared::default() };
        let certain = |parts: &ServiceSplit| {
            SlowPart::of(&case, parts).into_iter().map(|(slow, certain)| (slow.which, certain)).collect::<Vec<_>>()
        };
        let mut far = parts([part(10.0, 10.0, 0.5), part(900.0, 100.0, 1.0), part(10.0, 10.0, 0.5)]);
        assert_eq!(certain(&far), [(Which::Transfer, true)]);
        // The same among ten million clients.
        far.transfer.against_peers.as_mut().unwrap().chance = 0.2;
        assert_eq!(certain(&far), [(Which::Transfer, false)]);
        let small = parts([part(10.0, 10.0, 0.5), part(10.0, 1.0, 1.0), part(1000.0, 1000.0, 0.5)]);
        assert_eq!(certain(&small), []);
    }
}
