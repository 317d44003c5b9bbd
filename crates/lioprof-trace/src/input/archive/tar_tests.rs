use std::io::Cursor;

use super::*;
use crate::input::magic::{USTAR_AT, is_tar};

/// A header as `tar` writes it, with its sum.
fn header(kind: u8, name: &[u8], len: u64) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(EntryType::new(kind));
    header.set_size(len);
    header.set_mode(0o644);
    header.set_cksum();
    header.as_bytes().to_vec()
}

fn member(kind: u8, name: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = header(kind, name, data.len() as u64);
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes
}

fn ended(members: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = members.concat();
    bytes.resize(bytes.len() + 2 * BLOCK, 0);
    bytes
}

/// Name, kind and data.
type Found = (String, Kind, Vec<u8>);

/// All members, and how it ends.
fn read(bytes: &[u8]) -> (Vec<Found>, Option<Damage>) {
    let mut tar = TarReader::new(Streamed(Cursor::new(bytes.to_vec())));
    let mut members = Vec::new();
    loop {
        match tar.next() {
            Ok(Some(TarMember { name, kind, start, len, changed_us: _ })) => {
                let mut data = Vec::new();
                if tar.data().read_to_end(&mut data).is_ok() {
                    let start = usize::try_from(start).unwrap();
                    assert_eq!(bytes[start..start + usize::try_from(len).unwrap()], data);
                }
                members.push((name, kind, data));
            }
            Ok(None) => return (members, None),
            Err(damage) => return (members, Some(damage)),
        }
    }
}

fn names(bytes: &[u8]) -> Vec<String> {
    let (members, damage) = read(bytes);
    assert_eq!(damage, None);
    members.into_iter().map(|(name, ..)| name).collect()
}

#[test]
fn files_folders_and_special_members() {
    let kinds: [(u8, Kind); 12] = [
        (b'0', Kind::File),
        (0, Kind::File),
        (b'7', Kind::File),
        (b'?', Kind::File),
        (b'1', Kind::Special("links")),
        (b'2', Kind::Special("links")),
        (b'3', Kind::Special("devices")),
        (b'4', Kind::Special("devices")),
        (b'5', Kind::Folder),
        (b'6', Kind::Special("FIFOs")),
        (b'S', Kind::Special("sparse files")),
        (b'V', Kind::Special("members of GNU dumps")),
    ];
    for (byte, kind) in kinds {
        // Whatever a link's header says, it has no data.
        let has_data = matches!(kind, Kind::File | Kind::Special("sparse files" | "members of GNU dumps"));
        let first = if has_data { member(byte, b"x", b"data") } else { header(byte, b"x", 4) };
        let (members, damage) = read(&ended(&[first, member(b'0', b"next", b"more")]));
        assert_eq!(damage, None, "{byte}");
        assert_eq!(
            (members[0].1, members[1].0.as_str(), members[1].2.as_slice()),
            (kind, "next", &b"more"[..]),
            "{byte}"
        );
    }
    assert_eq!(read(&ended(&[header(b'0', b"old/", 0)])).0[0].1, Kind::Folder);
}

#[test]
fn long_names_of_gnu_and_pax() {
    let long = "d/".repeat(90) + "log";
    let gnu = [member(b'L', b"././@LongLink", format!("{long}\0").as_bytes()), member(b'0', b"short", b"1")];
    assert_eq!(names(&ended(&gnu)), [long.as_str()]);
    let link = [member(b'K', b"././@LongLink", long.as_bytes()), header(b'2', b"link", 0), member(b'0', b"b", b"")];
    assert_eq!(names(&ended(&link)), ["link", "b"]);
    let pax = |key: &str, value: &str| {
        let len = key.len() + value.len() + 3;
        // The number counts itself.
        let len = (len + 1..).find(|all| *all == len + all.to_string().len()).unwrap();
        format!("{len} {key}={value}\n")
    };
    let records = pax("mtime", "1.5") + &pax("path", &long) + &pax("size", "3");
    let two = [member(b'x', b"PaxHeaders/x", records.as_bytes()), header(b'0', b"x", 0), b"abc".to_vec()];
    let mut bytes = two.concat();
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes.extend(ended(&[member(b'g', b"global", b"11 path=no\n"), member(b'0', b"next", b"")]));
    let (members, damage) = read(&bytes);
    assert_eq!(damage, None);
    assert_eq!((members[0].0.as_str(), members[0].2.as_slice()), (long.as_str(), &b"abc"[..]));
    assert_eq!(members[1].0, "next", "what a pax header says is of one member");
    let sparse = pax("GNU.sparse.name", "real") + &pax("path", "GNUSparseFile.0/real");
    let (members, _) = read(&ended(&[member(b'x', b"p", sparse.as_bytes()), member(b'0', b"x", b"map")]));
    assert_eq!((members[0].0.as_str(), members[0].1), ("real", Kind::Special("sparse files")));
}

