//! Healthy runs in many variations: sizes, clients, OSTs, speeds, noise between OSTs, think times.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lioprof_model::{Severity, VerdictState};
use lioprof_sim::cluster::{Access, DiskConfig, Op};

use crate::made::{KIB, MIB, Made, Odd, USUAL};

/// Variations.
pub(crate) const RUNS: u64 = 200;

/// Numbers by chance, the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[usize::try_from(self.next() % values.len() as u64).unwrap()]
    }

    /// From 70 to 130 %.
    fn noise(&mut self, value: u64) -> u64 {
        value * (700 + self.next() % 601) / 1000
    }
}

/// A variation.
fn made(seed: u64) -> Made {
    let mut chance = Chance(seed);
    let servers = chance.one_of(&[1, 2, 2, 3]);
    let osts = servers * chance.one_of(&[1, 2, 3]);
    let clients = chance.one_of(&[1, 2, 2, 3, 5]);
    let bytes_per_s = chance.one_of(&[40_000_000, 100_000_000, 1_000_000_000]);
    let latency_us = chance.one_of(&[300, 2_000, 6_000]);
    let disk = |chance: &mut Chance| DiskConfig {
        bytes_per_s: chance.noise(bytes_per_s),
        latency_us: chance.noise(latency_us),
        ..USUAL
    };
    let odd = Odd {
        disks: (0..osts).map(|ost| (ost, disk(&mut chance))).collect(),
        in_flight: chance.one_of(&[1, 8, 8, 16]),
        rpc_bytes: chance.one_of(&[MIB, 4 * MIB]),
        ..Odd::default()
    };
    let bytes = odd.rpc_bytes;
    let rpcs = chance.one_of(&[2, 4, 8, 16]);
    let think_us = chance.one_of(&[0, 0, 500, 5_000]);
    let (write, read) = chance.one_of(&[(true, false), (false, true), (true, true)]);
    let mut made = Made::new(seed, (servers, osts, clients), &odd);
    for client in 0..clients {
        for ost in 0..osts {
            let file = made.file(ost);
            let mut steps = vec![Op::Sleep(chance.next() % 3_000)];
            for writes in [true, false].into_iter().filter(|&writes| if writes { write } else { read }) {
                for rpc in 0..rpcs {
                    let access = Access { write: writes, ..Access::write(file, rpc * bytes, bytes) };
                    steps.push(Op::Io(if think_us > 0 { access } else { access.ahead() }));
                    if think_us > 0 {
                        steps.push(Op::Sleep(chance.noise(think_us)));
                    }
                }
                steps.push(Op::Drain);
            }
            // What is left at the end of a file.
            if write && chance.next().is_multiple_of(4) {
                steps.push(Op::Io(Access::write(file, rpcs * bytes, 8 * KIB)));
            }
            made.process(client, "ior.1000", steps);
        }
    }
    made
}

/// What was said of all variations.
#[derive(Default)]
pub(crate) struct Said {
    /// Variations with anything above `info`, by kind.
    pub(crate) alarms: BTreeMap<String, Vec<(u64, String)>>,
    pub(crate) alarmed: u64,
    nothing_wrong: u64,
    could_be_faster: u64,
    cannot_tell: BTreeMap<String, u64>,
}

/// Judges these variations.
pub(crate) fn said(seeds: impl Iterator<Item = u64>) -> Said {
    let mut said = Said::default();
    for seed in seeds {
        let analysis = made(seed).judged();
        match analysis.verdict.state {
            VerdictState::Failed | VerdictState::Cause => {
                said.alarmed += 1;
                for finding in analysis.findings.iter().filter(|finding| finding.severity > Severity::Info) {
                    said.alarms.entry(finding.id.clone()).or_default().push((seed, finding.title.clone()));
                }
            }
            VerdictState::NoProblem => said.nothing_wrong += 1,
            VerdictState::CouldBeFaster => said.could_be_faster += 1,
            VerdictState::CannotTell => {
                let open = |check: &&lioprof_model::Check| {
                    check.result == lioprof_model::CheckResult::NotEnoughEvidence && !check.note
                };
                let id =
                    analysis.checks.iter().find(open).map_or("time without an explanation", |check| check.id.as_str());
                *said.cannot_tell.entry(id.to_owned()).or_default() += 1;
            }
        }
    }
    said
}

impl Said {
    /// Adds others.
    pub(crate) fn merge(&mut self, other: Self) {
        self.alarmed += other.alarmed;
        self.nothing_wrong += other.nothing_wrong;
        self.could_be_faster += other.could_be_faster;
        for (id, mut seeds) in other.alarms {
            self.alarms.entry(id).or_default().append(&mut seeds);
        }
        for (id, count) in other.cannot_tell {
            *self.cannot_tell.entry(id).or_default() += count;
        }
    }

    /// As a table.
    pub(crate) fn table(&self) -> String {
        let mut table =
            String::from("\n| verdict | runs | first check that cannot tell, or false alarm |\n|---|---|---|\n");
        let listed = |counts: &BTreeMap<String, u64>| {
            counts.iter().map(|(id, count)| format!("{id} ({count})")).collect::<Vec<_>>().join(", ")
        };
        let alarms = self.alarms.iter().map(|(id, seeds)| (id.clone(), seeds.len() as u64)).collect();
        writeln!(table, "| nothing is wrong | {} | |", self.nothing_wrong).unwrap();
        writeln!(table, "| could be faster | {} | |", self.could_be_faster).unwrap();
        writeln!(table, "| cannot tell | {} | {} |", self.cannot_tell.values().sum::<u64>(), listed(&self.cannot_tell))
            .unwrap();
        writeln!(table, "| a cause is found, which is wrong | {} | {} |", self.alarmed, listed(&alarms)).unwrap();
        table.push('\n');
        table
    }
}
