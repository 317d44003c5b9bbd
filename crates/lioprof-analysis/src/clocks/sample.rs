//! A sample of a node's RPCs that another node's log may hold as well; its size is bounded whatever the log's length.
//!
//! A hash of the xid alone decides which RPCs are kept, so both ends keep the same ones. RPCs between servers take
//! precedence; every sender gets an equal share.

use lioprof_model::traffic::is_from_server;
use lioprof_model::{RpcRow, SentRpc, Symbol, Symbols};
use lustre_debuglog::{Opcode, TargetName};
use serde::{Deserialize, Serialize};

use crate::renumber::{Renumber, renumber_fields};

/// RPCs kept of one NID.
const MAX_PER_NID: usize = 4096;
/// RPCs kept of servers' NIDs together.
const MAX_SERVERS: usize = 1 << 17;
/// RPCs kept of all other NIDs together: few of them have a log here.
const MAX_OTHERS: usize = 1 << 13;
/// A NID's share does not get smaller than this. If there are more NIDs than RPCs to keep, all get a thinner sample.
const MIN_PER_NID: usize = 2;

/// If an RPC seems to take longer, a clock was set meanwhile.
const LONGEST_US: u64 = 86_400_000_000;

/// The fields of an RPC that both ends print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) xid: u64,
    pub(crate) opcode: Opcode,
    /// Uuid of the sending device.
    pub(crate) uuid: Symbol,
}

renumber_fields!(Identity { uuid } without { xid, opcode });

/// An RPC that the node sent, on the node's clock.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) id: Identity,
    pub(crate) sent_us: i64,
    pub(crate) answered_us: i64,
}

renumber_fields!(Sent { id } without { sent_us, answered_us });

/// An RPC that the node handled, on the node's clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Handled {
    pub(crate) id: Identity,
    pub(crate) arrival_us: i64,
    pub(crate) start_us: i64,
    pub(crate) end_us: i64,
    pub(crate) target: Option<TargetName>,
}

renumber_fields!(Handled { id } without { arrival_us, start_us, end_us, target });

/// An RPC of a sample.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sampled<T> {
    pub(crate) rpc: T,
    /// NID of the other end.
    pub(crate) nid: Symbol,
    /// One in this many RPCs of that NID is kept.
    pub(crate) one_in: u64,
}

impl<T: Renumber> Renumber for Sampled<T> {
    fn renumber(&mut self, to: &[Symbol]) {
        self.rpc.renumber(to);
        self.nid.renumber(to);
    }
}

/// RPCs sent and handled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchanges {
    sent: Sample<Sent>,
    handled: Sample<Handled>,
}

impl Exchanges {
    /// Notes an RPC that the node handled.
    #[inline]
    pub(crate) fn handled(&mut self, row: &RpcRow, symbols: &Symbols) {
        if !self.handled.wants(row.nid, row.xid.0) || row.dropped || row.resent || row.replay {
            return;
        }
        if row.total_us.is_none_or(|us| us > LONGEST_US) {
            return;
        }
        let (Some(arrival_us), Some(start_us)) = (row.arrival_us(), row.start_us()) else { return };
        let id = Identity { xid: row.xid.0, opcode: row.opcode, uuid: row.client_uuid };
        let handled = Handled { id, arrival_us, start_us, end_us: row.end_us, target: row.target };
        self.handled.add(row.nid, handled, symbols);
    }

    /// Notes an RPC that the node sent and that was answered.
    pub(crate) fn sent(&mut self, sent: &SentRpc, symbols: &Symbols) {
        let Some(round_trip_us) = sent.round_trip_us.filter(|&us| us <= LONGEST_US) else { return };
        if !self.sent.wants(sent.nid, sent.xid.0) {
            return;
        }
        let Some(sent_us) = sent.time_us.checked_sub_unsigned(round_trip_us) else { return };
        let id = Identity { xid: sent.xid.0, opcode: sent.opcode, uuid: sent.device };
        self.sent.add(sent.nid, Sent { id, sent_us, answered_us: sent.time_us }, symbols);
    }

    /// What was kept, without what was needed to choose it: a site has hundreds of nodes with the same 100,000 clients.
    pub(crate) fn finish(self, symbols: &Symbols) -> ExchangeSample {
        ExchangeSample::new(self.sent.all().collect(), self.handled.all().collect(), symbols)
    }
}

/// RPCs of a node that another node's log may hold as well.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ExchangeSample {
    /// The texts that occur in it.
    pub(super) symbols: Symbols,
    pub(crate) sent: Box<[Sampled<Sent>]>,
    pub(crate) handled: Box<[Sampled<Handled>]>,
}

