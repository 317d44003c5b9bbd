//! A recording from its first look at the hosts to the rows that are here.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lioprof_analysis::Selection;
use lioprof_capture::daemon::Signals;
use lioprof_model::lock;
use lioprof_model::time::{now_us, utc};
use lioprof_model::units::plural;
use lioprof_remote::{HostList, Ssh, on_all};
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use crate::before::{AT_ONCE, Candidate, survey, table};
use crate::dir_lock::DirLock;
use crate::error::RecordError;
use crate::fetch::{self, Shared};
use crate::host::{Common, Host};
use crate::plan::{Fetch, Plan};
use crate::protocol::CaptureOptions;
use crate::push::{self, Copy};
use crate::state::{HostRecord, HostState, Recording};
use crate::tell::{Progress, Tell};

/// Leases are renewed this often, or four times within their time if that is more often.
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// All hosts at the same time.
const TOGETHER: usize = usize::MAX;
/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// Exit code of a command that cannot be started, as shells have it.
const CANNOT_START: i32 = 127;

/// Records, and fetches what was asked for.
///
/// # Errors
/// If there is nothing to record, and then nothing has been changed on any host. What goes wrong later is in the
/// [`Recording`].
pub fn record(plan: &Plan, tell: &dyn Tell) -> Result<Recording, RecordError> {
    runtime()?.block_on(recording(plan, tell))
}

/// Goes on fetching a recording. `selection`: what a report of sums is about.
///
/// # Errors
/// If there is none.
pub fn fetch(dir: &Path, wanted: Fetch, selection: &Selection, tell: &dyn Tell) -> Result<Recording, RecordError> {
    let mut recording = Recording::load(dir)?;
    let _lock = DirLock::take(dir)?;
    recording.fetch = wanted;
    let ssh = ssh_of(&recording, dir)?;
    runtime()?.block_on(async {
        let mut signals = Signals::new().map_err(RecordError::Signals)?;
        fetching(dir, recording, &ssh, (&mut signals, tell), selection).await
    })
}

/// Deletes what the hosts of a recording still have of it. What is here stays.
///
/// # Errors
/// If there is no recording.
pub fn forget(dir: &Path) -> Result<Recording, RecordError> {
    let recording = Recording::load(dir)?;
    let _lock = DirLock::take(dir)?;
    let ssh = ssh_of(&recording, dir)?;
    let shared = Shared::new(dir, recording);
    runtime()?.block_on(fetch::forget(&shared, &ssh));
    let recording = shared.lock().clone();
    recording.save(dir)?;
    Ok(recording)
}

/// Puts a mark into the logs of all hosts of a recording that runs. Returns the hosts on which that failed, and why.
///
/// # Errors
/// If there is no recording.
pub fn mark(dir: &Path, text: &str) -> Result<Vec<String>, RecordError> {
    let recording = Recording::load(dir)?;
    let ssh = ssh_of(&recording, dir)?;
    let common = Arc::new(common(ssh, &recording, CaptureOptions { lease_ms: 0, profile: None }));
    let hosts: Vec<_> = recording.hosts.into_iter().filter(|host| host.state == HostState::Recording).collect();
    if hosts.is_empty() {
        return Ok(vec!["the recording has ended".to_owned()]);
    }
    let results = runtime()?.block_on(on_all(hosts, AT_ONCE, |record| {
        let (common, text) = (Arc::clone(&common), text.to_owned());
        async move {
            let mut host = Host::new(record, None);
            let failed = host.mark(&common, &text).await.err().map(|err| format!("{}: {err}", host.record.host));
            host.hang_up().await;
            failed
        }
    }));
    Ok(results.into_iter().flatten().collect())
}

fn runtime() -> Result<tokio::runtime::Runtime, RecordError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(RecordError::Signals)
}

fn ssh_of(recording: &Recording, dir: &Path) -> Result<Ssh, RecordError> {
    Ssh::new(&recording.ssh).map_err(|err| RecordError::State { path: dir.to_owned(), message: err.to_string() })
}

fn common(ssh: Ssh, recording: &Recording, options: CaptureOptions) -> Common {
    Common { ssh, id: recording.id.clone(), options, marks: recording.marks() }
}

