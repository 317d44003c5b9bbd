//! Sums to [`Access`].

use lioprof_model::{Access, AccessRules, ClientMix, Mix, MixSum, ObjectAccess, Symbol, Symbols, TargetMix};
use lustre_debuglog::TargetName;
use rustc_hash::FxHashMap;

use super::class::{LARGE_BYTES, SHORT_RPCS, SMALL_BYTES};
use super::mix;
use super::object::{ObjectSum, Span};
use super::sums::AccessSums;
use crate::aggregate::object_name;
use crate::aggregate::objects::ObjectKey;
use crate::cells::limits::TOP_OBJECTS;

/// Clients listed, of an object and of those that mix.
const TOP_CLIENTS: usize = 20;
/// With fewer turns a client does not mix small and large RPCs: it went there and back, and there again.
const MIXING_TURNS: u64 = 3;

impl AccessSums {
    pub(crate) fn finish(mut self, symbols: &Symbols) -> Access {
        self.end_streams();
        let rules = AccessRules { small_bytes: SMALL_BYTES, large_bytes: LARGE_BYTES, short_rpcs: SHORT_RPCS };
        let (mut read, mut write) = (self.objects.other_reads.clone(), self.objects.other_writes.clone());
        for sum in self.objects.kept.values() {
            read.merge(&sum.read);
            write.merge(&sum.write);
        }
        self.objects.keep(TOP_OBJECTS);
        let mut kept: Vec<(&ObjectKey, &ObjectSum)> = self.objects.kept.iter().collect();
        kept.sort_by(|(a_key, a), (b_key, b)| b.rpcs().cmp(&a.rpcs()).then(a_key.cmp(b_key)));
        Access {
            rules,
            read,
            write,
            objects: kept.into_iter().map(|(key, sum)| object(*key, sum, symbols)).collect(),
            mix: self.mixes.finish(symbols),
            read_spread: self.reads.finish(),
            write_spread: self.writes.finish(),
        }
    }
}

/// The first names, sorted.
fn names(nids: &[Symbol], symbols: &Symbols) -> Vec<String> {
    let mut names: Vec<String> = nids.iter().map(|&nid| symbols.text(nid)).collect();
    names.sort();
    names.truncate(TOP_CLIENTS);
    names
}

fn object((target, name): ObjectKey, sum: &ObjectSum, symbols: &Symbols) -> ObjectAccess {
    let spans: Vec<Span> = sum.writers.values().copied().collect();
    let meets = |(index, span): &(usize, &Span)| {
        spans.iter().enumerate().any(|(other, their)| other != *index && span.meets(their))
    };
    ObjectAccess {
        target: target.to_string(),
        fid: object_name(name),
        read: sum.read.clone(),
        write: sum.write.clone(),
        clients: names(&sum.clients, symbols),
        jobs: names(&sum.jobs, symbols),
        writers: spans.len() as u64,
        concurrent_writers: concurrent(&spans),
        interleaved_writers: spans.iter().enumerate().filter(meets).count() as u64,
        first_byte: sum.first_byte,
        last_byte: sum.last_byte,
        small_rpcs: sum.small.rpcs,
        small_clients: sum.small_clients.len() as u64,
        small_first_byte: sum.small.first_byte,
        small_last_byte: sum.small.last_byte,
    }
}

/// The largest number of spans with a common moment: there is one at the beginning of one of them.
fn concurrent(spans: &[Span]) -> u64 {
    let at = |us: i64| spans.iter().filter(|span| span.first_us <= us && us <= span.last_us).count() as u64;
    spans.iter().map(|span| at(span.first_us)).max().unwrap_or(0)
}

/// Whether a client mixes: it turns as often as one that goes through half of the smaller kind in pairs; phases of each kind have few turns.
fn mixes(sum: &MixSum) -> bool {
    sum.turns >= MIXING_TURNS && 2 * sum.turns >= sum.small_rpcs.min(sum.large_rpcs)
}

impl mix::Mixes {
    fn finish(&self, symbols: &Symbols) -> Mix {
        let mut all = MixSum::default();
        self.clients.values().for_each(|client| all.merge(&client.sum));
        let mixing = || self.clients.iter().filter(|(_, client)| mixes(&client.sum));
        let mut targets: FxHashMap<TargetName, MixSum> = FxHashMap::default();
        for (&(nid, target), sum) in &self.targets {
            if self.clients.get(&nid).is_some_and(|client| mixes(&client.sum)) {
                targets.entry(target).or_default().merge(sum);
            }
        }
        let mut targets: Vec<TargetMix> = targets
            .into_iter()
            .filter(|(_, sum)| sum.small_rpcs > 0)
            .map(|(target, sum)| TargetMix { target: target.to_string(), sum })
            .collect();
        targets.sort_by(|a, b| b.sum.small_us.cmp(&a.sum.small_us).then_with(|| a.target.cmp(&b.target)));
        let mut clients: Vec<ClientMix> =
            mixing().map(|(&nid, client)| ClientMix { nid: symbols.text(nid), sum: client.sum }).collect();
        clients.sort_by(|a, b| b.sum.small_us.cmp(&a.sum.small_us).then_with(|| a.nid.cmp(&b.nid)));
        let mixing_clients = clients.len() as u64;
        clients.truncate(TOP_CLIENTS);
        Mix {
            all,
            large_clients: self.clients.values().filter(|client| client.sum.large_rpcs > 0).count() as u64,
            mixing_clients,
            clients,
            targets,
        }
    }
}