impl ExchangeSample {
    /// A sample with a table of its own, of RPCs with symbols of another one.
    pub(super) fn new(mut sent: Box<[Sampled<Sent>]>, mut handled: Box<[Sampled<Handled>]>, of: &Symbols) -> Self {
        let mut symbols = Symbols::default();
        let mut own: Vec<Option<Symbol>> = vec![None; of.len()];
        let of_sent = sent.iter_mut().flat_map(|it| [&mut it.rpc.id.uuid, &mut it.nid]);
        let of_handled = handled.iter_mut().flat_map(|it| [&mut it.rpc.id.uuid, &mut it.nid]);
        for it in of_sent.chain(of_handled) {
            *it = *own[it.0 as usize].get_or_insert_with(|| symbols.intern(of.bytes(*it)));
        }
        Self { symbols, sent, handled }
    }

    /// Gives the sample symbols of a table that it shares with others, which takes in its texts.
    pub(super) fn share(&mut self, symbols: &mut Symbols) {
        let to = symbols.take_in(&std::mem::take(&mut self.symbols));
        self.sent.iter_mut().for_each(|it| it.renumber(&to));
        self.handled.iter_mut().for_each(|it| it.renumber(&to));
    }
}

pub(crate) trait Identified {
    fn id(&self) -> Identity;
}

impl Identified for Sent {
    fn id(&self) -> Identity {
        self.id
    }
}

impl Identified for Handled {
    fn id(&self) -> Identity {
        self.id
    }
}

/// RPCs of one NID.
#[derive(Clone, Debug)]
struct Stratum<T> {
    nid: Symbol,
    /// RPCs are kept if their hash, shifted right by 64 minus this, is zero.
    halvings: u32,
    /// Whether the NID is a server's.
    server: bool,
    kept: Vec<T>,
}

impl<T: Identified> Stratum<T> {
    /// Keeps not more than `limit`, and not more than one in 2 to the power of `halvings`.
    fn thin(&mut self, limit: usize, halvings: u32) {
        while self.halvings < halvings || (self.kept.len() > limit && self.halvings < 63) {
            self.halvings += 1;
            let halvings = self.halvings;
            self.kept.retain(|it| keeps(halvings, it.id().xid));
        }
    }
}

/// What is kept of all strata of a kind.
#[derive(Clone, Copy, Debug)]
struct Share {
    kept: usize,
    per_nid: usize,
    /// Of a NID that turns up now, not more than one in 2 to this power are kept.
    halvings: u32,
}

#[derive(Clone, Debug)]
struct Sample<T> {
    strata: Vec<Stratum<T>>,
    /// Stratum of a NID, by its symbol's number.
    of_nid: Vec<Option<u32>>,
    servers: Share,
    others: Share,
}

impl<T> Default for Sample<T> {
    fn default() -> Self {
        let share = Share { kept: 0, per_nid: MAX_PER_NID, halvings: 0 };
        Self { strata: Vec::new(), of_nid: Vec::new(), servers: share, others: share }
    }
}

impl<T: Identified + Copy> Sample<T> {
    fn all(self) -> impl Iterator<Item = Sampled<T>> {
        self.strata.into_iter().flat_map(|stratum| {
            let (nid, one_in) = (stratum.nid, 1 << stratum.halvings);
            stratum.kept.into_iter().map(move |rpc| Sampled { rpc, nid, one_in })
        })
    }

    /// Whether an RPC would be kept. Asked for each RPC of a log, so it does as little as possible.
    #[inline]
    fn wants(&self, nid: Symbol, xid: u64) -> bool {
        match self.of_nid.get(nid.0 as usize) {
            Some(Some(at)) => keeps(self.strata[*at as usize].halvings, xid),
            _ => true,
        }
    }

    fn add(&mut self, nid: Symbol, item: T, symbols: &Symbols) {
        // A node talks to itself on one clock.
        if symbols.bytes(nid) == b"0@lo" {
            return;
        }
        let server = is_from_server(symbols.bytes(item.id().uuid));
        let at = self.stratum(nid);
        let Self { strata, servers, others, .. } = self;
        let stratum = &mut strata[at];
        if server && !stratum.server {
            stratum.server = true;
            stratum.halvings = servers.halvings;
            others.kept -= stratum.kept.len();
            servers.kept += stratum.kept.len();
        }
        let (share, max) = if stratum.server { (servers, MAX_SERVERS) } else { (others, MAX_OTHERS) };
        if !keeps(stratum.halvings, item.id().xid) {
            return;
        }
        let before = stratum.kept.len();
        stratum.kept.push(item);
        stratum.thin(share.per_nid, share.halvings);
        share.kept = share.kept - before + stratum.kept.len();
        let server = stratum.server;
        while share.kept > max && share.halvings < 63 {
            if share.per_nid > MIN_PER_NID {
                share.per_nid /= 2;
            } else {
                share.halvings += 1;
            }
            let of_kind = strata.iter_mut().filter(|stratum| stratum.server == server);
            share.kept = of_kind
                .map(|stratum| {
                    stratum.thin(share.per_nid, share.halvings);
                    stratum.kept.len()
                })
                .sum();
        }
    }

