//! What a service thread logs between `Handling RPC` and `Handled RPC` is, message by message, what a real one logs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use lioprof_sim::wording::{V2_15, V2_17};
use regex::Regex;

use crate::records::{Rec, capture};
use crate::replica;
use crate::shapes::shape;

static HANDLING: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^Handling RPC .*@[a-z0-9]+:(\d+):").unwrap());

/// Sequences of messages by opcode, with how often each occurs. Only OSTs' services.
type Windows = BTreeMap<u16, BTreeMap<Vec<String>, usize>>;

fn kind(rec: &Rec) -> String {
    let text = shape(&rec.text);
    let head = text.split(" ns: ").next().unwrap_or_default().split(" req@").next().unwrap_or_default();
    format!("{} {}", rec.function, head.trim_end())
}

fn windows(recs: &[Rec], masks: u32) -> Windows {
    let mut open: BTreeMap<u32, (u16, Vec<String>)> = BTreeMap::new();
    let mut windows = Windows::new();
    for rec in recs.iter().filter(|rec| rec.subsystem & 0x1_2100 != 0 && rec.mask & masks != 0) {
        if let Some(found) = HANDLING.captures(&rec.text) {
            let mine = rec.text.contains(":job ll_ost") || rec.text.contains(":job ldlm_cn");
            if mine && !rec.text.contains("lustre-MDT") {
                open.insert(rec.pid, (found[1].parse().unwrap(), Vec::new()));
            }
        } else if rec.text.starts_with("Handled RPC") {
            if let Some((opcode, kinds)) = open.remove(&rec.pid) {
                *windows.entry(opcode).or_default().entry(kinds).or_default() += 1;
            }
        } else if let Some((_, kinds)) = open.get_mut(&rec.pid) {
            kinds.push(kind(rec));
        }
    }
    windows
}

fn merge(all: impl IntoIterator<Item = Windows>) -> Windows {
    let mut sum = Windows::new();
    for (opcode, windows) in all.into_iter().flatten() {
        for (kinds, count) in windows {
            *sum.entry(opcode).or_default().entry(kinds).or_default() += count;
        }
    }
    sum
}

const RPCTRACE_DLMTRACE: u32 = 0x11_0000;
const WITH_NET: u32 = 0x11_0200;

/// Of the windows of one side, by opcode, the share whose sequence the other side has too.
fn check(real: &Windows, simulated: &Windows, opcodes: &[u16], least: f64) {
    for opcode in opcodes {
        let (real, simulated) = (&real[opcode], &simulated[opcode]);
        for (name, one, other) in [("real", real, simulated), ("simulated", simulated, real)] {
            let total: usize = one.values().sum();
            let common: usize =
                one.iter().filter(|(kinds, _)| other.contains_key(*kinds)).map(|(_, count)| count).sum();
            let share = f64::from(u32::try_from(common).unwrap()) / f64::from(u32::try_from(total).unwrap());
            let mut odd: Vec<_> = one.iter().filter(|(kinds, _)| !other.contains_key(*kinds)).collect();
            odd.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            println!("opcode {opcode}: {common} of {total} {name} windows have a counterpart");
            assert!(share >= least, "opcode {opcode}, {name}: {share:.2} of {total}; without counterpart: {odd:#?}");
        }
    }
}

#[test]
fn locks_of_2_17() {
    let real = windows(&capture("lock_pingpong_dlm", "server1"), RPCTRACE_DLMTRACE);
    let simulated = windows(&replica::lock_pingpong(&V2_17), RPCTRACE_DLMTRACE);
    check(&real, &simulated, &[4, 16, 101, 103], 0.9);
}

/// Without the lines about an object's attributes: which of them changed since the last cancel depends on how that
/// capture's clients flushed.
#[test]
fn locks_of_2_15() {
    let plain = |mut recs: Vec<Rec>| {
        recs.retain(|rec| rec.function != "ofd_lvbo_update");
        windows(&recs, RPCTRACE_DLMTRACE)
    };
    let real = plain(capture("v215_lock_pingpong_dlm", "server1"));
    check(&real, &plain(replica::lock_pingpong(&V2_15)), &[4, 16, 101, 103], 0.9);
}

#[test]
fn bulk_of_2_17() {
    let real = merge(["server1", "server2"].map(|server| windows(&capture("masks", server), WITH_NET)));
    let simulated = windows(&replica::masks(&V2_17), WITH_NET);
    check(&real, &simulated, &[3, 4, 16], 0.9);
}

#[test]
fn bulk_of_2_15() {
    let real = merge(["server1", "server2"].map(|server| windows(&capture("v215_masks", server), WITH_NET)));
    let simulated = windows(&replica::masks(&V2_15), WITH_NET);
    check(&real, &simulated, &[3, 4, 16], 0.9);
}
