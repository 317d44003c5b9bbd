//! Two causes at once, each with clients of its own beside others that are well: both are named, the larger first.

use lioprof_model::{Analysis, Finding};
use lioprof_sim::cluster::opcode;
use lioprof_sim::cluster::{Access, ClientConfig, DiskConfig, LinkConfig, Op, Policy, ServerConfig, Service, Threads};

use crate::made::{MIB, Made, Odd, USUAL};
use crate::runs::names;

/// Something that is wrong, and who suffers from it.
struct Cause {
    name: &'static str,
    /// The finding that names it, and a word in it.
    found: (&'static str, &'static str),
    odd: fn(&mut Odd),
    /// What its clients do; the number says how much of it.
    load: fn(&mut Made, u64),
}

/// OSTs: the third one may be slow, the last one may hang.
const OSTS: usize = 5;
const WELL: [usize; 3] = [0, 1, 3];
const ALL: [usize; 4] = [0, 1, 2, 3];

static CAUSES: &[Cause] = &[
    Cause {
        name: "slow disk",
        found: ("sluggish-ost", "OST0002"),
        odd: |odd| {
            let slow = DiskConfig { bytes_per_s: USUAL.bytes_per_s / 8, latency_us: USUAL.latency_us * 8, ..USUAL };
            odd.disks.push((2, slow));
        },
        load: |made, size| {
            for client in two(made, ClientConfig::default()) {
                for ost in ALL {
                    let file = made.file(ost);
                    writes(made, client, "cp.1000", file, 10 * size);
                }
            }
        },
    },
    Cause {
        name: "fight",
        found: ("lock-ping-pong", "OST0001"),
        odd: |_| {},
        load: |made, size| {
            let file = made.file(1);
            for client in two(made, ClientConfig::default()) {
                let turns = (0..50 * size).flat_map(|_| [Op::Io(Access::write(file, 0, MIB / 4)), Op::Sleep(3_000)]);
                made.process(client, "python3.0", turns.collect());
            }
        },
    },
    Cause {
        name: "rule",
        found: ("throttled", "bulk.1001"),
        odd: |odd| odd.scheduler = Some((Service::OstIo, Policy::Tbf { job: "bulk.1001", rate: 40 })),
        load: |made, size| {
            for client in two(made, ClientConfig::default()) {
                let file = made.striped();
                writes(made, client, "bulk.1001", file, 60 * size);
            }
        },
    },
    Cause {
        name: "MDT's threads",
        found: ("queue-bound", "a thread of mdt on"),
        odd: |_| {},
        load: |made, size| {
            let threads = Threads { single: Some(Service::Mdt), ..Threads::default() };
            let server = made.cluster.server(ServerConfig { threads, cpts: 1, ..ServerConfig::default() });
            let target = made.cluster.mdt(server);
            for client in two(made, ClientConfig::default()) {
                for _ in 0..16 {
                    let calls = (0..250 * size).map(|_| Op::Plain { opcode: opcode::MDS_REINT, target });
                    made.process(client, "mdtest.1000", calls.collect());
                }
            }
        },
    },
    Cause {
        name: "glimpses",
        found: ("glimpses", "ls.1000"),
        odd: |_| {},
        load: |made, size| {
            let file = made.striped();
            let [writer] = clients(made, ClientConfig { rtt_us: 20_000, ..ClientConfig::default() });
            let steps = (0..50 * size).map(|step| Op::Io(Access::write(file, step * MIB, MIB)));
            made.process(writer, "solver.1000", steps.collect());
            for client in two(made, ClientConfig::default()) {
                made.process(client, "ls.1000", (0..40 * size).map(|_| Op::Stat(file)).collect());
            }
        },
    },
    Cause {
        name: "network",
        found: ("slow-client-link", "tcp1"),
        odd: |_| {},
        load: |made, size| {
            let link = LinkConfig { bytes_per_s: 5_000_000 };
            let slow = ClientConfig { link, network: "tcp1", ..ClientConfig::default() };
            for client in two(made, slow) {
                let file = made.striped();
                writes(made, client, "ior.1000", file, 8 * size);
            }
        },
    },
    Cause {
        name: "quota",
        found: ("failed-requests", "grow.1001"),
        odd: |_| {},
        load: |made, size| {
            let [client] = clients(made, ClientConfig { quota_bytes: 4 * MIB, ..ClientConfig::default() });
            let file = made.striped();
            writes(made, client, "grow.1001", file, 40 * size);
        },
    },
    Cause {
        name: "hung",
        found: ("hung-requests", "OST0004"),
        odd: |odd| odd.disks.push((OSTS - 1, DiskConfig { hangs_after: 0, ..USUAL })),
        load: |made, size| {
            let well = made.striped();
            for client in two(made, ClientConfig::default()) {
                let hangs = made.file(OSTS - 1);
                made.process(client, "ior.1000", vec![Op::Io(Access::write(hangs, 0, MIB).ahead())]);
                let steps = (0..60 + 10 * size)
                    .flat_map(|step| [Op::Io(Access::write(well, step * MIB, MIB)), Op::Sleep(100_000)]);
                made.process(client, "ior.1000", steps.collect());
            }
        },
    },
];

