//! Objects whose reads or writes have a property, and what they weigh.

use lioprof_model::{AccessPattern, Analysis, Direction, Finding, ObjectAccess, ObjectId};
use lioprof_stats::Share;

use super::rule::{Case, Draft, Look, Nothing, real, share};

/// Objects with something in common, those with most time first.
pub(super) struct Flagged<'a> {
    pub(super) objects: Vec<(&'a ObjectAccess, &'a AccessPattern)>,
    /// RPCs.
    pub(super) rpcs: u64,
    pub(super) bytes: u64,
    /// Their time as a share of that of all reads and writes.
    pub(super) time_share: f64,
}

/// RPCs of streams that are long enough to have an order.
pub(super) fn described(pattern: &AccessPattern) -> u64 {
    pattern.rpcs - pattern.short_rpcs
}

/// Steps from one RPC of such a stream to the next.
pub(super) fn steps(pattern: &AccessPattern) -> u64 {
    pattern.sequential_rpcs + pattern.strided_rpcs + pattern.backward_rpcs + pattern.jump_rpcs
}

/// RPCs, or steps, that have a property, and all that could have it.
#[derive(Clone, Copy)]
pub(super) struct Of {
    pub(super) hits: fn(&AccessPattern) -> u64,
    pub(super) all: fn(&AccessPattern) -> u64,
}

impl Of {
    fn share(self, pattern: &AccessPattern) -> f64 {
        share(real((self.hits)(pattern)), real((self.all)(pattern)))
    }
}

/// Objects whose reads or writes have the property, if they matter by the rule's limit `time_share` and are enough to prove it: a share of
/// `least` has to be so.
///
/// Objects that are picked because of their share prove nothing together. So either single ones do, each against as many as there are, or
/// all that were looked at do.
pub(super) fn flagged<'a>(
    case: &Case<'a>,
    direction: Direction,
    has: impl Fn(&AccessPattern) -> bool,
    (of, least): (Of, f64),
) -> Result<Flagged<'a>, Nothing> {
    let every = all(case.analysis, direction, |pattern| (of.all)(pattern) > 0);
    let matters = |objects: &Flagged<'_>| objects.rpcs > 0 && objects.time_share >= case.limit("time_share");
    let objects = all(case.analysis, direction, |pattern| (of.all)(pattern) > 0 && has(pattern));
    Nothing::healthy_if(!matters(&objects))?;
    let proves = |pattern: &AccessPattern| {
        Share::among(real((of.hits)(pattern)), real((of.all)(pattern)), every.objects.len()).proves(least)
    };
    let alone = all(case.analysis, direction, |pattern| (of.all)(pattern) > 0 && has(pattern) && proves(pattern));
    if matters(&alone) {
        return Ok(alone);
    }
    Nothing::unless_above(Share::of(every.sum(of.hits), every.sum(of.all)).against(least), || {
        format!("{} {} look like it; chance may make as many of so few", objects.rpcs, direction.requests())
    })?;
    Ok(objects)
}

/// Objects of whose requests enough are such ones, by the rule's limit `rpc_share`, if they matter.
pub(super) fn mostly<'a>(
    case: &Case<'a>,
    direction: Direction,
    of: Of,
    and: impl Fn(&AccessPattern) -> bool,
) -> Result<Flagged<'a>, Nothing> {
    let least = case.limit("rpc_share");
    flagged(case, direction, |pattern| of.share(pattern) >= least && and(pattern), (of, least))
}

fn all(analysis: &Analysis, direction: Direction, has: impl Fn(&AccessPattern) -> bool) -> Flagged<'_> {
    let mut objects: Vec<(&ObjectAccess, &AccessPattern)> = analysis
        .access
        .objects
        .iter()
        .map(|object| (object, direction.pick(&object.read, &object.write)))
        .filter(|(_, pattern)| has(pattern))
        .collect();
    // Stable: equal ones stay as the analysis has them.
    objects.sort_by_key(|(_, pattern)| std::cmp::Reverse(pattern.total_us));
    let sum = |get: fn(&AccessPattern) -> u64| objects.iter().map(|(_, pattern)| get(pattern)).sum::<u64>();
    let (rpcs, bytes, us) =
        (sum(|pattern| pattern.rpcs), sum(|pattern| pattern.bytes), sum(|pattern| pattern.total_us));
    Flagged { objects, rpcs, bytes, time_share: share(real(us), total_us(analysis)) }
}

/// Time of all reads and writes of targets, microseconds.
pub(super) fn total_us(analysis: &Analysis) -> f64 {
    let times = analysis.targets.iter().flat_map(|target| [&target.read, &target.write]);
    times.map(|io| io.latency.total_us.mean.unwrap_or(0.0) * real(io.latency.total_us.count)).sum()
}

/// Looks at directions one by one, if there are any requests that `all` counts. What is found in one counts, whatever the other one is like.
pub(super) fn look_at(
    case: &Case<'_>,
    directions: &[Direction],
    all: fn(&AccessPattern) -> u64,
    look: impl Fn(&Case<'_>, Direction) -> Result<Finding, Nothing>,
) -> Look {
    let mut found = Vec::new();
    let mut nothing: Vec<Nothing> = Vec::new();
    for &direction in directions {
        match something_to_see(case, direction, all).and_then(|()| look(case, direction)) {
            Ok(finding) => found.push(finding),
            Err(why) => nothing.push(why),
        }
    }
    // Not to know of one counts more than that the other is well.
    let decides = |why: &Nothing| match why {
        Nothing::CannotTell(_) => 0,
        Nothing::Healthy => 1,
        Nothing::NotApplicable(_) => 2,
    };
    match nothing.into_iter().min_by_key(decides) {
        Some(why) if found.is_empty() => Err(why),
        _ => Ok(found),
    }
}

/// An error if there is nothing to be said of a direction.
fn something_to_see(case: &Case<'_>, direction: Direction, all: fn(&AccessPattern) -> u64) -> Result<(), Nothing> {
    let access = &case.analysis.access;
    let totals = &case.analysis.totals;
    let (pattern, io) = (direction.pick(&access.read, &access.write), totals.io(direction));
    let what = direction.requests();
    if all(pattern) > 0 {
        return Ok(());
    }
    let unknown = 2 * pattern.rpcs < io.rpcs;
    Nothing::cannot_tell_if(
        unknown,
        format!("the log does not say where in their files most {what} are (mask dlmtrace)"),
    )?;
    Err(Nothing::not_applicable(format!("no client made {} or more {what} of one object", access.rules.short_rpcs)))
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

    /// The only job that sends them, if it has a name.
    pub(super) fn sole_job(&self) -> Option<&str> {
        let mut jobs = self.objects.iter().flat_map(|(object, _)| &object.jobs).map(String::as_str);
        let first = jobs.next().filter(|job| !job.is_empty())?;
        jobs.all(|job| job == first).then_some(first)
    }

    /// A sum over the objects.
    pub(super) fn sum(&self, get: impl Fn(&AccessPattern) -> u64) -> f64 {
        real(self.objects.iter().map(|(_, pattern)| get(pattern)).sum())
    }
}
