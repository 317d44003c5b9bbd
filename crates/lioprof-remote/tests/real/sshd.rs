//! Commands over a real OpenSSH server.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use lioprof_remote::{RemoteCommand, RemoteError, Ssh, on_all};
use lioprof_testkit::sshd::{SshClient, Sshd, make_key};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

const PATIENCE: Duration = Duration::from_secs(60);

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A client and its servers.
struct Site {
    dir: TempDir,
    client: SshClient,
    servers: Vec<Sshd>,
}

impl Site {
    fn with(names: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let client = SshClient::new(dir.path());
        let servers = names.iter().map(|name| client.serve(name, free_address(), &[])).collect();
        Self { dir, client, servers }
    }

    fn ssh(&self) -> Ssh {
        Ssh::new(&self.client.command()).unwrap()
    }
}

#[tokio::test]
async fn input_and_output_pass_whole() {
    let site = Site::with(&["oss1"]);
    let input: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[number as usize % 3]).collect();
    let output = site.ssh().run("oss1", &RemoteCommand::new("cat"), &input, PATIENCE).await.unwrap();
    assert!(output.stdout == input, "{} of {} bytes", output.stdout.len(), input.len());
    let words = ["it's", "a $HOME", "!x", "\"q\"", "", "*"];
    let command = RemoteCommand::new("printf").arg("%s|").args(words).as_root();
    let output = site.ssh().run("oss1", &command, b"", PATIENCE).await.unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), words.map(|word| format!("{word}|")).concat());
}

#[tokio::test]
async fn a_session_talks_both_ways() {
    let site = Site::with(&["oss1"]);
    let script = "while read line; do echo \"got $line\"; done; echo over >&2";
    let mut session = site.ssh().start("oss1", &RemoteCommand::script(script)).unwrap();
    for word in ["one", "two"] {
        session.stdin.as_mut().unwrap().write_all(format!("{word}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        session.stdout.read_line(&mut line).await.unwrap();
        assert_eq!(line, format!("got {word}\n"));
    }
    assert_eq!(session.end().await.unwrap(), "over\n");
}

#[tokio::test]
async fn ssh_and_the_command_fail_differently() {
    let site = Site::with(&["oss1", "oss2"]);
    let ssh = site.ssh();
    let run = async |host: &str, command: RemoteCommand| ssh.run(host, &command, b"", PATIENCE).await.unwrap_err();
    let failed = run("oss1", RemoteCommand::script("echo no room >&2; exit 7")).await;
    assert!(matches!(&failed, RemoteError::Failed { code: 7, said, .. } if said == "no room"), "{failed}");
    let own_255 = run("oss1", RemoteCommand::script("exit 255")).await;
    assert!(matches!(own_255, RemoteError::Failed { code: 254, .. }), "{own_255}");
    let killed = run("oss1", RemoteCommand::script("kill -9 $$")).await;
    assert!(matches!(killed, RemoteError::Failed { code: 137, .. }), "{killed}");
    let missing = run("oss1", RemoteCommand::new("/nonexistent/lioprof")).await;
    assert!(matches!(&missing, RemoteError::NotFound(program) if program == "/nonexistent/lioprof"), "{missing}");
    let slow = ssh.run("oss1", &RemoteCommand::new("sleep").arg("60"), b"", Duration::from_millis(500)).await;
    assert!(matches!(slow, Err(RemoteError::Timeout(_))), "{slow:?}");

    let other = site.dir.path().join("other");
    make_key(&other);
    site.client.add("locked", site.servers[1].address, &other);
    site.client.add("silent", free_address(), &other);
    let locked = run("locked", RemoteCommand::new("true")).await;
    assert!(locked.to_string().contains("no key is accepted"), "{locked}");
    let silent = run("silent", RemoteCommand::new("true")).await;
    assert!(silent.to_string().contains("is sshd running there?"), "{silent}");
    let unknown = run("no-such-host.invalid", RemoteCommand::new("true")).await;
    assert!(unknown.to_string().contains("check the name"), "{unknown}");
    fs::write(site.dir.path().join("known_hosts"), "").unwrap();
    let stranger = run("oss1", RemoteCommand::new("true")).await;
    assert!(stranger.to_string().contains("known_hosts"), "{stranger}");
}

#[tokio::test]
async fn a_killed_server_breaks_the_connection() {
    let site = Site::with(&["oss1"]);
    // The shell's parent is the server's process for this connection.
    let script = "ps -o ppid= -p $PPID; read line";
    let mut session = site.ssh().start("oss1", &RemoteCommand::script(script)).unwrap();
    let mut line = String::new();
    session.stdout.read_line(&mut line).await.unwrap();
    let pid = line.trim().parse().ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let err = session.end().await.unwrap_err();
    assert!(matches!(err, RemoteError::Ssh(_)), "{err}");
}

#[tokio::test]
async fn all_hosts_are_asked_and_keep_their_order() {
    let names = ["oss1", "oss2", "oss3"];
    let site = Site::with(&names);
    let ssh = site.ssh();
    let hosts: Vec<String> = names.iter().chain(&names).map(|&name| name.to_owned()).collect();
    let results = on_all(hosts.clone(), 4, |host| {
        let ssh = ssh.clone();
        async move {
            let output = ssh.run(&host, &RemoteCommand::new("echo").arg(&host), b"", PATIENCE).await;
            output
                .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
                .map_err(|err| err.to_string())
        }
    })
    .await;
    assert_eq!(results.into_iter().collect::<Result<Vec<_>, _>>(), Ok(hosts));
}
