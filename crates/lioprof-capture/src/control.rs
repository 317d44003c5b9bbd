//! Lustre's control files: masks, buffer size, the kernel's debug daemon, markers, targets and clients.
//!
//! The files moved over the versions, see [`Param`]. Where they cannot be reached (debugfs is not mounted), `lctl` does
//! the same, if it is there. Each setting is one `write(2)`, because the kernel takes each write as a whole command.

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

#[cfg(test)]
pub(crate) mod fake;

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

/// Size limit of debug daemon files until somebody sets another, MiB (`CFS_TRACEFILE_SIZE`, tracefile.c).
pub(crate) const KERNELS_DAEMON_SIZE_MIB: u64 = 500;

/// The least size limit that the kernel takes, MiB (tracefile.c).
pub(crate) const SMALLEST_DAEMON_SIZE_MIB: u64 = 10;

/// The kernel takes 10 to so many MiB as size limit, and quietly uses its own for anything else (tracefile.c).
pub(crate) const LARGEST_DAEMON_SIZE_MIB: u64 = 20_480;

/// How to reach the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Files if they are there, else `lctl`.
    #[default]
    Auto,
    /// Files only.
    Files,
    /// `lctl get_param` and `lctl set_param` only.
    Lctl,
}

/// The settings of one node's Lustre.
#[derive(Debug)]
pub(crate) struct Control {
    root: PathBuf,
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

    /// The directory that stands for `/`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// How the settings are reached, for people: `files` or `lctl`.
    pub(crate) fn access(&self) -> &'static str {
        self.io.name()
    }

    /// Are the modules of the debug log loaded? `None` if that cannot be told.
    pub(crate) fn debug_log_loaded(&self) -> Option<bool> {
        self.io.debug_log_loaded().or_else(|| system::modules::debug_log_loaded(&self.root))
    }

    /// Identity of this boot of the node, if known.
    pub(crate) fn boot_id(&self) -> Option<String> {
        self.io.boot_id().or_else(|| system::boot::boot_id(&self.root))
    }

    /// Value of a setting, without white space around it.
    pub(crate) fn read(&self, param: Param) -> Result<String, ControlError> {
        self.io.read(param).map(|text| text.trim().to_owned())
    }

    /// Gives a setting a value (or the debug daemon a command), in one write.
    pub(crate) fn write(&self, param: Param, value: &str) -> Result<(), ControlError> {
        self.io.write(param, value)
    }

    /// Could this process change a setting? `None`: that shows only when it is tried. Changes nothing.
    pub(crate) fn writable(&self, param: Param) -> Option<Result<(), ControlError>> {
        self.io.writable(param)
    }

    /// The names that are switched on in a mask.
    pub(crate) fn mask(&self, param: Param) -> Result<MaskSet, ControlError> {
        self.read(param).map(|text| MaskSet::parse(param, &text))
    }

    /// Switches the bits of a mask on and off, in one write, and looks whether they are. All other bits stay as they
    /// are, also those that somebody else changes at the same time. Returns the mask as it is now.
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

    /// A size as the kernel shows it: what was written, or one more.
    pub(crate) fn mib(&self, param: Param) -> Result<u64, ControlError> {
        let text = self.read(param)?;
        text.parse().map_err(|_| ControlError::Unexpected { param, expected: "a number of MiB", found: text })
    }

    /// Sets a size and returns what the kernel then shows.
    pub(crate) fn set_mib(&self, param: Param, mib: u64) -> Result<u64, ControlError> {
        self.write(param, &mib.to_string())?;
        self.mib(param)
    }

    /// File of the kernel's debug daemon; `None` if it does not run.
    pub(crate) fn daemon_file(&self) -> Result<Option<PathBuf>, ControlError> {
        let text = self.read(Param::DaemonFile)?;
        Ok((!text.is_empty()).then(|| PathBuf::from(text)))
    }

    /// Starts the kernel's debug daemon on `path` (absolute, on a local file system, best not there yet) with at most
    /// `size_mib` MiB per file, 10 to 20480.
    ///
    /// That the kernel took the path is checked. Whether it can open the file is not: its thread tries that later and
    /// tells nobody but the kernel log (see [`crate::kmsg`]), so look whether the file appears.
    pub(crate) fn start_daemon(&self, path: &Path, size_mib: u64) -> Result<(), ControlError> {
        let text = daemon_path(path)?;
        self.set_daemon_size(size_mib)?;
        self.command_daemon(text, Some(path))
    }

    /// Stops the kernel's debug daemon. When this returns, all it had is in its file (in the page cache).
    pub(crate) fn stop_daemon(&self) -> Result<(), ControlError> {
        self.command_daemon("stop", None)
    }

    /// Gives the debug daemon a command and looks whether it then writes this file.
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

    /// Puts `DEBUG MARKER: text` into the log and the kernel log. Before 2.16 only `lctl` can do that.
    pub(crate) fn mark(&self, text: &str) -> Result<(), ControlError> {
        /// What `lctl mark` takes.
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

/// The kernel takes absolute paths shorter than 1024 bytes; white space at the end would be cut off.
fn daemon_path(path: &Path) -> Result<&str, ControlError> {
    match path.to_str() {
        Some(text) if text.starts_with('/') && text.len() < 1024 && text.trim() == text && !text.contains('\n') => {
            Ok(text)
        }
        _ => Err(ControlError::BadDaemonPath { path: path.to_owned() }),
    }
}
