//! What bytes are, told by the first of them.

use lustre_debuglog::frame::{self, Form};
use lustre_debuglog::kernel_log::KernelLogForm;
use memchr::memmem;

use super::compression::Compression;
use super::error::{GIVE_A_DATASET, GIVE_A_LOG};
use super::magic::{is_tar, is_zip};
use super::mail::is_mail;
use crate::envelope::{kernel, repair};

/// How much of a decompressed file tells whether it is a Lustre debug log, and in which form.
pub(crate) const PROBE_BYTES: usize = 64 << 10;

/// What lioprof reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A debug log.
    Log(Form),
    /// A kernel log.
    KernelLog(KernelLogForm),
    /// A tar archive.
    Tar,
    /// A zip archive.
    Zip,
    /// A mail of several parts, or whose text is encoded.
    Mail,
}

impl Content {
    /// From the first [`PROBE_BYTES`] of a file (as UTF-8), or fewer if that is all of it; `None` if it is something else.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if is_tar(head) {
            return Some(Self::Tar);
        }
        if is_zip(head) {
            return Some(Self::Zip);
        }
        if is_mail(head) {
            return Some(Self::Mail);
        }
        let form = frame::detect(head, head.len() < PROBE_BYTES);
        let form = form.or_else(|| repair::is_log(head).then_some(Form::Text));
        form.map(Self::Log).or_else(|| kernel::detect(head).map(Self::KernelLog))
    }
}

/// Whether the text begins as JSON does.
fn is_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let behind = head.get(1..).unwrap_or_default().trim_ascii_start();
    matches!(head.first(), Some(b'{' | b'[')) && matches!(behind.first(), Some(b'"' | b'{' | b'[' | b'}'))
}

/// What stands before each line of a kernel log that cannot be read for that, if the text is one.
pub(super) fn before_kernel_lines(head: &[u8]) -> Option<&[u8]> {
    (!is_json(head) && !kernel::has_lines(head)).then(|| kernel::before_sentences(head)).flatten()
}

/// Whether the text is what `lctl get_param` prints: a parameter's name and `=`, or the statistics that most parameters are.
fn is_parameters(head: &[u8]) -> bool {
    let is_name = |name: &[u8]| {
        name.len() < 200
            && name.contains(&b'.')
            && name.iter().all(|b| b.is_ascii_alphanumeric() || b"._-*@:".contains(b))
    };
    repair::lines(head).take(20).any(|line| {
        memchr::memchr(b'=', line).is_some_and(|at| is_name(&line[..at]))
            || line.starts_with(b"snapshot_time")
            || line.starts_with(b"job_stats:")
    })
}

/// What to try, from what the file is instead.
pub(super) fn hint(head: &[u8]) -> &'static str {
    match head {
        [b'7', b'z', 0xbc, 0xaf, ..] => {
            "it is an archive of 7-Zip: unpack it and give its files, or pack them as tar or zip"
        }
        [b'L', b'P', b'K', b'S', b'H', b'H', b'R', b'H', ..] => {
            "it is a file of the journal: give what `journalctl --file FILE -k -o short-iso-precise` prints"
        }
        [4, 0x22, 0x4d, 0x18, ..] => "it is lz4: decompress it first, or use .gz, .zst, .xz, .bz2",
        _ if Compression::detect(head).is_some() => "it is compressed twice: decompress it once",
        [b'P', b'A', b'R', b'1', ..] => GIVE_A_DATASET,
        _ if head.starts_with(b"Debug log: ") => "it is what `lctl` says about a log: give the log itself",
        _ if is_json(head) && memmem::find(head, b"\"lioprof.analysis/").is_some() => {
            "it is a saved analysis: `lioprof report FILE` makes its page, `lioprof compare` compares two"
        }
        _ if is_json(head) && memmem::find(head, b"\"__REALTIME_TIMESTAMP\"").is_some() => {
            "it holds entries of the journal in one line: give what `journalctl -k -o json` prints, or make a line of each with `jq -c '.[]' FILE`"
        }
        _ if is_json(head) && repair::holds_header(head) => {
            "it is JSON that holds the lines of a debug log as strings, as tools that read crash dumps print: extract the lines, for example with `jq -r '.lines[]' FILE >log.txt`, and give that"
        }
        _ if is_json(head) => {
            "it is JSON; give the debug log itself: the text of `lctl dk` or a raw `lctl debug_daemon` file"
        }
        _ if is_parameters(head) => {
            "it is what `lctl get_param` prints, counters or parameters, and they are no debug log: give the text of `lctl dk`, or a raw `lctl debug_daemon` file"
        }
        _ if kernel::before_sentences(head).is_some() => {
            "it has lines of a kernel log among others: give only these, or what `dmesg` prints"
        }
        _ if head.iter().all(|&byte| byte == 0) => "it holds only NUL bytes so far: was it copied completely?",
        _ => GIVE_A_LOG,
    }
}
