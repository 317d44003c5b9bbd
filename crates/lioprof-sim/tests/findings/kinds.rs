//! Kinds of real runs, made up small: each in several sizes, sick and well.

use lioprof_model::{Analysis, Severity, VerdictState};
use lioprof_sim::cluster::{Access, DiskConfig, Op};

use crate::made::{KIB, MIB, Made, Odd, USUAL};

const FOUR: (usize, usize, usize) = (2, 4, 2);
const ALL: [usize; 4] = [0, 1, 2, 3];

/// A kind of run.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Any of these is right as the first finding; none: nothing above `info` is.
    wanted: &'static [&'static str],
    /// A word that its title has to have.
    names: &'static str,
    /// Requests of each size. With the fewest a verdict of "cannot tell" is right, too.
    sizes: &'static [u64],
    made: fn(u64) -> Made,
}

fn slow_disk(times: u64) -> Odd {
    let slow = DiskConfig { bytes_per_s: USUAL.bytes_per_s / times, latency_us: USUAL.latency_us * times, ..USUAL };
    Odd { disks: vec![(2, slow)], ..Odd::default() }
}

/// Small requests in a file, `every` bytes apart, one after the other; of two clients with a file each.
fn pieces(rpcs: u64, (bytes, every, osts): (u64, u64, &[usize])) -> Made {
    let mut made = Made::new(3, FOUR, &Odd::default());
    for client in 0..2 {
        let targets: Vec<usize> = osts.iter().map(|&ost| made.osts[ost]).collect();
        let file = made.cluster.file(MIB, &targets);
        let steps = (0..rpcs).map(|rpc| Op::Io(Access::read(file, rpc * every / 4096 * 4096, bytes)));
        made.process(client, "viz.1000", steps.collect());
    }
    made
}

/// One client writes `rpcs` requests to each OST; `others` say what other clients do.
fn one_writes(rpcs: u64, clients: usize, odd: &Odd, others: impl Fn(&mut Made, usize)) -> Made {
    let mut made = Made::new(4, (2, 4, clients), odd);
    let files = ALL.map(|ost| made.file(ost));
    let steps = (0..rpcs).flat_map(|rpc| files.map(|file| Op::Io(Access::write(file, rpc * MIB, MIB).ahead())));
    made.process(0, "solver.1000", steps.chain([Op::Drain]).collect());
    (1..clients).for_each(|client| others(&mut made, client));
    made
}

/// Looks at a file, and waits.
fn waits(made: &mut Made, client: usize) {
    let file = made.file(client % 4);
    made.process(client, "solver.1000", vec![Op::Stat(file)]);
}

/// Large reads, and `between` small ones in other places of the same file before each.
fn hdf(rpcs: u64, between: u64) -> Made {
    let mut made = Made::new(5, FOUR, &Odd { rpc_bytes: 4 * MIB, ..Odd::default() });
    let targets = made.osts.clone();
    let file = made.cluster.file(MIB, &targets);
    for client in 0..2u64 {
        let steps = (0..rpcs).flat_map(|step| {
            let place = move |small: u64| (64 + (step * 37 + small * 101 + client * 53) % 150) * MIB;
            let small = (0..between).map(move |small| Op::Io(Access::read(file, place(small), 4 * KIB)));
            small.chain([Op::Io(Access::read(file, (client * 30 + step) * 4 * MIB, 4 * MIB))])
        });
        made.process(usize::try_from(client).unwrap(), "h5.1000", steps.collect());
    }
    made
}

