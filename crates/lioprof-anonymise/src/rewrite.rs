//! A record's text with pseudonyms.

use std::collections::BTreeMap;
use std::mem::discriminant;

use lustre_debuglog::{Message, Record};

use crate::message::{self, Fate};
use crate::names::{Names, Pseudonyms};
use crate::piece::{Piece, Pieces};
use crate::recognise::{self, spelled_number};

/// What stands where a text was. No kind of message begins like this.
pub(crate) const REMOVED: &[u8] = b"(text removed)";

/// What could not be replaced for certain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Records whose text was dropped, by source file and function. The records themselves are still there.
    pub texts: BTreeMap<(String, String), u64>,
    /// Messages of known kinds of which only the beginning was kept, since the rest does not parse, by source file and function.
    pub malformed: BTreeMap<(String, String), u64>,
    /// Words in messages of known kinds that are no known ones: pseudonyms stand for them.
    pub words: u64,
    /// Bytes that were no records; as many dots or NULs stand for them.
    pub skipped_bytes: u64,
    /// Keys of JSON files that are not known, by their names.
    pub keys: BTreeMap<String, u64>,
    /// Lines of counters that hold something unknown, by the counter.
    pub lines: BTreeMap<String, u64>,
}

impl Dropped {
    /// Adds what another input lost.
    pub fn add(&mut self, other: Self) {
        fn sum<K: Ord>(to: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
            from.into_iter().for_each(|(key, count)| *to.entry(key).or_default() += count);
        }
        sum(&mut self.texts, other.texts);
        sum(&mut self.malformed, other.malformed);
        sum(&mut self.keys, other.keys);
        sum(&mut self.lines, other.lines);
        self.words += other.words;
        self.skipped_bytes += other.skipped_bytes;
    }
}

/// Collects the names of a record.
pub(crate) fn collect(record: &Record<'_>, names: &mut Names) {
    let split = message::split(record);
    match split.fate {
        Fate::Kept => split.pieces.iter().for_each(|piece| names.add_piece(*piece)),
        Fate::Malformed => malformed_head(record).0.iter().for_each(|piece| names.add_piece(*piece)),
        Fate::Dropped => {}
    }
}

/// Writes the text of a record with pseudonyms to `out`, which is empty.
pub(crate) fn rewrite(record: &Record<'_>, pseudonyms: &Pseudonyms, dropped: &mut Dropped, out: &mut Vec<u8>) {
    let split = message::split(record);
    match split.fate {
        Fate::Kept => {
            write(&split.pieces, pseudonyms, is_other(record.text), &mut dropped.words, out);
            // A pseudonym that makes another message of a text must not get into the figures.
            if kind(out) != kind(record.text) {
                out.clear();
                *dropped.texts.entry(site(record)).or_default() += 1;
                remove(record, out);
            }
        }
        Fate::Malformed => {
            *dropped.malformed.entry(site(record)).or_default() += 1;
            let (pieces, _) = malformed_head(record);
            write(&pieces, pseudonyms, false, &mut dropped.words, out);
            remove(record, out);
        }
        Fate::Dropped => {
            *dropped.texts.entry(site(record)).or_default() += 1;
            remove(record, out);
        }
    }
}

/// The file and the function that logged a record.
fn site(record: &Record<'_>) -> (String, String) {
    let text = |name: &[u8]| name.escape_ascii().to_string();
    (text(record.file), text(record.function))
}

fn remove(record: &Record<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(REMOVED);
    if record.text.ends_with(b"\n") {
        out.push(b'\n');
    }
}

fn is_other(text: &[u8]) -> bool {
    matches!(parse(text), Message::Other)
}

fn parse(text: &[u8]) -> Message<'_> {
    Message::parse_text(text.strip_suffix(b"\n").unwrap_or(text))
}

/// The kind of a message, of a lock line also what it reports.
fn kind(
    text: &[u8],
) -> (std::mem::Discriminant<Message<'_>>, Option<std::mem::Discriminant<lustre_debuglog::message::LdlmEvent<'_>>>) {
    let message = parse(text);
    let event = if let Message::Ldlm(ldlm) = message { Some(discriminant(&ldlm.event)) } else { None };
    (discriminant(&message), event)
}

/// Writes pieces, names as their pseudonyms.
pub(crate) fn write(
    pieces: &Pieces<'_>,
    pseudonyms: &Pseudonyms,
    replace_words: bool,
    unknown: &mut u64,
    out: &mut Vec<u8>,
) {
    for piece in pieces {
        match *piece {
            Piece::KnownWord(word) if replace_words => out.extend_from_slice(pseudonyms.of_word(word).unwrap_or(word)),
            Piece::Plain(text) | Piece::KnownWord(text) => out.extend_from_slice(text),
            Piece::Name(kind, name) => out.extend_from_slice(pseudonyms.get(kind, name).unwrap_or(REMOVED)),
            Piece::Spelled(number) => match spelled_number(number).and_then(|number| pseudonyms.of_number(number)) {
                Some(pseudonym) => out.extend_from_slice(format!("{pseudonym:#x}").as_bytes()),
                None => out.extend_from_slice(number),
            },
            Piece::Unknown(word) => {
                *unknown += 1;
                out.extend_from_slice(pseudonyms.get(crate::kind::Kind::Word, word).unwrap_or(REMOVED));
            }
        }
    }
}

/// Words at the beginning of a malformed message that may tell its kind.
const HEAD_WORDS: usize = 8;

/// As much of a malformed message's beginning as tells its kind, and how long it is.
fn malformed_head<'a>(record: &Record<'a>) -> (Pieces<'a>, usize) {
    let text = record.text;
    let Message::Malformed(malformed) = Message::parse(record) else { return (Pieces::new(), 0) };
    let ends = memchr::memchr_iter(b' ', text).map(|at| at + 1).take(HEAD_WORDS);
    for end in ends {
        let mut pieces = Pieces::new();
        recognise::split(&text[..end], &mut pieces);
        if pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_))) {
            break;
        }
        let tried = [&text[..end], REMOVED].concat();
        if matches!(parse(&tried), Message::Malformed(found) if found.kind == malformed.kind) {
            return (pieces, end);
        }
    }
    (Pieces::new(), 0)
}
