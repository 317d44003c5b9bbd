//! A kernel log that is open.

use std::fmt;
use std::io::Read;

use lustre_debuglog::kernel_log::KernelLogForm;

use super::compression::Compression;
use super::damage::SharedDamage;
use super::recoded::Recoded;

/// A kernel log that was found where a debug log was expected, from its first byte.
pub struct OpenedKernelLog {
    /// Who wrote it.
    pub(crate) form: KernelLogForm,
    /// How it is compressed.
    pub(crate) compression: Option<Compression>,
    /// What of the file is undone in `stream`.
    pub(crate) recoded: Recoded,
    /// All decompressed bytes. It never fails: damage ends it.
    pub(crate) stream: Box<dyn Read + Send>,
    /// What was wrong with what was read so far.
    pub(crate) damage: SharedDamage,
}

impl fmt::Debug for OpenedKernelLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenedKernelLog").field("form", &self.form).finish_non_exhaustive()
    }
}
