//! What writing and reading the control files does: masks, `daemon_file`, `debug_mb`, dump, marker, clear.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use lioprof_model::lock;
use lioprof_model::time::now_us;
use rustix::io::Errno;

use super::masks::{self, Mask, Parsed};
use super::module_parameters::Parameter;
use super::numbers::{number_prefix, strict_u32};
use super::{Cause, DEFAULT_SIZE, Kernel, Level, PAGE_BYTES, PAGES_PER_MIB};
use crate::SimRecord;
use crate::bits::mask as mask_bits;

/// Longest path of the debug daemon's file, with its NUL.
const PATH_BYTES: usize = 1024;
/// Longest write since 2.14.51.
const LONGEST_WRITE: usize = u16::MAX as usize;
/// Longest write to `dump_kernel` since 2.14.51.
const LONGEST_DUMP_PATH: usize = 4096;
/// Of a marker, so much is used; a longer one is an error all the same.
const LONGEST_MARKER: usize = 4000;

impl Kernel {
    /// A mask's bits.
    #[must_use]
    pub fn mask(&self, mask: Mask) -> u32 {
        self.masks[mask as usize].load(Relaxed)
    }

    /// When a mask was last set, by the clock of this machine.
    pub(crate) fn masks_set_us(&self) -> i64 {
        self.masks_set_us.load(Relaxed)
    }

    /// A mask as it reads, without line break.
    #[must_use]
    pub fn mask_text(&self, mask: Mask) -> String {
        masks::render(self.mask(mask), mask.kind(), self.config.version)
    }

    /// Sets a mask's bits, as its module parameter does.
    pub fn set_mask(&self, mask: Mask, bits: u32) {
        // Before the mask: what it lets pass was logged later.
        self.masks_set_us.store(now_us(), Relaxed);
        self.masks[mask as usize].store(bits, Relaxed);
    }

    /// A write to a mask.
    ///
    /// # Errors
    /// `EINVAL` for a name that does not exist; the mask stays as it is. `EINVAL` or `E2BIG` if too long.
    pub fn write_mask(&self, mask: Mask, text: &[u8]) -> Result<(), Errno> {
        let text = self.copy_in(text, LONGEST_WRITE)?;
        let text = String::from_utf8_lossy(text);
        match masks::parse(&text, self.mask(mask), mask.kind(), self.config.version) {
            Parsed::Set { mask: bits, numerical } => {
                if numerical {
                    self.print(Level::Warning, self.numerical_warning());
                }
                // The kernel's emergencies always reach the console.
                let bits = if mask == Mask::Printk { bits | mask_bits::EMERG } else { bits };
                self.set_mask(mask, bits);
                Ok(())
            }
            Parsed::Invalid(name) => {
                if let Some(name) = name {
                    self.print(Level::Warning, format!("Lustre: unknown mask '{name}'."));
                }
                Err(Errno::INVAL)
            }
        }
    }

    fn numerical_warning(&self) -> String {
        if self.config.version.has_default_mask() {
            "Lustre: using a numerical debug mask is deprecated".to_owned()
        } else {
            "Lustre: You are trying to use a numerical value for the mask - this will be deprecated in a future \
             release."
                .to_owned()
        }
    }

