//! The server: a few clients at a time, each with deadlines. Nothing that a client sends can stop the daemon.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use lioprof_model::Live;
use lioprof_model::live::{LiveIo, LiveTarget, Top};
use lioprof_model::time::now_us;
use lioprof_model::units::seconds;
use lustre_debuglog::TargetName;
use serde::Serialize;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::bind::ControlSocket;
use super::error::SocketError;
use super::protocol::{ErrorKind, MAX_REQUEST_BYTES, Reply, Request, parse_request, to_line};
use crate::live::Asker;
use crate::status::Status;

/// What the daemon's main loop is asked for. [`Request::Status`] never gets there: it is answered from the last status.
#[derive(Debug)]
pub(crate) enum Command {
    /// To do something.
    Do {
        /// The request.
        request: Request,
        /// Where the answer goes: a message for people, or why it failed.
        answer: oneshot::Sender<Result<String, String>>,
    },
    /// To tell what the server does now.
    Look(Asker),
}

lioprof_model::with_defaults! {
    /// Limits on clients.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct ServerLimits {
        /// Clients at a time; one more is told that there are too many.
        pub(crate) clients: usize = 16,
        /// Time to send a request, from the first byte or from the last reply.
        pub(crate) request: Duration = Duration::from_secs(10),
        /// Time to take a reply.
        pub(crate) reply: Duration = Duration::from_secs(5),
        /// Time that the daemon has to carry out a command.
        pub(crate) command: Duration = Duration::from_secs(120),
    }
}

/// Serves until `shutdown`; then clients that wait for a reply still get it, so that whoever said `stop` hears of it.
/// `status` is the last known state, `commands` leads to the main loop.
/// Fails if the socket cannot be registered with the runtime; later errors concern one client only and are logged.
pub(crate) async fn serve(
    socket: &ControlSocket,
    limits: ServerLimits,
    status: watch::Receiver<Arc<Status>>,
    commands: mpsc::Sender<Command>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), SocketError> {
    let step = |source| SocketError::Io { step: "listen on", path: socket.path().to_owned(), source };
    let listener = UnixListener::from_std(socket.listener().map_err(step)?).map_err(step)?;
    let slots = Arc::new(Semaphore::new(limits.clients));
    let owner = rustix::process::geteuid().as_raw();
    // The tasks end with this future at the latest.
    let mut clients = JoinSet::new();
    let (end, ending) = watch::channel(false);
    let mut shutdown = pin!(shutdown);
    loop {
        while clients.try_join_next().is_some() {}
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut shutdown => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(err) => {
                // Out of file descriptors, most likely: others will be closed.
                tracing::warn!(%err, "failed to accept a client of the control socket");
                sleep(Duration::from_millis(200)).await;
                continue;
            }
        };
        let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
            refuse(stream, ErrorKind::Busy, "too many clients are connected: try again");
            continue;
        };
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == 0 || peer.uid() == owner => {}
            peer => {
                let uid = peer.map_or_else(|err| err.to_string(), |peer| format!("user {}", peer.uid()));
                tracing::warn!(%uid, "refused a client of the control socket");
                let message = format!("expected root or the daemon's user {owner}, found {uid}");
                refuse(stream, ErrorKind::Permission, &message);
                continue;
            }
        }
        let client = Client { limits, status: status.clone(), commands: commands.clone(), ending: ending.clone() };
        clients.spawn(async move {
            let _slot = slot;
            if let Err(err) = client.talk(stream).await {
                tracing::debug!(%err, "a client of the control socket is gone");
            }
        });
    }
    end.send_replace(true);
    let rest = async { while clients.join_next().await.is_some() {} };
    if timeout(limits.reply, rest).await.is_err() {
        tracing::debug!("clients of the control socket did not take their replies in time");
    }
    Ok(())
}

/// Says why and hangs up, without waiting: a fresh socket takes one line at once.
fn refuse(stream: UnixStream, kind: ErrorKind, message: &str) {
    if let Ok(line) = to_line(&Reply::error(kind, message))
        && let Err(err) = stream.try_write(&line)
    {
        tracing::debug!(%err, "failed to refuse a client of the control socket");
    }
}

struct Client {
    limits: ServerLimits,
    status: watch::Receiver<Arc<Status>>,
    commands: mpsc::Sender<Command>,
    /// Becomes true when no more requests are taken.
    ending: watch::Receiver<bool>,
}

/// What a client sent.
enum RequestLine {
    Whole(Vec<u8>),
    TooLong,
    End,
}

