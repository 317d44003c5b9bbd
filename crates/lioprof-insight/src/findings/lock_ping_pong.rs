//! `lock-ping-pong`: clients take the lock of an object from each other for every few pieces that they read or write.

use std::collections::BTreeMap;

use lioprof_model::units::{RULES, number, percent, plural, thousands};
use lioprof_model::{
    AccessPattern, Analysis, Confidence, Interval, LockEvidence, LockObject, ObjectAccess, ObjectId, Severity, SpentOn,
    TimeAccount,
};
use lioprof_stats::{Share, covered};

use super::flagged::described;
use super::load::{goes_on, osts};
use super::rule::{Case, Cost, Draft, Look, Nothing, Question, Rule, limit, median, real, share};

pub(super) const RULE: Rule = Rule {
    id: "lock-ping-pong",
    question: Question::Time,
    explains: &[SpentOn::LockWait, SpentOn::Other],
    meaning: "clients take the lock of an object from each other for every few pieces that they read or write",
    limits: &[
        limit(
            "turns_per_client",
            3.0,
            "hand-overs of the object's lock per client, at least: clients that meet once at the start do not fight",
        ),
        limit(
            "turn_bytes",
            4_194_304.0,
            "bytes read and written per piece that lies apart, or per hand-over, less than: more are worth a hand-over, see many-writers",
        ),
        limit("turns_share", 0.5, "hand-overs per read and write of contiguous parts of the object, at least"),
        limit(
            "wait_share",
            0.03,
            "share of their time that the clients wait for each other while they fight, from which it is a warning",
        ),
        limit(
            "time_share",
            0.2,
            "share of the middle client's time that goes to waiting for locks, from which it is a question even without a pattern",
        ),
        limit("critical_wait_share", 0.25, "the same, from which it is critical"),
        limit("false_share", 0.8, "share of conflicts without a common byte from which they are called false sharing"),
    ],
    plots: &["lock-timeline", "lock-pairs"],
    note: false,
    look,
};

/// How a locked object is read and written, if it is among those with most RPCs.
fn access_of<'a>(analysis: &'a Analysis, object: &LockObject) -> Option<&'a ObjectAccess> {
    let fid = object.fid.as_deref()?;
    analysis.access.objects.iter().find(|access| access.target == object.target && access.fid == fid)
}

/// Whether the clients take the lock from each other for little, again and again. Clients in step fight over contiguous parts of their
/// own just as much as over interleaved pieces: the server expands every lock to the end of the object.
fn is_fought_over(case: &Case<'_>, object: &LockObject) -> bool {
    let access = access_of(case.analysis, object);
    let clients = access.map_or(0, |access| access.writers).max(object.clients.len() as u64);
    let turns = case.limit("turns_per_client") * real(clients);
    if !object.ping_pong || real(object.alternations) < turns {
        return false;
    }
    let handovers = real(object.alternations);
    let takes_turns = |access: &ObjectAccess| {
        Share::of(handovers, real(access.read.rpcs + access.write.rpcs)).proves(case.limit("turns_share"))
    };
    // As many requests as it takes to have so many pieces, and the steps to them.
    let enough =
        |access: &&ObjectAccess| real(described(&access.read) + described(&access.write)) > turns + real(clients);
    let Some(access) = access.filter(enough) else {
        // Too few requests to tell their order: hardly two grants in a row to the same client, and what they write lies between each
        // other as far as that is known.
        return object.mean_run < 2.0
            && access.is_none_or(|access| access.interleaved_writers > 1 && takes_turns(access));
    };
    let bytes = real(access.read.bytes + access.write.bytes);
    let pieces = real(pieces(access));
    if pieces >= turns {
        return bytes < case.limit("turn_bytes") * pieces;
    }
    // Contiguous parts: unless most requests have to wait for the lock, the fight is over something else that lies in the same object.
    // They meet several times at the start without a fight, so more turns are asked for than where pieces lie apart.
    handovers >= 2.0 * turns && takes_turns(access) && bytes < case.limit("turn_bytes") * handovers
}

/// Pieces of the object that lie apart.
fn pieces(access: &ObjectAccess) -> u64 {
    let steps = |pattern: &AccessPattern| pattern.strided_rpcs + pattern.backward_rpcs + pattern.jump_rpcs;
    steps(&access.read) + steps(&access.write)
}

