//! An agent on a host, as seen from here.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use lioprof_model::ClockReading;
use lioprof_model::time::now_us;
use lioprof_remote::{RemoteCommand, RemoteError, Session, Ssh};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::error::HostError;
use crate::protocol::{Hello, Reply, Request};

/// Time for ssh to connect and lioprof to start there: servers are recorded when they are slow.
const CONNECT_WITHIN: Duration = Duration::from_secs(60);
/// Time for all checks before a recording: they read hundreds of files.
pub(crate) const CHECKED_WITHIN: Duration = Duration::from_secs(60);
/// Time for an answer that takes no work.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Time without a single byte of a file.
const STALLED_AFTER: Duration = Duration::from_secs(60);
/// Questions about the time; the quickest answer counts.
const CLOCK_QUESTIONS: usize = 5;
/// Longest line that is no answer and is shown.
const SHOWN_CHARS: usize = 100;

/// A running agent.
#[derive(Debug)]
pub(crate) struct Agent {
    session: Option<Session>,
    /// Whether its sums are as those of this program.
    pub(crate) has_our_sums: bool,
}

impl Agent {
    /// Starts an agent, as root.
    pub(crate) async fn connect(ssh: &Ssh, host: &str, program: &str) -> Result<Self, HostError> {
        let command = RemoteCommand::new(program).arg("agent").as_root();
        let session = ssh.start(host, &command)?;
        let mut agent = Self { session: Some(session), has_our_sums: false };
        let here = env!("CARGO_PKG_VERSION");
        let line = match agent.line(CONNECT_WITHIN).await {
            // clap's code for a command that it does not know.
            Err(HostError::Remote(RemoteError::Failed { code: 2, said, .. })) if said.contains("agent") => {
                return Err(HostError::NoAgent { here, found: said });
            }
            line => line?,
        };
        let hello: Hello =
            serde_json::from_slice(&line).map_err(|_| HostError::NoAgent { here, found: shown(&line) })?;
        let own = Hello::own();
        if (&hello.schema, &hello.rows) != (&own.schema, &own.rows) {
            return Err(HostError::Version { there: hello.version, here });
        }
        agent.has_our_sums = hello.sums == own.sums;
        Ok(agent)
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn ask(&mut self, request: &Request, within: Duration) -> Result<Reply, HostError> {
        let mut line = serde_json::to_vec(request).map_err(|err| HostError::Protocol(err.to_string()))?;
        line.push(b'\n');
        let sent = match self.session.as_mut().and_then(|session| session.stdin.as_mut()) {
            Some(stdin) => stdin.write_all(&line).await,
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        if sent.is_err() {
            return Err(self.why_it_ended().await);
        }
        let line = self.line(within).await?;
        match serde_json::from_slice(&line) {
            Ok(Reply::Failed { message }) => Err(HostError::Failed(message)),
            Ok(Reply::NoDaemon) => Err(HostError::NoDaemon),
            Ok(reply) => Ok(reply),
            Err(_) => Err(HostError::Protocol(shown(&line))),
        }
    }

    /// Copies a file from an offset on. Returns how many bytes came.
    pub(crate) async fn get(
        &mut self,
        id: &str,
        path: &str,
        offset: u64,
        to: &mut impl Write,
    ) -> Result<u64, HostError> {
        let request = Request::Get { id: id.to_owned(), path: path.to_owned(), offset };
        self.receive(&request, ANSWER_WITHIN, u64::MAX, (to, Path::new(path))).await
    }

    /// Copies the bytes of an answer, unless there are more than expected. Returns how many came.
    pub(crate) async fn receive(
        &mut self,
        request: &Request,
        within: Duration,
        most_bytes: u64,
        (to, path): (&mut impl Write, &Path),
    ) -> Result<u64, HostError> {
        let Reply::Bytes { bytes } = self.ask(request, within).await? else { return Err(unexpected()) };
        if bytes > most_bytes {
            return Err(HostError::Protocol(format!("{bytes} bytes, where {most_bytes} are the most")));
        }
        let mut left = bytes;
        let mut buffer = vec![0; 1 << 16];
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            let read = match &mut self.session {
                Some(session) => timeout(STALLED_AFTER, session.stdout.read(&mut buffer[..most])).await,
                None => return Err(HostError::Silent(STALLED_AFTER)),
            };
            match read {
                Err(_) => return Err(HostError::Silent(STALLED_AFTER)),
                Ok(Ok(count @ 1..)) => {
                    let failed = |source| HostError::Write { path: path.to_owned(), source };
                    to.write_all(&buffer[..count]).map_err(failed)?;
                    left -= count as u64;
                }
                Ok(_) => return Err(self.why_it_ended().await),
            }
        }
        Ok(bytes)
    }

    /// How far the host's clock is ahead of ours, at most half of the round trip off.
    pub(crate) async fn clock(&mut self) -> Result<ClockReading, HostError> {
        let mut best: Option<ClockReading> = None;
        for _ in 0..CLOCK_QUESTIONS {
            let (asked_us, asked) = (now_us(), Instant::now());
            let Reply::Clock { now_us: there_us } = self.ask(&Request::Clock, ANSWER_WITHIN).await? else {
                return Err(unexpected());
            };
            let half_us = i64::try_from(asked.elapsed().as_micros() / 2).unwrap_or(i64::MAX);
            if best.is_none_or(|best| half_us < best.error_us) {
                let ahead_us = there_us - asked_us - half_us;
                best = Some(ClockReading { at_us: there_us, ahead_us, error_us: half_us });
            }
        }
        best.ok_or_else(unexpected)
    }

    async fn line(&mut self, within: Duration) -> Result<Vec<u8>, HostError> {
        let mut line = Vec::new();
        let read = match &mut self.session {
            Some(session) => timeout(within, session.stdout.read_until(b'\n', &mut line)).await,
            None => return Err(HostError::Silent(within)),
        };
        match read {
            // ssh goes with it.
            Err(_) => {
                drop(self.session.take());
                Err(HostError::Silent(within))
            }
            Ok(Ok(_)) if line.last() == Some(&b'\n') => Ok(line),
            Ok(_) => Err(self.why_it_ended().await),
        }
    }

    async fn why_it_ended(&mut self) -> HostError {
        match self.session.take() {
            Some(session) => match timeout(ANSWER_WITHIN, session.end()).await {
                Ok(Err(err)) => err.into(),
                Ok(Ok(_)) => HostError::Protocol("its end".to_owned()),
                Err(_) => HostError::Silent(ANSWER_WITHIN),
            },
            None => HostError::Protocol("a connection that has ended".to_owned()),
        }
    }

    /// Lets the agent end in order.
    pub(crate) async fn close(mut self) {
        if let Some(session) = self.session.take() {
            // It has done its work.
            drop(timeout(ANSWER_WITHIN, session.end()).await);
        }
    }
}

/// An answer to another question.
pub(crate) fn unexpected() -> HostError {
    HostError::Protocol("the answer to another question".to_owned())
}

fn shown(line: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(line).chars().take(SHOWN_CHARS).collect();
    format!("{:?}", text.trim_end())
}