impl Client {
    async fn talk(&self, stream: UnixStream) -> io::Result<()> {
        let (input, mut output) = stream.into_split();
        let mut input = BufReader::new(input);
        loop {
            let mut ending = self.ending.clone();
            let line = tokio::select! {
                line = timeout(self.limits.request, read_line(&mut input)) => line,
                _ = ending.wait_for(|ending| *ending) => return Ok(()),
            };
            let line = match line {
                Err(_) => {
                    let message = format!("no request within {} s", self.limits.request.as_secs_f64());
                    return self.send(&mut output, &Reply::error(ErrorKind::Timeout, message)).await;
                }
                Ok(line) => line?,
            };
            let line = match line {
                RequestLine::Whole(line) => line,
                RequestLine::End => return Ok(()),
                RequestLine::TooLong => {
                    let message = format!("a request may have {MAX_REQUEST_BYTES} bytes with its line break");
                    return self.send(&mut output, &Reply::error(ErrorKind::BadRequest, message)).await;
                }
            };
            match parse_request(&line) {
                Ok(Request::Status) => {
                    let status = Arc::clone(&self.status.borrow());
                    self.send(&mut output, &StatusReply { reply: "status", status: &status }).await?;
                }
                Ok(Request::Live) => {
                    let reply = self.ask(Command::Look).await.map(|live| Reply::Live { live: self.with_state(&live) });
                    self.send(&mut output, &reply.unwrap_or_else(|reply| reply)).await?;
                }
                Ok(request) => {
                    let done = self.ask(|answer| Command::Do { request, answer }).await;
                    let reply = done.map(|message| Reply::Done { message });
                    self.send(&mut output, &reply.unwrap_or_else(|reply| reply)).await?;
                }
                Err(reply) => self.send(&mut output, &reply).await?,
            }
        }
    }

    /// What the main loop answers, or the reply that says why it does not.
    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<Result<T, String>>) -> Command) -> Result<T, Reply> {
        let (answer, answered) = oneshot::channel();
        let gone = || Reply::error(ErrorKind::Busy, "the daemon is about to end");
        let work = async {
            if self.commands.send(command(answer)).await.is_err() {
                return Err(gone());
            }
            match answered.await {
                Ok(answer) => answer.map_err(|message| Reply::error(ErrorKind::Failed, message)),
                Err(_) => Err(gone()),
            }
        };
        let late = || format!("the daemon did not answer within {} s", self.limits.command.as_secs_f64());
        timeout(self.limits.command, work).await.unwrap_or_else(|_| Err(Reply::error(ErrorKind::Timeout, late())))
    }

    /// The view, with what only the main loop knows.
    fn with_state(&self, live: &Live) -> Box<Live> {
        let mut live = Box::new(live.clone());
        let status = self.status.borrow();
        for server in &mut live.servers {
            server.state = <&str>::from(status.state).to_owned();
            server.now = seconds(now_us());
        }
        add_idle(&mut live.targets, &status);
        live
    }

    async fn send(&self, output: &mut (impl AsyncWrite + Unpin), reply: &impl Serialize) -> io::Result<()> {
        let line = to_line(reply)?;
        timeout(self.limits.reply, output.write_all(&line)).await.map_err(|_| io::ErrorKind::TimedOut)?
    }
}

/// Adds the node's targets that nobody uses: that one is idle is worth knowing.
fn add_idle(targets: &mut Top<LiveTarget>, status: &Status) {
    for name in &status.targets {
        let is_listed = targets.rows.iter().any(|row| row.target.as_ref() == Some(name));
        let Ok(target) = name.parse::<TargetName>() else { continue };
        if targets.rows.len() < Live::MOST_TARGETS && !is_listed {
            let none = LiveIo { bytes_per_s: Some(0.0), ..LiveIo::default() };
            targets.rows.push(LiveTarget {
                target: Some(name.clone()),
                server: Some(status.node.clone()),
                kind: Some(target.kind().into()),
                read: none,
                write: none,
                ..LiveTarget::default()
            });
        }
    }
}

/// [`Reply::Status`] without a copy of the status.
#[derive(Serialize)]
struct StatusReply<'a> {
    reply: &'static str,
    status: &'a Status,
}

async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<RequestLine> {
    let mut line = Vec::new();
    let most = u64::try_from(MAX_REQUEST_BYTES).unwrap_or(u64::MAX);
    input.take(most).read_until(b'\n', &mut line).await?;
    Ok(match line.last() {
        None => RequestLine::End,
        Some(b'\n') => RequestLine::Whole(line),
        _ if line.len() >= MAX_REQUEST_BYTES => RequestLine::TooLong,
        // The last line may lack its line break.
        _ => RequestLine::Whole(line),
    })
}
