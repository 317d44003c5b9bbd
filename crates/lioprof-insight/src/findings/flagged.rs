//! Objects whose reads or writes have a property, and what they weigh.

use lioprof_model::{AccessPattern, Analysis, Direction, Finding, ObjectAccess, ObjectId};

use super::case::{Case, Look};
use super::draft::Draft;
use super::stats::{real, share};

/// Objects with something in common, those with most time first.
pub(super) struct Flagged<'a> {
    pub(super) objects: Vec<(&'a ObjectAccess, &'a AccessPattern)>,
    /// RPCs in long streams.
    pub(super) rpcs: u64,
    pub(super) bytes: u64,
    /// Their time as a share of that of all reads and writes.
    pub(super) time_share: f64,
}

/// RPCs that a pattern describes: those in long streams.
pub(super) fn described(pattern: &AccessPattern) -> u64 {
    pattern.rpcs - pattern.short_rpcs
}

/// Objects whose reads or writes have the property, if they matter by the rule's limits `min_rpcs` and `time_share`.
pub(super) fn flagged<'a>(
    case: &Case<'a>,
    direction: Direction,
    has: impl Fn(&AccessPattern) -> bool,
) -> Option<Flagged<'a>> {
    let objects = all(case.analysis, direction, has);
    let matters = real(objects.rpcs) >= case.limit("min_rpcs") && objects.time_share >= case.limit("time_share");
    matters.then_some(objects)
}

/// Objects of whose requests enough are such ones, by the rule's limit `rpc_share`, if they matter.
pub(super) fn mostly<'a>(
    case: &Case<'a>,
    direction: Direction,
    count: fn(&AccessPattern) -> u64,
    and: impl Fn(&AccessPattern) -> bool,
) -> Option<Flagged<'a>> {
    flagged(case, direction, |pattern| {
        share(real(count(pattern)), real(described(pattern))) >= case.limit("rpc_share") && and(pattern)
    })
}

fn all(analysis: &Analysis, direction: Direction, has: impl Fn(&AccessPattern) -> bool) -> Flagged<'_> {
    let mut objects: Vec<(&ObjectAccess, &AccessPattern)> = analysis
        .access
        .objects
        .iter()
        .map(|object| match direction {
            Direction::Read => (object, &object.read),
            Direction::Write => (object, &object.write),
        })
        .filter(|(_, pattern)| described(pattern) > 0 && has(pattern))
        .collect();
    // Stable: equal ones stay as the analysis has them.
    objects.sort_by_key(|(_, pattern)| std::cmp::Reverse(pattern.total_us));
    let sum = |get: fn(&AccessPattern) -> u64| objects.iter().map(|(_, pattern)| get(pattern)).sum::<u64>();
    let (rpcs, bytes, us) = (sum(described), sum(|pattern| pattern.bytes), sum(|pattern| pattern.total_us));
    Flagged { objects, rpcs, bytes, time_share: share(real(us), total_us(analysis)) }
}

/// Time of all reads and writes of targets, microseconds.
pub(super) fn total_us(analysis: &Analysis) -> f64 {
    let times = analysis.targets.iter().flat_map(|target| [&target.read, &target.write]);
    times.map(|io| io.latency.total_us.mean.unwrap_or(0.0) * real(io.latency.total_us.count)).sum()
}

/// Looks at directions one by one, each if it has as many RPCs as the rule's limit `min_rpcs` asks for.
pub(super) fn look_at(
    case: &Case<'_>,
    directions: &[Direction],
    look: impl Fn(&Case<'_>, Direction) -> Option<Finding>,
) -> Look {
    let reasons: Vec<String> = directions.iter().filter_map(|&direction| too_few(case, direction)).collect();
    if reasons.len() == directions.len() {
        return Err(reasons.join("; "));
    }
    Ok(directions.iter().filter_map(|&direction| look(case, direction)).collect())
}

/// Why there is nothing to be said of a direction; fewer RPCs are no pattern.
fn too_few(case: &Case<'_>, direction: Direction) -> Option<String> {
    let least = case.limit("min_rpcs");
    let access = &case.analysis.access;
    let described = described(match direction {
        Direction::Read => &access.read,
        Direction::Write => &access.write,
    });
    let what = plural(direction);
    (real(described) < least).then(|| {
        format!("{described} {what} are in files that are accessed long enough and known; at least {least} are needed")
    })
}

impl Flagged<'_> {
    /// How much it is, who and what is concerned.
    pub(super) fn fill(&self, draft: Draft) -> Draft {
        let objects = || self.objects.iter().map(|(object, _)| *object);
        draft
            .evidence("rpcs", real(self.rpcs))
            .evidence("time_share", self.time_share)
            .targets(objects().map(|object| object.target.as_str()))
            .clients(objects().flat_map(|object| &object.clients).map(String::as_str))
            .jobs(objects().flat_map(|object| &object.jobs).filter(|job| !job.is_empty()).map(String::as_str))
            .objects(objects().map(|object| ObjectId { target: object.target.clone(), fid: object.fid.clone() }))
    }

    /// A sum over the objects.
    pub(super) fn sum(&self, get: fn(&AccessPattern) -> u64) -> f64 {
        real(self.objects.iter().map(|(_, pattern)| get(pattern)).sum())
    }
}

/// `reads` or `writes`.
pub(super) fn plural(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
    }
}
