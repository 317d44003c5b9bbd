//! Binary logs.

use lioprof_testkit::fuzz::{Piece, binary_records, change_binary_header, for_each_seed, join, wound};
use std::hint::black_box;

use lustre_debuglog::frame::binary::{Framer, Step, detect, read_record};
use lustre_debuglog::frame::text::{TextItem, TextRecords};
use lustre_debuglog::frame::{HeaderLayout, binary::BinaryRecords};
use lustre_debuglog::{Message, Record};

const LOGS: [&[u8]; 2] = [include_bytes!("../data/rpctrace-2.17.bin"), include_bytes!("../data/dlmtrace-2.17.bin")];
const LE: HeaderLayout = HeaderLayout { big_endian: false, v1: false };

/// Offsets and lengths of records and of skipped stretches, adjacent ones joined.
#[derive(Debug, Default, PartialEq)]
struct Framed {
    records: Vec<(usize, usize)>,
    skipped: Vec<(usize, usize)>,
    end: usize,
}

impl Framed {
    fn record(&mut self, len: usize) {
        assert!(len > 0);
        self.records.push((self.end, len));
        self.end += len;
    }

    fn skip(&mut self, len: usize) {
        assert!(len > 0);
        match self.skipped.last_mut() {
            Some((at, before)) if *at + *before == self.end => *before += len,
            _ => self.skipped.push((self.end, len)),
        }
        self.end += len;
    }
}

/// All at once.
fn framed(log: &[u8]) -> Framed {
    let mut framed = Framed::default();
    for item in BinaryRecords::new(log, LE) {
        match item {
            Ok((record, at)) => {
                assert_eq!(at, framed.end, "a record begins where the item before it ends");
                let end = record.text.as_ptr().addr() + record.text.len() - log.as_ptr().addr();
                framed.record(end - at);
            }
            Err(skipped) => {
                assert_eq!(skipped.offset, framed.end);
                framed.skip(skipped.len);
            }
        }
    }
    assert_eq!(framed.end, log.len(), "the items cover everything");
    framed
}

/// As a reader that takes `piece` bytes at a time does it.
fn framed_in_pieces(log: &[u8], piece: usize) -> Framed {
    let mut framed = Framed::default();
    let mut framer = Framer::new(LE);
    let mut end = 0;
    loop {
        match framer.step(&log[framed.end..end], end == log.len()) {
            Step::Record(record) => framed.record(record.len()),
            Step::Skipped(len, _) => framed.skip(len),
            Step::NeedMore => {
                assert!(end < log.len() && end - framed.end < Framer::ENOUGH, "needs more than enough");
                end = log.len().min(end + piece);
            }
            Step::End => return framed,
        }
    }
}

/// The same, but all records that need no decision at once, up to `wanted` bytes of them. Each must read as if it were tested again.
fn framed_in_runs(log: &[u8], piece: usize, wanted: usize) -> Framed {
    let mut framed = Framed::default();
    let mut framer = Framer::new(LE);
    let mut end = 0;
    loop {
        let mut records = Vec::new();
        let (start, used) = (framed.end, framer.run(&log[framed.end..end], wanted, &mut records));
        for record in records {
            let bytes = &log[framed.end..];
            assert_eq!(record.read(bytes, LE).map(|read| (read, record.len())), read_record(bytes, LE));
            framed.record(record.len());
        }
        assert_eq!(framed.end - start, used);
        if used > 0 {
            continue;
        }
        match framer.step(&log[framed.end..end], end == log.len()) {
            Step::Record(record) => framed.record(record.len()),
            Step::Skipped(len, _) => framed.skip(len),
            Step::NeedMore => end = log.len().min(end + piece),
            Step::End => return framed,
        }
    }
}

/// A record between two wounds is not told from noise that looks like one: two in a row are.
fn must_be_found(pieces: &[Piece], at: usize) -> bool {
    let intact = |at: usize| pieces.get(at).is_none_or(|piece| piece.intact);
    pieces[at].intact && (at == 0 || intact(at - 1) || intact(at + 1))
}

fn check_whole_records(log: &[u8], pieces: &[Piece], offsets: &[usize]) -> Framed {
    let framed = framed(log);
    for (at, (piece, &offset)) in pieces.iter().zip(offsets).enumerate() {
        if must_be_found(pieces, at) {
            let found = framed.records.binary_search(&(offset, piece.bytes.len()));
            assert!(found.is_ok(), "the record at {offset} is lost");
        }
    }
    framed
}

/// A record printed as text is the same record. A text with NULs is none that a kernel writes.
fn check_as_text(record: &Record<'_>) {
    if record.text.contains(&0) {
        return;
    }
    let mut text = Vec::new();
    record.append_text(&mut text);
    let items: Vec<_> = TextRecords::new(&text).collect();
    assert_eq!(items, [TextItem::Record(*record, 0)]);
    black_box(Message::parse(record));
}

#[test]
fn damaged_binary() {
    for_each_seed(1, |rng| {
        let records = binary_records(rng.pick(&LOGS));
        let pieces = wound(rng, &records, change_binary_header);
        let (log, offsets) = join(&pieces);
        let framed = check_whole_records(&log, &pieces, &offsets);
        for &(at, len) in &framed.records {
            let (record, whole) = read_record(&log[at..], LE).unwrap();
            assert_eq!(whole, len);
            check_as_text(&record);
        }
        black_box(detect(&log, rng.one_in(2)));
    });
}

/// Longer than what a framer wants to see at once.
#[test]
fn damaged_binary_in_pieces() {
    for_each_seed(40, |rng| {
        let records = binary_records(rng.pick(&LOGS));
        let mut pieces = Vec::new();
        for _ in 0..20 + rng.below(10) {
            pieces.extend(wound(rng, &records, change_binary_header));
        }
        let (log, offsets) = join(&pieces);
        let framed = check_whole_records(&log, &pieces, &offsets);
        let size = rng.below(14);
        let piece = 64 + rng.below(64 << size);
        assert_eq!(framed_in_pieces(&log, piece), framed, "in pieces of {piece} bytes");
        let wanted = 1 + rng.below(64 << size);
        assert_eq!(framed_in_runs(&log, piece, wanted), framed, "in pieces of {piece} bytes, runs of {wanted}");
    });
}
