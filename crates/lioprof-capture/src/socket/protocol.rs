//! Requests and replies: one JSON object per line.
//!
//! ```text
//! > {"v":1,"command":"mark","text":"job 4711 begins"}
//! < {"v":1,"reply":"done","message":"marked"}
//! > {"v":1,"command":"frobnicate"}
//! < {"v":1,"reply":"error","kind":"bad_request","message":"..."}
//! ```
//!
//! A client may send several requests over one connection; each gets its reply before the next is read.

use lioprof_model::Live;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::status::Status;

/// Version of the protocol. Adding commands or keys keeps it.
pub(crate) const VERSION: u32 = 1;
/// Longest request with its line break; a longer one ends the connection.
pub(crate) const MAX_REQUEST_BYTES: usize = 16 * 1024;
/// Longest text of a mark: what `lctl mark` takes.
pub(crate) const MAX_MARK_CHARS: usize = 255;

/// The request of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "command")]
pub(crate) enum Request {
    /// Report the status.
    Status,
    /// Tell what the server does now.
    Live,
    /// End the capture: drain, restore, exit.
    Stop,
    /// Put a marker into the log.
    Mark {
        /// Its text: one line, not empty, at most [`MAX_MARK_CHARS`].
        text: String,
    },
    /// Close the present segment and files, so that what was logged until now is on disk.
    Flush,
    /// Go on for the time of the lease, counted from now.
    Renew,
}

/// Why a request was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The line is not a request.
    BadRequest,
    /// A version that this daemon does not speak.
    UnsupportedVersion,
    /// Neither root nor the daemon's user.
    Permission,
    /// Too many clients, or the daemon is at its end.
    Busy,
    /// The daemon took too long.
    Timeout,
    /// Carrying out the request failed.
    Failed,
}

/// The daemon's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reply")]
pub(crate) enum Reply {
    /// To [`Request::Status`].
    Status {
        /// Status of the daemon.
        status: Box<Status>,
    },
    /// To [`Request::Live`].
    Live {
        /// What the server does now.
        live: Box<Live>,
    },
    /// Done.
    Done {
        /// What was done, for people.
        message: String,
    },
    /// Not done.
    Error {
        /// Kind of the error.
        kind: ErrorKind,
        /// What is wrong, and what to try.
        message: String,
    },
}

impl Reply {
    /// An error.
    pub(crate) fn error(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::Error { kind, message: message.into() }
    }
}

#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    v: u32,
    #[serde(flatten)]
    content: T,
}

/// A request or reply as a line.
///
/// # Errors
/// Never with the types of this module.
pub(super) fn to_line(content: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(&Versioned { v: VERSION, content })?;
    line.push(b'\n');
    Ok(line)
}

/// A request, or the error reply to what is none.
pub(super) fn parse_request(line: &[u8]) -> Result<Request, Reply> {
    let bad = |message: String| Reply::error(ErrorKind::BadRequest, message);
    let value: Value = serde_json::from_slice(line).map_err(|err| {
        bad(format!("expected a JSON object on one line, such as {{\"v\":1,\"command\":\"status\"}}: {err}"))
    })?;
    match value.get("v").and_then(Value::as_u64) {
        Some(v) if v == u64::from(VERSION) => {}
        Some(v) => {
            let message = format!("this daemon speaks version {VERSION} of the protocol, the client version {v}");
            return Err(Reply::error(ErrorKind::UnsupportedVersion, message));
        }
        None => return Err(bad(format!("expected the version of the protocol, \"v\":{VERSION}"))),
    }
    let request = serde_json::from_value(value).map_err(|err| {
        bad(format!("expected one of the commands status, live, stop, mark (with a text), flush, renew: {err}"))
    })?;
    if let Request::Mark { text } = &request {
        check_mark(text).map_err(bad)?;
    }
    Ok(request)
}

/// What a marker may say: it becomes one line of the kernel's log.
pub(super) fn check_mark(text: &str) -> Result<(), String> {
    let chars = text.chars().count();
    if text.trim().is_empty() {
        return Err("the text of a mark must not be empty".to_owned());
    }
    if chars > MAX_MARK_CHARS {
        return Err(format!("the text of a mark may have {MAX_MARK_CHARS} characters, this one has {chars}"));
    }
    match text.chars().find(|c| c.is_control()) {
        Some(c) => Err(format!("the text of a mark must be one line of printable characters, found {c:?}")),
        None => Ok(()),
    }
}

/// A reply.
pub(super) fn parse_reply(line: &[u8]) -> Result<Reply, serde_json::Error> {
    serde_json::from_slice::<Versioned<Reply>>(line).map(|versioned| versioned.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_replies_survive_the_line() {
        let mark = Request::Mark { text: "job \"4711\" {}".to_owned() };
        for request in [Request::Status, Request::Live, Request::Stop, Request::Flush, Request::Renew, mark] {
            let line = to_line(&request).unwrap();
            assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
            assert_eq!(parse_request(&line), Ok(request));
        }
        let replies = [
            Reply::Status { status: Box::new(Status::unknown()) },
            Reply::Live { live: Box::default() },
            Reply::Done { message: "marked".to_owned() },
            Reply::error(ErrorKind::Busy, "no"),
        ];
        for reply in replies {
            assert_eq!(parse_reply(&to_line(&reply).unwrap()).unwrap(), reply);
        }
    }

    #[test]
    fn the_documented_lines_are_understood() {
        let request = parse_request(br#"{"v":1,"command":"mark","text":"job 4711 begins","later":true}"#);
        assert_eq!(request, Ok(Request::Mark { text: "job 4711 begins".to_owned() }));
        let line = to_line(&Reply::Done { message: "marked".to_owned() }).unwrap();
        assert_eq!(line, b"{\"v\":1,\"reply\":\"done\",\"message\":\"marked\"}\n");
    }

    #[test]
    fn what_is_no_request_is_explained() {
        let long = format!(r#"{{"v":1,"command":"mark","text":"{}"}}"#, "x".repeat(256));
        let cases: [(&[u8], ErrorKind, &str); 11] = [
            (b"", ErrorKind::BadRequest, "JSON"),
            (b"status", ErrorKind::BadRequest, "JSON"),
            (b"\xff\xfe", ErrorKind::BadRequest, "JSON"),
            (b"[1]", ErrorKind::BadRequest, "version"),
            (br#"{"command":"status"}"#, ErrorKind::BadRequest, "version"),
            (br#"{"v":2,"command":"status"}"#, ErrorKind::UnsupportedVersion, "version 1"),
            (br#"{"v":1,"command":"reboot"}"#, ErrorKind::BadRequest, "status, live, stop"),
            (br#"{"v":1,"command":"mark"}"#, ErrorKind::BadRequest, "text"),
            (br#"{"v":1,"command":"mark","text":" "}"#, ErrorKind::BadRequest, "empty"),
            (br#"{"v":1,"command":"mark","text":"a\nb"}"#, ErrorKind::BadRequest, "one line"),
            (long.as_bytes(), ErrorKind::BadRequest, "255"),
        ];
        for (line, kind, word) in cases {
            let Err(Reply::Error { kind: found, message }) = parse_request(line) else { panic!("{line:?}") };
            assert_eq!(found, kind, "{message}");
            assert!(message.contains(word), "{message}");
        }
    }
}
