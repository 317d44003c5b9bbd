//! Parameters of the kernel's modules.

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
    pub(super) debug_path: String,
    pub(super) ratelimit: u32,
    pub(super) backoff: u32,
    pub(super) max_delay: u32,
    pub(super) min_delay: u32,
    pub(super) panic_on_lbug: u32,
    pub(super) raw_pointers: bool,
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
    pub(super) fn number(&mut self, parameter: Parameter) -> Option<&mut u32> {
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
