//! Daemons of many servers, over ssh: each runs `lioprof top --json`, for as long as its connection lasts.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::Context;
use lioprof_model::live::LiveServer;
use lioprof_model::{LIVE_SCHEMA, Live, with_causes};
use lioprof_remote::{HostList, RemoteCommand, RemoteError, Ssh, on_all};
use lioprof_top::Update;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};
use tokio::task::JoinSet;

use crate::args::TopArgs;

/// Servers that are asked at the same time; each takes an ssh process here.
const AT_ONCE: usize = 64;
/// Time for a server to answer once.
const PATIENCE: Duration = Duration::from_secs(40);
/// Pause before a connection that has ended is made again.
const AGAIN: Duration = Duration::from_secs(5);
/// A server that says nothing for this long is one that does not answer.
const SILENT: Duration = Duration::from_secs(30);
/// Longest answer.
const MAX_LINE_BYTES: u64 = 8 << 20;

/// Asks all hosts once.
pub(super) fn ask(hosts: &HostList, args: &TopArgs) -> anyhow::Result<Live> {
    let ssh = Ssh::new(&args.ssh)?;
    let command = command(args).arg("--once");
    let answers = runtime()?.block_on(on_all(hosts.names().to_vec(), AT_ONCE, |host| {
        let (ssh, command) = (ssh.clone(), command.clone());
        async move {
            let answer = ssh.run(&host, &command, b"", PATIENCE).await.map_err(|err| with_causes(&err));
            answer.and_then(|output| of_json(&output.stdout)).unwrap_or_else(|why| unknown(&host, why))
        }
    }));
    Ok(Live::of_many(answers))
}

/// Follows all hosts on a thread of its own, for as long as somebody listens.
pub(super) fn follow(hosts: &HostList, args: &TopArgs, updates: Sender<Update>) -> anyhow::Result<()> {
    let ssh = Ssh::new(&args.ssh)?;
    let interval = humantime::format_duration(args.interval).to_string().replace(' ', "");
    let command = command(args).args(["--interval", &interval]);
    let latest = Latest::new(hosts);
    let (hosts, runtime, interval) = (hosts.names().to_vec(), runtime()?, args.interval);
    std::thread::Builder::new().name("ssh".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let mut all = JoinSet::new();
            for host in hosts {
                all.spawn(follow_one(host, ssh.clone(), command.clone(), latest.clone()));
            }
            // Connections end with the set, when nobody listens any more.
            while updates.send(Update::Live(Box::new(latest.all()))).is_ok() {
                tokio::time::sleep(interval).await;
            }
        });
    })?;
    Ok(())
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("failed to start")
}

fn command(args: &TopArgs) -> RemoteCommand {
    let mut command = RemoteCommand::new(&args.remote_lioprof).args(["top", "--json"]).as_root();
    let paths =
        [("--socket", &args.talk.socket), ("--config", &args.talk.source.config), ("--root", &args.talk.source.root)];
    for (option, path) in paths {
        if let Some(path) = path {
            command = command.arg(option).arg(path.display().to_string());
        }
    }
    command
}

fn of_json(line: &[u8]) -> Result<Live, String> {
    let live: Live = serde_json::from_slice(line)
        .map_err(|err| format!("expected an object of `{LIVE_SCHEMA}`; it runs another version of lioprof: {err}"))?;
    if live.schema == LIVE_SCHEMA {
        Ok(live)
    } else {
        Err(format!("expected schema `{LIVE_SCHEMA}`, found `{}`: it runs another version of lioprof", live.schema))
    }
}

fn unknown(host: &str, why: String) -> Live {
    Live { servers: vec![LiveServer::unknown(host, why)], ..Live::default() }
}

/// The last answer of each host, and when it came.
#[derive(Clone)]
struct Latest(Arc<Mutex<BTreeMap<String, (Instant, Live)>>>);

impl Latest {
    fn new(hosts: &HostList) -> Self {
        let none = |host: &String| (host.clone(), (Instant::now(), unknown(host, "no answer yet".to_owned())));
        Self(Arc::new(Mutex::new(hosts.names().iter().map(none).collect())))
    }

    fn set(&self, host: &str, live: Live) {
        self.lock().insert(host.to_owned(), (Instant::now(), live));
    }

    /// All together.
    fn all(&self) -> Live {
        let of = |(host, (when, live)): (&String, &(Instant, Live))| match when.elapsed() {
            silent if silent > SILENT => unknown(host, format!("silent for {} s", silent.as_secs())),
            _ => live.clone(),
        };
        Live::of_many(self.lock().iter().map(of).collect::<Vec<_>>())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (Instant, Live)>> {
        // Answers are whole, whatever became of the thread.
        lioprof_model::lock(&self.0)
    }
}

async fn follow_one(host: String, ssh: Ssh, command: RemoteCommand, latest: Latest) {
    loop {
        let why = match session(&host, &ssh, &command, &latest).await {
            Ok(why) => why,
            Err(err) => with_causes(&err),
        };
        latest.set(&host, unknown(&host, why));
        tokio::time::sleep(AGAIN).await;
    }
}

/// Takes what a host says until it ends; why it did.
async fn session(host: &str, ssh: &Ssh, command: &RemoteCommand, latest: &Latest) -> Result<String, RemoteError> {
    let mut session = ssh.start(host, command)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut session.stdout).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await;
        if read.map_err(RemoteError::Io)? == 0 {
            session.end().await?;
            return Ok("the connection has ended".to_owned());
        }
        match of_json(&line) {
            Ok(live) => latest.set(host, live),
            Err(why) => {
                session.kill().await;
                return Ok(why);
            }
        }
    }
}
