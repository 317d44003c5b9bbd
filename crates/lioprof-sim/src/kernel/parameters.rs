//! Module parameters of libcfs that are plain numbers or texts.

use rustix::io::Errno;

use super::{Kernel, lock};

/// A parameter under `/sys/module/libcfs/parameters` (before 2.11: under `/proc/sys/lnet`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// `libcfs_debug_file_path`, `debug_path`: where automatic dumps go.
    DebugPath,
    /// `libcfs_console_ratelimit`.
    ConsoleRatelimit,
    /// `libcfs_console_backoff`.
    ConsoleBackoff,
    /// `libcfs_console_max_delay`, hundredths of a second.
    ConsoleMaxDelay,
    /// `libcfs_console_min_delay`, hundredths of a second.
    ConsoleMinDelay,
    /// `libcfs_panic_on_lbug`.
    PanicOnLbug,
    /// `libcfs_debug_raw_pointers`.
    RawPointers,
}

/// Their values.
#[derive(Debug)]
pub(super) struct Parameters {
    debug_path: String,
    ratelimit: u32,
    backoff: u32,
    max_delay: u32,
    min_delay: u32,
    panic_on_lbug: u32,
    raw_pointers: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            debug_path: "/tmp/lustre-log".to_owned(),
            ratelimit: 1,
            backoff: 2,
            max_delay: 60_000,
            min_delay: 50,
            panic_on_lbug: 1,
            raw_pointers: false,
        }
    }
}

impl Parameters {
    fn number(&mut self, parameter: Parameter) -> Option<&mut u32> {
        match parameter {
            Parameter::ConsoleRatelimit => Some(&mut self.ratelimit),
            Parameter::ConsoleBackoff => Some(&mut self.backoff),
            Parameter::ConsoleMaxDelay => Some(&mut self.max_delay),
            Parameter::ConsoleMinDelay => Some(&mut self.min_delay),
            Parameter::PanicOnLbug => Some(&mut self.panic_on_lbug),
            Parameter::DebugPath | Parameter::RawPointers => None,
        }
    }
}

impl Kernel {
    /// A module parameter as it reads, without line break.
    #[must_use]
    pub fn parameter(&self, parameter: Parameter) -> String {
        let mut parameters = lock(&self.parameters);
        if let Some(number) = parameters.number(parameter) {
            return number.to_string();
        }
        match parameter {
            Parameter::RawPointers => if parameters.raw_pointers { "Y" } else { "N" }.to_owned(),
            _ => parameters.debug_path.clone(),
        }
    }

    /// Sets a module parameter.
    ///
    /// # Errors
    /// `EINVAL` if the text is not of the parameter's type.
    pub fn set_parameter(&self, parameter: Parameter, text: &[u8]) -> Result<(), Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::INVAL)?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let mut parameters = lock(&self.parameters);
        if let Some(number) = parameters.number(parameter) {
            let value: u32 = text.parse().map_err(|_| Errno::INVAL)?;
            if parameter == Parameter::ConsoleBackoff && value == 0 {
                return Err(Errno::INVAL);
            }
            *number = value;
            return Ok(());
        }
        if parameter == Parameter::RawPointers {
            parameters.raw_pointers = match text {
                "1" | "y" | "Y" | "on" => true,
                "0" | "n" | "N" | "off" => false,
                _ => return Err(Errno::INVAL),
            };
        } else {
            text.clone_into(&mut parameters.debug_path);
        }
        Ok(())
    }
}
