//! Calling the system's ssh.

use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::command::RemoteCommand;
use crate::error::{RemoteError, SshOptionError};

/// Of what a command writes to standard error, the end is kept.
const STDERR_KEPT_BYTES: usize = 16 << 10;
/// How long connecting may take unless told.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// After so many times without an answer, [`ALIVE_EVERY_S`] apart, ssh gives a connection up.
const ALIVE_MISSED: u32 = 3;
/// How often a silent connection is tested, in seconds.
const ALIVE_EVERY_S: u32 = 5;

/// How to call ssh.
///
/// It never asks for anything (`BatchMode`). The user's configuration, keys, agent, `ProxyJump` and known hosts apply.
#[derive(Clone, Debug)]
pub struct Ssh {
    words: Vec<String>,
    connect_timeout: Duration,
}

impl Default for Ssh {
    fn default() -> Self {
        Self { words: vec!["ssh".to_owned()], connect_timeout: CONNECT_TIMEOUT }
    }
}

impl Ssh {
    /// ssh with options of its own: `ssh -F file`, split as a shell does.
    ///
    /// # Errors
    /// If there is no command, or a quote is not closed.
    pub fn new(command: &str) -> Result<Self, SshOptionError> {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| SshOptionError(command.to_owned()))?;
        Ok(Self { words, ..Self::default() })
    }

    /// Gives connecting another time than 10 s.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Starts a command on a host. It ends when the [`Session`] is dropped, as far as this machine can see to it.
    ///
    /// # Errors
    /// If ssh cannot be started; that the host cannot be reached shows at the end of the session.
    pub fn start(&self, host: &str, command: &RemoteCommand) -> Result<Session, RemoteError> {
        let start = |source| RemoteError::Start { program: self.words[0].clone(), source };
        let mut ssh = Command::new(&self.words[0]);
        ssh.args(&self.words[1..]).args(self.options()).arg(host).arg(command.line());
        ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // Ctrl-C on the terminal is for us: what runs elsewhere is ended in order.
        ssh.process_group(0);
        let mut child = ssh.spawn().map_err(start)?;
        let missing = || start(std::io::ErrorKind::BrokenPipe.into());
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let stderr = tokio::spawn(end_of(child.stderr.take().ok_or_else(missing)?));
        Ok(Session { program: command.program().to_owned(), child, stdin: Some(stdin), stdout, stderr })
    }

    /// Runs a command with `input` as its standard input, and collects what it prints.
    ///
    /// # Errors
    /// If the host cannot be reached, the command fails, or it takes longer than `within`.
    pub async fn run(
        &self,
        host: &str,
        command: &RemoteCommand,
        input: &[u8],
        within: Duration,
    ) -> Result<Output, RemoteError> {
        let work = async {
            let mut session = self.start(host, command)?;
            let mut stdin = session.stdin.take();
            let mut stdout = Vec::new();
            let feed = async {
                // Whoever stops reading says why by its exit code.
                if let Some(stdin) = &mut stdin
                    && stdin.write_all(input).await.is_ok()
                {
                    drop(stdin.shutdown().await);
                }
                drop(stdin);
            };
            let (read, ()) = tokio::join!(session.stdout.read_to_end(&mut stdout), feed);
            let read = read.map_err(RemoteError::Io);
            let stderr = session.end().await?;
            read?;
            Ok(Output { stdout, stderr })
        };
        tokio::time::timeout(within, work).await.map_err(|_| RemoteError::Timeout(within))?
    }

    fn options(&self) -> Vec<OsString> {
        let options = [
            "BatchMode=yes".to_owned(),
            format!("ConnectTimeout={}", self.connect_timeout.as_secs().max(1)),
            format!("ServerAliveInterval={ALIVE_EVERY_S}"),
            format!("ServerAliveCountMax={ALIVE_MISSED}"),
        ];
        let mut all = vec![OsString::from("-T")];
        all.extend(options.into_iter().flat_map(|option| [OsString::from("-o"), option.into()]));
        all
    }
}

/// What a command printed that ended with 0.
#[derive(Clone, Debug)]
pub struct Output {
    /// All of standard output.
    pub stdout: Vec<u8>,
    /// The end of standard error.
    pub stderr: String,
}

/// A command that runs on a host.
#[derive(Debug)]
pub struct Session {
    program: String,
    child: Child,
    /// Its standard input; `None` once it is closed.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, as it comes.
    pub stdout: BufReader<ChildStdout>,
    stderr: JoinHandle<String>,
}

impl Session {
    /// Closes the command's input and waits for its end. Returns the end of its standard error.
    ///
    /// # Errors
    /// If ssh or the command failed.
    pub async fn end(mut self) -> Result<String, RemoteError> {
        drop(self.stdin.take());
        let status = self.child.wait().await.map_err(RemoteError::Io)?;
        let stderr = self.stderr.await.unwrap_or_default();
        self::result(&self.program, status, stderr)
    }

    /// Ends ssh at once; the command sees its input and output close.
    pub async fn kill(mut self) {
        // It may have ended by itself.
        drop(self.child.kill().await);
    }
}

fn result(program: &str, status: ExitStatus, stderr: String) -> Result<String, RemoteError> {
    match status.code() {
        Some(0) => Ok(stderr),
        Some(code) => Err(RemoteError::of_exit(program, code, &stderr)),
        None => Err(RemoteError::Killed),
    }
}

/// Reads to the end and keeps the last of it.
async fn end_of(mut from: impl AsyncRead + Unpin) -> String {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    // What cannot be read is as good as its end.
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..count]);
        kept.drain(..kept.len().saturating_sub(STDERR_KEPT_BYTES));
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_split_as_by_a_shell() {
        assert_eq!(Ssh::new("ssh -F 'a b'").unwrap().words, ["ssh", "-F", "a b"]);
        for bad in ["", "  ", "ssh 'x"] {
            assert!(Ssh::new(bad).unwrap_err().to_string().contains("--ssh"), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_missing_ssh_is_told() {
        let ssh = Ssh::new("/nonexistent/ssh").unwrap();
        let err = ssh.start("host", &RemoteCommand::new("true")).unwrap_err();
        assert!(err.to_string().contains("/nonexistent/ssh"), "{err}");
    }
}
