//! What can go wrong with a command on another host.

use std::io;
use std::time::Duration;

/// Why a command did not run on a host, or failed there.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// There is no ssh on this machine, or it cannot be started.
    #[error("failed to start `{program}`: install OpenSSH's client, or name another one with --ssh")]
    Start {
        /// The program of `--ssh`.
        program: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// ssh ended with 255: the host cannot be reached, does not let us in, or the connection broke. What ssh said last.
    #[error("ssh failed: {reason}{advice}", reason = .0, advice = advice(.0))]
    Ssh(String),
    /// The host has no program of this name or path.
    #[error("`{0}` is not there")]
    NotFound(String),
    /// sudo wants a password, or does not allow it.
    #[error("{reason}: log in as root, or allow `sudo -n {program}` in sudoers")]
    Sudo {
        /// What was to run.
        program: String,
        /// What sudo said.
        reason: String,
    },
    /// The command ran, and failed.
    #[error("`{program}` failed with {code}{}{said}", if .said.is_empty() { "" } else { ": " })]
    Failed {
        /// What ran.
        program: String,
        /// Its exit code; 128 + the signal if one killed it.
        code: i32,
        /// The last lines of its standard error.
        said: String,
    },
    /// A signal ended ssh on this machine.
    #[error("ssh was killed by a signal")]
    Killed,
    /// It took too long.
    #[error("no answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// Its input or output could not be passed on.
    #[error("lost the connection")]
    Io(#[source] io::Error),
}

/// What to do about a reason of ssh.
fn advice(reason: &str) -> &'static str {
    let advices = [
        ("Permission denied", "; no key is accepted: check with `ssh HOST true`, and load the key into the agent"),
        ("Host key verification failed", "; log in once by hand, or add the host's key to known_hosts"),
        ("Could not resolve", "; check the name, or give it a HostName in ssh's configuration"),
        ("Connection refused", "; is sshd running there?"),
    ];
    advices.iter().find(|(words, _)| reason.contains(words)).map_or("", |(_, advice)| advice)
}

impl RemoteError {
    /// Of an exit code other than 0, and the end of standard error.
    pub(crate) fn of_exit(program: &str, code: i32, stderr: &str) -> Self {
        let program = program.to_owned();
        let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let sudo = lines.iter().rev().find(|line| line.starts_with("sudo: "));
        let last_of = |count: usize| lines[lines.len().saturating_sub(count)..].join("; ");
        match (code, sudo) {
            (255, _) => {
                let reason = last_of(1);
                Self::Ssh(if reason.is_empty() { "the connection broke".to_owned() } else { reason })
            }
            (127, _) => Self::NotFound(program),
            (1, Some(said)) if said.ends_with("command not found") => Self::NotFound(program),
            (1, Some(said)) => Self::Sudo { program, reason: (*said).to_owned() },
            _ => Self::Failed { program, code, said: last_of(3) },
        }
    }
}

/// What is wrong with the text of `--ssh`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--ssh `{0}`: expected a command such as `ssh -F FILE`, with quotes closed")]
pub struct SshOptionError(pub(crate) String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_failed_is_told_apart() {
        let cases = [
            (255, "ssh: connect to host x port 22: Connection refused\n", "is sshd running there?"),
            (255, "root@x: Permission denied (publickey).\r\n", "no key is accepted"),
            (255, "", "the connection broke"),
            (127, "sh: 1: lioprof: not found\n", "`lioprof` is not there"),
            (1, "sudo: lioprof: command not found\n", "`lioprof` is not there"),
            (1, "sudo: a password is required\n", "sudoers"),
            (2, "a\nb\n\nc\nd\n", "`lioprof` failed with 2: b; c; d"),
            (3, "", "`lioprof` failed with 3"),
        ];
        for (code, stderr, expected) in cases {
            let found = RemoteError::of_exit("lioprof", code, stderr).to_string();
            assert!(found.contains(expected), "{code} {stderr:?}: {found}");
        }
    }
}
