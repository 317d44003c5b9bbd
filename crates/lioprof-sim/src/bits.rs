//! Bits of the masks, after `libcfs_debug.h`.

/// Bits of `debug`.
pub mod mask {
    /// Entering and leaving functions.
    pub const TRACE: u32 = 0x1;
    /// Begin and end of operations on a client.
    pub const IOTRACE: u32 = 0x8;
    /// Network events as seen by ptlrpc.
    pub const NET: u32 = 0x200;
    /// Warnings, always logged.
    pub const WARNING: u32 = 0x400;
    /// Distributed locks.
    pub const DLMTRACE: u32 = 0x1_0000;
    /// Errors, always logged.
    pub const ERROR: u32 = 0x2_0000;
    /// Emergencies, always logged.
    pub const EMERG: u32 = 0x4_0000;
    /// Recovery and connections.
    pub const HA: u32 = 0x8_0000;
    /// RPCs.
    pub const RPCTRACE: u32 = 0x10_0000;
    /// Steps of operations on a client.
    pub const VFSTRACE: u32 = 0x20_0000;
    /// Also on the console, always logged.
    pub const CONSOLE: u32 = 0x200_0000;
}

/// Bits of `subsystem_debug`.
pub mod subsystem {
    /// Files without a subsystem of their own.
    pub const UNDEFINED: u32 = 0x1;
    /// osc.
    pub const OSC: u32 = 0x8;
    /// llite.
    pub const LLITE: u32 = 0x80;
    /// obdclass.
    pub const CLASS: u32 = 0x20;
    /// ptlrpc.
    pub const RPC: u32 = 0x100;
    /// ofd.
    pub const FILTER: u32 = 0x2000;
    /// ldlm.
    pub const LDLM: u32 = 0x1_0000;
}

/// Masks that cannot be switched off.
pub const ALWAYS: u32 = mask::ERROR | mask::EMERG | mask::WARNING | mask::CONSOLE;
