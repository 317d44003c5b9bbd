//! Each message of a simulation stands, in this very form and from this very place, in a log of a real server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use lioprof_sim::scenario::Options;
use lioprof_sim::wording::{V2_15, V2_17, Wording};
use regex::Regex;

use crate::records::{Rec, capture, simulated};

pub(crate) type Place = (u32, u32, String, u32, String, String);

static RULES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    [
        (r"lustre-MDT0000-(mdtlov|lwp-OST[0-9a-f]{4}|lwp-MDT[0-9a-f]{4})_UUID", "CLIENT"),
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "CLIENT"),
        (r"\d+\.\d+\.\d+\.\d+@tcp|0@lo", "NID"),
        (r"lustre-OST[0-9a-f]{4}", "OST"),
        (r"0x[0-9a-f]+", "HEX"),
        (r"\b[0-9a-f]{16}\b", "PTR"),
        (r"job:'[^']*'", "job:JOB"),
        (r"(Hand\w+ RPC .*NID:\d+:)[^ \n]*", "${1}JOB"),
        (r"Interpret:H|Complete:H", "PHASE"),
        (r"Interpret:|Complete:", "PHASE"),
        (r"ocd_version: [0-9a-f]+", "ocd_version: HEX"),
        (r"cksum type [0-9a-f]+, return [0-9a-f]+", "cksum type HEX, return HEX"),
        (r"\d+", "#"),
    ]
    .map(|(rule, to)| (Regex::new(rule).unwrap(), to))
    .to_vec()
});

/// A text without what differs from line to line.
pub(crate) fn shape(text: &str) -> String {
    RULES.iter().fold(text.to_owned(), |text, (rule, to)| rule.replace_all(&text, *to).into_owned())
}

pub(crate) fn places(recs: &[Rec]) -> impl Iterator<Item = (Place, &Rec)> {
    recs.iter().filter(|rec| rec.subsystem & 0xc00 == 0).map(|rec| {
        let place = (rec.subsystem, rec.mask, rec.file.clone(), rec.line, rec.function.clone(), shape(&rec.text));
        (place, rec)
    })
}

/// No capture with mask net has a conflict, hence none shows a callback under that mask.
fn is_unseen(text: &str) -> bool {
    text.starts_with("@@@") && ["o104->", "o105->", "o106->"].iter().any(|opcode| text.contains(opcode))
}

fn check(wording: &'static Wording, captures: &[(&str, &str)], scenarios: &[&str]) {
    let mut real = BTreeSet::new();
    for (name, server) in captures {
        let recs = capture(name, server);
        real.extend(places(&recs).map(|(place, _)| place));
    }
    let mut strange = BTreeMap::new();
    for name in scenarios {
        let (recs, _) = simulated(name, &Options { wording, clients: 2, ..Options::default() });
        assert!(recs.len() > 200, "{name}");
        for (place, rec) in places(&recs) {
            if !real.contains(&place) && !is_unseen(&rec.text) {
                strange.entry(place).or_insert_with(|| rec.text.clone());
            }
        }
    }
    let list: Vec<String> = strange.iter().map(|(place, text)| format!("{place:?}\n    {text}")).collect();
    assert!(list.is_empty(), "{} kinds of messages that no real server logged:\n{}", list.len(), list.join("\n"));
}

#[test]
fn every_message_of_2_17_is_one_of_a_real_server() {
    let captures = [
        ("masks", "server1"),
        ("masks", "server2"),
        ("lock_pingpong_dlm", "server1"),
        ("file_per_process", "server1"),
        ("file_per_process", "server2"),
        ("metadata", "server2"),
        ("eviction_clean", "server2"),
        ("ops_mix", "server2"),
    ];
    check(&V2_17, &captures, &["file-per-process", "lock-pingpong", "false-sharing", "direct-io", "steady", "gapped"]);
}

#[test]
fn every_message_of_2_15_is_one_of_a_real_server() {
    let captures = [
        ("v215_masks", "server1"),
        ("v215_masks", "server2"),
        ("v215_lock_pingpong_dlm", "server1"),
        ("v215_file_per_process", "server1"),
        ("v215_file_per_process", "server2"),
    ];
    check(&V2_15, &captures, &["file-per-process", "lock-pingpong", "direct-io", "steady"]);
}
