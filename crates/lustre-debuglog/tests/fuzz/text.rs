//! Text logs.

use lioprof_testkit::fuzz::{Piece, Rng, change_text_header, for_each_seed, join, text_records, wound};
use std::hint::black_box;

use lustre_debuglog::frame::text::{TextItem, TextRecords, find_cut};
use lustre_debuglog::{Message, Record};

const LOGS: [&[u8]; 3] = [
    include_bytes!("../data/rpctrace-2.17.txt"),
    include_bytes!("../data/dlmtrace-2.17.txt"),
    include_bytes!("../data/wording-2.12.txt"),
];

/// Records with their offsets, and skipped stretches, adjacent ones joined.
#[derive(Debug, Default, PartialEq)]
struct Framed<'a> {
    records: Vec<(usize, Record<'a>)>,
    skipped: Vec<(usize, usize)>,
}

impl<'a> Framed<'a> {
    /// Adds the records of a part; the items must cover it without hole or overlap.
    fn add(&mut self, offset: usize, part: &'a [u8]) {
        let mut end = 0;
        for item in TextRecords::new(part) {
            let len = match item {
                TextItem::Record(record, at) => {
                    assert_eq!(at, end, "a record begins where the item before it ends");
                    let text = record.text.as_ptr().addr() - part.as_ptr().addr();
                    self.records.push((offset + at, record));
                    text + record.text.len() - at
                }
                TextItem::Skipped(skipped) => {
                    assert_eq!(skipped.offset, end);
                    match self.skipped.last_mut() {
                        Some((at, len)) if *at + *len == offset + end => *len += skipped.len,
                        _ => self.skipped.push((offset + end, skipped.len)),
                    }
                    skipped.len
                }
                TextItem::Summary(at, len) => {
                    assert_eq!(at, end);
                    len
                }
            };
            assert!(len > 0, "an item is not empty");
            end += len;
        }
        assert_eq!(end, part.len(), "the items cover everything");
    }
}

fn framed(log: &[u8]) -> Framed<'_> {
    let mut framed = Framed::default();
    framed.add(0, log);
    framed
}

/// As a reader that takes `piece` bytes at a time does it.
fn framed_in_pieces(log: &[u8], piece: usize) -> Framed<'_> {
    let mut framed = Framed::default();
    let (mut start, mut end) = (0, 0);
    while start < log.len() {
        end = log.len().min(end + piece);
        let cut = if end == log.len() { Some(end - start) } else { find_cut(&log[start..end]) };
        if let Some(cut) = cut {
            framed.add(start, &log[start..start + cut]);
            start += cut;
        }
    }
    framed
}

fn check_whole_records(rng: &mut Rng, log: &[u8], pieces: &[Piece], offsets: &[usize]) {
    let all = framed(log);
    for (at, (piece, &offset)) in pieces.iter().zip(offsets).enumerate() {
        if !piece.intact {
            continue;
        }
        let found = all.records.binary_search_by_key(&offset, |(offset, _)| *offset);
        let (_, record) = all.records[found.unwrap_or_else(|_| panic!("the record at {offset} is lost"))];
        let (_, alone) = framed(&piece.bytes).records[0];
        // A damaged line behind it may read on as a part of it.
        let text = &record.text[..alone.text.len()];
        assert_eq!(Record { text, ..record }, alone);
        if pieces.get(at + 1).is_none_or(|next| next.intact) {
            assert_eq!(record, alone);
        }
    }
    let piece = 1 + rng.below(4 * 1024);
    assert_eq!(framed_in_pieces(log, piece), all, "in pieces of {piece} bytes");
    for (_, record) in &all.records {
        let mut text = Vec::new();
        record.append_text(&mut text);
        let again = framed(&text);
        assert_eq!((again.records.as_slice(), again.skipped.len()), (&[(0, *record)][..], 0));
        black_box(Message::parse(record));
    }
}

#[test]
fn damaged_text() {
    for_each_seed(1, |rng| {
        let records = text_records(rng.pick(&LOGS));
        let pieces = wound(rng, &records, change_text_header);
        let (log, offsets) = join(&pieces);
        check_whole_records(rng, &log, &pieces, &offsets);
    });
}

/// Bytes that are all over the place.
#[test]
fn no_text_at_all() {
    for_each_seed(3, |rng| {
        let log = rng.pick(&LOGS);
        let (mut noise, mut wanted) = (Vec::new(), rng.below(40));
        while wanted > 0 {
            let from = rng.below(log.len());
            noise.extend(log[from..].iter().take(rng.below(300)));
            noise.push(rng.byte());
            wanted -= 1;
        }
        let piece = 1 + rng.below(1024);
        assert_eq!(framed_in_pieces(&noise, piece), framed(&noise), "in pieces of {piece} bytes");
    });
}
