//! Whether a text ends inside a line: then more may be missing.

use lustre_debuglog::Message;
use lustre_debuglog::frame::text::SUMMARY;
use lustre_debuglog::record::mask;

use super::prefix;
use super::repair::{self, Logged};

/// How the messages begin that make up most of a log of rpctrace: a text may be cut inside these words.
const BEGINNINGS: [&[u8]; 9] = [
    b"Handling RPC ",
    b"Handled RPC ",
    b"Sending RPC ",
    b"Completed RPC ",
    b"@@@ ",
    b"### ",
    b"NRS start ",
    b"got req x",
    b"Prolong locks for req ",
];

/// Bytes at the end of a text that hold its last record, whatever was done to it.
const TAIL_BYTES: usize = 64 << 10;

/// Whether `data`, the end of a text, ends inside a line. A text may lack its last line break and be whole: whoever copies one out of a
/// window loses that. So the last line must show that it is cut: by its header, or by a message that does not parse.
pub(crate) fn is_cut(data: &[u8]) -> bool {
    if data.is_empty() || data.ends_with(b"\n") || data.ends_with(b"\0") {
        return false;
    }
    let tail = &data[data.len().saturating_sub(TAIL_BYTES)..];
    let mut last = &b""[..];
    let mut usual = 0;
    for line in repair::lines(tail) {
        if let Some(start) = prefix::header_start(line, usual) {
            usual = start;
        }
        last = line;
    }
    let own = last.get(usual..).unwrap_or_default();
    if SUMMARY.starts_with(own) {
        // Of a log that lost its last line, or of what `lctl` says at its end.
        return !own.is_empty();
    }
    if prefix::begins_header(own) {
        return true;
    }
    let mut is_cut = false;
    repair::repaired(tail, 0, |Logged { record, message, .. }| {
        is_cut = match message {
            Message::Malformed(_) => true,
            Message::Other => {
                record.mask & (mask::RPCTRACE | mask::DLMTRACE) != 0
                    && BEGINNINGS.iter().any(|words| words.starts_with(record.message()))
            }
            _ => false,
        }
    });
    is_cut
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = "00000100:00100000:1.0:1700000000.000001:0:7:0:(service.c:1:f()) got req x17\n\
        00000100:00100000:1.0:1700000000.000002:0:7:0:(service.c:1:f()) Handled RPC pname:cluuid+ref:pid:xid:nid:opc t:u+6:381:x17:12345-10.10.0.11@tcp:4 Request processed in 1us (2us total) trans 0 rc 0/0";

    /// Cut anywhere in its last line it shows; whole, it does not.
    #[test]
    fn a_cut_shows_wherever_it_can() {
        for before in ["", "> ", "oss01: "] {
            let text: String = LINES.lines().map(|line| format!("{before}{line}\n")).collect();
            let whole = text.trim_end();
            let line = whole.rfind('\n').unwrap() + 1 + before.len();
            assert!(!is_cut(whole.as_bytes()));
            assert!(!is_cut(text.as_bytes()));
            for end in line + 1..whole.len() {
                assert!(is_cut(&whole.as_bytes()[..end]), "{}", &whole[line..end]);
            }
        }
    }

    #[test]
    fn remarks_at_the_end_are_no_cut() {
        for end in ["\n```", "\n</pre>", "\n-- \nAnna", "", "\nDebug log: 2 lines, 2 kept, 0 dropped, 0 bad."] {
            assert!(!is_cut(format!("{LINES}{end}").as_bytes()), "{end}");
        }
        assert!(is_cut(format!("{LINES}\nDebug log").as_bytes()));
    }
}
