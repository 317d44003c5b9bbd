//! How large an effect has to be, and of how many requests, to be found: a table for each rule that compares.

use std::fmt::Write as _;

use lioprof_model::CheckResult;
use lioprof_sim::cluster::{Access, DiskConfig, Op};

use crate::made::{KIB, MIB, Made, Odd, USUAL};

/// A rule, and runs in which its effect grows.
struct Curve {
    rule: &'static str,
    /// What grows.
    effect: &'static str,
    /// No effect first.
    effects: &'static [u64],
    made: fn(u64, u64) -> Made,
}

/// Requests of each client to each OST, or in each file.
const RPCS: [u64; 4] = [2, 6, 20, 60];
const FOUR: (usize, usize, usize) = (2, 4, 2);
const ALL: [usize; 4] = [0, 1, 2, 3];

static CURVES: &[Curve] = &[
    Curve {
        rule: "sluggish-ost",
        effect: "an OST's disk slower, %",
        effects: &[0, 30, 100, 300, 700],
        made: |rpcs, percent| {
            let slow = DiskConfig {
                bytes_per_s: USUAL.bytes_per_s * 100 / (100 + percent),
                latency_us: USUAL.latency_us * (100 + percent) / 100,
                ..USUAL
            };
            let odd = Odd { disks: vec![(2, slow)], ..Odd::default() };
            Made::new(1, FOUR, &odd).everywhere(&ALL, rpcs, true)
        },
    },
    Curve {
        rule: "slow-client-link",
        effect: "a client's link slower, %",
        effects: &[0, 30, 100, 300, 700],
        made: |rpcs, percent| {
            let (usual, slow) = (40_000_000, 40_000_000 * 100 / (100 + percent));
            let odd = Odd { client_links: vec![(0, slow)], other_client_links: usual, ..Odd::default() };
            Made::new(1, FOUR, &odd).everywhere(&ALL, rpcs, true)
        },
    },
    Curve {
        rule: "hot-ost",
        effect: "bytes on one OST of four, %",
        effects: &[25, 60, 80, 95, 100],
        made: |rpcs, percent| {
            let mut made = Made::new(1, FOUR, &Odd::default());
            let on_others = rpcs * 4 * (100 - percent) / 300;
            for client in 0..2 {
                for ost in ALL {
                    let file = made.file(ost);
                    let count = if ost == 1 { rpcs * 4 - 3 * on_others } else { on_others };
                    let steps = (0..count).map(|rpc| Op::Io(Access::write(file, rpc * MIB, MIB).ahead()));
                    made.process(
                        client,
                        "ior.1000",
                        [Op::Stat(file)].into_iter().chain(steps).chain([Op::Drain]).collect(),
                    );
                }
            }
            made
        },
    },
    Curve {
        rule: "strided-reads",
        effect: "steps over 1.3 MB, %",
        effects: &[0, 30, 60, 100],
        made: |rpcs, percent| {
            let mut made = Made::new(3, FOUR, &Odd::default());
            for client in 0..2 {
                let file = made.file(client);
                let mut offset = 0;
                let steps: Vec<Op> = (0..rpcs)
                    .map(|rpc| {
                        offset += if rpc * percent % 100 < percent && percent > 0 {
                            1_300_000 / 4096 * 4096
                        } else {
                            64 * KIB
                        };
                        Op::Io(Access::read(file, offset, 64 * KIB))
                    })
                    .collect();
                made.process(client, "viz.1000", steps);
            }
            made
        },
    },
    Curve {
        rule: "gapped-rpcs",
        effect: "writes with gaps, %",
        effects: &[0, 20, 60, 100],
        made: |rpcs, percent| {
            let mut made = Made::new(6, FOUR, &Odd::default());
            for client in 0..2 {
                let file = made.file(client);
                let steps = (0..rpcs).map(|rpc| {
                    let pieces = if rpc * percent % 100 < percent && percent > 0 { 12 } else { 1 };
                    Op::Io(Access { pieces, ..Access::write(file, rpc * MIB, MIB) }.ahead())
                });
                made.process(client, "db.1000", steps.chain([Op::Drain]).collect());
            }
            made
        },
    },
    Curve {
        rule: "small-io-between-large",
        effect: "small reads per large one",
        effects: &[0, 1, 4, 16],
        made: |rpcs, between| {
            let mut made = Made::new(5, FOUR, &Odd { rpc_bytes: 4 * MIB, ..Odd::default() });
            let file = made.file(0);
            for client in 0..2u64 {
                let steps = (0..rpcs).flat_map(|step| {
                    let place = move |small: u64| (512 + (step * 37 + small * 101 + client * 53) % 150) * MIB;
                    let small = (0..between).map(move |small| Op::Io(Access::read(file, place(small), 4 * KIB)));
                    small.chain([Op::Io(Access::read(file, (client * 60 + step) * 4 * MIB, 4 * MIB))])
                });
                made.process(usize::try_from(client).unwrap(), "h5.1000", steps.collect());
            }
            made
        },
    },
    Curve {
        rule: "single-writer",
        effect: "of four clients, other writers' bytes over the first one's, %",
        effects: &[100, 20, 5, 0],
        made: |rpcs, percent| {
            let mut made = Made::new(4, (2, 4, 4), &Odd { other_client_links: 20_000_000, ..Odd::default() });
            for client in 0..4 {
                for ost in ALL {
                    let file = made.file(ost);
                    let count = if client == 0 { rpcs } else { rpcs * percent / 100 };
                    let steps = (0..count).map(|rpc| Op::Io(Access::write(file, rpc * MIB, MIB).ahead()));
                    made.process(
                        client,
                        "solver.1000",
                        [Op::Stat(file)].into_iter().chain(steps).chain([Op::Drain]).collect(),
                    );
                }
            }
            made
        },
    },
];

