//! One record of the debug log: the header's fields and the text.

/// Bits of [`Record::subsystem`] that this crate or its users look at (`libcfs_debug.h`, stable values).
pub mod subsystem {
    /// `llite`: what programs ask the client for.
    pub const LLITE: u32 = 0x80;
    /// `rpc`: ptlrpc.
    pub const RPC: u32 = 0x100;
    /// `lnet`: LNet itself.
    pub const LNET: u32 = 0x400;
    /// `lnd`: its network drivers.
    pub const LND: u32 = 0x800;
    /// `filter`: ofd, and `mdt_io.c`.
    pub const FILTER: u32 = 0x2000;
    /// `ldlm`: the lock manager.
    pub const LDLM: u32 = 0x1_0000;
}

/// Bits of [`Record::mask`]. A record may carry several: test bits, never compare for equality.
pub mod mask {
    /// `neterror`.
    pub const NETERROR: u32 = 0x100;
    /// `net`.
    pub const NET: u32 = 0x200;
    /// `warning`.
    pub const WARNING: u32 = 0x400;
    /// `dlmtrace`.
    pub const DLMTRACE: u32 = 0x1_0000;
    /// `error`.
    pub const ERROR: u32 = 0x2_0000;
    /// `emerg`.
    pub const EMERG: u32 = 0x4_0000;
    /// `rpctrace`.
    pub const RPCTRACE: u32 = 0x10_0000;
    /// `vfstrace`.
    pub const VFSTRACE: u32 = 0x20_0000;
    /// `console`.
    pub const CONSOLE: u32 = 0x200_0000;
    /// The bits of what the kernel log has, too (`D_CANTMASK`), and of errors of the network.
    pub const FOR_PEOPLE: u32 = NETERROR | WARNING | ERROR | EMERG | CONSOLE;
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

impl Context {
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Process),
            1 => Some(Self::SoftIrq),
            2 => Some(Self::HardIrq),
            _ => None,
        }
    }
}

/// One record, borrowed from the bytes it was framed from.
///
/// Field numbers and names follow `struct ptldebug_header` (libcfs) and `lctl`'s text form
/// `SUBSYS:MASK:CPU.TYPE[F]:SEC.USEC:STACK:PID:EXTPID:(FILE:LINE:FUNC()) TEXT`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Name of the C function that logged the record.
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

    /// Appends the record as `lctl debug_file` prints it.
    pub fn append_text(&self, out: &mut Vec<u8>) {
        // Formatting by `write!` takes longer than all the rest of decoding a log.
        out.reserve(MAX_NUMBERS_LEN + self.file.len() + self.function.len() + self.text.len());
        append_hex_8(out, self.subsystem);
        out.push(b':');
        append_hex_8(out, self.mask);
        out.push(b':');
        append_dec(out, self.cpu);
        if let Some(context) = self.context {
            out.push(b'.');
            append_dec(out, context as u8);
        }
        out.extend_from_slice(if self.first { b"F:" } else { b":" });
        append_dec(out, self.time_us.div_euclid(1_000_000));
        // Behind the first digit are six, whatever they are.
        let digits = out.len();
        append_dec(out, 1_000_000 + self.time_us.rem_euclid(1_000_000));
        out[digits] = b'.';
        for number in [self.stack, self.pid, self.extern_pid] {
            out.push(b':');
            append_dec(out, number);
        }
        out.extend_from_slice(b":(");
        out.extend_from_slice(self.file);
        out.push(b':');
        append_dec(out, self.line);
        out.push(b':');
        out.extend_from_slice(self.function);
        out.extend_from_slice(b"()) ");
        out.extend_from_slice(self.text);
    }
}

/// More than all numbers of a header and what is between them need at their longest: 104 bytes.
const MAX_NUMBERS_LEN: usize = 128;

fn append_dec(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn append_hex_8(out: &mut Vec<u8>, number: u32) {
    let digit = |place: u32| b"0123456789abcdef"[(number >> (28 - 4 * place) & 0xf) as usize];
    out.extend_from_slice(&[0, 1, 2, 3, 4, 5, 6, 7].map(digit));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(record: &Record<'_>) -> String {
        let mut out = Vec::new();
        record.append_text(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn is_written_as_lctl_prints_it() {
        let record = Record {
            subsystem: 0x100,
            mask: 0x0210_0400,
            cpu: 12,
            context: Some(Context::SoftIrq),
            first: true,
            time_us: 1_700_000_000_000_042,
            stack: 0,
            pid: 43_210,
            extern_pid: 0,
            file: b"service.c",
            line: 2543,
            function: b"f",
            text: b"x\n",
        };
        assert_eq!(text(&record), "00000100:02100400:12.1F:1700000000.000042:0:43210:0:(service.c:2543:f()) x\n");
        let old = Record { context: None, first: false, ..record };
        assert_eq!(text(&old), "00000100:02100400:12:1700000000.000042:0:43210:0:(service.c:2543:f()) x\n");
    }

    #[test]
    fn the_longest_numbers_have_room() {
        let most = u32::MAX;
        for time_us in [i64::MIN, i64::MAX] {
            let record = Record {
                subsystem: most,
                mask: most,
                cpu: most,
                context: Some(Context::HardIrq),
                first: true,
                time_us,
                stack: most,
                pid: most,
                extern_pid: most,
                file: b"",
                line: most,
                function: b"",
                text: b"",
            };
            let (seconds, micros) = (time_us.div_euclid(1_000_000), time_us.rem_euclid(1_000_000));
            let want = format!("ffffffff:ffffffff:{most}.2F:{seconds}.{micros:06}:{most}:{most}:{most}:(:{most}:()) ");
            assert_eq!(text(&record), want);
        }
    }
}
