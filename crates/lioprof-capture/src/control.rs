//! Lustre's control files: masks, buffer size, the kernel's debug daemon, markers, targets and clients.
//!
//! Their paths depend on the Lustre version, see [`Param`]. If they cannot be accessed (debugfs is not mounted), `lctl` is used
//! if available. Each setting is one `write(2)`, because the kernel takes each write as a whole command.

mod bits;
mod error;
mod files;
mod io;
mod lctl;
pub(crate) mod lustre;
pub(crate) mod masks;
pub(crate) mod param;
pub(crate) mod profile;
pub(crate) mod sizing;
pub(crate) mod values;

use std::path::{Path, PathBuf};

pub(crate) use error::ControlError;
pub(crate) use param::Param;
pub(crate) use values::Values;

use crate::system;
use files::Files;
use io::ControlIo;
use lctl::Lctl;
use masks::MaskSet;
use serde::{Deserialize, Serialize};

/// Default size limit of debug daemon files, MiB (`CFS_TRACEFILE_SIZE`, tracefile.c).
pub(crate) const KERNELS_DAEMON_SIZE_MIB: u64 = 500;

/// The smallest size limit that the kernel accepts, MiB (tracefile.c).
pub(crate) const SMALLEST_DAEMON_SIZE_MIB: u64 = 10;

/// The largest size limit that the kernel accepts, MiB; outside of 10 MiB to this it silently uses its own (tracefile.c).
pub(crate) const LARGEST_DAEMON_SIZE_MIB: u64 = 20_480;

/// How to access the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Files if they exist, else `lctl`.
    #[default]
    Auto,
    /// Files only.
    Files,
    /// `lctl get_param` and `lctl set_param` only.
    Lctl,
}

/// The debug settings of Lustre on one node.
#[derive(Debug)]
pub(crate) struct Control {
    /// The directory used in place of `/`.
    pub(crate) root: PathBuf,
    io: Box<dyn ControlIo>,
    lctl: Lctl,
}

impl Control {
    /// Finds the control files below `root` (normally `/`). `lctl` is a command name or path, used as `access` says.
    pub(crate) fn open(root: &Path, access: Access, lctl: &Path) -> Result<Self, ControlError> {
        let lctl = Lctl::new(lctl);
        let files = Files::new(root);
        let io: Box<dyn ControlIo> = match access {
            Access::Files => Box::new(files.found()?),
            Access::Lctl => Box::new(lctl.found()?),
            Access::Auto => match files.found() {
                Ok(files) => Box::new(files),
                // As root, `lctl` mounts debugfs if it is missing: look again.
                Err(nothing) => match lctl.found() {
                    Err(_) => return Err(nothing),
                    Ok(lctl) => match files.found() {
                        Ok(files) => Box::new(files),
                        Err(_) => Box::new(lctl),
                    },
                },
            },
        };
        Ok(Self { root: root.to_owned(), io, lctl })
    }

    #[cfg(test)]
    pub(crate) fn with_io(root: &Path, io: Box<dyn ControlIo>) -> Self {
        Self { root: root.to_owned(), io, lctl: Lctl::new(Path::new("lctl")) }
    }

