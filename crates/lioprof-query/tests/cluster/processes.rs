//! Scheduler, executors and clients as processes of the real command.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Nothing that is waited for takes that long, however busy the machine is.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);

pub(crate) fn lioprof_query() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lioprof-query"));
    // Whoever tests may have a proxy for S3, or wants Ballista's messages.
    command.env_remove("RUST_LOG");
    command
}

/// A scheduler or an executor; killed with the test.
pub(crate) struct Process {
    child: Child,
    /// Its first line on stdout.
    pub(crate) address: String,
    log: PathBuf,
}

impl Process {
    fn start(args: &[&str], log: PathBuf) -> Self {
        Self::spawn(lioprof_query().args(args), log)
    }

    fn spawn(command: &mut Command, log: PathBuf) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(File::create(&log).unwrap()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let process = Self { child, address: address.trim_end().to_owned(), log };
        assert!(!process.address.is_empty(), "{command:?} did not start: {}", process.log());
        process
    }

    /// SIGTERM; its exit code.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }

    /// SIGKILL: it can say nothing to anybody.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// A scheduler and executors that run one task at a time.
pub(crate) struct Cluster {
    pub(crate) scheduler: Process,
    pub(crate) executors: Vec<Process>,
    dir: TempDir,
}

impl Cluster {
    pub(crate) fn start(executors: usize) -> Self {
        Self::start_with(executors, lioprof_query)
    }

    /// With executors that are started in a way of their own.
    pub(crate) fn start_with(executors: usize, executor: impl Fn() -> Command) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let log = |name: &str| dir.path().join(name);
        let args = ["scheduler", "--bind", "127.0.0.1:0", "--executor-timeout", "10s"];
        let scheduler = Process::start(&args, log("scheduler"));
        let start = |i: usize| {
            let mut command = executor();
            command.args(["executor", "--scheduler", &scheduler.address, "--bind", "127.0.0.1:0"]);
            command.args(["--concurrent-tasks", "1", "--memory-mib", "256"]).arg("--work-dir").arg(dir.path());
            Process::spawn(&mut command, log(&format!("executor-{i}")))
        };
        let executors = (0..executors).map(start).collect();
        let cluster = Self { scheduler, executors, dir };
        cluster.wait_for_executors();
        cluster
    }

    fn wait_for_executors(&self) {
        if !self.executors.is_empty() {
            wait_until("the executors to register", || self.has_executors(self.executors.len()));
        }
    }

    /// Whether the scheduler knows of so many.
    pub(crate) fn has_executors(&self, count: usize) -> bool {
        self.readiness().contains(&format!("ready: {count} executors registered"))
    }

    /// What the scheduler says of itself.
    fn readiness(&self) -> String {
        let mut stream = TcpStream::connect(self.scheduler.address.strip_prefix("ballista://").unwrap()).unwrap();
        stream.write_all(b"GET /readyz HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Files of intermediate results that an executor has.
    pub(crate) fn files_of(&self, executor: usize) -> usize {
        let address = self.executors[executor].address.replace(':', "-");
        count_files(&self.dir.path().join(format!("lioprof-executor-{address}")))
    }

    /// All logs, for the message of a test that fails.
    pub(crate) fn logs(&self) -> String {
        let all = std::iter::once(&self.scheduler).chain(&self.executors);
        all.map(|process| format!("== {}\n{}", process.log.display(), process.log())).collect()
    }

    /// A query to this cluster.
    pub(crate) fn query(&self, dataset: &Path, sql: &str) -> Command {
        let mut command = sql_command(dataset, sql);
        command.args(["--engine", &self.scheduler.address]);
        command
    }
}

/// A query to the engine in the command itself.
pub(crate) fn sql_command(dataset: &Path, sql: &str) -> Command {
    let mut command = lioprof_query();
    command.arg("sql").arg(dataset).arg(sql).args(["--format", "csv"]);
    command
}

/// What a command that succeeds writes.
pub(crate) fn answer(command: &mut Command) -> String {
    text(&command.output().unwrap())
}

pub(crate) fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(since.elapsed() < DEADLINE, "waited in vain for {what}");
        sleep(Duration::from_millis(5));
    }
}

fn count_files(dir: &Path) -> usize {
    // Files come and go meanwhile.
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    entries.flatten().map(|entry| if entry.path().is_dir() { count_files(&entry.path()) } else { 1 }).sum()
}