#[test]
fn headers_of_old_sparse_files_are_passed_over() {
    let mut first = Header::new_gnu();
    first.as_old_mut().name[..1].copy_from_slice(b"s");
    first.set_entry_type(EntryType::GNUSparse);
    first.set_size(4);
    first.as_gnu_mut().unwrap().set_is_extended(true);
    first.set_cksum();
    let mut more = vec![0; BLOCK];
    more[504] = 1;
    let mut data = b"data".to_vec();
    data.resize(BLOCK, 0);
    let bytes = ended(&[first.as_bytes().to_vec(), more, vec![0; BLOCK], data, member(b'0', b"next", b"1")]);
    assert_eq!(names(&bytes), ["s", "next"]);
}

#[test]
fn hostile_extensions_take_no_memory() {
    // It says that it has a terabyte; there are a hundred bytes.
    for kind in [b'L', b'x', b'K', b'g'] {
        let mut bytes = header(kind, b"x", 1 << 40);
        bytes.extend([b'a'; 100]);
        let (members, damage) = read(&bytes);
        assert!(members.is_empty() && damage.unwrap().truncated);
    }
    for pax in ["99999999999999999999 a=b\n", "5 a=b", "0 a=b\n", "x", "-1 path=x\n", "9 path\n", " ", "4 =\n"] {
        assert_eq!(names(&ended(&[member(b'x', b"p", pax.as_bytes()), member(b'0', b"n", b"")])), ["n"], "{pax:?}");
    }
    // Sizes that add up to more than there are numbers.
    let mut header = Header::new_gnu();
    header.set_size(u64::MAX);
    header.set_cksum();
    assert!(read(header.as_bytes()).1.is_some());
}

#[test]
fn what_comes_before_damage_is_read() {
    let whole = ended(&[member(b'0', b"a", &[b'a'; 700]), member(b'0', b"b", &[b'b'; 700])]);
    assert_eq!(read(&whole).1, None);
    for cut in [1, 100, 511, 512, 600, 1535, 1536, 1600, 2047, 2048, 2500, 3071, 3072] {
        let (members, damage) = read(&whole[..cut]);
        let damage = damage.unwrap_or_else(|| panic!("{cut}"));
        assert!(damage.truncated, "{cut}: {damage}");
        assert_eq!(members.len(), usize::from(cut >= 512) + usize::from(cut >= 2048), "{cut}");
    }
    // The sum of the second header.
    let mut wrong = whole.clone();
    wrong[1536] ^= 1;
    let (members, damage) = read(&wrong);
    assert_eq!(members.len(), 1);
    assert!(!damage.unwrap().truncated);
    // Blocks of zeros that were cut off are no damage, if one is left; what lies behind them is not read.
    assert_eq!(read(&whole[..whole.len() - BLOCK]).1, None);
    assert_eq!(names(&[whole.as_slice(), b"garbage".repeat(100).as_slice()].concat()), ["a", "b"]);
}

#[test]
fn archives_behind_each_other_are_one() {
    let one = ended(&[member(b'0', b"a", b"1")]);
    let two = ended(&[member(b'0', b"b", b"2")]);
    assert_eq!(names(&[one, two].concat()), ["a", "b"]);
    assert_eq!(names(&[0; 2 * BLOCK]), [""; 0]);
    assert_eq!(names(&[]), [""; 0]);
}

#[test]
fn archives_are_told_by_their_first_header() {
    assert!(is_tar(&member(b'0', b"a", b"1")));
    let mut old = header(b'0', b"a", 0);
    old[USTAR_AT..USTAR_AT + 8].fill(0);
    let mut old = Header::from_byte_slice(&old).clone();
    old.set_cksum();
    assert!(is_tar(old.as_bytes()), "as before 1988");
    assert!(!is_tar(&[0; 512]));
    assert!(!is_tar(b"00000100:00100000:0.0:1.000000:0:1:0:(a.c:1:f()) x\n".repeat(20).as_slice()));
}