    /// The text of a write: up to a NUL, without white space at its end (since 2.14.51 also at its beginning).
    fn copy_in<'a>(&self, text: &'a [u8], longest: usize) -> Result<&'a [u8], Errno> {
        let both = self.config.version.trims_both_ends();
        if both && text.len() > longest {
            return Err(Errno::TOOBIG);
        }
        if !both && text.len() + 1 > 2 * PAGE_BYTES {
            return Err(Errno::INVAL);
        }
        let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
        if both {
            return Ok(text.trim_ascii());
        }
        let text = text.trim_ascii_end();
        if text.is_empty() { Err(Errno::INVAL) } else { Ok(text) }
    }

    /// The path of the debug daemon's file; empty if it is stopped.
    #[must_use]
    pub fn daemon_file(&self) -> Vec<u8> {
        lock(&self.daemon.path).clone()
    }

    /// A write to `daemon_file`: a path, `size=MIB` or `stop`. After `stop` everything is in the file.
    ///
    /// # Errors
    /// `EINVAL`, `ENAMETOOLONG`, `E2BIG` for what is no command. Errors of the file are in the kernel log only.
    pub fn daemon_command(self: &Arc<Self>, text: &[u8]) -> Result<(), Errno> {
        let command = self.copy_in(text, LONGEST_WRITE)?;
        if command == b"stop" {
            let control = lock(&self.control);
            self.stop_thread();
            lock(&self.daemon.path).clear();
            drop(control);
            return Ok(());
        }
        if let Some(size) = command.strip_prefix(b"size=") {
            let mib = self.parse_size(size)?;
            let bytes = if (10..=20_480).contains(&mib) { mib << 20 } else { DEFAULT_SIZE };
            self.daemon.size.store(bytes, Relaxed);
            return Ok(());
        }
        if command.len() >= PATH_BYTES {
            return Err(Errno::NAMETOOLONG);
        }
        if !command.starts_with(b"/") {
            return Err(Errno::INVAL);
        }
        let control = lock(&self.control);
        command.clone_into(&mut lock(&self.daemon.path));
        let max_kib = self.daemon.size.load(Relaxed) >> 10;
        let path = String::from_utf8_lossy(command);
        self.print(
            Level::Info,
            format!("Lustre: debug daemon will attempt to start writing to {path} ({max_kib}kB max)"),
        );
        let started = self.start_thread();
        drop(control);
        started.map_err(|_| Errno::CHILD)
    }

    fn parse_size(&self, digits: &[u8]) -> Result<u64, Errno> {
        let text = std::str::from_utf8(digits).map_err(|_| Errno::INVAL)?;
        if !self.config.version.strict_size() {
            return Ok(number_prefix(text));
        }
        let text = text.strip_prefix('+').unwrap_or(text);
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Errno::INVAL);
        }
        text.parse().map_err(|_| Errno::RANGE)
    }

    /// The size of the buffer as `debug_mb` reads: what was set or one more, by how pages divide.
    #[must_use]
    pub fn debug_mb(&self) -> usize {
        let pages: usize = self.streams.iter().map(|stream| lock(stream).max_pages).sum();
        pages / PAGES_PER_MIB + 1
    }

    /// A write to `debug_mb`.
    ///
    /// # Errors
    /// `EINVAL` for what is no number (2.11 and later).
    pub fn set_debug_mb(&self, text: &[u8]) -> Result<(), Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::INVAL)?;
        let mib = if self.config.version.lnet_in_debugfs() {
            let text = text.strip_suffix('\n').unwrap_or(text);
            u64::from(strict_u32(text)?)
        } else {
            number_prefix(text.trim())
        };
        let cpus = u64::from(self.config.cpus);
        let limit = (self.config.ram_mib as u64 * 4 / 5).max(512);
        let warn = |what: &str, to: u64| {
            let text = format!("Lustre: {mib} MB is too {what} for debug buffer size, setting it to {to} MB.");
            self.print(Level::Warning, text);
        };
        let mut set = mib;
        if set < cpus {
            warn("small", cpus);
            set = cpus;
        }
        if set > limit {
            warn("large", limit);
            set = limit;
        }
        self.share_pages(usize::try_from(set / cpus).unwrap_or(usize::MAX >> 20) * PAGES_PER_MIB);
        Ok(())
    }

    /// A write to `dump_kernel`.
    ///
    /// # Errors
    /// `EINVAL` for a path that is not absolute, `EEXIST` if the file exists, other errors of creating it.
    pub fn dump(&self, text: &[u8]) -> Result<(), Errno> {
        let path = self.copy_in(text, LONGEST_DUMP_PATH)?;
        if !path.starts_with(b"/") {
            return Err(Errno::INVAL);
        }
        let control = lock(&self.control);
        let result = self.dump_to(Path::new(std::ffi::OsStr::from_bytes(path)));
        drop(control);
        result
    }

    /// A module parameter as it reads, without line break.
    #[must_use]
    pub fn parameter(&self, parameter: Parameter) -> String {
        lock(&self.parameters).get(parameter).to_owned()
    }

    /// Sets a module parameter.
    ///
    /// # Errors
    /// `EINVAL` if the text is not of the parameter's type.
    pub fn set_parameter(&self, parameter: Parameter, text: &[u8]) -> Result<(), Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::INVAL)?;
        lock(&self.parameters).set(parameter, text.strip_suffix('\n').unwrap_or(text))
    }

    /// Empties the buffer, as `lctl clear`.
    pub fn clear(&self) {
        self.discard_all(Cause::Cleared);
    }

    /// A write to `debug_marker` by the process `pid`: `clear`, or a text that is logged.
    ///
    /// # Errors
    /// `EINVAL` without a NUL at the end of the text (`strndup_user`; `lctl` writes one), `EOVERFLOW` if too long.
    pub fn write_marker(&self, text: &[u8], pid: u32) -> Result<(), Errno> {
        let used = &text[..text.len().min(LONGEST_MARKER)];
        let end = used.iter().position(|&byte| byte == 0).ok_or(Errno::INVAL)?;
        match &used[..end] {
            b"clear" => self.clear(),
            marker => self.mark(marker, pid),
        }
        if text.len() > LONGEST_MARKER { Err(Errno::OVERFLOW) } else { Ok(()) }
    }

    /// Logs `DEBUG MARKER: TEXT`, as `lctl mark`, between two lines of stars under mask trace.
    pub fn mark(&self, text: &[u8], pid: u32) {
        const STARS: &[u8] = b"**************************************************\n";
        let mut record = SimRecord {
            // The clock's step is added when the record is logged.
            time_us: self.marker_time_us(),
            subsystem: 1,
            mask: mask_bits::TRACE,
            pid,
            file: b"debug.c".to_vec(),
            line: 651,
            function: b"libcfs_debug_mark_buffer".to_vec(),
            text: STARS.to_vec(),
            ..SimRecord::default()
        };
        self.log(&record);
        record.mask = mask_bits::WARNING | mask_bits::CONSOLE;
        record.line = 653;
        record.text = [b"DEBUG MARKER: ", text, b"\n"].concat();
        self.log(&record);
        record.mask = mask_bits::TRACE;
        record.line = 654;
        record.text = STARS.to_vec();
        self.log(&record);
    }
}
