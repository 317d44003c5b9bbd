//! The trait of the two ways to access a setting, which tests implement with a fake kernel.

use std::fmt;

use super::{ControlError, Param};

/// Reads and writes settings. One call of `write` is one `write(2)` for the kernel.
pub(crate) trait ControlIo: fmt::Debug + Send + Sync {
    /// Name for messages: `files` or `lctl`.
    fn name(&self) -> &'static str;
    /// Reads a setting, as the kernel prints it.
    fn read(&self, param: Param) -> Result<String, ControlError>;
    /// Writes a value or command.
    fn write(&self, param: Param, value: &str) -> Result<(), ControlError>;
    /// Whether this process could write it; `None` if only an actual write can show that.
    fn writable(&self, _param: Param) -> Option<Result<(), ControlError>> {
        None
    }
    /// Whether the modules are loaded; `None`: ask the node.
    fn debug_log_loaded(&self) -> Option<bool> {
        None
    }
    /// The boot id; `None`: ask the node.
    fn boot_id(&self) -> Option<String> {
        None
    }
}