/// How long clients were in the fights of these objects, all together. A client's fights at the same time count once, pauses between them
/// do not; a client of objects that are handed over without a fight is in it for all of its time.
fn present_s(objects: &[&LockObject], account: &TimeAccount) -> f64 {
    let whole: BTreeMap<&str, (f64, f64)> =
        account.clients.iter().map(|client| (client.name.as_str(), (client.first, client.last))).collect();
    let mut spans: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
    for object in objects {
        for nid in &object.clients {
            let own = spans.entry(nid).or_default();
            own.extend(object.episodes.iter().map(|episode| (episode.start, episode.end)));
            own.extend(whole.get(nid.as_str()).filter(|_| object.episodes.is_empty()));
        }
    }
    spans.into_values().map(covered).sum()
}

/// Turns per turn in a fight that is told of: only the longest fights are.
fn told(objects: &[&LockObject]) -> f64 {
    let fought = || objects.iter().filter(|object| !object.episodes.is_empty());
    let all: u64 = fought().map(|object| object.alternations).sum();
    let in_fights: u64 = fought().flat_map(|object| &object.episodes).map(|episode| episode.alternations).sum();
    if in_fights == 0 { 1.0 } else { real(all) / real(in_fights) }
}

/// Clients that wait for each other in the fights of some objects: figures that several rules need.
pub(super) struct Fight<'a> {
    pub(super) objects: Vec<&'a LockObject>,
    pub(super) interval: Option<Interval>,
    pub(super) turns: u64,
    pub(super) conflicts: u64,
    pub(super) wait_s: f64,
    /// Of the time that these clients spent in these fights; for objects that are handed over without a fight, of all their time.
    pub(super) wait_share: f64,
    pub(super) clients: Vec<&'a str>,
    /// Share of conflicts without a common byte, where that can be told.
    pub(super) expansion_share: Option<f64>,
}

impl<'a> Fight<'a> {
    pub(super) fn of(mut objects: Vec<&'a LockObject>, account: &TimeAccount) -> Self {
        objects.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s));
        let episodes = || objects.iter().flat_map(|object| &object.episodes);
        let start = episodes().map(|episode| episode.start).min_by(f64::total_cmp);
        let end = episodes().map(|episode| episode.end).max_by(f64::total_cmp);
        let interval = start.zip(end).map(|(start, end)| Interval { start, end });
        let mut clients: Vec<&str> = Vec::new();
        for nid in objects.iter().flat_map(|object| &object.clients) {
            if !clients.contains(&nid.as_str()) {
                clients.push(nid);
            }
        }
        let wait_s: f64 = objects.iter().map(|object| object.wait_s).sum();
        let present_s = told(&objects) * present_s(&objects, account);
        let conflicts = objects.iter().map(|object| object.conflicts).sum();
        let classified: u64 =
            objects.iter().filter_map(|object| Some(object.true_conflicts? + object.expansion_conflicts?)).sum();
        let expansion: u64 = objects.iter().filter_map(|object| object.expansion_conflicts).sum();
        Self {
            interval,
            turns: objects.iter().map(|object| object.alternations).sum(),
            conflicts,
            wait_s,
            wait_share: share(wait_s, present_s).min(1.0),
            clients,
            expansion_share: (classified > 0).then(|| share(real(expansion), real(classified))),
            objects,
        }
    }

    /// Whether the lock manager's own lines show it; else waits are inferred.
    fn is_seen(&self, evidence: LockEvidence) -> bool {
        evidence == LockEvidence::Dlmtrace || self.objects.iter().all(|object| !object.inferred)
    }

    pub(super) fn confidence(&self, evidence: LockEvidence) -> Confidence {
        if self.is_seen(evidence) { Confidence::High } else { Confidence::Medium }
    }

    /// Figures, names and cost.
    pub(super) fn fill(&self, draft: Draft, jobs: &[lioprof_model::LockJob]) -> Draft {
        draft
            .evidence("conflicts", real(self.conflicts))
            .evidence("turns", real(self.turns))
            .evidence("objects", real(self.objects.len() as u64))
            .evidence("wait_s", self.wait_s)
            .evidence("wait_share", self.wait_share)
            .targets(self.objects.iter().map(|object| object.target.as_str()))
            .clients(self.clients.iter().copied())
            .objects(
                self.objects
                    .iter()
                    .filter_map(|object| Some(ObjectId { target: object.target.clone(), fid: object.fid.clone()? })),
            )
            .jobs(jobs.iter().filter(|job| job.blocked > 0).filter_map(|job| job.job.clone()).filter(|j| !j.is_empty()))
            .interval(self.interval)
            .cost(self.wait_s, Cost::RequestSeconds)
            .evidence("expansion_conflict_share", self.expansion_share)
    }
}

