//! Names that stand alone, in rows and manifests.

use crate::kind::Kind;
use crate::names::{Names, Pseudonyms};
use crate::piece::{Piece, Pieces};
use crate::recognise;
use crate::rewrite;
use crate::vocabulary;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Text {
    Host,
    Nid,
    Device,
    Job,
    Thread,
    Mark,
}

/// The pieces of a name.
pub(crate) fn split<'a>(text: &'a [u8], of: Text, out: &mut Pieces<'a>) {
    match of {
        _ if text.is_empty() => {}
        Text::Host => recognise::host(text, out),
        Text::Nid => recognise::nid(text, out),
        Text::Device => recognise::device(text, out),
        Text::Job => recognise::job(text, out),
        Text::Thread if vocabulary::is_thread(text) => out.push(Piece::Plain(text)),
        Text::Thread => out.push(Piece::Name(Kind::Program, text)),
        Text::Mark => out.push(Piece::Name(Kind::Mark, text)),
    }
}

/// Collects the names in a name.
pub(crate) fn collect(text: &[u8], of: Text, names: &mut Names) {
    let mut pieces = Pieces::new();
    split(text, of, &mut pieces);
    pieces.iter().for_each(|piece| names.add_piece(*piece));
}

/// A name with pseudonyms.
pub(crate) fn replaced(text: &[u8], of: Text, pseudonyms: &Pseudonyms) -> String {
    let mut pieces = Pieces::new();
    split(text, of, &mut pieces);
    let mut out = Vec::new();
    rewrite::write(&pieces, pseudonyms, false, &mut 0, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use lustre_debuglog::Opcode;
    use lustre_debuglog::message::Reason;

    use super::*;

    #[test]
    fn words_of_lioprof_about_events_are_known() {
        let (ast, rc, words) = (&b"blocking"[..], Some(-110), &b"slow reply"[..]);
        let reasons = [
            Reason::CallbackTimer { seconds: 100 },
            Reason::AstFailed { ast, replied: false, rc },
            Reason::AstFailed { ast: b"completion", replied: true, rc },
            Reason::LockCallback { ast: b"glimpse", rc },
            Reason::Silent { seconds: 50 },
            Reason::ByHand,
            Reason::Request { opcode: Some(Opcode::OST_WRITE), to: Some(b"10.0.0.1@tcp"), words },
            Reason::Text(b"request took longer than estimated"),
        ];
        for reason in reasons.map(|reason| reason.to_string()) {
            assert!(recognise::known(reason.as_bytes()).is_some(), "{reason}");
        }
        assert!(recognise::known(b"OST_WRITE to storage7: slow reply").is_none());
    }
}
