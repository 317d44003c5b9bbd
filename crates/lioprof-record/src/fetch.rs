//! After a recording: its files are brought here.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use lioprof_analysis::{ClockFacts, Question, stale_clocks};
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::time::utc;
use lioprof_model::units::seconds;
use lioprof_remote::{Ssh, on_all};
use lioprof_store::Dataset;

use crate::connection::{Agent, unexpected};
use crate::copied::{is_inside, sha256_of};
use crate::error::HostError;
use crate::plan::Fetch;
use crate::protocol::{RemoteFile, Reply, Request};
use crate::push;
use crate::state::{HostRecord, HostState, Recording};
use crate::sums::{self, Asked, sums_of};

/// Hosts that send at the same time: their disks and links are what takes time, ours soon are the limit.
const AT_ONCE: usize = 16;
/// Time for a host to end its capture.
const STOP_WITHIN: Duration = Duration::from_secs(400);
/// Time for a host to read all files of a recording once.
const LIST_WITHIN: Duration = Duration::from_secs(900);
/// Time for a host to delete them.
const REMOVE_WITHIN: Duration = Duration::from_secs(120);
/// A daemon that ended so much before the others is worth a word.
const EARLY_US: i64 = 5_000_000;
/// What a file is called until all of it is here.
const PART: &str = "part";
/// Attempts for a file that does not arrive as it is.
const ATTEMPTS: u32 = 2;
/// Logs of the daemons.
const LOGS: &str = "logs";
/// The daemon's log over there.
const DAEMON_LOG: &str = "daemon.log";

/// A recording that several hosts change at the same time.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    dir: PathBuf,
    recording: Arc<Mutex<Recording>>,
}

