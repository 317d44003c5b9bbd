//! What can go wrong with a setting, and what to try then.

use std::io;
use std::path::PathBuf;

use super::param::{Kind, Param};

/// A setting could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No control files and no `lctl`.
    #[error(
        "no Lustre control files: expected {}; load the modules (`modprobe lustre`) or mount debugfs (`mount -t debugfs none /sys/kernel/debug`)",
        list(tried)
    )]
    NothingFound {
        /// Where they were looked for.
        tried: Vec<PathBuf>,
    },
    /// This one setting has no file.
    #[error(
        "no control file `{param}`: expected {}; are the Lustre modules still loaded, and is debugfs mounted?",
        list(tried)
    )]
    NoFile {
        param: Param,
        /// Where it was looked for.
        tried: Vec<PathBuf>,
    },
    /// Reading failed.
    #[error("failed to read `{}`{}", path.display(), why_read(source))]
    Read { path: PathBuf, source: io::Error },
    /// Writing failed.
    #[error("failed to write `{value}` to `{}`{}", path.display(), why_write(*param, source))]
    Write {
        param: Param,
        path: PathBuf,
        /// What was written.
        value: String,
        source: io::Error,
    },
    /// The write succeeded, yet the value is not there.
    #[error(
        "`{param}` did not take `{wrote}`: it shows `{found}`; is somebody else changing it, or did the kernel log say why (`dmesg | tail`)?"
    )]
    NotAccepted {
        param: Param,
        /// What was written.
        wrote: String,
        /// What is there now.
        found: String,
    },
    /// The value is of a form that no known version prints.
    #[error("`{param}`: expected {expected}, found `{found}`")]
    Unexpected {
        param: Param,
        /// What values look like.
        expected: &'static str,
        /// This one.
        found: String,
    },
    /// `lctl` cannot be started.
    #[error("failed to run `{command}`: set `lctl` in section [control] to its full path")]
    LctlMissing { command: String, source: io::Error },
    /// `lctl` ran and failed.
    #[error("`{command}` failed ({status}): {stderr}")]
    Lctl {
        command: String,
        status: String,
        /// What it said.
        stderr: String,
    },
    /// A path that the kernel's debug daemon cannot take.
    #[error(
        "`{}` cannot be the debug daemon's file: expected an absolute path of at most 1023 bytes in UTF-8 without white space at its end",
        path.display()
    )]
    BadDaemonPath { path: PathBuf },
    /// A marker without text, or one that the kernel would take as a command.
    #[error("`{text}` cannot be a marker: expected some text other than the word `clear`, which would empty the log")]
    NoMarker { text: String },
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    names.join(" or ")
}

fn why_read(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            ": only root may read it; if this is root, is the kernel locked down (`cat /sys/kernel/security/lockdown`)?"
        }
        _ => "",
    }
}

/// The kernel's error numbers, in words. From libcfs `debug.c`, `tracefile.c` and fs/debugfs/file.c.
fn why_write(param: Param, error: &io::Error) -> &'static str {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(error);
    let is = |code: Errno| errno == Some(code);
    if is(Errno::INVAL) {
        return match param.about().kind {
            Kind::Mask(_) => {
                ": the kernel knows no such mask (its names: `lctl debug_list types` and `lctl debug_list subs`); nothing was changed"
            }
            Kind::Daemon => ": expected an absolute path, `size=MIB` or `stop`",
            Kind::Mib => ": expected a number of MiB",
            Kind::Marker => "",
        };
    }
    if is(Errno::PERM) {
        return ": forbidden although the file is there; the kernel is probably locked down (`cat /sys/kernel/security/lockdown`), as with secure boot";
    }
    if is(Errno::ACCESS) {
        return ": only root may write it";
    }
    if is(Errno::TOOBIG) || is(Errno::NAMETOOLONG) {
        return ": longer than the kernel takes";
    }
    if is(Errno::EXIST) {
        return ": the file is there already, the kernel wants a new one";
    }
    if is(Errno::ROFS) {
        return ": mounted read-only; in a systemd unit `ProtectKernelTunables=` must be off";
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_try() {
        let refused = |errno: i32| {
            ControlError::Write {
                param: Param::Debug,
                path: "/sys/kernel/debug/lnet/debug".into(),
                value: "+rpctrac".into(),
                source: io::Error::from_raw_os_error(errno),
            }
            .to_string()
        };
        assert_eq!(
            refused(22),
            "failed to write `+rpctrac` to `/sys/kernel/debug/lnet/debug`: the kernel knows no such mask (its names: `lctl debug_list \
             types` and `lctl debug_list subs`); nothing was changed"
        );
        assert!(refused(1).contains("locked down"), "{}", refused(1));
        assert!(refused(13).contains("root"), "{}", refused(13));
        assert!(refused(7).contains("longer"), "{}", refused(7));
    }
}
