//! The sums of locks merge to the same figures in any order and grouping, nodes apart and the same node's parts.

use lioprof_model::{LockEvidence, Series, Symbol, Symbols, Window};
use lioprof_testkit::fuzz::{Rng, for_each_seed};
use lioprof_testkit::same_every_way;
use lustre_debuglog::{LockMode, Opcode, ResourceId, TargetName};

use super::heaviest::ObjectKey;
use super::parties::{Kind, Overlap};
use super::rules::Rules;
use super::sums::LockSums;
use super::{finish, finish_enqueues};

const NODES: usize = 3;
const EVENTS: usize = 200;

/// The sums of a node, of which `clients` fought.
pub(crate) fn some_lock_sums(rng: &mut Rng, node: Symbol, number: usize, clients: &[Symbol]) -> LockSums {
    let mut sums = LockSums::default();
    let targets: Vec<TargetName> =
        ["OST", "MDT"].map(|kind| format!("fs-{kind}{number:04x}").parse().expect("a target's name")).into();
    let rules = if rng.one_in(2) { Rules::TO_2_17 } else { Rules { ping_pong_alternations: 3, ..Rules::TO_2_17 } };
    sums.rules.insert(node, rules.model());
    if !rng.one_in(3) {
        sums.evidence.insert(node, if rng.one_in(3) { LockEvidence::Rpctrace } else { LockEvidence::Dlmtrace });
    }
    let mut at_us = 1_795_000_000_000_000;
    for _ in 0..rng.below(EVENTS) {
        at_us += i64::try_from(rng.below(1_000_000)).expect("a second");
        let target = targets[rng.below(targets.len())];
        let [holder, waiter] = [(); 2].map(|()| clients[rng.below(clients.len())]);
        let job = rng.one_in(2).then_some(clients[0]);
        let key = ObjectKey { node, target, resource: ResourceId([rng.next() % 9, 0, 0, 0]), inferred: false };
        match rng.below(7) {
            0 => sums.callback(node, target, Opcode::LDLM_BL_CALLBACK, at_us),
            1 => {
                let wait_us =
                    sums.waited((node, target), (waiter, job), [at_us - 5_000, at_us], [at_us - 1_000, at_us]);
                sums.pair(target, holder, waiter).wait_us += wait_us;
                sums.objects.of(key).wait.add(wait_us);
                sums.jobs.entry(job).or_default().blocked += 1;
            }
            2 => {
                sums.target(node, target).conflict(Kind::Client { holder, waiter });
                sums.pair(target, holder, waiter).conflicts += 1;
                sums.objects.of(key).conflict(holder, waiter, Overlap::Expansion);
            }
            3 => sums.target(node, target).conflict(Kind::Own),
            4 => drop(sums.objects.of(key).owners.grant(at_us, waiter, LockMode::Pw, &rules)),
            5 => sums.target(node, target).release.add(rng.next() >> 45),
            _ => sums.cancels += 1,
        }
    }
    sums.objects.each(|object| object.owners.close(&rules));
    sums.contention.clear();
    sums
}

#[test]
fn locks_merge() {
    for_each_seed(6, |rng| {
        let mut symbols = Symbols::default();
        // Not in the order of the names: numbers of symbols are an accident.
        let nodes: Vec<Symbol> = ["oss2", "oss0", "oss1"].map(|name| symbols.intern(name.as_bytes())).into();
        let clients: Vec<Symbol> = (0..5).map(|number| symbols.intern(format!("{number}").as_bytes())).collect();
        let parts: Vec<LockSums> =
            (0..1 + rng.below(NODES)).map(|number| some_lock_sums(rng, nodes[number], number, &clients)).collect();
        let merge = |mut mine: LockSums, theirs: LockSums| {
            mine.merge(theirs);
            mine
        };
        let seen = |sums: &LockSums| {
            let locks = finish(sums, &symbols, Window::default(), &Series::default(), Vec::new());
            (locks, finish_enqueues(&sums.enqueues, &symbols))
        };
        let (locks, _) = same_every_way(&parts, &merge, seen);
        assert_eq!(locks.totals.cancels, Some(parts.iter().map(|part| part.cancels).sum()));
    });
}