async fn recording(plan: &Plan, tell: &dyn Tell) -> Result<Recording, RecordError> {
    if Recording::is_in(&plan.dir) {
        return Err(RecordError::Taken(plan.dir.clone()));
    }
    let mut signals = Signals::new().map_err(RecordError::Signals)?;
    let command = plan.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut recording = Recording::new(new_id(), command, plan.ssh_command.clone(), plan.fetch);
    let lease_ms = u64::try_from(plan.lease.as_millis()).unwrap_or(u64::MAX);
    let options = CaptureOptions { lease_ms, profile: plan.profile.clone() };
    let common = Arc::new(common(plan.ssh.clone(), &recording, options));

    let mut hosts = chosen(plan, &common, &mut recording, &mut signals, tell).await?;
    // Whatever happens from here on, where the daemons are is written down.
    recording.hosts.extend(hosts.iter().map(|host| HostRecord { state: HostState::Recording, ..host.record.clone() }));
    recording.save(&plan.dir)?;
    let _lock = DirLock::take(&plan.dir)?;
    hosts = started(plan, &common, &mut recording, hosts, tell).await?;
    recording.started_us = now_us();
    update(&mut recording, &hosts);
    save(&recording, &plan.dir, tell);

    let (end, ended) = watch::channel(false);
    let board: Board = Arc::default();
    lock(&board).hosts = hosts.iter().map(|host| host.progress.clone()).collect();
    let mut watchers = JoinSet::new();
    for (number, host) in hosts.into_iter().enumerate() {
        watchers.spawn(watch_over(host, number, Arc::clone(&common), ended.clone(), Arc::clone(&board)));
    }
    recording.exit_code = run(plan, &mut signals, &board, tell).await;
    recording.ended_us = Some(now_us());
    end.send_replace(true);
    tell.progress(&[]);
    tell.note("ending the captures");
    let mut hosts = Vec::new();
    while let Some(host) = watchers.join_next().await {
        match host {
            Ok(host) => hosts.push(host),
            Err(err) => std::panic::resume_unwind(err.into_panic()),
        }
    }
    update(&mut recording, &hosts);
    save(&recording, &plan.dir, tell);
    fetching(&plan.dir, recording, &plan.ssh, (&mut signals, tell), &plan.selection).await
}

/// Fetches until all is here or somebody is tired of it.
async fn fetching(
    dir: &Path,
    recording: Recording,
    ssh: &Ssh,
    (signals, tell): (&mut Signals, &dyn Tell),
    selection: &Selection,
) -> Result<Recording, RecordError> {
    match recording.fetch {
        Fetch::Rows if recording.is_unfinished() => tell.note("fetching the rows"),
        Fetch::Sums => tell.note("fetching the sums that each server makes of its rows"),
        Fetch::Rows | Fetch::Nothing => {}
    }
    let question = recording.question(selection);
    let shared = Shared::new(dir, recording);
    tokio::select! {
        () = fetch::fetch(&shared, ssh, &question) => {}
        _ = signals.next() => tell.note("interrupted: `lioprof record fetch` goes on fetching"),
    }
    let recording = shared.lock().clone();
    save(&recording, dir, tell);
    Ok(recording)
}

/// Writes down how far it has come. If that fails (a full disk), what was written before still leads to all hosts: the recording goes on.
fn save(recording: &Recording, dir: &Path, tell: &dyn Tell) {
    if let Err(err) = recording.save(dir) {
        tell.note(&format!("{err}; once there is room: lioprof record fetch {}", dir.display()));
    }
}

/// A name that no other recording has on any host.
fn new_id() -> String {
    let time: String = utc(now_us()).chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{time}-{}", std::process::id())
}

