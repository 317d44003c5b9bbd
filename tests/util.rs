//! Running the command.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{ChildStdin, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder with these files.
pub(crate) fn folder<'a>(files: impl IntoIterator<Item = (String, &'a str)>) -> TempDir {
    let dir = TempDir::new().unwrap();
    for (name, content) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

/// What a run of the command left behind.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    shown: String,
}

impl Run {
    fn new(shown: String, output: Output) -> Self {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let run = Self { code: output.status.code(), stdout: output.stdout, stderr, shown };
        assert!(!run.stderr.contains("panicked at"), "{run}");
        assert!(run.code.is_some(), "killed by a signal: {run}");
        run
    }

    /// The run must have ended with this code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Something on standard error must contain all of `parts`, in one line or several.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "expected {part:?} in: {self}");
        }
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout).unwrap_or_else(|err| panic!("no JSON ({err}): {self}"))
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let head: String = String::from_utf8_lossy(&self.stdout).chars().take(400).collect();
        write!(f, "{}\nexit code: {:?}\nstderr:\n{}\nstdout:\n{head}", self.shown, self.code, self.stderr)
    }
}

fn command<S: AsRef<OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lioprof"));
    command.args(args).env("LC_ALL", "C").env("NO_COLOR", "1").env_remove("RUST_BACKTRACE").env_remove("RUST_LOG");
    command
}

fn show<S: AsRef<OsStr>>(args: &[S]) -> String {
    let args: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
    format!("lioprof {}", args.join(" "))
}

/// Runs `lioprof ARGS...`.
#[track_caller]
pub(crate) fn lioprof<S: AsRef<OsStr>>(args: &[S]) -> Run {
    let output = command(args).stdin(Stdio::null()).output().unwrap();
    Run::new(show(args), output)
}

/// Runs `lioprof ARGS...` with these variables of the environment.
#[track_caller]
pub(crate) fn lioprof_with<S: AsRef<OsStr>>(args: &[S], variables: &[(&str, &str)]) -> Run {
    let output = command(args).envs(variables.iter().copied()).stdin(Stdio::null()).output().unwrap();
    Run::new(show(args), output)
}

/// Runs `lioprof ARGS...` and writes to its standard input. A command that stops reading is fine.
#[track_caller]
pub(crate) fn lioprof_fed<S: AsRef<OsStr>>(
    args: &[S],
    feed: impl FnOnce(&mut ChildStdin) -> std::io::Result<()> + Send,
) -> Run {
    let mut child = command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        scope.spawn(move || match feed(&mut stdin).and_then(|()| stdin.flush()) {
            Err(err) if err.kind() != std::io::ErrorKind::BrokenPipe => panic!("feeding failed: {err}"),
            _ => {}
        });
        child.wait_with_output().unwrap()
    });
    Run::new(show(args), output)
}

/// `lioprof analyze INPUTS... --format json MORE...`, which may end with 0 or 3.
#[track_caller]
pub(crate) fn analyze_run(inputs: &[&Path], more: &[&str]) -> Run {
    let mut args: Vec<&OsStr> = vec!["analyze".as_ref()];
    args.extend(inputs.iter().map(|path| path.as_os_str()));
    args.extend(["--format", "json"].map(OsStr::new));
    args.extend(more.iter().map(OsStr::new));
    let run = lioprof(&args);
    assert!(matches!(run.code, Some(0 | 3)), "{run}");
    run
}

/// The JSON of [`analyze_run`], which must end with 0.
#[track_caller]
pub(crate) fn analyze(inputs: &[&Path], more: &[&str]) -> Value {
    analyze_run(inputs, more).exits(0).json()
}

/// `json` without what names files or programs, or depends on how the same records were stored.
pub(crate) fn figures_only(mut json: Value) -> Value {
    if let Some(object) = json.as_object_mut() {
        for key in ["inputs", "loss", "generator"] {
            object.remove(key);
        }
        // What a capture lost shows in one form of the log and not in another, and the verdict says it. It follows from findings, checks and
        // the account.
        object.remove("verdict");
        if let Some(Value::Array(spent)) = json_at(object, &["time_account", "all", "spent"]) {
            for nothing in spent.iter_mut().filter(|spent| spent["on"] == "nothing").filter_map(Value::as_object_mut) {
                nothing.retain(|key, _| !matches!(key.as_str(), "state" | "reason"));
            }
        }
        for key in ["findings", "checks"] {
            if let Some(Value::Array(rows)) = object.get_mut(key) {
                rows.retain(|row| row["id"] != "trace-quality");
            }
        }
    }
    json
}

fn json_at<'a>(object: &'a mut serde_json::Map<String, Value>, path: &[&str]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(object.get_mut(*first)?, |value, key| value.get_mut(key))
}

/// Fails with the first differences, if there are any.
#[track_caller]
pub(crate) fn assert_same(what: &str, got: &Value, want: &Value) {
    let mut differences = Vec::new();
    compare("", got, want, &mut differences);
    let shown: Vec<&String> = differences.iter().take(20).collect();
    assert!(differences.is_empty(), "{what}: {} differences, such as\n{shown:#?}", differences.len());
}

fn compare(path: &str, got: &Value, want: &Value, out: &mut Vec<String>) {
    match (got, want) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                compare(
                    &format!("{path}/{key}"),
                    a.get(key).unwrap_or(&Value::Null),
                    &b.get(key).cloned().unwrap_or_default(),
                    out,
                );
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                compare(&format!("{path}/{at}"), a, b, out);
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            let odd = a.iter().find(|row| !b.contains(row)).or_else(|| b.iter().find(|row| !a.contains(row)));
            let odd: String = odd.map(ToString::to_string).unwrap_or_default().chars().take(300).collect();
            out.push(format!("{path}: {} rows, expected {}; only in one: {odd}", a.len(), b.len()));
        }
        _ if got == want => {}
        _ => out.push(format!("{path}: {got}, expected {want}")),
    }
}
