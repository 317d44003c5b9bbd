//! How much a text tells: of several texts that may be what was logged, the one that tells most is.

use lustre_debuglog::Message;
use lustre_debuglog::kernel_log::Sentence;
use lustre_debuglog::vocab::EventKind;
use memchr::memmem;

use crate::envelope::wrap::{Fit, fit};

/// How much the kernel's text tells. Descriptions of requests and locks are messages of the debug log, whose grammar says whether they are
/// whole; of the other sentences it is known what they name.
pub(super) fn worth(text: &[u8]) -> u32 {
    let sentence = Sentence::of(text);
    let mut worth = u32::from(sentence.voice.is_some());
    if sentence.voice.is_some() {
        // A place that is broken is not taken off.
        worth += u32::from(memmem::find(sentence.text, b"()) ").is_none());
        worth += u32::from(sentence.skipped().is_some() || sentence.text.starts_with(b"DEBUG MARKER: "));
        if [&b"@@@ "[..], b"### "].iter().any(|words| sentence.text.starts_with(words)) {
            worth += match fit(&Message::parse_text(sentence.text)) {
                Fit::Not => 0,
                Fit::Partly => 16,
                Fit::Wholly => 32,
            };
        }
    }
    if let Some(event) = sentence.event() {
        let is_known = !matches!(event.kind, EventKind::Error | EventKind::LnetError);
        worth += 2 + 8 * u32::from(is_known);
        worth += 2 * u32::from(event.target.is_some()) + 2 * u32::from(event.client.is_some());
        // The name of a network that is broken is that of another.
        worth += u32::from(event.client.is_some_and(is_of_known_net));
    }
    worth
}

/// Names of networks (`lnet/lnet/nidstrings.c`), without their numbers.
const NETS: [&[u8]; 9] = [b"tcp", b"o2ib", b"kfi", b"gni", b"lo", b"efa", b"gip", b"ptlf", b"mx"];

/// Whether a NID is of a network that there is.
fn is_of_known_net(nid: &[u8]) -> bool {
    let net = memchr::memrchr(b'@', nid).map_or(&b""[..], |at| &nid[at + 1..]);
    let letters = net.len() - net.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    NETS.contains(&&net[..letters]) || NETS.contains(&net)
}
