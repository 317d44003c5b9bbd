//! A daemon as a process.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lioprof_testkit::{Patience, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::util::{Run, lioprof};

/// An address on loopback that nobody uses.
pub(crate) fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// What a server answers to `GET PATH`, with the head.
pub(crate) fn http_get(server: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Starts `lioprof ARGS` with its output in `OUTPUT.out` and `OUTPUT.err`.
pub(crate) fn spawn(args: &[String], output: &Path) -> Child {
    spawn_for(args, output, None)
}

/// [`spawn`] by a service manager that listens on `manager`.
fn spawn_for(args: &[String], output: &Path, manager: Option<&Path>) -> Child {
    let file = |extension: &str| File::create(output.with_extension(extension)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lioprof"));
    command
        .args(args)
        .env("LC_ALL", "C")
        .env("NO_COLOR", "1")
        .env_remove("NOTIFY_SOCKET")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(file("out"))
        .stderr(file("err"));
    if let Some(manager) = manager {
        command.env("NOTIFY_SOCKET", manager);
    }
    command.spawn().unwrap()
}

/// A daemon that was started.
pub(crate) struct Daemon {
    child: Child,
    output: PathBuf,
    pub(crate) socket: PathBuf,
}

/// A daemon that has ended.
pub(crate) struct Ended {
    /// `None`: killed by a signal.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) log: String,
}

impl Daemon {
    pub(crate) fn start(args: &[String], output: &Path, socket: &Path) -> Self {
        Self { child: spawn(args, output), output: output.to_owned(), socket: socket.to_owned() }
    }

    /// As a service, whose manager listens on `manager`.
    pub(crate) fn start_service(args: &[String], output: &Path, socket: &Path, manager: &Path) -> Self {
        Self { child: spawn_for(args, output, Some(manager)), output: output.to_owned(), socket: socket.to_owned() }
    }

    /// CPU time that it has used, in ticks of 10 ms (proc_pid_stat(5)).
    pub(crate) fn cpu_ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.output.with_extension("err")).unwrap_or_default()
    }

    /// Waits until it traces, or waits for its trigger.
    #[track_caller]
    pub(crate) fn wait_ready(&self) {
        self.wait("the daemon to be ready", |status| {
            ["tracing", "waiting_for_trigger"].contains(&status["state"].as_str().unwrap_or_default())
        });
    }

    /// Runs a command that talks to it.
    pub(crate) fn command(&self, args: &[&str]) -> Run {
        let mut all = args.to_vec();
        let socket = self.socket.display().to_string();
        all.extend(["--socket", &socket]);
        lioprof(&all)
    }

    /// Its state; `None` if it does not answer.
    pub(crate) fn status(&self) -> Option<Value> {
        let run = self.command(&["status", "--json"]);
        (run.code == Some(0)).then(|| run.json())
    }

    /// Waits for a state.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let mut last = None;
        let patience = Patience::new();
        loop {
            last = self.status().or(last);
            match &last {
                Some(status) if is(status) => return status.clone(),
                _ => {}
            }
            assert!(
                patience.nap() && self.is_running(),
                "waited in vain for {what}; running: {}, last status: {last:#?}\nlog:\n{}",
                self.is_running(),
                self.log()
            );
        }
    }

    /// Whether the process is there and no zombie.
    pub(crate) fn is_running(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    }

    /// Memory in use, bytes.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// SIGKILL; returns when it is gone.
    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().unwrap();
    }

    /// `lioprof stop`, and its end.
    #[track_caller]
    pub(crate) fn stop(self) -> Ended {
        self.command(&["stop"]).exits(0);
        self.ended()
    }

    /// `lioprof stop` of a daemon that has something to complain of, which the command says, and its end.
    #[track_caller]
    pub(crate) fn stop_in_trouble(self, parts: &[&str]) -> Ended {
        self.command(&["stop"]).exits(2).says(parts);
        self.ended()
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Ended {
        let status = until("the daemon to end", || self.child.try_wait().unwrap());
        let read = |extension: &str| {
            String::from_utf8_lossy(&fs::read(self.output.with_extension(extension)).unwrap()).into_owned()
        };
        Ended { code: status.code(), stdout: read("out"), log: read("err") }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Ended {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        assert!(!self.log.contains("panicked at"), "{self}");
        self
    }

    /// The log must contain all of these.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.log.contains(part), "expected {part:?} in: {self}");
        }
        self
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {:?}\nlog:\n{}\nstdout:\n{}", self.code, self.log, self.stdout)
    }
}
