//! Hosts with an address, files and a sshd of their own.

use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use lioprof_testkit::files::files_under;
use lioprof_testkit::sshd::{SshClient, Sshd};
use lioprof_testkit::{Patience, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::daemon::node::{Keys, Node, Settings};
use crate::daemon::process::spawn;
use crate::util::{Run, lioprof};

/// Several hosts, and what is needed to record them.
pub(super) struct Site {
    dir: TempDir,
    pub(super) client: SshClient,
    pub(super) hosts: Vec<Host>,
    before: Vec<Settings>,
}

/// A network namespace with a simulated server and a sshd.
pub(super) struct Host {
    pub(super) name: String,
    // In the order in which they have to end.
    sshd: Option<Sshd>,
    namespace: Namespace,
    pub(super) node: Node,
    address: SocketAddr,
    /// What only this host sees: its `/usr/local/bin` and `/etc/lioprof`.
    bin: PathBuf,
    etc: PathBuf,
}

/// A network namespace and the cable to it.
struct Namespace {
    name: String,
    cable: String,
}

fn ip(args: &str) {
    let output = Command::new("ip").args(args.split(' ')).output().unwrap_or_else(|err| panic!("ip: {err}"));
    assert!(output.status.success(), "ip {args}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Namespace {
    /// With an address of its own; returns that, too.
    fn new() -> (Self, Ipv4Addr) {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let process = std::process::id();
        let name = format!("lioprof-{process}-{number}");
        // Names of interfaces have 15 characters at most.
        let cable = format!("lp{process}-{number}");
        // Four addresses each of 10.128.0.0/9; other runs of these tests have others.
        let base = (10 << 24) | (1 << 23) | ((process % 2048) << 12) | (number % 1024) << 2;
        let [here, there] = [1, 2].map(|host| Ipv4Addr::from(base + host));
        ip(&format!("netns add {name}"));
        ip(&format!("link add {cable} type veth peer name eth0 netns {name}"));
        ip(&format!("addr add {here}/30 dev {cable}"));
        ip(&format!("link set {cable} up"));
        ip(&format!("-n {name} addr add {there}/30 dev eth0"));
        ip(&format!("-n {name} link set eth0 up"));
        ip(&format!("-n {name} link set lo up"));
        (Self { name, cable }, there)
    }

    fn pids(&self) -> Vec<Pid> {
        let output = Command::new("ip").args(["netns", "pids", &self.name]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        for pid in self.pids() {
            // It may have ended by itself.
            kill_process(pid, Signal::KILL).unwrap_or_default();
        }
        for args in [["link", "delete", &self.cable], ["netns", "delete", &self.name]] {
            drop(Command::new("ip").args(args).stderr(Stdio::null()).status());
        }
    }
}

impl Host {
    fn new(name: &str, keys: Keys<'_>, client: &SshClient) -> Self {
        let node = Node::in_scenario("busy", &["--rate", "150", "--duration", "300", "--clients", "8"]);
        let (namespace, address) = Namespace::new();
        let [bin, etc] = ["bin", "etc"].map(|folder| node.path(folder));
        for folder in [&bin, &etc] {
            fs::create_dir(folder).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_lioprof"), bin.join("lioprof")).unwrap();
        let quoted = format!("\"{name}\"");
        let config = node.config(&[&[("node.name", quoted.as_str())], keys].concat());
        fs::copy(config, etc.join("lioprof.toml")).unwrap();
        let address = SocketAddr::new(IpAddr::V4(address), 2222);
        let mut host = Self { name: name.to_owned(), sshd: None, namespace, node, address, bin, etc };
        host.serve(client);
        host
    }

    /// Starts its sshd, in a mount namespace of its own as well.
    pub(super) fn serve(&mut self, client: &SshClient) {
        // A place to mount on.
        fs::create_dir_all("/etc/lioprof").unwrap();
        let script = format!(
            "mount --bind {} /etc/lioprof && mount --bind {} /usr/local/bin && exec \"$@\"",
            self.etc.display(),
            self.bin.display()
        );
        let wrap = ["ip", "netns", "exec", &self.namespace.name, "sh", "-c", &script, "sh"];
        self.sshd = Some(client.serve(&self.name, self.address, &wrap));
    }

    /// Puts another program in place of its lioprof.
    pub(super) fn replace_lioprof(&self, script: &str) {
        self.remove_lioprof();
        let path = self.bin.join("lioprof");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(super) fn remove_lioprof(&self) {
        fs::remove_file(self.bin.join("lioprof")).unwrap();
    }

    /// SIGKILL for its sshd and all that runs in its connections but the daemon.
    pub(super) fn kill_sshd(&mut self) {
        for pid in self.namespace.pids() {
            let name = fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero())).unwrap_or_default();
            if name.starts_with("sshd") {
                kill_process(pid, Signal::KILL).unwrap_or_default();
            }
        }
        drop(self.sshd.take());
    }

    /// Pulls the cable, or plugs it in again.
    pub(super) fn cable(&self, is_in: bool) {
        ip(&format!("link set {} {}", self.namespace.cable, if is_in { "up" } else { "down" }));
    }

    /// SIGKILL for the recording's daemon.
    pub(super) fn kill_daemon(&self) {
        let locks = files_under(self.node.keep().join("recordings"));
        let lock = locks.iter().find(|path| path.file_name().is_some_and(|name| name == "lock")).unwrap();
        let pid = fs::read_to_string(lock).unwrap().trim().parse().unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }

    pub(super) fn is_traced(&self) -> bool {
        self.node.settings().debug.contains("rpctrace")
    }

    /// Whether nothing of a recording is left on it.
    pub(super) fn is_clean(&self) -> bool {
        !self.node.keep().join("recordings").exists()
    }
}

impl Site {
    /// So many hosts: `oss1`, `oss2`, ..
    pub(super) fn new(count: usize) -> Self {
        Self::with(count, |_| Vec::new())
    }

    /// With some keys of each host's configuration.
    pub(super) fn with(count: usize, keys: impl Fn(usize) -> Vec<(&'static str, &'static str)>) -> Self {
        let dir = tempfile::Builder::new().prefix("lioprof-").tempdir().unwrap();
        let client = SshClient::new(dir.path());
        let hosts: Vec<Host> =
            (1..=count).map(|number| Host::new(&format!("oss{number}"), &keys(number), &client)).collect();
        let before = hosts.iter().map(|host| host.node.settings()).collect();
        Self { dir, client, hosts, before }
    }

    /// Where recordings go.
    pub(super) fn output(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn args(&self, more: &[&str]) -> Vec<String> {
        let list = format!("oss[1-{}]", self.hosts.len());
        let (ssh, output) = (self.client.command(), self.output().display().to_string());
        let all = [&["record", "--hosts", &list, "--ssh", &ssh, "-o", &output, "--plots", "none"], more].concat();
        all.into_iter().map(str::to_owned).collect()
    }

    /// `lioprof record` on all hosts.
    #[track_caller]
    pub(super) fn record(&self, more: &[&str]) -> Run {
        lioprof(&self.args(more))
    }

    /// Starts `lioprof record`, and waits until all hosts have their first mark.
    #[track_caller]
    pub(super) fn start(&self, more: &[&str]) -> Recorder {
        let output = self.path("record");
        let child = spawn(&self.args(more), &output);
        let mut recorder = Recorder { child, output };
        let patience = Patience::new();
        while !recorder.stderr().contains("recording oss") {
            let ended = recorder.child.try_wait().unwrap();
            let goes_on = ended.is_none() && patience.nap();
            assert!(goes_on, "no recording began ({ended:?}): {}", recorder.stderr());
        }
        recorder
    }

    /// `lioprof record fetch`.
    #[track_caller]
    pub(super) fn fetch(&self) -> Run {
        lioprof(&["record", "fetch", &self.output().display().to_string(), "--plots", "none"])
    }

    /// All settings of all hosts are as before.
    #[track_caller]
    pub(super) fn is_as_before(&self) {
        for (host, before) in self.hosts.iter().zip(&self.before) {
            assert_eq!(host.node.settings(), *before, "{}", host.name);
        }
    }

    /// Waits until they are.
    #[track_caller]
    pub(super) fn wait_as_before(&self) {
        until("all settings to be as before", || {
            self.hosts.iter().zip(&self.before).all(|(host, before)| host.node.settings() == *before).then_some(())
        });
    }

    pub(super) fn recording(&self) -> Value {
        serde_json::from_slice(&fs::read(self.output().join("record.json")).unwrap()).unwrap()
    }

    pub(super) fn report(&self) -> Value {
        serde_json::from_slice(&fs::read(self.output().join("report/analysis.json")).unwrap()).unwrap()
    }

    /// RPCs in the report by node.
    pub(super) fn reported(&self) -> Vec<(String, u64)> {
        let report = self.report();
        let nodes = report["nodes"].as_array().unwrap().iter();
        nodes.map(|node| (node["name"].as_str().unwrap().to_owned(), node["rpcs"].as_u64().unwrap())).collect()
    }
}

/// `lioprof record` that runs.
pub(super) struct Recorder {
    child: Child,
    output: PathBuf,
}

impl Recorder {
    pub(super) fn stderr(&self) -> String {
        fs::read_to_string(self.output.with_extension("err")).unwrap_or_default()
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its exit code; `None`: killed.
    #[track_caller]
    pub(super) fn ends(mut self) -> (Option<i32>, String) {
        let status = until("the recorder to end", || self.child.try_wait().unwrap());
        let stderr = self.stderr();
        assert!(!stderr.contains("panicked at"), "{stderr}");
        (status.code(), stderr)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A script that waits until a file is there.
pub(super) fn wait_for(path: &Path) -> String {
    format!("until [ -e {} ]; do sleep 0.05; done", path.display())
}

/// Makes the file that such a script waits for.
pub(super) fn go_on(path: &Path) {
    File::create(path).unwrap();
}
