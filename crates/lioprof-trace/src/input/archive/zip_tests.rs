use std::io::{Cursor, Write};
use std::sync::Arc;

use ::zip::ZipWriter;
use ::zip::write::SimpleFileOptions;

use super::*;
use crate::kept::Store;
use crate::progress::BytesRead;

fn stretch(bytes: &[u8]) -> Stretch {
    let store = Store::new(usize::MAX);
    store.append(bytes).unwrap();
    Stretch::of_store(Arc::new(store), 0, bytes.len() as u64)
}

/// Members with these names and data, packed or as they are.
fn archive(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, data) in members {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(data).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The same as a program writes it that cannot go back: sizes come behind the data.
fn streamed(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new_stream(Vec::new());
    for (name, data) in members {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(CompressionMethod::DEFLATE)).unwrap();
        zip.write_all(data).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// What can be read of a member, and whether that was all.
fn read(member: &ZipMember) -> (Vec<u8>, bool) {
    let mut data = Vec::new();
    let end = member.origin.open(&BytesRead::default()).unwrap().read_to_end(&mut data);
    (data, end.is_ok())
}

fn long(seed: u8) -> Vec<u8> {
    (0..50_000_u32)
        .flat_map(|at| (at.wrapping_mul(2_654_435_761) >> 16).to_le_bytes())
        .map(|byte| byte ^ seed)
        .collect()
}

#[test]
fn members_by_the_directory() {
    let (a, b) = (long(1), long(2));
    let members_ = [("d/a", a.as_slice()), ("d/", b""), ("b", &b), ("w\\c", b"c")];
    let files = [&a[..], &b, b"c"];
    for bytes in [
        archive(&members_, CompressionMethod::DEFLATE),
        archive(&members_, CompressionMethod::STORE),
        streamed(&members_),
    ] {
        let found = members(&stretch(&bytes), 99).unwrap();
        assert_eq!((&found.damage, found.has_more), (&None, false));
        let names: Vec<_> = found.members.iter().map(|it| (it.name.as_str(), it.kind)).collect();
        assert_eq!(names, [("d/a", Kind::File), ("d/", Kind::Folder), ("b", Kind::File), ("w/c", Kind::File)]);
        let read: Vec<_> = found.members.iter().filter(|it| it.kind == Kind::File).map(read).collect();
        assert!(read.iter().zip(files).all(|((data, is_all), file)| data == file && *is_all));
        let few = members(&stretch(&bytes), 2).unwrap();
        assert_eq!((few.members.len(), few.has_more), (2, true));
    }
}

#[test]
fn members_of_a_cut_archive() {
    let (a, b) = (long(1), long(2));
    let members_ = [("a", a.as_slice()), ("b", &b)];
    for (how, bytes) in [
        ("packed", archive(&members_, CompressionMethod::DEFLATE)),
        ("stored", archive(&members_, CompressionMethod::STORE)),
        ("streamed", streamed(&members_)),
    ] {
        let directory = bytes.windows(4).rposition(|mark| mark == b"PK\x01\x02").unwrap();
        for cut in [directory, directory - 20_000, bytes.len() - 3] {
            let found = members(&stretch(&bytes[..cut]), 99).unwrap();
            assert!(found.damage.unwrap().truncated, "{how}");
            assert_eq!(found.members.len(), 2, "{how} {cut}");
            assert_eq!(read(&found.members[0]), (a.clone(), true), "{how} {cut}");
            let (data, is_all) = read(&found.members[1]);
            assert!(b.starts_with(&data) && data.len() > b.len() / 2, "{how} {cut} {}", data.len());
            assert_eq!(is_all, cut + 20_000 > directory + 1 && data == b, "{how} {cut}");
        }
        let early = members(&stretch(&bytes[..20]), 99).unwrap();
        assert_eq!((early.members.len(), early.damage.is_some()), (0, true));
    }
}

#[test]
fn damage_within_a_member_shows_at_its_end() {
    let a = long(1);
    let bytes = archive(&[("a", &a), ("b", b"b")], CompressionMethod::DEFLATE);
    let mut wrong = bytes.clone();
    // The checksum in the directory.
    let directory = bytes.windows(4).position(|mark| mark == b"PK\x01\x02").unwrap();
    wrong[directory + 16] ^= 1;
    let found = members(&stretch(&wrong), 99).unwrap();
    assert_eq!(read(&found.members[0]), (a, false));
    assert!(read(&found.members[1]).1);
}

#[test]
fn what_cannot_be_read_is_told_apart() {
    let mut bytes = archive(&[("a", b"1"), ("b", b"2"), ("c", b"3")], CompressionMethod::STORE);
    // Of `a` and its entry in the directory: encrypted; of `b`: another method.
    let local =
        |bytes: &[u8], n: usize| bytes.windows(4).enumerate().filter(|(_, it)| *it == b"PK\x03\x04").nth(n).unwrap().0;
    let central =
        |bytes: &[u8], n: usize| bytes.windows(4).enumerate().filter(|(_, it)| *it == b"PK\x01\x02").nth(n).unwrap().0;
    let (a, b) = ((local(&bytes, 0), central(&bytes, 0)), (local(&bytes, 1), central(&bytes, 1)));
    (bytes[a.0 + 6], bytes[a.1 + 8]) = (1, 1);
    (bytes[b.0 + 8], bytes[b.1 + 10]) = (93, 93);
    let kinds = |bytes: &[u8]| -> Vec<Kind> {
        members(&stretch(bytes), 99).unwrap().members.iter().map(|member| member.kind).collect()
    };
    let expected =
        [Kind::Special("encrypted files"), Kind::Special("files packed by another method than deflate"), Kind::File];
    assert_eq!(kinds(&bytes), expected);
    assert_eq!(kinds(&bytes[..a.1]), expected, "without the directory");
}

#[test]
fn garbage_is_no_panic() {
    let bytes = archive(&[("a", &long(1)[..3000]), ("b", b"2")], CompressionMethod::DEFLATE);
    let mut seed = 1_u64;
    for _ in 0..2000 {
        let mut wrong = bytes.clone();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 33).unwrap() % wrong.len();
            // Headers are at both ends.
            let at = if at.is_multiple_of(3) { at } else { wrong.len() - 1 - at % 150.min(wrong.len()) };
            wrong[at] = (seed >> 24).to_le_bytes()[0];
        }
        if let Ok(found) = members(&stretch(&wrong), 99) {
            found.members.iter().filter(|it| it.kind == Kind::File).for_each(|it| drop(read(it)));
        }
    }
}