    /// How the settings are accessed, for messages: `files` or `lctl`.
    pub(crate) fn access(&self) -> &'static str {
        self.io.name()
    }

    /// Whether the modules of the debug log are loaded; `None` if unknown.
    pub(crate) fn debug_log_loaded(&self) -> Option<bool> {
        self.io.debug_log_loaded().or_else(|| system::modules::debug_log_loaded(&self.root))
    }

    /// Boot id of the node, if known.
    pub(crate) fn boot_id(&self) -> Option<String> {
        self.io.boot_id().or_else(|| system::machine::boot_id(&self.root))
    }

    /// Value of a setting, without white space around it.
    pub(crate) fn read(&self, param: Param) -> Result<String, ControlError> {
        self.io.read(param).map(|text| text.trim().to_owned())
    }

    /// Gives a setting a value (or the debug daemon a command), in one write.
    pub(crate) fn write(&self, param: Param, value: &str) -> Result<(), ControlError> {
        self.io.write(param, value)
    }

    /// Whether this process could change a setting, without changing it; `None` if only an actual write can show that.
    pub(crate) fn writable(&self, param: Param) -> Option<Result<(), ControlError>> {
        self.io.writable(param)
    }

    /// The names that are on in a mask.
    pub(crate) fn mask(&self, param: Param) -> Result<MaskSet, ControlError> {
        self.read(param).map(|text| MaskSet::parse(param, &text))
    }

    /// Switches bits of a mask on and off in one write, and verifies them. All other bits stay as they are, even if another
    /// process changes them at the same time. Returns the resulting mask.
    pub(crate) fn change_mask(&self, param: Param, on: &MaskSet, off: &MaskSet) -> Result<MaskSet, ControlError> {
        let Some(change) = masks::relative(on, off) else { return self.mask(param) };
        self.write(param, &change)?;
        let now = self.mask(param)?;
        let missing = on.minus(&now);
        let left = off.and(&now);
        if missing.is_empty() && left.is_empty() {
            return Ok(now);
        }
        Err(ControlError::NotAccepted { param, wrote: change, found: now.to_string() })
    }

    /// A size as the kernel shows it: the value that was written, or one more.
    pub(crate) fn mib(&self, param: Param) -> Result<u64, ControlError> {
        let text = self.read(param)?;
        text.parse().map_err(|_| ControlError::Unexpected { param, expected: "a number of MiB", found: text })
    }

    /// Sets a size and returns the size that the kernel then shows.
    pub(crate) fn set_mib(&self, param: Param, mib: u64) -> Result<u64, ControlError> {
        self.write(param, &mib.to_string())?;
        self.mib(param)
    }

    /// File of the kernel's debug daemon; `None` if it does not run.
    pub(crate) fn daemon_file(&self) -> Result<Option<PathBuf>, ControlError> {
        let text = self.read(Param::DaemonFile)?;
        Ok((!text.is_empty()).then(|| PathBuf::from(text)))
    }

    /// Starts the kernel's debug daemon on `path` (absolute, on a local file system, preferably not existing) with at most
    /// `size_mib` MiB per file, 10 to 20480.
    ///
    /// Checks that the kernel accepted the path, but not that it can open the file: its thread opens the file later and
    /// reports errors only in the kernel log (see [`crate::kmsg`]), so check whether the file appears.
    pub(crate) fn start_daemon(&self, path: &Path, size_mib: u64) -> Result<(), ControlError> {
        let text = daemon_path(path)?;
        self.set_daemon_size(size_mib)?;
        self.command_daemon(text, Some(path))
    }

    /// Stops the kernel's debug daemon. When this returns, its whole buffer is in its file (in the page cache).
    pub(crate) fn stop_daemon(&self) -> Result<(), ControlError> {
        self.command_daemon("stop", None)
    }

    /// Sends a command to the debug daemon and checks that it then writes this file.
    fn command_daemon(&self, command: &str, path: Option<&Path>) -> Result<(), ControlError> {
        self.write(Param::DaemonFile, command)?;
        let found = self.daemon_file()?;
        if found.as_deref() == path {
            return Ok(());
        }
        let found = found.map_or_else(String::new, |path| path.display().to_string());
        Err(ControlError::NotAccepted { param: Param::DaemonFile, wrote: command.to_owned(), found })
    }

    /// Sets the file size that the kernel's debug daemon uses from now on, in MiB.
    pub(crate) fn set_daemon_size(&self, size_mib: u64) -> Result<(), ControlError> {
        self.write(Param::DaemonFile, &format!("size={size_mib}"))
    }

    /// Writes `DEBUG MARKER: text` into the debug log and the kernel log. Before 2.16 only `lctl` can do that.
    pub(crate) fn mark(&self, text: &str) -> Result<(), ControlError> {
        /// Longest text that `lctl mark` accepts, in bytes.
        const LONGEST: usize = 255;
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let end = (0..=LONGEST.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
        let line = line.get(..end).unwrap_or_default().trim();
        if line.is_empty() || line == "clear" {
            // The file takes the word "clear" as the command to empty the log.
            return Err(ControlError::NoMarker { text: text.to_owned() });
        }
        match self.io.write(Param::DebugMarker, line) {
            Err(ControlError::NoFile { .. }) => self.lctl.run(&["mark", line]).map(|_| ()),
            done => done,
        }
    }
}

/// The kernel accepts absolute paths shorter than 1024 bytes, and cuts off white space at the end.
fn daemon_path(path: &Path) -> Result<&str, ControlError> {
    match path.to_str() {
        Some(text) if text.starts_with('/') && text.len() < 1024 && text.trim() == text && !text.contains('\n') => {
            Ok(text)
        }
        _ => Err(ControlError::BadDaemonPath { path: path.to_owned() }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    pub(crate) mod fake;
}