/// The hosts to record, with their agents. Refuses if something is wrong, and then all is as before.
async fn chosen(
    plan: &Plan,
    common: &Common,
    recording: &mut Recording,
    signals: &mut Signals,
    tell: &dyn Tell,
) -> Result<Vec<Host>, RecordError> {
    let copy = if plan.push { Some(own_copy()?) } else { None };
    let candidates = tokio::select! {
        candidates = survey(plan, &common.id, &common.options, copy.as_ref()) => candidates,
        _ = signals.next() => return Err(RecordError::Interrupted),
    };
    let problems = table(candidates.iter().map(|it| (it.host.record.host.as_str(), it.problems.as_slice())));
    let notes = table(candidates.iter().map(|it| (it.host.record.host.as_str(), it.notes.as_slice())));
    let (fine, wrong): (Vec<Candidate>, Vec<Candidate>) = candidates.into_iter().partition(|it| it.problems.is_empty());
    if !wrong.is_empty() && (!plan.partial || fine.is_empty()) {
        let all = fine.into_iter().chain(wrong).map(|it| it.host).collect();
        leave(all, common).await;
        let advice = if plan.partial { "" } else { "\nSolve this, or record the others with --partial." };
        return Err(RecordError::Refused(format!("{problems}{advice}")));
    }
    if !notes.is_empty() {
        tell.note(&format!("worth knowing before the recording:\n{notes}"));
    }
    if !wrong.is_empty() {
        tell.note(&format!("going on without {}:\n{problems}", plural(wrong.len() as u64, "host")));
    }
    let mut left_out = Vec::new();
    for mut candidate in wrong {
        let problems = std::mem::take(&mut candidate.problems);
        problems.iter().for_each(|problem| candidate.host.record.trouble(problem));
        left_out.push(candidate.host);
    }
    recording.hosts.extend(left_out.iter().map(|host| HostRecord { pushed: None, ..host.record.clone() }));
    leave(left_out, common).await;
    Ok(fine.into_iter().map(|candidate| candidate.host).collect())
}

fn own_copy() -> Result<Copy, RecordError> {
    Copy::of_this_program().map_err(|err| RecordError::State {
        path: std::env::current_exe().unwrap_or_default(),
        message: format!("failed to read this program for --push: {err}"),
    })
}

/// Leaves hosts as they were.
async fn leave(hosts: Vec<Host>, common: &Common) {
    on_all(hosts, TOGETHER, |mut host| {
        let ssh = common.ssh.clone();
        async move {
            host.hang_up().await;
            if let Some(folder) = host.record.pushed.take() {
                // Where it cannot be deleted, it is one file in a folder for such files.
                drop(push::remove(&ssh, &host.record.host, &folder).await);
            }
        }
    })
    .await;
}

/// Starts all daemons and sets the first mark. If one does not start, all end again, unless the others are to go on.
async fn started(
    plan: &Plan,
    common: &Arc<Common>,
    recording: &mut Recording,
    hosts: Vec<Host>,
    tell: &dyn Tell,
) -> Result<Vec<Host>, RecordError> {
    let (mut traced, mut failed) = (Vec::new(), Vec::new());
    for (host, result) in on_all(hosts, TOGETHER, |mut host| {
        let common = Arc::clone(common);
        async move {
            let result = host.start(&common).await;
            (host, result)
        }
    })
    .await
    {
        match result {
            Ok(()) => traced.push(host),
            Err(err) => failed.push((host, err.to_string())),
        }
    }
    if !failed.is_empty() {
        let texts: Vec<(String, [String; 1])> =
            failed.iter().map(|(host, text)| (host.record.host.clone(), [text.clone()])).collect();
        let problems = table(texts.iter().map(|(host, text)| (host.as_str(), text.as_slice())));
        if !plan.partial || traced.is_empty() {
            let all: Vec<Host> = traced.into_iter().chain(failed.into_iter().map(|(host, _)| host)).collect();
            let all = on_all(all, TOGETHER, |mut host| {
                let common = Arc::clone(common);
                async move {
                    let undone = host.undo(&common).await;
                    (host, undone)
                }
            })
            .await;
            let name = |host: &Host| host.record.host.clone();
            let left =
                all.iter().filter_map(|(host, undone)| Some(format!("{}: {}", name(host), undone.as_ref().err()?)));
            let left: Vec<String> = left.collect();
            leave(all.into_iter().map(|(host, _)| host).collect(), common).await;
            recording.forget(&plan.dir);
            let table = problems;
            return Err(if left.is_empty() { RecordError::Refused(table) } else { RecordError::Left { table, left } });
        }
        tell.note(&format!("going on without {}:\n{problems}", plural(failed.len() as u64, "host")));
        let mut gone = Vec::new();
        for (mut host, text) in failed {
            host.record.trouble(text);
            host.record.state = HostState::LeftOut;
            gone.push(host);
        }
        update(recording, &gone);
        leave(gone, common).await;
    }
    let mark = common.marks[0].clone();
    let traced = on_all(traced, TOGETHER, |mut host| {
        let (common, mark) = (Arc::clone(common), mark.clone());
        async move {
            host.record.marked = host.mark(&common, &mark).await.is_ok();
            host
        }
    })
    .await;
    let names: Vec<&str> = traced.iter().map(|host| host.record.host.as_str()).collect();
    tell.note(&format!("recording {}", HostList::folded(&names)));
    Ok(traced)
}

