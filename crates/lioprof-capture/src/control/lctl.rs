//! The settings through `lctl`, which knows where each version keeps them and mounts debugfs if need be.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::io::ControlIo;
use super::{ControlError, Param};

/// The `lctl` command.
#[derive(Clone, Debug)]
pub(super) struct Lctl {
    command: PathBuf,
}

impl Lctl {
    pub(super) fn new(command: &Path) -> Self {
        Self { command: command.to_owned() }
    }

    /// The `lctl` at `command`, if it runs and knows the debug mask.
    pub(super) fn found(&self) -> Result<Self, ControlError> {
        self.read(Param::Debug).map(|_| self.clone())
    }

    /// Runs `lctl ARGUMENTS` and returns what it prints.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<String, ControlError> {
        let command = || format!("{} {}", self.command.display(), arguments.join(" "));
        let output = Command::new(&self.command)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|source| ControlError::LctlMissing { command: command(), source })?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Old versions exit with 0 when set_param fails and say so in words.
        if !output.status.success() || stderr.contains("error:") {
            return Err(ControlError::Lctl {
                command: command(),
                status: output.status.to_string(),
                stderr: stderr.trim().replace('\n', "; "),
            });
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl ControlIo for Lctl {
    fn name(&self) -> &'static str {
        "lctl"
    }

    fn read(&self, param: Param) -> Result<String, ControlError> {
        self.run(&["get_param", "-n", param.name()])
    }

    fn write(&self, param: Param, value: &str) -> Result<(), ControlError> {
        if param == Param::DebugMarker {
            return self.run(&["mark", value]).map(|_| ());
        }
        self.run(&["set_param", "-n", &format!("{param}={value}")]).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A stand-in that keeps values in files beside itself and fails as `lctl` does.
    fn stand_in(dir: &Path) -> PathBuf {
        let path = dir.join("lctl");
        let script = r#"#!/bin/sh
dir=$(dirname "$0")
case "$1 $2" in
"get_param -n") cat "$dir/$3" 2>/dev/null || { echo "error: get_param: param_path '$3': No such file or directory" >&2; exit 2; } ;;
"set_param -n") case "$3" in *bogus*) echo "error: set_param: setting $3: Invalid argument" >&2; exit 0;; esac
    echo "${3#*=}" > "$dir/${3%%=*}" ;;
mark*) echo "$2" > "$dir/marked" ;;
*) exit 1 ;;
esac
"#;
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn reads_writes_and_marks() {
        let dir = tempfile::tempdir().unwrap();
        let path = stand_in(dir.path());
        assert!(Lctl::new(&path).found().is_err());
        fs::write(dir.path().join("debug"), "ioctl\n").unwrap();
        let lctl = Lctl::new(&path).found().unwrap();
        lctl.write(Param::DaemonFile, "size=64").unwrap();
        assert_eq!(lctl.read(Param::DaemonFile).unwrap(), "size=64\n");
        lctl.write(Param::DebugMarker, "run 7 = start").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("marked")).unwrap(), "run 7 = start\n");
    }

    #[test]
    fn its_own_words_are_in_the_error() {
        let dir = tempfile::tempdir().unwrap();
        let lctl = Lctl::new(&stand_in(dir.path()));
        let error = lctl.write(Param::Debug, "+bogus").unwrap_err().to_string();
        assert!(error.contains("Invalid argument") && error.contains("debug=+bogus"), "{error}");
        let error = Lctl::new(Path::new("/nonexistent/lctl")).read(Param::Debug).unwrap_err().to_string();
        assert!(error.contains("[control]"), "{error}");
    }
}
