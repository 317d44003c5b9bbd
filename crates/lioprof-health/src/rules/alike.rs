//! Versions and settings that differ between servers, or targets, that should be alike.

use std::collections::{BTreeMap, BTreeSet};

use lioprof_model::units::{few, plural};

use super::rule::{Draft, Rule};
use crate::facts::ServerFacts;
use crate::outcome::Status::Warning;

pub(super) const ALIKE: Rule = Rule {
    id: "alike",
    title: "versions and settings alike",
    noun: "setting",
    expected: "the same version of Lustre and timeouts on all servers; the same kernel and settings on those with the same kinds of targets, \
               and on all their targets",
    remedy: "`lctl set_param -P NAME=VALUE` on the MGS sets a parameter for all. A difference may be meant: different disks, for example.",
    check: alike,
};

/// Those of the file system as a whole, whatever targets a server has.
const OF_ALL: [&str; 4] = ["version", "timeout", "at_max", "at_min"];

/// Who has which value of one setting.
type Holders<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

fn alike(servers: &[ServerFacts], draft: &mut Draft) {
    let mut settings: BTreeMap<(String, &str), Holders<'_>> = BTreeMap::new();
    for facts in servers {
        let kinds = kinds(facts);
        for setting in &facts.settings {
            let (group, holder) = if setting.target.is_empty() {
                let group = if OF_ALL.contains(&setting.name.as_str()) { String::new() } else { kinds.clone() };
                (group, facts.server.as_str())
            } else {
                (kind(&setting.target).to_owned(), setting.target.as_str())
            };
            let holders = settings.entry((group, &setting.name)).or_default();
            holders.entry(&setting.value).or_default().insert(holder);
        }
    }
    for ((_, name), holders) in &settings {
        let differ = || (Warning, format!("{name}: {}", in_words(holders)));
        draft.judge("", "", (holders.len() > 1).then(differ));
    }
    if settings.is_empty() {
        draft.unknown("", "", "no setting could be read");
    }
}

/// Kinds of targets that a server has: `mdt+ost`.
fn kinds(facts: &ServerFacts) -> String {
    let kinds: BTreeSet<&str> = facts
        .targets
        .known()
        .into_iter()
        .flatten()
        .map(|target| target.kind.as_str())
        .filter(|kind| *kind != "mgs")
        .collect();
    kinds.into_iter().collect::<Vec<_>>().join("+")
}

fn kind(target: &str) -> &'static str {
    if target.contains("-MDT") { "an MDT" } else { "an OST" }
}

/// The usual value and how often, then the others and who has them.
fn in_words(holders: &Holders<'_>) -> String {
    let mut values: Vec<(&&str, &BTreeSet<&str>)> = holders.iter().collect();
    values.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
    let word = |value: &str| if value.contains(' ') { format!("`{value}`") } else { value.to_owned() };
    let mut words = Vec::new();
    for (rank, (value, who)) in values.iter().enumerate() {
        let names: Vec<&str> = who.iter().copied().collect();
        if rank == 0 && names.len() > 3 {
            words.push(format!("{} on {}", word(value), plural(names.len() as u64, "other")));
        } else {
            words.push(format!("{} on {}", word(value), few(&names)));
        }
    }
    // The odd ones first: they are what one looks for.
    words.rotate_left(1);
    words.join("; ")
}
