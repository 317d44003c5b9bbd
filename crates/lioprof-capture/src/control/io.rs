//! The two ways to a setting, and the seam at which tests put a make-believe kernel.

use std::fmt;

use super::{ControlError, Param};

/// Reads and writes settings. One call of `write` is one `write(2)` for the kernel.
pub(crate) trait ControlIo: fmt::Debug + Send + Sync {
    /// `files`, `lctl`.
    fn name(&self) -> &'static str;
    /// The text as the kernel prints it.
    fn read(&self, param: Param) -> Result<String, ControlError>;
    /// One command.
    fn write(&self, param: Param, value: &str) -> Result<(), ControlError>;
    /// Could this process write it? `None`: that shows only when it is tried.
    fn writable(&self, _param: Param) -> Option<Result<(), ControlError>> {
        None
    }
    /// Are the modules loaded? `None`: ask the node.
    fn debug_log_loaded(&self) -> Option<bool> {
        None
    }
    /// Which boot is this? `None`: ask the node.
    fn boot_id(&self) -> Option<String> {
        None
    }
}