/// Clients that took a lock back from each other when the capture ends in the middle of their writes may be about to fight.
fn begun(case: &Case<'_>) -> Look {
    let mut objects = case.analysis.locks.iter().flat_map(|locks| &locks.objects);
    let back = |object: &&LockObject| object.alternations >= object.clients.len().max(2) as u64;
    let begun = objects
        .find(|object| case.is_of_selected(object) && back(object))
        .filter(|_| goes_on(case.analysis, &osts(case.analysis)));
    let LockObject { target, alternations, .. } = begun.ok_or(Nothing::Healthy)?;
    Err(Nothing::cannot_tell(format!(
        "clients have handed the lock of an object of {target} over {alternations} times when the capture ends: too few to say that they go on"
    )))
}

/// Clients that wait long for locks without a fight are a question.
fn no_fight(case: &Case<'_>) -> Look {
    let clients = case.analysis.time_account.clients.iter();
    let waiting = median(clients.map(|client| client.share_on(SpentOn::LockWait))).unwrap_or(0.0);
    if waiting < case.limit("time_share") {
        return begun(case);
    }
    Err(Nothing::cannot_tell(format!(
        "half of the clients wait for others' locks {} of their time or more, but take them from each other too few times to see a pattern",
        percent(waiting, 0)
    )))
}

fn look(case: &Case<'_>) -> Look {
    let locks = case.locks()?;
    let fighting = locks.objects.iter().filter(|object| case.is_of_selected(object) && is_fought_over(case, object));
    let fight = Fight::of(fighting.collect(), &case.analysis.time_account);
    if fight.objects.is_empty() {
        return no_fight(case);
    }
    let severity = match fight.wait_share {
        share if share >= case.limit("critical_wait_share") => Severity::Critical,
        share if share >= case.limit("wait_share") => Severity::Warning,
        _ => Severity::Info,
    };
    let title = format!(
        "{} keep taking the lock{} from each other: {} times, {}{} s of waiting ({} of their time meanwhile)",
        plural(fight.clients.len() as u64, "client"),
        match fight.objects.as_slice() {
            [only] => format!(" of an object on {}", only.target),
            many => format!("s of {}", plural(many.len() as u64, "object")),
        },
        thousands(fight.turns),
        if fight.is_seen(locks.evidence) { "" } else { RULES.estimated },
        number(fight.wait_s),
        percent(fight.wait_share, 0)
    );
    let is_false = fight.expansion_share.map(|share| share >= case.limit("false_share"));
    let kind = match is_false {
        Some(true) => {
            "What they ask for does not overlap (false sharing): only the larger extents that the server grants are in \
             each other's way."
        }
        Some(false) => "They ask for the same bytes.",
        None => "Whether they ask for the same bytes is not in the log: trace with dlmtrace to tell.",
    };
    let draft = case.finding(severity, fight.confidence(locks.evidence), title).explain(format!(
        "Again and again the server calls the lock back from one client, which has to write its dirty pages first, \
             before another one may read or write its next piece. {kind}"
    ));
    let draft = fight.fill(draft, &locks.jobs);
    let draft = if is_false == Some(false) {
        draft
            .remedy("Let one process write each byte: collective buffering (MPI-IO hints romio_cb_write=enable, cb_nodes = stripe count) or one writer per file region.")
            .remedy("If the order of the writes does not matter, take a group lock around them (llapi_group_lock) or write with O_DIRECT.")
    } else {
        draft
            .remedy("Give each client objects of its own: a file for each, or as many stripes as writers and each of them its own stripes. Separate halves of one object may not be enough: the server expands each lock to the end of the object, and clients in step fight for them just as much.")
            .remedy("Give each client whole stripes: align what it writes to the stripe size (`lfs setstripe -S`), or use one aggregator per OST (MPI-IO hints romio_cb_write=enable, cb_nodes = stripe count).")
            .remedy("Ask for locks ahead of the writes (llapi_ladvise with LU_LADVISE_LOCKAHEAD, `lfs ladvise -a lockahead --mode WRITE`; MPI-IO hint romio_lustre_cb_lock_ahead_write=enable), or keep the server from expanding them (LU_LADVISE_LOCKNOEXPAND on the open file).")
            .remedy("Spread the file over more objects: more OSTs (`lfs setstripe -c -1`), or several per OST (overstriping, `lfs setstripe -C`).")
            .remedy("Take a group lock around the parallel phase (llapi_group_lock): the application then keeps its pages in order itself.")
    };
    let has_timeline = fight.objects.iter().any(|object| object.timeline.is_some());
    Ok(vec![if has_timeline { draft } else { draft.plot("lock-pairs") }.done()])
}
