//! `many-writers`: several clients write the same object of a shared file at once, in pieces that lie between each other.

use lioprof_model::units::{plural, thousands};
use lioprof_model::{LockObject, ObjectAccess, Severity, SpentOn};

use super::lock_ping_pong::Fight;
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real};

pub(super) const RULE: Rule = Rule {
    id: "many-writers",
    question: Question::Time,
    explains: &[SpentOn::LockWait, SpentOn::Other],
    meaning: "more than one client at a time writes each object of a shared file, and they keep taking its lock from each other",
    limits: &[
        limit(
            "handovers_per_writer",
            2.0,
            "hand-overs of an object's lock per writer, at least: with a fixed part for each writer one or two are enough",
        ),
        limit(
            "wait_share",
            0.02,
            "share of their time that the writers wait for each other, from which it is a warning",
        ),
    ],
    plots: &["client-ost-matrix", "object-offsets"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    let access = &case.analysis.access;
    let shared: Vec<&ObjectAccess> = access.objects.iter().filter(|object| object.concurrent_writers > 1).collect();
    if shared.is_empty() {
        Nothing::healthy_if(access.write.rpcs > 0)?;
        let why = "no writes whose object is known";
        Nothing::not_applicable_if(case.analysis.totals.write.rpcs == 0, why)?;
        return Err(Nothing::cannot_tell(why));
    }
    let locks = case.locks()?;
    let interleaved = shared.into_iter().filter(|object| object.interleaved_writers > 1);
    let mut writes = 0;
    let mut writers = 0;
    let mut contended: Vec<&LockObject> = Vec::new();
    for object in interleaved {
        let is_it = |lock: &&LockObject| lock.target == object.target && lock.fid.as_deref() == Some(&object.fid);
        let Some(lock) = locks.objects.iter().find(is_it) else { continue };
        if real(lock.alternations) >= case.limit("handovers_per_writer") * real(object.writers) {
            contended.push(lock);
            writes += object.write.rpcs;
            writers = writers.max(object.concurrent_writers);
        }
    }
    let fight = Fight::of(contended, &case.analysis.time_account);
    Nothing::healthy_if(fight.objects.is_empty())?;
    let severity = if fight.wait_share >= case.limit("wait_share") { Severity::Warning } else { Severity::Info };
    let title = format!(
        "{writers} clients at a time write {}, whose lock changes hands {} times",
        match fight.objects.len() {
            1 => "one object".to_owned(),
            many => format!("each of {}", plural(many as u64, "object")),
        },
        thousands(fight.turns)
    );
    let draft = case
        .finding(severity, fight.confidence(locks.evidence), title)
        .explain(
            "Their parts lie between each other, so the extents that the server grants meet again and again. Each time \
             one client has to write back and give up its lock, and another one waits.",
        )
        .evidence("concurrent_writers", real(writers))
        .evidence("writes", real(writes));
    fight
        .fill(draft, &locks.jobs)
        .remedy("One writer per object: as many aggregators as stripes (MPI-IO hints romio_cb_write=enable, cb_nodes = stripe count; Cray MPI: cray_cb_nodes_multiplier for more).")
        .remedy("Larger contiguous parts per client, aligned to stripes: a stripe size (`lfs setstripe -S`) as large as a client's part, or that divides it.")
        .remedy("One object per writer: overstriping (`lfs setstripe -C`, as many stripes as writers), subfiling (HDF5 1.14: H5Pset_fapl_subfiling), or a file per process.")
        .remedy("Locks ahead of the writes: llapi_ladvise with LU_LADVISE_LOCKAHEAD; MPI-IO hint romio_lustre_cb_lock_ahead_write=enable, Cray MPI: cray_cb_write_lock_mode=2.")
        .alone()
}
