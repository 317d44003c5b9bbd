//! `small-rpcs`: files are read or written in many small requests, or each write is followed by a sync.

use std::collections::BTreeSet;

use lioprof_model::units::{human_bytes, percent, thousands};
use lioprof_model::{AccessPattern, Analysis, Confidence, Direction, Finding, Severity, SpentOn};

use lioprof_stats::Share;

use super::flagged::{Flagged, Of, described, flagged, look_at, steps};
use super::load::{goes_on, osts};
use super::rule::{Case, Look, Nothing, Question, Rule, limit, real, share};

pub(super) const RULE: Rule = Rule {
    id: "small-rpcs",
    question: Question::Time,
    explains: &[SpentOn::Bulk, SpentOn::Sync, SpentOn::Queue, SpentOn::Other],
    meaning: "files are read or written in many requests that are far smaller than 1 MiB",
    limits: &[
        limit("mean_bytes", 262_144.0, "mean size of an object's requests, less than"),
        limit("time_share", 0.5, "their share of the time of all reads and writes, at least"),
        limit(
            "syncs_per_write",
            0.9,
            "OST_SYNC requests of their clients per write, from which each write is followed by a sync",
        ),
    ],
    plots: &["rpc-size"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    Nothing::cannot_tell_if(begun(case), "the capture ends after the first small requests to each object")?;
    look_at(case, &Direction::ALL, described, one)
}

/// Whether all that was seen are first small requests, and the capture ends in the middle of them.
fn begun(case: &Case<'_>) -> bool {
    let access = &case.analysis.access;
    let [read, write] = [&access.read, &access.write];
    let rpcs = read.rpcs + write.rpcs;
    let again = access.objects.iter().any(|object| object.read.rpcs + object.write.rpcs > object.clients.len() as u64);
    rpcs > 0
        && 2 * (described(read) + described(write)) < rpcs
        && again
        && share(real(read.bytes + write.bytes), real(rpcs)) < case.limit("mean_bytes")
        && goes_on(case.analysis, &osts(case.analysis))
}

/// Syncs of the clients that send the writes.
struct Syncs {
    osts: u64,
    mdts: u64,
}

impl Syncs {
    /// `None` unless each write is followed by one.
    fn of(case: &Case<'_>, small: &Flagged<'_>, direction: Direction) -> Option<Self> {
        let named: BTreeSet<&str> =
            small.objects.iter().flat_map(|(object, _)| &object.clients).map(String::as_str).collect();
        let clients = || case.analysis.clients.iter().filter(|client| named.contains(client.nid.as_str()));
        let sent = |opcode: &str| clients().filter_map(|client| client.opcodes.get(opcode)).sum();
        let writes: u64 = clients().map(|client| client.write.rpcs).sum();
        let syncs = Self { osts: sent("OST_SYNC"), mdts: sent("MDS_SYNC") };
        let followed = share(real(syncs.osts), real(writes)) >= case.limit("syncs_per_write");
        (followed && direction.is_write()).then_some(syncs)
    }
}

impl Syncs {
    /// `192 OST_SYNC, 192 MDS_SYNC`, without those that there are none of.
    fn in_words(&self) -> String {
        let kinds = [(self.osts, "OST_SYNC"), (self.mdts, "MDS_SYNC")];
        let some = kinds.iter().filter(|(rpcs, _)| *rpcs > 0);
        some.map(|(rpcs, name)| format!("{} {name}", thousands(*rpcs))).collect::<Vec<_>>().join(", ")
    }
}

/// How much of the clients' time goes to something, as in the account of it.
fn time_share(analysis: &Analysis, on: SpentOn) -> Option<f64> {
    Some(analysis.time_account.all.as_ref()?.share_on(on))
}

fn one(case: &Case<'_>, direction: Direction) -> Result<Finding, Nothing> {
    let has = |pattern: &AccessPattern| share(real(pattern.bytes), real(pattern.rpcs)) < case.limit("mean_bytes");
    // Their sizes are facts. Small files have no requests that could be joined: they are streams too short to have an order.
    let of = Of { hits: described, all: described };
    let small = flagged(case, direction, has, (of, 0.0))?;
    case.sizes_are_known(direction)?;
    // That more than half of what clients send is like this takes a few of them.
    if !Share::of(real(small.rpcs), real(small.rpcs)).proves(0.5) {
        let what = direction.requests();
        return Err(Nothing::cannot_tell(format!("{} small {what} are too few to say that more are", small.rpcs)));
    }
    let mean = small.bytes / small.rpcs.max(1);
    let (what, rpcs, bytes) = (direction.requests(), thousands(small.rpcs), human_bytes(mean));
    let syncs = Syncs::of(case, &small, direction);
    let who = small.sole_job().map_or_else(|| "Clients make".to_owned(), |job| format!("Job {job} makes"));
    let title = match &syncs {
        Some(syncs) => {
            format!("{who} {rpcs} writes of {bytes} on average, each followed by a sync ({})", syncs.in_words())
        }
        None => format!("{who} {rpcs} {what} of {bytes} on average"),
    };
    let sequential = share(small.sum(|pattern| pattern.sequential_rpcs), small.sum(steps));
    let [bulk_share, sync_share] = [SpentOn::Bulk, SpentOn::Sync].map(|on| time_share(case.analysis, on));
    let why = match (&syncs, sync_share) {
        (Some(_), Some(share)) => format!(
            "What is written has to be on disk before the program goes on, so the client cannot join writes: its syncs take {} of the \
             clients' time.",
            percent(share, 0)
        ),
        _ if sequential >= 0.5 => {
            "Most of these follow each other in the file, so they could be joined: something makes the client send \
             them one by one (synchronous or direct I/O, lock conflicts)."
                .to_owned()
        }
        _ => "Most of these do not follow each other in the file, so the client cannot join them.".to_owned(),
    };
    let draft = case
        .finding(Severity::Warning, Confidence::Medium, title)
        .explain(format!(
            "Each request costs the server and the client about the same work, whatever it carries; OSTs reach their \
             bandwidth with requests of 1 MiB and more. {why}"
        ))
        .evidence("mean_bytes", real(mean))
        .evidence("sequential_share", sequential)
        .evidence("bulk_time_share", bulk_share);
    let draft = match &syncs {
        Some(Syncs { osts, mdts }) => draft
            .evidence("ost_sync_rpcs", real(*osts))
            .evidence("mds_sync_rpcs", real(*mdts))
            .evidence("sync_time_share", sync_share)
            .remedy("Sync once after many writes, at the end of a file or of a time step: no fsync, fdatasync or O_SYNC after each."),
        None => draft,
    };
    let draft = draft
        .remedy("Buffer in the application: read and write at least 1 MiB at a time, 10 MiB are better, in file order.")
        .remedy("Collective buffering, where many processes share a file: MPI-IO hints romio_cb_write=enable, romio_cb_read=enable.");
    let draft = match direction {
        Direction::Write => draft
            .remedy("Let the page cache join writes: no O_SYNC, O_DIRECT or fsync after each; check that clients may send large requests (`lctl get_param osc.*.max_pages_per_rpc osc.*.max_dirty_mb`)."),
        Direction::Read => draft
            .remedy("Let read-ahead work: read in order; check `lctl get_param llite.*.max_read_ahead_mb llite.*.max_read_ahead_per_file_mb osc.*.max_pages_per_rpc`."),
    };
    Ok(small.fill(draft).done())
}