/// What the rule says: found, cannot tell, healthy (or not applicable).
fn says(curve: &Curve, rpcs: u64, effect: u64) -> &'static str {
    let analysis = (curve.made)(rpcs, effect).judged();
    let above = crate::kinds::above(&analysis).contains(&curve.rule);
    match analysis.checks.iter().find(|check| check.id == curve.rule).map(|check| check.result) {
        Some(CheckResult::Found) if above => "found",
        Some(CheckResult::Found) => "note",
        Some(CheckResult::NotEnoughEvidence) => "cannot tell",
        Some(CheckResult::Healthy) => "healthy",
        _ => "does not apply",
    }
}

/// What is wrong with the curves, and all of them as a table.
pub(crate) fn curves() -> (Vec<String>, String) {
    let mut wrong = Vec::new();
    let mut table = format!(
        "\n| rule | effect | {} |\n|---|---|{}\n",
        RPCS.map(|rpcs| format!("{rpcs} requests")).join(" | "),
        "---|".repeat(RPCS.len())
    );
    for curve in CURVES {
        for (place, &effect) in curve.effects.iter().enumerate() {
            let cells = RPCS.map(|rpcs| says(curve, rpcs, effect));
            writeln!(table, "| {} | {effect} ({}) | {} |", curve.rule, curve.effect, cells.join(" | ")).unwrap();
            let (none, most) = (place == 0, place + 1 == curve.effects.len());
            if none && cells.contains(&"found") {
                wrong.push(format!("{} without an effect: {cells:?}", curve.rule));
            }
            if most && cells[RPCS.len() - 1] != "found" {
                wrong.push(format!("{} with the largest effect: {cells:?}", curve.rule));
            }
            if most && cells.contains(&"healthy") {
                wrong.push(format!("{}, called healthy with the largest effect: {cells:?}", curve.rule));
            }
        }
    }
    table.push('\n');
    (wrong, table)
}
