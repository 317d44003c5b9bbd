//! This program's copy on servers that lack it, for the time of a recording.

use std::sync::Arc;
use std::time::Duration;

use lioprof_remote::{RemoteCommand, Ssh};

use crate::error::HostError;

/// Time for the copy; it is some ten megabytes.
const PUSH_WITHIN: Duration = Duration::from_secs(300);
/// Time to delete it.
const REMOVE_WITHIN: Duration = Duration::from_secs(30);
/// Name of the program in its folder.
const NAME: &str = "lioprof";

/// Takes the program from standard input, and says in which folder it put it. Refuses another architecture.
const RECEIVE: &str = r#"
there=$(uname -sm)
[ "$there" = "Linux $1" ] || { echo "this is $there, and the copy is for Linux $1" >&2; exit 3; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/lioprof-XXXXXXXX") || exit 4
if cat >"$dir/lioprof" && chmod 755 "$dir" "$dir/lioprof" && "$dir/lioprof" --version >&2
then echo "$dir"
else rm -rf "$dir"; echo "the copy does not run in $dir: is the file system full, or mounted noexec?" >&2; exit 5
fi"#;

/// This program, to be copied.
#[derive(Clone, Debug)]
pub(crate) struct Copy(Arc<Vec<u8>>);

impl Copy {
    pub(crate) fn of_this_program() -> std::io::Result<Self> {
        Ok(Self(Arc::new(std::fs::read(std::env::current_exe()?)?)))
    }

    /// Copies it to a host. Returns the folder there.
    pub(crate) async fn push(&self, ssh: &Ssh, host: &str) -> Result<String, HostError> {
        let command = RemoteCommand::script(RECEIVE).args(["sh", std::env::consts::ARCH]);
        let output = ssh.run(host, &command, &self.0, PUSH_WITHIN).await?;
        let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        // What will be deleted later must be what was made.
        if folder.starts_with('/') && folder.contains("/lioprof-") && !folder.contains(char::is_whitespace) {
            Ok(folder)
        } else {
            Err(HostError::Protocol(format!("{folder:?} in place of the folder of the copy")))
        }
    }
}

/// The program in a folder.
pub(crate) fn program_in(folder: &str) -> String {
    format!("{folder}/{NAME}")
}

/// Deletes the copy.
pub(crate) async fn remove(ssh: &Ssh, host: &str, folder: &str) -> Result<(), HostError> {
    let command = RemoteCommand::script(r#"rm -f "$1/lioprof" && rmdir "$1""#).args(["sh", folder]);
    ssh.run(host, &command, b"", REMOVE_WITHIN).await?;
    Ok(())
}