    fn stratum(&mut self, nid: Symbol) -> usize {
        let symbol = nid.0 as usize;
        if self.of_nid.len() <= symbol {
            self.of_nid.resize(symbol + 1, None);
        }
        let (strata, halvings) = (&mut self.strata, self.others.halvings);
        let at = *self.of_nid[symbol].get_or_insert_with(|| {
            strata.push(Stratum { nid, halvings, server: false, kept: Vec::new() });
            u32::try_from(strata.len() - 1).expect("there are no more NIDs than symbols")
        });
        at as usize
    }
}

/// Whether an RPC is in a sample of one in 2 to this power.
#[inline]
fn keeps(halvings: u32, xid: u64) -> bool {
    halvings == 0 || hash(xid) >> (64 - halvings) == 0
}

/// The same on every machine and run: it decides what is in the output. (The finalizer of SplitMix64.)
#[inline]
fn hash(xid: u64) -> u64 {
    let xid = (xid ^ (xid >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let xid = (xid ^ (xid >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    xid ^ (xid >> 31)
}

#[cfg(test)]
mod tests {
    use lustre_debuglog::Xid;

    use super::*;

    fn sent(symbols: &mut Symbols, uuid: &str, nid: &str, xid: u64) -> SentRpc {
        SentRpc {
            node: symbols.intern(b"node"),
            time_us: 1_000_100,
            pid: 1,
            opcode: Opcode::OBD_PING,
            device: symbols.intern(uuid.as_bytes()),
            nid: symbols.intern(nid.as_bytes()),
            xid: Xid(xid),
            window: None,
            round_trip_us: Some(100),
        }
    }

    fn xids(sample: Exchanges, symbols: &Symbols) -> Vec<u64> {
        let mut xids: Vec<u64> = sample.finish(symbols).sent.iter().map(|sent| sent.rpc.id.xid).collect();
        xids.sort_unstable();
        xids
    }

    #[test]
    fn a_crowd_of_clients_leaves_servers_their_share() {
        let mut symbols = Symbols::default();
        let mut sample = Exchanges::default();
        for round in 0..20 {
            for client in 0..20_000u64 {
                let nid = format!("10.1.{}.{}@tcp", client / 250, client % 250);
                sample.sent(&sent(&mut symbols, "lustre-OST0000_UUID", &nid, (client * 20 + round) * 64), &symbols);
            }
            for n in 0..50 {
                let xid = (1 << 40) + (round * 50 + n) * 64;
                sample.sent(&sent(&mut symbols, "lustre-MDT0000-mdtlov_UUID", "10.0.0.2@tcp", xid), &symbols);
            }
        }
        let all = xids(sample, &symbols);
        assert_eq!(all.iter().filter(|&&xid| xid >= 1 << 40).count(), 1000);
        assert!((1000 + MAX_OTHERS / 4..=1000 + MAX_OTHERS).contains(&all.len()), "{}", all.len());
    }

    #[test]
    fn both_ends_keep_the_same() {
        let mut symbols = Symbols::default();
        let uuid = "lustre-MDT0000-mdtlov_UUID";
        let keep = |from: u64, symbols: &mut Symbols| {
            let mut sample = Exchanges::default();
            for n in from..100_000 {
                let sent = sent(symbols, uuid, "10.0.0.2@tcp", n * 128);
                sample.sent(&sent, symbols);
            }
            xids(sample, symbols)
        };
        let (whole, tail) = (keep(0, &mut symbols), keep(40_000, &mut symbols));
        assert!(whole.len() > MAX_PER_NID / 4 && whole.len() <= MAX_PER_NID, "{}", whole.len());
        let common = whole.iter().filter(|xid| tail.binary_search(xid).is_ok()).count();
        let of_tail = whole.iter().filter(|&&xid| xid >= 40_000 * 128).count();
        assert_eq!(common, of_tail, "the smaller sample is part of the larger one");
    }

    #[test]
    fn a_node_does_not_compare_its_clock_with_itself() {
        let mut symbols = Symbols::default();
        let mut sample = Exchanges::default();
        let local = sent(&mut symbols, "lustre-MDT0000-mdtlov_UUID", "0@lo", 64);
        sample.sent(&local, &symbols);
        let open = SentRpc { round_trip_us: None, ..sent(&mut symbols, "x", "10.0.0.2@tcp", 128) };
        sample.sent(&open, &symbols);
        assert!(xids(sample, &symbols).is_empty());
    }
}
