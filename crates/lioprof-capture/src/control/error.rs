//! Errors of reading and changing settings, with hints what to try.

use std::io;
use std::path::PathBuf;

use super::param::{Kind, Param};

/// A setting could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// No control files and no `lctl`.
    #[error(
        "no Lustre control files: expected {}; load the modules (`modprobe lustre`) or mount debugfs \
         (`mount -t debugfs none /sys/kernel/debug`)",
        list(tried)
    )]
    NothingFound {
        /// Where they were looked for.
        tried: Vec<PathBuf>,
    },
    /// This setting has no control file, although others have.
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
        /// Value that was written.
        value: String,
        source: io::Error,
    },
    /// The write succeeded, but the setting reads back as something else.
    #[error(
        "`{param}` did not take `{wrote}`: it shows `{found}`; is another process changing it, or does the kernel log \
         say why (`dmesg | tail`)?"
    )]
    NotAccepted {
        param: Param,
        /// Value that was written.
        wrote: String,
        /// Value that the setting shows now.
        found: String,
    },
    /// The value is of a form that no known version prints.
    #[error("`{param}`: expected {expected}, found `{found}`")]
    Unexpected {
        param: Param,
        /// Expected form of the value.
        expected: &'static str,
        /// Value that was found.
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
        /// Its standard error.
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

/// Explains the error numbers that libcfs `debug.c`, `tracefile.c` and the kernel's fs/debugfs/file.c return.
fn why_write(param: Param, error: &io::Error) -> &'static str {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(error);
    let is = |code: Errno| errno == Some(code);
    if is(Errno::INVAL) {
        return match param.about().kind {
            Kind::Mask(_) => {
                ": the kernel does not know this mask (see `lctl debug_list types` and `lctl debug_list subs`); nothing was changed"
            }
            Kind::Daemon => ": expected an absolute path, `size=MIB` or `stop`",
            Kind::Mib => ": expected a number of MiB",
            Kind::Marker => "",
        };
    }
    if is(Errno::PERM) {
        return ": forbidden although the file exists; the kernel is probably locked down \
                (`cat /sys/kernel/security/lockdown`), as with secure boot";
    }
    if is(Errno::ACCESS) {
        return ": only root may write it";
    }
    if is(Errno::TOOBIG) || is(Errno::NAMETOOLONG) {
        return ": longer than the kernel accepts";
    }
    if is(Errno::EXIST) {
        return ": the file already exists, but the kernel needs a new one";
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
            "failed to write `+rpctrac` to `/sys/kernel/debug/lnet/debug`: the kernel does not know this mask (see `lctl debug_list \
             types` and `lctl debug_list subs`); nothing was changed"
        );
        assert!(refused(1).contains("locked down"), "{}", refused(1));
        assert!(refused(13).contains("root"), "{}", refused(13));
        assert!(refused(7).contains("longer"), "{}", refused(7));
    }
}
