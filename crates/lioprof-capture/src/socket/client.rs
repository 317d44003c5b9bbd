//! The other side: `lioprof status`, `stop`, `mark`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lioprof_model::Live;

use super::protocol::{ErrorKind, Reply, Request, check_mark, parse_reply, to_line};
use crate::status::Status;

/// Longest reply that is read: thousands of targets.
const MAX_REPLY_BYTES: u64 = 8 << 20;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens on this socket.
    #[error("no daemon is listening on `{}`: is `lioprof daemon` running on this node, and with this socket?", .0.display())]
    NoDaemon(PathBuf),
    /// The socket is for root and the daemon's user.
    #[error("no permission to talk to the daemon on `{}`: run this as root", .0.display())]
    Permission(PathBuf),
    /// No reply came within this time.
    #[error("the daemon on `{}` did not answer within {} s: it may hang; see its log", .0.display(), .1.as_secs_f64())]
    Timeout(PathBuf, Duration),
    /// The daemon refused or failed to carry out the request: kind of the error, and what it said.
    #[error("the daemon answered: {1}")]
    Refused(ErrorKind, String),
    /// The text of a mark is not allowed, and why.
    #[error("{0}")]
    Mark(String),
    /// Not a reply of lioprof's daemon, but something else.
    #[error("`{path}`: expected a reply of the lioprof daemon, found {1}", path = .0.display())]
    Protocol(PathBuf, String),
    /// The connection failed.
    #[error("failed to talk to the daemon on `{}`", .0.display())]
    Io(PathBuf, #[source] io::Error),
}

/// Talks to the daemon that listens on a socket. Blocks.
#[derive(Clone, Debug)]
pub struct Client {
    path: PathBuf,
    timeout: Duration,
}

impl Client {
    /// Nothing is opened yet. `timeout` is the longest wait for a reply.
    #[must_use]
    pub fn new(path: &Path, timeout: Duration) -> Self {
        Self { path: path.to_owned(), timeout }
    }

    /// The socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The daemon's state.
    ///
    /// # Errors
    /// If there is no daemon, or it does not answer.
    pub fn status(&self) -> Result<Status, ClientError> {
        match self.ask(&Request::Status)? {
            Reply::Status { status } => Ok(*status),
            _ => Err(self.protocol("another reply than a status".to_owned())),
        }
    }

    /// What the server does now.
    ///
    /// # Errors
    /// If there is no daemon, it does not answer, or it does not trace.
    pub fn live(&self) -> Result<Live, ClientError> {
        match self.ask(&Request::Live)? {
            Reply::Live { live } => Ok(*live),
            _ => Err(self.protocol("another reply than what the server does".to_owned())),
        }
    }

    /// Ends the capture. Returns when the daemon says that it is done.
    ///
    /// # Errors
    /// If there is no daemon, or it cannot do so.
    pub fn stop(&self) -> Result<String, ClientError> {
        self.done(&Request::Stop)
    }

    /// Puts a marker into the log.
    ///
    /// # Errors
    /// If the text is not allowed, there is no daemon, or it cannot do so.
    pub fn mark(&self, text: &str) -> Result<String, ClientError> {
        check_mark(text).map_err(ClientError::Mark)?;
        self.done(&Request::Mark { text: text.to_owned() })
    }

    /// Brings to disk what was logged until now.
    ///
    /// # Errors
    /// If there is no daemon, or it cannot do so.
    pub fn flush(&self) -> Result<String, ClientError> {
        self.done(&Request::Flush)
    }

    /// Lets the daemon go on for the time of its lease, counted from now.
    ///
    /// # Errors
    /// If there is no daemon, or it has no lease.
    pub fn renew(&self) -> Result<String, ClientError> {
        self.done(&Request::Renew)
    }

    fn done(&self, request: &Request) -> Result<String, ClientError> {
        match self.ask(request)? {
            Reply::Done { message } => Ok(message),
            _ => Err(self.protocol("another reply than `done`".to_owned())),
        }
    }

    fn ask(&self, request: &Request) -> Result<Reply, ClientError> {
        let mut stream = UnixStream::connect(&self.path).map_err(|err| self.io(err))?;
        stream.set_read_timeout(Some(self.timeout)).map_err(|err| self.io(err))?;
        stream.set_write_timeout(Some(self.timeout)).map_err(|err| self.io(err))?;
        let line = to_line(request).map_err(|err| self.io(err.into()))?;
        // A daemon that refuses hangs up without reading: its reason is worth more than the broken pipe.
        let sent = stream.write_all(&line);
        let mut reply = Vec::new();
        let read = BufReader::new(&stream).take(MAX_REPLY_BYTES).read_until(b'\n', &mut reply);
        if reply.last() != Some(&b'\n') {
            sent.and(read).map_err(|err| self.io(err))?;
            let found = if reply.is_empty() { "the end of the connection" } else { "a cut line" };
            return Err(self.protocol(found.to_owned()));
        }
        match parse_reply(&reply) {
            Ok(Reply::Error { kind: ErrorKind::Permission, .. }) => Err(ClientError::Permission(self.path.clone())),
            Ok(Reply::Error { kind, message }) => Err(ClientError::Refused(kind, message)),
            Ok(reply) => Ok(reply),
            Err(err) => {
                let text: String = String::from_utf8_lossy(&reply).chars().take(60).collect();
                Err(self.protocol(format!("{:?} ({err})", text.trim_end())))
            }
        }
    }

    fn protocol(&self, found: String) -> ClientError {
        ClientError::Protocol(self.path.clone(), found)
    }

    fn io(&self, err: io::Error) -> ClientError {
        let path = self.path.clone();
        match err.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => ClientError::NoDaemon(path),
            io::ErrorKind::PermissionDenied => ClientError::Permission(path),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ClientError::Timeout(path, self.timeout),
            _ => ClientError::Io(path, err),
        }
    }
}
