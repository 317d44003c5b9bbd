//! The agent: what runs on each server, started by ssh, for as long as its standard input is open.
//!
//! It listens to nothing but its standard input. Daemons that it has started outlive it: they end by themselves when
//! nobody renews their lease.

mod capture;
mod files;

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use lioprof_capture::config::Config;
use lioprof_model::time::now_us;
use serde::Serialize;

use crate::protocol::{Hello, Reply, Request};
use capture::Capture;

/// Ends after so long without a request: whoever started it has vanished without closing the connection.
const SILENCE: Duration = Duration::from_secs(180);

/// Serves one connection. `config` is the daemon's configuration on this server.
///
/// # Errors
/// If a reply cannot be written: then nobody is left to serve.
pub fn serve(config: &Config, input: impl BufRead + Send + 'static, output: &mut impl Write) -> io::Result<()> {
    say(output, &Hello::own())?;
    let (send, lines) = mpsc::channel();
    // Ends with the process: a read cannot be given up.
    thread::spawn(move || {
        for line in input.lines() {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    loop {
        let line = match lines.recv_timeout(SILENCE) {
            Ok(line) => line?,
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => return Ok(()),
        };
        match serde_json::from_str(&line) {
            Ok(Request::Get { id, path, offset }) => {
                let file = Capture::new(config, &id).and_then(|capture| files::open(capture.dir(), &path, offset));
                send_bytes(output, file)?;
            }
            Ok(Request::Sums { id, question, clock }) => {
                let sums = Capture::new(config, &id).and_then(|capture| capture.sums(&question, clock));
                send_bytes(
                    output,
                    sums.as_ref().map(|sums| (sums.as_slice(), sums.len() as u64)).map_err(String::clone),
                )?;
            }
            Ok(request) => {
                let reply = answer(config, request).unwrap_or_else(|message| Reply::Failed { message });
                say(output, &reply)?;
            }
            Err(err) => say(output, &Reply::Failed { message: format!("not a request: {err}") })?,
        }
    }
}

fn answer(config: &Config, request: Request) -> Result<Reply, String> {
    let capture = |id: &str| Capture::new(config, id);
    Ok(match request {
        Request::Clock => Reply::Clock { now_us: now_us() },
        Request::Survey { id, options } => Reply::Survey(capture(&id)?.with(&options)?.survey()),
        Request::Start { id, options } => {
            capture(&id)?.with(&options)?.start()?;
            Reply::Done
        }
        Request::Renew { id } => capture(&id)?.renew()?.map_or(Reply::NoDaemon, |status| Reply::Status { status }),
        Request::Mark { id, text } => {
            if capture(&id)?.mark(&text)? {
                Reply::Done
            } else {
                Reply::NoDaemon
            }
        }
        Request::Stop { id } => Reply::Stopped(capture(&id)?.stop()?),
        Request::List { id } => Reply::Files { files: files::list(capture(&id)?.dir())? },
        Request::Remove { id } => {
            capture(&id)?.remove()?;
            Reply::Done
        }
        Request::Get { .. } | Request::Sums { .. } => return Err("answered with bytes".to_owned()),
    })
}

/// How many bytes there are, and the bytes; or what went wrong.
fn send_bytes(output: &mut impl Write, from: Result<(impl Read, u64), String>) -> io::Result<()> {
    match from {
        Ok((mut from, bytes)) => {
            say(output, &Reply::Bytes { bytes })?;
            if io::copy(&mut from, output)? != bytes {
                // Whoever waits for the rest sees the connection end.
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            output.flush()
        }
        Err(message) => say(output, &Reply::Failed { message }),
    }
}

fn say(output: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(requests: &str) -> Vec<serde_json::Value> {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.control.root = dir.path().to_owned();
        config.keep.dir = dir.path().join("keep");
        let mut out = Vec::new();
        serve(&config, io::Cursor::new(requests.to_owned()), &mut out).unwrap();
        // Nothing was started, so there is nothing.
        assert!(!config.keep.dir.exists());
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn the_first_line_tells_the_version_and_the_end_of_input_is_the_end() {
        let said = talk("");
        assert_eq!(said, [serde_json::to_value(Hello::own()).unwrap()]);
    }

    #[test]
    fn what_is_asked_is_answered_in_order() {
        let said =
            talk("{\"do\":\"clock\"}\n{\"do\":\"renew\",\"id\":\"a-1\"}\nrubbish\n{\"do\":\"list\",\"id\":\"a-1\"}\n");
        let kinds: Vec<&str> = said[1..].iter().map(|reply| reply["reply"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["clock", "no_daemon", "failed", "files"]);
        assert!(said[1]["now_us"].as_i64().unwrap() > 1_700_000_000_000_000);
    }

    #[test]
    fn nothing_outside_of_a_recording_can_be_named() {
        for id in ["", "..", "a/b", "/etc", "a b"] {
            let said = talk(&format!("{{\"do\":\"remove\",\"id\":{id:?}}}\n"));
            assert_eq!(said[1]["reply"], "failed", "{id}");
        }
        for path in ["../x", "/etc/passwd", "a/../../x", ""] {
            let said = talk(&format!("{{\"do\":\"get\",\"id\":\"a\",\"path\":{path:?},\"offset\":0}}\n"));
            assert_eq!(said[1]["reply"], "failed", "{path}");
        }
    }
}