impl Shared {
    pub(crate) fn new(dir: &Path, recording: Recording) -> Self {
        Self { dir: dir.to_owned(), recording: Arc::new(Mutex::new(recording)) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Recording> {
        // Whoever panicked has left a whole recording: records are replaced as a whole.
        lioprof_model::lock(&self.recording)
    }

    fn put(&self, mut record: HostRecord) {
        let mut recording = self.lock();
        if let Some(place) = recording.hosts.iter_mut().find(|host| host.host == record.host) {
            std::mem::swap(place, &mut record);
        }
        // The next one that is saved has this one in it, and the last one tells of the failure.
        drop(recording.save(&self.dir));
    }
}

/// Fetches what is wanted of all hosts and not here yet. Whoever drops this may begin again.
pub(crate) async fn fetch(shared: &Shared, ssh: &Ssh, question: &Question) {
    let (wanted, hosts) = {
        let recording = shared.lock();
        let is_done = |state| matches!(state, HostState::LeftOut | HostState::Fetched | HostState::Forgotten);
        let open = recording.hosts.iter().filter(|host| !is_done(host.state));
        (recording.fetch, open.cloned().map(|host| (host, None)).collect::<Vec<_>>())
    };
    of_hosts(shared, ssh, question, hosts).await;
    if wanted == Fetch::Sums {
        // Clocks are compared once all hosts have said what they know.
        of_hosts(shared, ssh, question, stale(shared)).await;
    }
}

/// Hosts whose times should be on another clock than their sums are, with that clock.
fn stale(shared: &Shared) -> Vec<(HostRecord, Option<ClockLine>)> {
    let (hosts, clocks) = {
        let recording = shared.lock();
        (recording.hosts.clone(), recording.clocks())
    };
    // Sums that cannot be read are missing in the report, and said there.
    let sums = hosts.iter().filter_map(|host| sums_of(&shared.dir, host).ok().flatten());
    let stale = stale_clocks(sums.map(|sums| ClockFacts::from(&sums)).collect(), &clocks);
    let ended = |node: &String| hosts.iter().find(|host| host.node == *node && host.state == HostState::Ended);
    stale.into_iter().filter_map(|(node, clock)| Some((ended(&node)?.clone(), clock))).collect()
}

async fn of_hosts(shared: &Shared, ssh: &Ssh, question: &Question, hosts: Vec<(HostRecord, Option<ClockLine>)>) {
    let (id, wanted, ended_us) = {
        let recording = shared.lock();
        (recording.id.clone(), recording.fetch, recording.ended_us)
    };
    on_all(hosts, AT_ONCE, |(mut record, clock)| {
        let (shared, ssh, id) = (shared.clone(), ssh.clone(), id.clone());
        let asked = Asked { question: question.clone(), clock };
        async move {
            // It was not there at the end.
            let was_out = record.state == HostState::Recording;
            match of_host(&mut record, &ssh, &id, (wanted, &asked), &shared.dir).await {
                Ok(()) => {
                    record.last_words = None;
                    if was_out {
                        ended_early(&mut record, ended_us, &shared.dir);
                    }
                }
                Err(err) => record.last_words = Some(format!("fetching failed: {err}")),
            }
            shared.put(record);
        }
    })
    .await;
}

async fn of_host(
    record: &mut HostRecord,
    ssh: &Ssh,
    id: &str,
    (wanted, asked): (Fetch, &Asked),
    dir: &Path,
) -> Result<(), HostError> {
    let mut agent = Agent::connect(ssh, &record.host, &record.program).await?;
    let id = id.to_owned();
    if record.state == HostState::Recording || record.waiting_segments > 0 {
        // Then its log has no mark of the end.
        record.marked &= record.state != HostState::Recording;
        stop(&mut agent, record, &id).await?;
    }
    if wanted == Fetch::Sums && agent.has_our_sums {
        record.has_sums = sums::bring(&mut agent, &id, record, asked, dir).await?;
    }
    // A server of another version makes sums that nobody here can read; and without rows there is nothing to keep.
    if wanted == Fetch::Rows || wanted == Fetch::Sums && !record.has_sums {
        let list = Request::List { id: id.clone() };
        let Reply::Files { files } = agent.ask(&list, LIST_WITHIN).await? else { return Err(unexpected()) };
        for file in in_order(files) {
            bring(&mut agent, &id, &file, &destination(dir, &record.host, &file.path)?).await?;
        }
        if record.waiting_segments > 0 {
            agent.close().await;
            return Ok(());
        }
        agent.ask(&Request::Remove { id }, REMOVE_WITHIN).await?;
        record.state = HostState::Fetched;
        // The rows say the same, and more.
        sums::drop_them(record, dir);
    }
    agent.close().await;
    // With rows left there, it is needed again.
    if record.state == HostState::Fetched { take_back(record, ssh).await } else { Ok(()) }
}

/// Ends a host's capture.
async fn stop(agent: &mut Agent, record: &mut HostRecord, id: &str) -> Result<(), HostError> {
    let stop = Request::Stop { id: id.to_owned() };
    let Reply::Stopped(stopped) = agent.ask(&stop, STOP_WITHIN).await? else { return Err(unexpected()) };
    record.has_stopped(&stopped);
    Ok(())
}

/// Deletes this program's copy, if it was lent to the host.
async fn take_back(record: &mut HostRecord, ssh: &Ssh) -> Result<(), HostError> {
    match record.pushed.take() {
        Some(folder) => push::remove(ssh, &record.host, &folder).await,
        None => Ok(()),
    }
}

/// Deletes what the hosts still have of a recording.
pub(crate) async fn forget(shared: &Shared, ssh: &Ssh) {
    let (id, hosts) = {
        let recording = shared.lock();
        let is_there = |host: &&HostRecord| matches!(host.state, HostState::Recording | HostState::Ended);
        (recording.id.clone(), recording.hosts.iter().filter(is_there).cloned().collect::<Vec<_>>())
    };
    on_all(hosts, AT_ONCE, |mut record| {
        let (shared, ssh, id) = (shared.clone(), ssh.clone(), id.clone());
        async move {
            let failed = forget_host(&mut record, &ssh, &id).await.err();
            record.last_words = failed.map(|err| format!("its rows could not be deleted: {err}"));
            shared.put(record);
        }
    })
    .await;
}

/// Deletes a host's rows there.
async fn forget_host(record: &mut HostRecord, ssh: &Ssh, id: &str) -> Result<(), HostError> {
    let mut agent = Agent::connect(ssh, &record.host, &record.program).await?;
    if record.state == HostState::Recording {
        stop(&mut agent, record, id).await?;
    }
    agent.ask(&Request::Remove { id: id.to_owned() }, REMOVE_WITHIN).await?;
    record.state = HostState::Forgotten;
    agent.close().await;
    take_back(record, ssh).await
}

/// Notes that a host that was out of reach was not traced until the end, if its rows are here and say so.
fn ended_early(record: &mut HostRecord, ended_us: Option<i64>, dir: &Path) {
    let Some(ended_us) = ended_us.filter(|_| record.state == HostState::Fetched) else { return };
    let Ok(dataset) = Dataset::open(&Recording::rows(dir)) else { return };
    let facts = || dataset.parts(&record.node).iter().map(|part| &part.manifest.facts);
    let stretches = facts().flat_map(|facts| &facts.traced_us).map(|[_, to_us]| *to_us);
    // Without pauses, only the end is written down; without it, all that is known is how far the log goes.
    let ends = facts().filter_map(|facts| facts.traced_until_us.or(facts.through_us));
    let Some(until_us) = stretches.chain(ends).max() else { return };
    let ahead_us = record.clocks.last().map_or(0, |clock| clock.ahead_us);
    let missing_us = ended_us - (until_us - ahead_us);
    if missing_us >= EARLY_US {
        record.trouble(format!(
            "it was traced until {} only: the last {:.0} s are not in the data (nobody could renew its daemon's lease)",
            utc(until_us),
            seconds(missing_us)
        ));
    }
}

/// Manifests last: a part exists once its manifest does.
fn in_order(mut files: Vec<RemoteFile>) -> Vec<RemoteFile> {
    files.sort_by_key(|file| file.path.starts_with(lioprof_store::MANIFESTS));
    files
}

fn destination(dir: &Path, host: &str, path: &str) -> Result<PathBuf, HostError> {
    if !is_inside(path) {
        return Err(HostError::Protocol(format!("{path:?} in a list of files")));
    }
    Ok(if path == DAEMON_LOG {
        // A user may stand before the name, nothing else that a file may not have.
        dir.join(LOGS).join(format!("{}.log", host.replace('/', "_")))
    } else {
        Recording::rows(dir).join(path)
    })
}

/// Brings a file, or the rest of it.
async fn bring(agent: &mut Agent, id: &str, file: &RemoteFile, to: &Path) -> Result<(), HostError> {
    let is_there = |path: &Path| {
        let size = fs::metadata(path).map(|found| found.len()).ok();
        size == Some(file.bytes) && sha256_of(path).is_ok_and(|(_, sum)| sum == file.sha256)
    };
    if is_there(to) {
        return Ok(());
    }
    let failed = |source| HostError::Write { path: to.to_owned(), source };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let part = to.with_added_extension(PART);
    for _ in 0..ATTEMPTS {
        let have = fs::metadata(&part).map(|found| found.len()).unwrap_or_default();
        let offset = if have <= file.bytes { have } else { 0 };
        let mut options = fs::File::options();
        // Without this, a part that is too long would keep its end.
        options.create(true).write(true).append(offset > 0).truncate(offset == 0);
        let mut out = options.open(&part).map_err(failed)?;
        if offset < file.bytes {
            agent.get(id, &file.path, offset, &mut out).await?;
        }
        out.sync_all().map_err(failed)?;
        if is_there(&part) {
            return fs::rename(&part, to).map_err(failed);
        }
        fs::remove_file(&part).map_err(failed)?;
    }
    Err(HostError::Checksum(file.path.clone()))
}
