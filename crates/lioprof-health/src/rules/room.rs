//! Free space and inodes.

use std::collections::BTreeMap;

use lioprof_model::units::{human_bytes, percent, share};

use super::rule::{Draft, Rule};
use super::state::all_targets;
use crate::facts::{Fact, ServerFacts, Space};
use crate::outcome::Status::{Critical, Warning};

/// Share that is free, below which a disk's allocator searches long and a large run may fill the target.
const LITTLE: f64 = 0.10;
/// Share below which the target is as good as full: other OSTs get what was meant for it, or writes fail.
const NONE: f64 = 0.02;
/// Default of `lod.*.qos_threshold_rr`: if free space of OSTs differs by more, the MDS no longer places objects in turn, but by free
/// space (obdclass `lu_tgt_descs.c`).
const QOS_THRESHOLD: f64 = 0.17;

pub(super) const SPACE: Rule = Rule {
    id: "space",
    title: "free space",
    noun: "target",
    expected: "at least 10 % of each target free (critical: below 2 %)",
    remedy: "Delete or migrate files (`lfs find --ost`, `lfs_migrate`), or keep new ones away with `obdfilter.TARGET.no_create=1`.",
    check: space,
};

fn space(servers: &[ServerFacts], draft: &mut Draft) {
    let free = |space: &Space| (space.available_kib, space.total_kib);
    shares(servers, draft, "space", free, |space| human_bytes(space.available_kib.saturating_mul(1024)));
}

pub(super) const INODES: Rule = Rule {
    id: "inodes",
    title: "free inodes",
    noun: "target",
    expected: "at least 10 % of each target's inodes free (critical: below 2 %)",
    remedy: "A run that makes many files needs an inode on an MDT for each, and an object on an OST. Delete files, or add a target.",
    check: inodes,
};

fn inodes(servers: &[ServerFacts], draft: &mut Draft) {
    shares(servers, draft, "inodes", |space| (space.free_inodes, space.inodes), |space| space.free_inodes.to_string());
}

fn shares(
    servers: &[ServerFacts],
    draft: &mut Draft,
    what: &str,
    free_of: fn(&Space) -> (u64, u64),
    amount: fn(&Space) -> String,
) {
    let mut least: Option<(f64, &str)> = None;
    for (facts, target) in all_targets(servers).filter(|(_, target)| target.kind != "mgs") {
        let Some(space) = draft.fact(&target.space, &facts.server, &target.name) else { continue };
        let (free, total) = free_of(space);
        if total == 0 {
            draft.unknown(&facts.server, &target.name, format!("the target says that it has no {what} at all"));
            continue;
        }
        let free = share(free, total);
        if least.is_none_or(|(least, _)| free < least) {
            least = Some((free, &target.name));
        }
        let status = if free < NONE { Critical } else { Warning };
        let found = || (status, format!("{} free ({})", percent(free, 1), amount(space)));
        draft.judge(&facts.server, &target.name, (free < LITTLE).then(found));
    }
    if let Some((free, name)) = least {
        draft.summary(format!("least free: {} on {name}", percent(free, 0)));
    }
}

pub(super) const BALANCE: Rule = Rule {
    id: "balance",
    title: "free space alike on all OSTs",
    noun: "file system",
    expected: "free space of OSTs within 17 %, so that the MDS places objects in turn (default of lod.*.qos_threshold_rr)",
    remedy: "Beyond it, OSTs with more room get more new objects: a file per process no longer spreads evenly. Stripe over all OSTs \
             (`lfs setstripe -c -1`), choose OSTs (`-o`), or move files.",
    check: balance,
};

fn balance(servers: &[ServerFacts], draft: &mut Draft) {
    let mut by_fs: BTreeMap<&str, Vec<(u64, &str)>> = BTreeMap::new();
    for (_, target) in all_targets(servers).filter(|(_, target)| target.kind == "ost") {
        if let (Some(fsname), Fact::Known(space)) = (&target.fsname, &target.space) {
            by_fs.entry(fsname).or_default().push((space.available_kib, &target.name));
        }
    }
    for (fsname, mut osts) in by_fs {
        osts.sort_unstable();
        let (Some(&(least, least_name)), Some(&(most, most_name))) = (osts.first(), osts.last()) else { continue };
        let apart = share(most.saturating_sub(least), most);
        let room = |kib: u64| human_bytes(kib.saturating_mul(1024));
        let found = format!(
            "{}: {} on {least_name}, {} on {most_name}: {} less",
            fsname,
            room(least),
            room(most),
            percent(apart, 0)
        );
        if apart > QOS_THRESHOLD {
            draft.wrong(Warning, "", "", found);
        } else {
            draft.fine();
            draft.summary(format!("at most {} apart", percent(apart, 0)));
        }
    }
}
