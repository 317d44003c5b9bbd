//! OpenSSH servers of our own, with keys of their own, for tests of what runs on other hosts.

use std::fs::{self, File};
use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::wait::eventually;

/// Where distributions have it; it wants to be started by its whole path.
const SSHD: &str = "/usr/sbin/sshd";
/// sshd wants this directory when root starts it.
const PRIVILEGE_SEPARATION: &str = "/run/sshd";

/// Keys, known hosts and the configuration for `ssh -F`.
#[derive(Debug)]
pub struct SshClient {
    dir: PathBuf,
}

/// A running sshd.
#[derive(Debug)]
pub struct Sshd {
    child: Child,
    /// The name by which the client's configuration knows it.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
}

impl SshClient {
    /// Makes a key pair in `dir`, and a configuration without hosts.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        let client = Self { dir: dir.to_owned() };
        make_key(&client.key());
        write(client.config(), "");
        write(client.known_hosts(), "");
        client
    }

    /// The private key that servers accept.
    #[must_use]
    pub fn key(&self) -> PathBuf {
        self.dir.join("key")
    }

    /// The file for `ssh -F`.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.dir.join("config")
    }

    /// How to call ssh: for `--ssh`.
    #[must_use]
    pub fn command(&self) -> String {
        format!("ssh -F {}", self.config().display())
    }

    fn known_hosts(&self) -> PathBuf {
        self.dir.join("known_hosts")
    }

    /// Starts a server that knows this client's key, and adds it to the configuration. `wrap` comes before the command: `nsenter ..`.
    #[must_use]
    pub fn serve(&self, name: &str, address: SocketAddr, wrap: &[&str]) -> Sshd {
        assert!(Path::new(SSHD).exists(), "no {SSHD}: run scripts/setup test");
        let host_key = self.dir.join(format!("{name}-host_key"));
        if !host_key.exists() {
            make_key(&host_key);
        }
        self.add(name, address, &self.key());
        let public = read(host_key.with_extension("pub"));
        let known = read(self.known_hosts());
        write(self.known_hosts(), format!("{known}[{}]:{} {public}", address.ip(), address.port()));
        let config = self.dir.join(format!("{name}-sshd_config"));
        let lines = [
            format!("ListenAddress {address}"),
            format!("HostKey {}", host_key.display()),
            format!("AuthorizedKeysFile {}", self.key().with_extension("pub").display()),
            "PidFile none".to_owned(),
            "UsePAM no".to_owned(),
            "StrictModes no".to_owned(),
            "PermitRootLogin yes".to_owned(),
            "PasswordAuthentication no".to_owned(),
            "MaxStartups 100".to_owned(),
        ];
        write(&config, lines.join("\n") + "\n");
        fs::create_dir_all(PRIVILEGE_SEPARATION).unwrap_or_else(|err| panic!("{PRIVILEGE_SEPARATION}: {err}"));
        let log = self.dir.join(format!("{name}-sshd.log"));
        let log = File::create(&log).unwrap_or_else(|err| panic!("{}: {err}", log.display()));
        let words: Vec<&str> = wrap.iter().copied().chain([SSHD, "-D", "-e", "-f"]).collect();
        let child = Command::new(words[0])
            .args(&words[1..])
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|err| panic!("{}: {err}", words[0]));
        let sshd = Sshd { child, name: name.to_owned(), address };
        eventually("sshd to listen", || greets(address));
        sshd
    }

    /// Adds a host to the configuration that is logged in to with another key, or that has no server.
    pub fn add(&self, name: &str, address: SocketAddr, key: &Path) {
        let lines = [
            format!("Host {name}"),
            format!("  HostName {}", address.ip()),
            format!("  Port {}", address.port()),
            format!("  IdentityFile {}", key.display()),
            format!("  UserKnownHostsFile {}", self.known_hosts().display()),
            "  IdentitiesOnly yes".to_owned(),
            "  StrictHostKeyChecking yes".to_owned(),
            "  LogLevel ERROR".to_owned(),
        ];
        let config = read(self.config());
        // ssh takes the first that fits.
        write(self.config(), format!("{}\n{config}", lines.join("\n")));
    }
}

/// Whether it is sshd that answers there: on the way to an address that does not exist yet something else may.
fn greets(address: SocketAddr) -> bool {
    let patience = Duration::from_secs(1);
    let Ok(mut stream) = TcpStream::connect_timeout(&address, patience) else { return false };
    let mut greeting = [0; 4];
    stream.set_read_timeout(Some(patience)).is_ok() && stream.read_exact(&mut greeting).is_ok() && greeting == *b"SSH-"
}

fn write(path: impl AsRef<Path>, text: impl AsRef<str>) {
    let path = path.as_ref();
    fs::write(path, text.as_ref()).unwrap_or_else(|err| panic!("{}: {err}", path.display()));
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
}

/// Makes a pair of keys without a passphrase.
///
/// # Panics
/// If there is no `ssh-keygen`.
pub fn make_key(path: &Path) {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "ssh-keygen: run scripts/setup test");
}

impl Sshd {
    /// The process that listens; each connection has others.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        // It may be dead already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