fn update(recording: &mut Recording, hosts: &[Host]) {
    for host in hosts {
        if let Some(place) = recording.hosts.iter_mut().find(|place| place.host == host.record.host) {
            place.clone_from(&host.record);
        }
    }
}

/// What watchers have to tell.
#[derive(Debug, Default)]
struct News {
    hosts: Vec<Progress>,
    notes: Vec<String>,
}

/// Figures are replaced as a whole.
type Board = Arc<Mutex<News>>;

/// Keeps a host's daemon alive until the end, and ends it.
async fn watch_over(
    mut host: Host,
    number: usize,
    common: Arc<Common>,
    mut ended: watch::Receiver<bool>,
    board: Board,
) -> Host {
    let every = (Duration::from_millis(common.options.lease_ms) / 4).min(RENEW_EVERY);
    loop {
        let told = host.record.troubles.len();
        host.keep_alive(&common).await;
        {
            let mut news = lock(&board);
            let new = host.record.troubles[told..].iter().map(|trouble| format!("{}: {trouble}", host.record.host));
            news.notes.extend(new);
            if let Some(place) = news.hosts.get_mut(number) {
                place.clone_from(&host.progress);
            }
        }
        tokio::select! {
            _ = ended.wait_for(|ended| *ended) => break,
            () = tokio::time::sleep(every) => {}
        }
    }
    host.end(&common).await;
    host
}

/// Waits for the end: that of the command, of the time, or by a signal. Returns the command's exit code.
async fn run(plan: &Plan, signals: &mut Signals, board: &Board, tell: &dyn Tell) -> Option<i32> {
    let mut child = match plan.command.split_first() {
        None => None,
        Some((program, arguments)) => match Command::new(program).args(arguments).spawn() {
            Ok(child) => Some(child),
            Err(err) => {
                tell.note(&format!("failed to start `{}`: {err}", program.to_string_lossy()));
                return Some(CANNOT_START);
            }
        },
    };
    let over_at = plan.duration.map(|time| Instant::now() + time);
    let mut ticks = interval(TELL_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut wishes = 0;
    loop {
        tokio::select! {
            code = end_of(&mut child) => return Some(code),
            () = sleep_until(over_at.unwrap_or_else(Instant::now)), if over_at.is_some() && child.is_none() => return None,
            signal = signals.next() => match &mut child {
                None => return None,
                Some(child) => {
                    wishes += 1;
                    pass_on(child, signal, wishes);
                }
            },
            _ = ticks.tick() => {
                let (hosts, notes) = {
                    let mut news = lock(board);
                    (news.hosts.clone(), std::mem::take(&mut news.notes))
                };
                notes.iter().for_each(|note| tell.note(note));
                tell.progress(&hosts);
            }
        }
    }
}

async fn end_of(child: &mut Option<Child>) -> i32 {
    match child {
        Some(child) => child.wait().await.map_or(CANNOT_START, code_of),
        None => std::future::pending().await,
    }
}

/// As a shell counts: 128 + the signal that killed it.
fn code_of(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(CANNOT_START)
}

/// The command ends the recording, and it may want to end in order, too: it gets what the terminal did not send it. Whoever
/// asks twice means it.
fn pass_on(child: &mut Child, signal: &str, wishes: u32) {
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    match signal {
        // It may be gone by now.
        _ if wishes > 1 => drop(child.start_kill()),
        // The terminal has sent Ctrl-C to the command, too.
        "SIGINT" => {}
        _ => drop(id.map(|id| kill_process(id, Signal::TERM))),
    }
}