/// Clients of this kind.
fn clients<const N: usize>(made: &mut Made, config: ClientConfig) -> [usize; N] {
    let config = ClientConfig { max_rpc_bytes: MIB, ..config };
    [(); N].map(|()| {
        let client = made.cluster.client(config);
        made.clients.push(client);
        made.clients.len() - 1
    })
}

fn two(made: &mut Made, config: ClientConfig) -> [usize; 2] {
    clients(made, config)
}

impl Made {
    /// A file over all OSTs but the one that may hang.
    fn striped(&mut self) -> usize {
        self.cluster.file(MIB, &WELL.map(|ost| self.osts[ost]))
    }
}

/// A client writes so many MiB.
fn writes(made: &mut Made, client: usize, job: &str, file: usize, mib: u64) {
    let steps = (0..mib).map(|step| Op::Io(Access::write(file, step * MIB, MIB).ahead()));
    made.process(client, job, steps.chain([Op::Drain]).collect());
}

/// The two causes in these sizes, beside two clients with whom nothing is wrong.
fn judged(pair: [&Cause; 2], sizes: [u64; 2]) -> Analysis {
    let mut odd = Odd { other_client_links: 40_000_000, ..Odd::default() };
    pair.iter().for_each(|cause| (cause.odd)(&mut odd));
    let mut made = Made::new(8, (2, OSTS, 2), &odd).everywhere(&ALL, 4, true);
    for (cause, size) in pair.into_iter().zip(sizes) {
        (cause.load)(&mut made, size);
    }
    made.judged()
}

/// Causes by their names, in these sizes: each takes a tenth of the clients' time or more, and the first one most. What
/// failed comes first, whatever else takes.
static PAIRS: &[([&str; 2], [u64; 2])] = &[
    (["slow disk", "fight"], [3, 1]),
    (["slow disk", "MDT's threads"], [3, 1]),
    (["slow disk", "network"], [3, 1]),
    (["rule", "slow disk"], [3, 1]),
    (["rule", "fight"], [3, 1]),
    (["rule", "MDT's threads"], [3, 1]),
    (["MDT's threads", "slow disk"], [3, 1]),
    (["MDT's threads", "fight"], [3, 1]),
    (["MDT's threads", "network"], [3, 1]),
    (["glimpses", "slow disk"], [3, 1]),
    (["glimpses", "fight"], [3, 1]),
    (["network", "fight"], [3, 1]),
    (["network", "MDT's threads"], [3, 1]),
    (["quota", "slow disk"], [1, 1]),
    (["quota", "fight"], [1, 1]),
    (["quota", "rule"], [1, 1]),
    (["quota", "MDT's threads"], [1, 1]),
    (["quota", "network"], [1, 1]),
    (["quota", "hung"], [1, 1]),
    (["hung", "slow disk"], [24, 3]),
    (["hung", "MDT's threads"], [1, 3]),
    (["hung", "glimpses"], [1, 3]),
];

/// Pairs of which not both causes are named, or not in this order.
pub(crate) fn named_wrongly() -> Vec<String> {
    let mut wrong = Vec::new();
    for (pair, sizes) in PAIRS {
        let pair = pair.map(|name| CAUSES.iter().find(|cause| cause.name == name).expect("a cause"));
        let analysis = judged(pair, *sizes);
        let told: Vec<_> = analysis.findings.iter().filter(|it| it.is_more_than_a_note()).collect();
        let is_of = |it: &Finding, cause: &Cause| it.id == cause.found.0 && names(it).contains(cause.found.1);
        let places = pair.map(|cause| told.iter().position(|it| is_of(it, cause)));
        // Both may have failed.
        let both_failed = pair.iter().all(|cause| ["quota", "hung"].contains(&cause.name));
        let right = matches!(places, [Some(0), Some(_)]) || (both_failed && !places.contains(&None));
        if !right {
            let titles: Vec<&str> = told.iter().map(|it| it.title.as_str()).collect();
            wrong.push(format!("{}, {}: {}", pair[0].name, pair[1].name, titles.join("; ")));
        }
    }
    wrong
}
