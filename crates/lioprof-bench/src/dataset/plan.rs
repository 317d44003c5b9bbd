//! Which captures two nodes play, when, and who stands for whom.

use lustre_debuglog::TargetName;

use super::options::{DatasetOptions, START_US};
use super::script::Script;
use super::site::Site;
use crate::random::{Random, mix};

/// Where xids begin: those of clients that were started in January 2038, so that no captured one is met.
const FIRST_XID: u64 = 1 << 51;
/// Xids that a peer has for the RPCs to one pair of nodes.
const XIDS_PER_PAIR: u64 = 1 << 40;

/// A capture, played once.
#[derive(Debug)]
pub(super) struct Play {
    /// Place in the scripts.
    pub(super) script: usize,
    /// When it begins, microseconds since the epoch.
    pub(super) start_us: i64,
    pub(super) job: u32,
    /// Who stands for the clients of the script.
    pub(super) clients: Vec<u32>,
    /// What stands for the OSTs of the script.
    pub(super) osts: Vec<(TargetName, TargetName)>,
    /// Added to the xids of each peer.
    pub(super) xids: Vec<u64>,
}

/// The plays of nodes `2 * pair` and `2 * pair + 1`, in the order in which they begin. Each of the two plays what one server
/// of the captures logged; both draw the same plan.
pub(super) fn plays(site: &Site, scripts: &[Script], options: &DatasetOptions, pair: u32) -> Vec<Play> {
    let nodes: Vec<u32> = (2 * pair..options.nodes).take(2).collect();
    let mut random = Random(mix(options.seed ^ u64::from(pair) << 32));
    let rows_of = |script: &Script| script.parts[..nodes.len()].iter().map(|part| part.rpcs).sum::<u64>();
    let chosen: Vec<usize> = (0..scripts.len()).filter(|&at| rows_of(&scripts[at]) > 0).collect();
    let weights: u64 = chosen.iter().map(|&at| scripts[at].weight).sum();

    let mut plays = Vec::new();
    let wanted = options.rows.div_ceil(u64::from(options.nodes)) * nodes.len() as u64;
    let mut rows = 0;
    while rows < wanted {
        let mut drawn = random.below(weights);
        let found = chosen.iter().copied().find(|&at| {
            let weight = scripts[at].weight;
            let here = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            here
        });
        let Some(at) = found else { unreachable!("less than all weights together was drawn") };
        rows += rows_of(&scripts[at]);
        plays.push(play(site, scripts, at, &nodes, &mut random));
    }

    let longest_us = plays.iter().map(|play| scripts[play.script].len_us).max().unwrap_or(0).unsigned_abs();
    let span_us = (options.seconds * 1_000_000).saturating_sub(longest_us).max(1);
    let mut starts: Vec<u64> = plays.iter().map(|_| random.below(span_us)).collect();
    starts.sort_unstable();
    let mut xids = Xids::new(site, pair);
    for (play, start_us) in plays.iter_mut().zip(starts) {
        play.start_us = START_US.saturating_add_unsigned(start_us);
        play.xids = xids.take(&scripts[play.script], &play.clients, &mut random);
    }
    plays
}

fn play(site: &Site, scripts: &[Script], at: usize, nodes: &[u32], random: &mut Random) -> Play {
    let script = &scripts[at];
    // Some jobs do far more than others.
    let job = random.below_u32(site.jobs()).min(random.below_u32(site.jobs()));
    let (first, count) = site.clients_of(job);
    let offset = random.below_u32(count);
    let clients = (0..).take(script.clients).map(|n: u32| first + (offset + n) % count).collect();
    let mut osts = Vec::new();
    for (names, &node) in script.osts.iter().zip(nodes) {
        let own: Vec<TargetName> = site.osts_of(node).collect();
        let offset = random.place(own.len());
        osts.extend(names.iter().enumerate().map(|(n, name)| (*name, own[(offset + n) % own.len()])));
    }
    Play { script: at, start_us: 0, job, clients, osts, xids: Vec::new() }
}

/// What each peer has used up of its xids.
struct Xids {
    first: u64,
    servers: [u64; 2],
    clients: Vec<u64>,
}

impl Xids {
    fn new(site: &Site, pair: u32) -> Self {
        let (last, count) = site.clients_of(site.jobs() - 1);
        let clients = vec![0; (last + count) as usize];
        Self { first: FIRST_XID + u64::from(pair) * XIDS_PER_PAIR, servers: [0; 2], clients }
    }

    fn take(&mut self, script: &Script, clients: &[u32], random: &mut Random) -> Vec<u64> {
        let clients = clients.iter().map(|&client| client as usize);
        let peers = (0..2).map(Ok).chain(clients.map(Err));
        peers
            .zip(&script.xids)
            .map(|(peer, taken)| {
                let used = match peer {
                    Ok(server) => &mut self.servers[server],
                    Err(client) => &mut self.clients[client],
                };
                // More than the script took: peers talk to others, too. Multiples of what a bulk request takes.
                let gap = (1 + random.below(1 << 12)) << 7;
                let at = *used;
                *used += (taken + gap).next_multiple_of(1 << 7);
                self.first + at
            })
            .collect()
    }
}
