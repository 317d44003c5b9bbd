//! What a simulated kernel logs.

/// One debug message before the kernel decides whether its masks let it pass. Reused between messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimRecord {
    /// Wall-clock time, microseconds since the epoch.
    pub time_us: i64,
    /// CPU that logs.
    pub cpu: u16,
    /// 0 process, 1 softirq, 2 hard irq.
    pub context: u16,
    /// Bit of the subsystem that logs, see [`crate::bits`].
    pub subsystem: u32,
    /// Bits of the message types.
    pub mask: u32,
    /// Pid of the logging task.
    pub pid: u32,
    /// Base name of the C file.
    pub file: Vec<u8>,
    /// Line in it.
    pub line: u32,
    /// Name of the C function.
    pub function: Vec<u8>,
    /// Text with its line break.
    pub text: Vec<u8>,
}

/// Which time records get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Stamp {
    /// The time that was recorded.
    #[default]
    Original,
    /// The current time: the first record now, the others as far from it as they are played.
    Now,
}

/// Something that makes a server log: a scenario, or a log that is played again.
pub trait Workload {
    /// Fills in the next message, in time order; `false` at the end.
    fn next(&mut self, record: &mut SimRecord) -> bool;
}
