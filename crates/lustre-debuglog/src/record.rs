//! One record of the debug log: the header's fields and the text.

use std::io::{self, Write};

/// Bits of [`Record::subsystem`] that this crate or its users look at (`libcfs_debug.h`, stable values).
pub mod subsystem {
    /// `rpc`: ptlrpc.
    pub const RPC: u32 = 0x100;
    /// `filter`: ofd, and `mdt_io.c`.
    pub const FILTER: u32 = 0x2000;
    /// `ldlm`: the lock manager.
    pub const LDLM: u32 = 0x1_0000;
}

/// Bits of [`Record::mask`]. A record may carry several: test bits, never compare for equality.
pub mod mask {
    /// `net`.
    pub const NET: u32 = 0x200;
    /// `warning`.
    pub const WARNING: u32 = 0x400;
    /// `dlmtrace`.
    pub const DLMTRACE: u32 = 0x1_0000;
    /// `error`.
    pub const ERROR: u32 = 0x2_0000;
    /// `rpctrace`.
    pub const RPCTRACE: u32 = 0x10_0000;
    /// `console`.
    pub const CONSOLE: u32 = 0x200_0000;
}

/// Which kernel context logged a record (`ph_type`, the digit after the CPU's dot).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Context {
    /// 0: a process or kernel thread.
    #[default]
    Process = 0,
    /// 1: softirq.
    SoftIrq = 1,
    /// 2: hard irq.
    HardIrq = 2,
}

/// One record, borrowed from the bytes it was framed from.
///
/// Field numbers and names follow `struct ptldebug_header` (libcfs) and `lctl`'s text form
/// `SUBSYS:MASK:CPU.TYPE[F]:SEC.USEC:STACK:PID:EXTPID:(FILE:LINE:FUNC()) TEXT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Subsystem bit of the emitting file, see [`subsystem`].
    pub subsystem: u32,
    /// Mask bits of the message, see [`mask`].
    pub mask: u32,
    /// CPU that logged (not the CPU partition).
    pub cpu: u32,
    /// Context that logged; together with the CPU it names the kernel's buffer, a *stream*.
    /// `None` in the text of Lustre 1.8, which does not print it.
    pub context: Option<Context>,
    /// The `F` flag: that stream was empty before this record.
    pub first: bool,
    /// Wall-clock time in microseconds since the epoch (server's `CLOCK_REALTIME`; it can step).
    pub time_us: i64,
    /// Kernel stack in use, bytes; 0 on x86_64.
    pub stack: u32,
    /// Kernel pid of the logging task.
    pub pid: u32,
    /// "Host pid", always 0 on Linux.
    pub extern_pid: u32,
    /// Base name of the C source file.
    pub file: &'a [u8],
    /// Line in that file; differs in every build.
    pub line: u32,
    /// C function.
    pub function: &'a [u8],
    /// The text as stored: normally ends with a line break, may hold others inside.
    pub text: &'a [u8],
}

impl<'a> Record<'a> {
    /// The text without its final line break.
    #[inline]
    #[must_use]
    pub fn message(&self) -> &'a [u8] {
        self.text.strip_suffix(b"\n").unwrap_or(self.text)
    }

    /// Bytes of this record in a binary log: header, names with their NULs, text.
    #[must_use]
    pub fn binary_len(&self) -> usize {
        48 + self.file.len() + 1 + self.function.len() + 1 + self.text.len()
    }

    /// Number of the kernel buffer this record went through: `cpu * 4 + context`.
    ///
    /// Records of one stream are in time order in every file (clock steps aside); nothing orders
    /// records of different streams.
    #[inline]
    #[must_use]
    pub fn stream(&self) -> u32 {
        self.cpu.wrapping_mul(4).wrapping_add(self.context.map_or(3, |c| c as u32))
    }

    /// Writes the record as `lctl debug_file` prints it.
    ///
    /// # Errors
    /// Whatever `out` returns.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let seconds = self.time_us.div_euclid(1_000_000);
        let micros = self.time_us.rem_euclid(1_000_000);
        write!(out, "{:08x}:{:08x}:{}", self.subsystem, self.mask, self.cpu)?;
        if let Some(context) = self.context {
            write!(out, ".{}", context as u8)?;
        }
        write!(
            out,
            "{}:{seconds}.{micros:06}:{}:{}:{}:(",
            if self.first { "F" } else { "" },
            self.stack,
            self.pid,
            self.extern_pid,
        )?;
        out.write_all(self.file)?;
        write!(out, ":{}:", self.line)?;
        out.write_all(self.function)?;
        out.write_all(b"()) ")?;
        out.write_all(self.text)
    }
}
