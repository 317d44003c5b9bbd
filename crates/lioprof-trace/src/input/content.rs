//! What bytes are, told by the first of them.

use lustre_debuglog::frame::{self, Form};

use super::archive::tar::is_tar;
use super::archive::zip::is_zip;
use super::compression::Compression;
use super::error::{GIVE_A_DATASET, GIVE_A_LOG};

/// How much of a decompressed file tells whether it is a Lustre debug log, and in which form.
pub(crate) const PROBE_BYTES: usize = 64 << 10;

/// What lioprof reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A debug log.
    Log(Form),
    /// A tar archive.
    Tar,
    /// A zip archive.
    Zip,
}

impl Content {
    /// From the first [`PROBE_BYTES`] of a file, or fewer if that is all of it; `None` if it is something else.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if is_tar(head) {
            return Some(Self::Tar);
        }
        if is_zip(head) {
            return Some(Self::Zip);
        }
        frame::detect(head, head.len() < PROBE_BYTES).map(Self::Log)
    }
}

/// What to try, from what a file is instead.
pub(super) fn hint(head: &[u8]) -> &'static str {
    match head {
        [b'7', b'z', 0xbc, 0xaf, ..] => {
            "it is an archive of 7-Zip: unpack it and give its files, or pack them as tar or zip"
        }
        [4, 0x22, 0x4d, 0x18, ..] => "it is lz4: decompress it first, or use .gz, .zst, .xz, .bz2",
        _ if Compression::detect(head).is_some() => "it is compressed twice: decompress it once",
        [b'P', b'A', b'R', b'1', ..] => GIVE_A_DATASET,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it is UTF-16 text: convert it to UTF-8 first",
        _ if head.starts_with(b"Debug log: ") => "it is what `lctl` says about a log: give the log itself",
        _ if head.iter().all(|&byte| byte == 0) => "it holds only NUL bytes so far: was it copied completely?",
        _ => GIVE_A_LOG,
    }
}