pub(crate) static KINDS: &[Kind] = &[
    Kind {
        name: "one OST's disk 8 times as slow, writes",
        wanted: &["sluggish-ost"],
        names: "OST0002",
        sizes: &[6, 20, 60],
        made: |rpcs| Made::new(1, FOUR, &slow_disk(8)).everywhere(&ALL, rpcs, true),
    },
    Kind {
        name: "one OST's disk 8 times as slow, reads",
        wanted: &["sluggish-ost"],
        names: "OST0002",
        sizes: &[6, 20, 60],
        made: |rpcs| Made::new(1, FOUR, &slow_disk(8)).everywhere(&ALL, rpcs, false),
    },
    Kind {
        name: "one OST's disk half as fast",
        wanted: &["sluggish-ost"],
        names: "OST0002",
        sizes: &[12, 60],
        made: |rpcs| Made::new(1, FOUR, &slow_disk(2)).everywhere(&ALL, rpcs, true),
    },
    Kind {
        name: "one server's link",
        wanted: &["sluggish-ost"],
        names: "oss1",
        sizes: &[6, 20],
        made: |rpcs| {
            let odd = Odd { server_links: vec![(0, 400_000_000), (1, 20_000_000)], ..Odd::default() };
            Made::new(1, FOUR, &odd).everywhere(&ALL, rpcs, true)
        },
    },
    Kind {
        name: "one client's link",
        wanted: &["slow-client-link"],
        names: "10.10.1.1",
        sizes: &[6, 20],
        made: |rpcs| {
            let odd = Odd { client_links: vec![(0, 10_000_000)], other_client_links: 100_000_000, ..Odd::default() };
            Made::new(1, FOUR, &odd).everywhere(&ALL, rpcs, true)
        },
    },
    Kind {
        name: "all files on one OST of four",
        wanted: &["hot-ost", "load-imbalance"],
        names: "OST0001",
        sizes: &[6, 20, 60],
        made: |rpcs| {
            let mut made = Made::new(1, FOUR, &Odd::default());
            (0..2).for_each(|client| {
                (0..4).for_each(|ost| {
                    let file = made.file(ost);
                    made.process(client, "ior.1000", vec![Op::Stat(file)]);
                })
            });
            made.everywhere(&[1], rpcs, true)
        },
    },
    Kind {
        name: "nearly all bytes on one OST of four",
        wanted: &["hot-ost", "load-imbalance"],
        names: "OST0001",
        sizes: &[16, 64],
        made: |rpcs| {
            let made = Made::new(1, FOUR, &Odd::default()).everywhere(&[1], rpcs, true);
            made.everywhere(&[0, 2, 3], 1, true)
        },
    },
    Kind {
        name: "64 KiB of every 1.3 MB",
        wanted: &["strided-reads"],
        names: "skip forward",
        sizes: &[10, 60],
        made: |rpcs| pieces(rpcs, (64 * KIB, 1_300_000, &[0])),
    },
    Kind {
        name: "64 KiB of every 1.3 MB, four stripes",
        wanted: &["strided-reads"],
        names: "skip forward",
        sizes: &[20, 60],
        made: |rpcs| pieces(rpcs, (64 * KIB, 1_300_000, &ALL)),
    },
    Kind {
        name: "4 KiB reads between 4 MiB reads",
        wanted: &["small-io-between-large"],
        names: "small reads",
        sizes: &[8, 20],
        made: |rpcs| hdf(rpcs, 16),
    },
    Kind { name: "4 MiB reads", wanted: &[], names: "", sizes: &[8, 20], made: |rpcs| hdf(rpcs, 0) },
    Kind {
        name: "writes full of gaps",
        wanted: &["gapped-rpcs"],
        names: "gaps",
        sizes: &[6, 40],
        made: |rpcs| {
            let mut made = Made::new(6, FOUR, &Odd::default());
            for client in 0..2 {
                let file = made.file(client);
                let steps = (0..rpcs)
                    .map(|rpc| Op::Io(Access { pieces: 12, ..Access::write(file, rpc * 8 * MIB, 256 * KIB) }.ahead()));
                made.process(client, "db.1000", steps.chain([Op::Drain]).collect());
            }
            made
        },
    },
    Kind {
        name: "one client writes through a limited link, another waits",
        wanted: &["single-writer"],
        names: "10.10.1.1",
        sizes: &[6, 20],
        made: |rpcs| {
            let odd = Odd { other_client_links: 20_000_000, ..Odd::default() };
            one_writes(rpcs, 2, &odd, waits)
        },
    },
    Kind {
        name: "one client writes through a limited link, three of its job wait",
        wanted: &["single-writer"],
        names: "10.10.1.1",
        sizes: &[6, 20],
        made: |rpcs| {
            let odd = Odd { other_client_links: 20_000_000, ..Odd::default() };
            one_writes(rpcs, 4, &odd, waits)
        },
    },
    Kind {
        name: "one client writes, three of its job wait, and its link is not the limit",
        wanted: &[],
        names: "",
        sizes: &[6, 20],
        made: |rpcs| one_writes(rpcs, 4, &Odd::default(), waits),
    },
    Kind {
        name: "one client writes, three read",
        wanted: &[],
        names: "",
        sizes: &[6, 20],
        made: |rpcs| {
            one_writes(rpcs, 4, &Odd::default(), |made, client| {
                for ost in ALL {
                    let file = made.file(ost);
                    let steps = (0..12).map(|rpc| Op::Io(Access::read(file, rpc * MIB, MIB).ahead()));
                    made.process(client, "post.1000", steps.chain([Op::Drain]).collect());
                }
            })
        },
    },
];

/// What is wrong with the verdict on a kind of this size, if anything is.
fn wrong(kind: &Kind, rpcs: u64) -> Option<String> {
    let analysis = (kind.made)(rpcs).judged();
    let says = |why: &str| Some(format!("{}, {rpcs} requests: {why}: {}", kind.name, analysis.verdict.text));
    match analysis.verdict.state {
        _ if kind.wanted.is_empty() => above(&analysis).first().and_then(|id| says(&format!("{id} is none"))),
        VerdictState::Failed | VerdictState::Cause => {
            let first = analysis.findings.first()?;
            let right = kind.wanted.contains(&first.id.as_str()) && first.title.contains(kind.names);
            if right { None } else { says("another cause") }
        }
        VerdictState::NoProblem | VerdictState::CouldBeFaster => says("called healthy"),
        VerdictState::CannotTell if kind.sizes.first() == Some(&rpcs) => None,
        VerdictState::CannotTell => says("not found"),
    }
}

/// Kinds of the findings above `info`.
pub(crate) fn above(analysis: &Analysis) -> Vec<&str> {
    let above = analysis.findings.iter().filter(|finding| finding.severity > Severity::Info);
    above.map(|finding| finding.id.as_str()).collect()
}

/// Everything that is judged wrongly.
pub(crate) fn judged_wrongly() -> Vec<String> {
    KINDS.iter().flat_map(|kind| kind.sizes.iter().filter_map(move |&rpcs| wrong(kind, rpcs))).collect()
}
