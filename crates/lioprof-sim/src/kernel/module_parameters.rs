//! Parameters of the kernel's modules.

use rustix::io::Errno;

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

/// Their values as they read, in the order of [`Parameter`].
#[derive(Debug)]
pub(super) struct Parameters([String; 7]);

impl Default for Parameters {
    fn default() -> Self {
        Self(["/tmp/lustre-log", "1", "2", "60000", "50", "1", "N"].map(str::to_owned))
    }
}

impl Parameters {
    pub(super) fn get(&self, parameter: Parameter) -> &str {
        &self.0[parameter as usize]
    }

    /// Sets a parameter; `EINVAL` if the text is not of its type.
    pub(super) fn set(&mut self, parameter: Parameter, text: &str) -> Result<(), Errno> {
        let value = match parameter {
            Parameter::DebugPath => text.to_owned(),
            Parameter::RawPointers => match text {
                "1" | "y" | "Y" | "on" => "Y".to_owned(),
                "0" | "n" | "N" | "off" => "N".to_owned(),
                _ => return Err(Errno::INVAL),
            },
            _ => match text.parse::<u32>() {
                Ok(0) if parameter == Parameter::ConsoleBackoff => return Err(Errno::INVAL),
                number => number.map_err(|_| Errno::INVAL)?.to_string(),
            },
        };
        self.0[parameter as usize] = value;
        Ok(())
    }
}
