//! The masks `debug` and `subsystem_debug`: names, what writing them means, how they read.
//!
//! After `libcfs_debug.h` (names, bits) and `cfs_str2mask`, `cfs_mask2str` (libcfs `debug.c`).

use super::LustreVersion;
use super::numbers::radix;
use crate::bits::{ALWAYS, mask};

/// The mask after the modules are loaded: what is always logged, ioctl, neterror, ha, config, lfsck.
const DEFAULT_DEBUG: u32 = ALWAYS | 0x80 | 0x100 | mask::HA | 0x100_0000 | 0x1000_0000;
/// The subsystems after the modules are loaded: all.
const DEFAULT_SUBSYSTEMS: u32 = u32::MAX;
/// All masks after the modules are loaded, in the order of [`Mask`].
pub(super) const DEFAULTS: [u32; 4] = [DEFAULT_DEBUG, DEFAULT_SUBSYSTEMS, ALWAYS, 0];
const DEBUG_NAMES: [&str; 32] = [
    "trace", "inode", "super", "iotrace", "malloc", "cache", "info", "ioctl", "neterror", "net", "warning", "buffs",
    "other", "dentry", "nettrace", "page", "dlmtrace", "error", "emerg", "ha", "rpctrace", "vfstrace", "reada", "mmap",
    "config", "console", "quota", "sec", "lfsck", "hsm", "snapshot", "layout",
];

/// Bits without a meaning have an empty name: in what is read two blanks follow each other there.
const SUBSYSTEM_NAMES: [&str; 32] = [
    "undefined",
    "mdc",
    "mds",
    "osc",
    "ost",
    "class",
    "log",
    "llite",
    "rpc",
    "mgmt",
    "lnet",
    "lnd",
    "pinger",
    "filter",
    "libcfs",
    "echo",
    "ldlm",
    "lov",
    "lquota",
    "osd",
    "lfsck",
    "snapshot",
    "",
    "lmv",
    "",
    "sec",
    "gss",
    "",
    "mgc",
    "mgs",
    "fid",
    "fld",
];

/// A mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// `debug`.
    Debug,
    /// `subsystem_debug`.
    SubsystemDebug,
    /// `printk`: what goes to the kernel log, too.
    Printk,
    /// `subsystem_printk`.
    SubsystemPrintk,
}

impl Mask {
    pub(super) fn kind(self) -> MaskKind {
        match self {
            Self::Debug | Self::Printk => MaskKind::Debug,
            Self::SubsystemDebug | Self::SubsystemPrintk => MaskKind::Subsystem,
        }
    }
}

/// What the bits of a mask are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskKind {
    /// `debug`, `printk`.
    Debug,
    /// `subsystem_debug`, `subsystem_printk`.
    Subsystem,
}

impl MaskKind {
    fn name(self, bit: usize, version: LustreVersion) -> &'static str {
        match self {
            Self::Debug if bit == 3 && version < LustreVersion::V2_15 => "ext2",
            Self::Debug => DEBUG_NAMES[bit],
            Self::Subsystem => SUBSYSTEM_NAMES[bit],
        }
    }

    fn minimum(self) -> u32 {
        match self {
            Self::Debug => ALWAYS,
            Self::Subsystem => 0,
        }
    }

    fn default_mask(self) -> u32 {
        match self {
            Self::Debug => DEFAULT_DEBUG,
            Self::Subsystem => DEFAULT_SUBSYSTEMS,
        }
    }
}

/// What a write to a mask leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed {
    /// The mask gets this value; `numerical` asks for a warning in the kernel log.
    Set {
        /// New value.
        mask: u32,
        /// A number other than 0 and -1 was written.
        numerical: bool,
    },
    /// The write fails with `EINVAL`; the name that is not known, if that is why.
    Invalid(Option<String>),
}

/// The mask as one reads it: names, or `0`.
#[must_use]
pub fn render(mask: u32, kind: MaskKind, version: LustreVersion) -> String {
    if mask == 0 {
        return "0".to_owned();
    }
    let mut text = String::new();
    for bit in (0..32).filter(|bit| mask & 1 << bit != 0) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(kind.name(bit, version));
    }
    text
}

/// What writing `text` to a mask that is `old` does.
#[must_use]
pub fn parse(text: &str, old: u32, kind: MaskKind, version: LustreVersion) -> Parsed {
    if let Some(mask) = scan_number(text.trim_end()) {
        return Parsed::Set { mask, numerical: mask != 0 && mask != u32::MAX };
    }
    let mut rest = text;
    // Without any name, versions that start from the minimum stay there.
    let mut mask = if version.operator_is_for_one_name() { old } else { kind.minimum() };
    let mut operator = None;
    let mut first = true;
    let separates = |c: char| c.is_ascii_whitespace() || (c == ',' && version.comma_separates_masks());
    loop {
        rest = rest.trim_start_matches(separates);
        let Some(start) = rest.chars().next() else { break };
        if version.operator_is_for_one_name() {
            operator = None;
        }
        if matches!(start, '+' | '-') {
            operator = Some(start);
            if first {
                mask = old;
            }
            rest = rest[1..].trim_start_matches(|c: char| c.is_ascii_whitespace());
            if rest.is_empty() {
                return Parsed::Invalid(None);
            }
        } else if first {
            mask = kind.minimum();
        }
        first = false;
        let end = rest.find(|c: char| separates(c) || matches!(c, '+' | '-')).unwrap_or(rest.len());
        let Some(changed) = apply(&rest[..end], operator, mask, kind, version) else {
            return Parsed::Invalid(Some(rest[..end].to_owned()));
        };
        mask = changed;
        rest = &rest[end..];
    }
    Parsed::Set { mask, numerical: false }
}

fn apply(name: &str, operator: Option<char>, mask: u32, kind: MaskKind, version: LustreVersion) -> Option<u32> {
    let removes = operator == Some('-');
    let bit = (0..32).find(|&bit| kind.name(bit, version).eq_ignore_ascii_case(name));
    if let Some(bit) = bit
        && !name.is_empty()
    {
        return Some(if removes { mask & !(1 << bit) } else { mask | 1 << bit });
    }
    if name.eq_ignore_ascii_case("all") {
        return Some(if removes { kind.minimum() } else { u32::MAX });
    }
    let default = kind.default_mask();
    if version.has_default_mask() && name.eq_ignore_ascii_case("default") {
        return Some(match operator {
            Some('-') => mask & !default | kind.minimum(),
            Some(_) => mask | default,
            None => default,
        });
    }
    if version.has_none_mask() && name.eq_ignore_ascii_case("none") {
        return Some(kind.minimum());
    }
    None
}

/// `sscanf(text, "%i")` that takes all of `text`; the kernel keeps 32 bits.
fn scan_number(text: &str) -> Option<u32> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = radix(digits);
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    let value = if negative { value.wrapping_neg() } else { value };
    u32::try_from(value & u64::from(u32::MAX)).ok()
}
