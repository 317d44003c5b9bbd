//! What the disks deliver by themselves (`--survey`), against other OSTs and against last time.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::units::{human_bytes, percent, share};
use lioprof_stats::{AgainstPeers, stand_out};

use super::rule::{Draft, Rule};
use crate::facts::{Fact, ServerFacts};
use crate::outcome::Status::Warning;
use crate::survey::SurveyFacts;

/// How many times as fast peers are at least, if an OST is slow.
const RATIO: f64 = 1.5;
/// Probability that chance makes one look so slow, at most.
const CHANCE: f64 = 0.05;
/// Share of the bandwidth that is lost since last time: two surveys of the same disks differ by less.
const LOST: f64 = 0.2;

pub(super) const PEERS: Rule = Rule {
    id: "survey_peers",
    title: "bandwidth of disks against other OSTs",
    noun: "OST",
    expected: "no OST certainly slower than the others, which deliver 1.5 times as much, in write, rewrite or read of obdfilter-survey",
    remedy: "Look at the disk or RAID of this OST: rebuild, failing disk, write cache off, another path, other disks.",
    check: peers,
};

pub(super) const LAST: Rule = Rule {
    id: "survey_last",
    title: "bandwidth of disks against the last survey",
    noun: "OST",
    expected: "at most 20 % less than in the last survey with the same settings",
    remedy: "Something changed since: a RAID that rebuilds, a fuller or more fragmented disk, a cache that is off, other I/O meanwhile. \
             Survey once more before you open the server.",
    check: last,
};

/// A bandwidth of an OST.
struct Measured<'a> {
    server: &'a str,
    ost: &'a str,
    bytes_per_s: u64,
}

/// The surveys that were made.
fn surveys(servers: &[ServerFacts]) -> impl Iterator<Item = (&str, &SurveyFacts)> {
    servers.iter().filter_map(|facts| Some((facts.server.as_str(), facts.survey.as_ref()?.known()?)))
}

fn peers(servers: &[ServerFacts], draft: &mut Draft) {
    for facts in servers {
        if let Some(Fact::Unknown(why)) = &facts.survey {
            draft.unknown(&facts.server, "", why);
        }
    }
    let mut by_test: BTreeMap<&str, Vec<Measured<'_>>> = BTreeMap::new();
    let mut osts: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (server, survey) in surveys(servers) {
        for (ost, bandwidths) in &survey.osts {
            osts.insert((server, ost));
            for (test, &bytes_per_s) in bandwidths {
                by_test.entry(test).or_default().push(Measured { server, ost, bytes_per_s });
            }
        }
    }
    let groups: Vec<Vec<AgainstPeers>> = by_test.values().map(|all| against(all)).collect();
    let mut slow: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for (((test, all), group), chances) in by_test.iter().zip(&groups).zip(stand_out(&groups)) {
        for ((measured, against), chance) in all.iter().zip(group).zip(chances) {
            if against.ratio >= RATIO && chance <= CHANCE {
                let own = human_bytes(measured.bytes_per_s);
                let found = format!("{test} {own}/s, the others {:.1} times as much", against.ratio);
                slow.entry((measured.server, measured.ost)).or_default().push(found);
            }
        }
    }
    for (server, ost) in osts {
        draft.judge(server, ost, slow.remove(&(server, ost)).map(|found| (Warning, found.join("; "))));
    }
    if let Some(least) = least(&by_test) {
        draft.summary(least);
    }
}

/// How many times as much the others deliver in the mean. One run tells nothing of chance in single requests.
fn against(all: &[Measured<'_>]) -> Vec<AgainstPeers> {
    let sum: u64 = all.iter().map(|it| it.bytes_per_s).sum();
    let others = (all.len() as u64).saturating_sub(1);
    let ratio = |own: u64| share(sum - own, others.saturating_mul(own));
    all.iter().map(|it| AgainstPeers { ratio: ratio(it.bytes_per_s), chance: 0.0 }).collect()
}

/// The test that says most of what applications get.
const NEW_DATA: &str = "write";

/// `least: write 134 MiB/s on lustre-OST0000`.
fn least(by_test: &BTreeMap<&str, Vec<Measured<'_>>>) -> Option<String> {
    let (test, all) = by_test.get_key_value(NEW_DATA).or_else(|| by_test.first_key_value())?;
    let least = all.iter().min_by_key(|it| it.bytes_per_s)?;
    Some(format!("least: {test} {}/s on {}", human_bytes(least.bytes_per_s), least.ost))
}

fn last(servers: &[ServerFacts], draft: &mut Draft) {
    for (server, survey) in surveys(servers) {
        let Some(last) = &survey.last else { continue };
        for (ost, bandwidths) in &survey.osts {
            let Some(before) = last.osts.get(ost) else { continue };
            let lost = |test: &String, now: u64| {
                let was = *before.get(test)?;
                let lost = 1.0 - share(now, was);
                let rates = || format!("{} instead of {}/s", human_bytes(now), human_bytes(was));
                (lost > LOST).then(|| format!("{test} {} less: {}", percent(lost, 0), rates()))
            };
            let found: Vec<String> = bandwidths.iter().filter_map(|(test, &now)| lost(test, now)).collect();
            let all = || (Warning, format!("{} than in {}", found.join("; "), last.name));
            draft.judge(server, ost, (!found.is_empty()).then(all));
        }
    }
}
