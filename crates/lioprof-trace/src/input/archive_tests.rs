//! Archives of all forms: searched as folders are, read at most twice.

use std::fs;
use std::io::{Cursor, Read, Write};

use base64::Engine;
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

use super::encoders::{bz2, gz, xz, zst};
use super::*;
use crate::input::open::{Door, Opened, open, open_door};

const BINARY: &[u8] = b"\x38\0\0\0\0\0\0\0\0\x01\0\0\0\0\x10\0\0\0\0\0\0\0\0\x65\0\0\0\0\0\0\0\0\
    \0\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0a.c\0f\0x\n";

/// Lines that do not pack well: so many bytes, roughly.
fn log(seed: u64, bytes: usize) -> Vec<u8> {
    let (mut text, mut seed) = (Vec::new(), seed);
    while text.len() < bytes {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        writeln!(text, "00000100:00100000:0.0:1.000000:0:1:0:(a.c:1:f()) {seed:016x}").unwrap();
    }
    text
}

type Files<'a> = [(&'a str, &'a [u8])];
type Pack = fn(&Files<'_>) -> Vec<u8>;

fn tar(files: &Files<'_>) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        // Also names that the crate would not write.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

fn zipped(files: &Files<'_>, method: zip::CompressionMethod) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const FORMS: [(&str, Pack); 7] = [
    ("tar", tar),
    ("tar.gz", |files| gz(&tar(files))),
    ("tar.xz", |files| xz(&tar(files))),
    ("tar.bz2", |files| bz2(&tar(files))),
    ("tar.zst", |files| zst(&tar(files))),
    ("zip", |files| zipped(files, zip::CompressionMethod::DEFLATE)),
    ("stored.zip", |files| zipped(files, zip::CompressionMethod::STORE)),
];

/// An archive of this name, and what is found in it; its folder is cut off all paths.
fn found_in(name: &str, archive: &[u8]) -> (TempDir, Discovered) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, archive).unwrap();
    let found = discover(&[path], &[], &|_| false);
    (dir, found)
}

fn names(dir: &TempDir, found: &Discovered) -> Vec<String> {
    let below = |found: &Found| found.path.strip_prefix(dir.path()).unwrap_or(&found.path).display().to_string();
    found.files.iter().map(below).collect()
}

fn texts(found: &Discovered, severity: Severity) -> String {
    let texts = found.problems.iter().filter(|it| it.severity == severity).map(|it| it.message.clone());
    texts.collect::<Vec<_>>().join("\n")
}

fn all(mut opened: Opened) -> Vec<u8> {
    let mut bytes = Vec::new();
    opened.stream.read_to_end(&mut bytes).unwrap();
    assert_eq!(opened.damage.get(), None);
    bytes
}

#[test]
fn members_are_inputs() {
    let (text, short) = (log(1, 300_000), log(2, 100));
    let packed = zst(&text);
    let files: [(&str, &[u8]); 8] = [
        ("b/oss01/rpc.txt", &text),
        ("b/oss01/rpc.bin", BINARY),
        ("README", b"what this is"),
        ("b/oss02/dk.txt.zst", &packed),
        ("b/oss02/dk.txt", &text),
        ("a/mds01.log", &short),
        ("empty", b""),
        ("c/deep/er/rpc.bin.gz", &gz(BINARY)),
    ];
    for (form, pack) in FORMS {
        let name = format!("case.{form}");
        let (dir, found) = found_in(&name, &pack(&files));
        let expected = ["a/mds01.log", "b/oss01/rpc.bin", "b/oss02/dk.txt", "c/deep/er/rpc.bin.gz"];
        assert_eq!(names(&dir, &found), expected.map(|member| format!("{name}!{member}")), "{form}");
        assert_eq!(
            found.files.iter().map(|it| it.node.as_str()).collect::<Vec<_>>(),
            ["mds01", "oss01", "oss02", "er"]
        );
        assert_eq!(texts(&found, Severity::Error), "", "{form}");
        let notes = texts(&found, Severity::Note);
        for note in
            ["skipped 2 other files (README, empty)", "same capture as", "rpc.txt` skipped", "dk.txt.zst` skipped"]
        {
            assert!(notes.contains(note), "{form}: {note} in {notes}");
        }
        let read: Vec<Vec<u8>> = found.files.iter().map(|found| all(open(found).unwrap())).collect();
        assert!(read == [&short[..], BINARY, &text, BINARY], "{form}");
        let opened = open(&found.files[3]).unwrap();
        assert_eq!((opened.compression, matches!(opened.form, Form::Binary(_))), (Some(Compression::Gz), true));
        let mut bytes = [0; 99];
        let n = opened.into_read_at(10).unwrap().read_full_at(48, &mut bytes).unwrap();
        assert_eq!(bytes[..n], BINARY[48..], "{form}");
    }
}

#[test]
fn one_way_through_a_compressed_tar_brings_all_members_in_any_order() {
    // Longer than what waits between the threads.
    let logs: Vec<Vec<u8>> =
        (0..5).map(|seed| log(seed, 2_000_000 + 100_000 * usize::try_from(seed).unwrap())).collect();
    let names = ["a.log", "b.log", "c.log", "d.log", "e.log"];
    let files: Vec<(&str, &[u8])> = names.iter().zip(&logs).map(|(name, log)| (*name, log.as_slice())).collect();
    let archive = zst(&tar(&files));
    for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
        let (_dir, found) = found_in("case.tar.zst", &archive);
        let open_one = |at: usize| open(&found.files[at]).unwrap();
        let mut passes = 0;
        for at in order {
            let opened = open_one(at);
            passes += usize::from(opened.pass.is_some());
            assert!(all(opened) == logs[at], "{order:?} {at}");
        }
        assert_eq!(passes, 1, "{order:?}");
        // All once more, as for their clocks.
        for at in order {
            found.files[at].member.as_ref().unwrap().announce();
        }
        let again: usize = order.iter().map(|&at| usize::from(open_one(at).pass.is_some())).sum();
        assert_eq!(again, 1, "{order:?}");
    }
}

#[test]
fn members_are_read_side_by_side() {
    let logs: Vec<Vec<u8>> = (0..4).map(|seed| log(seed, 3_000_000)).collect();
    let names = ["a.log", "b.log", "c.log", "d.log"];
    let files: Vec<(&str, &[u8])> = names.iter().zip(&logs).map(|(name, log)| (*name, log.as_slice())).collect();
    let (_dir, found) = found_in("case.tgz", &gz(&tar(&files)));
    let mut passes = 0;
    let mut open_one = |at: usize| {
        let opened = open(&found.files[at]).unwrap();
        passes += usize::from(opened.pass.is_some());
        opened.stream
    };
    let read =
        |stream: &mut Box<dyn Read + Send>, bytes: &mut Vec<u8>, n: u64| stream.take(n).read_to_end(bytes).unwrap();
    let (mut b, mut got_b) = (open_one(1), Vec::new());
    read(&mut b, &mut got_b, 700_000);
    let (mut d, mut got_d) = (open_one(3), Vec::new());
    read(&mut d, &mut got_d, 1);
    read(&mut b, &mut got_b, 1_000_000);
    let (mut a, mut got_a) = (open_one(0), Vec::new());
    read(&mut a, &mut got_a, u64::MAX);
    // Nobody wants the rest of `d`.
    drop(d);
    let (mut c, mut got_c) = (open_one(2), Vec::new());
    read(&mut c, &mut got_c, u64::MAX);
    read(&mut b, &mut got_b, u64::MAX);
    assert!(got_a == logs[0] && got_b == logs[1] && got_c == logs[2] && logs[3].starts_with(&got_d));
    assert_eq!(passes, 1);
}

#[test]
fn nodes_that_are_read_twice_one_after_the_other_take_one_more_way() {
    let logs: Vec<Vec<u8>> = (0..4).map(|seed| log(seed, 1_000_000)).collect();
    let names = ["a.log", "b.log", "c.log", "d.log"];
    let files: Vec<(&str, &[u8])> = names.iter().zip(&logs).map(|(name, log)| (*name, log.as_slice())).collect();
    let (_dir, found) = found_in("case.tar.xz", &xz(&tar(&files)));
    let mut passes = 0;
    for (found, log) in found.files.iter().zip(&logs) {
        for _ in 0..2 {
            found.member.as_ref().unwrap().announce();
            let opened = open(found).unwrap();
            passes += usize::from(opened.pass.is_some());
            assert!(all(opened) == *log, "{found:?}");
        }
    }
    assert_eq!(passes, 2, "with the first look the third one");
}

#[test]
fn bytes_of_the_archive_are_expected_once() {
    let logs: Vec<Vec<u8>> = (0..3).map(|seed| log(seed, 100_000)).collect();
    let files: Vec<(&str, &[u8])> =
        ["a.log", "b.log", "c.log"].into_iter().zip(logs.iter().map(Vec::as_slice)).collect();
    for (form, pack) in FORMS {
        let archive = pack(&files);
        let (_dir, found) = found_in(&format!("case.{form}"), &archive);
        let members = || found.files.iter().filter_map(|found| found.member.as_ref());
        let bytes: u64 = members().map(Member::file_bytes).sum();
        let again: u64 = members().map(Member::expect_again).sum();
        assert_eq!(bytes, again, "{form}");
        let packed = archive.len() as u64;
        assert!(bytes <= packed && bytes > packed * 9 / 10, "{form}: {bytes} of {packed}");
    }
}

#[test]
fn archives_in_archives() {
    let text = log(1, 100_000);
    for (inner, pack_inner) in FORMS {
        for (outer, pack_outer) in FORMS {
            let name = format!("in/oss01.{inner}");
            let archive =
                pack_outer(&[("x", b"1"), (&name, &pack_inner(&[("y", b"2"), ("tmp/rpc.txt", &text)])), ("z", b"3")]);
            let (dir, found) = found_in(&format!("case.{outer}"), &archive);
            assert_eq!(names(&dir, &found), [format!("case.{outer}!{name}!tmp/rpc.txt")], "{:?}", found.problems);
            let place = found.files[0].place().strip_prefix(dir.path()).unwrap().to_owned();
            let stem = |form: &str| form.strip_suffix(".zip").unwrap_or_default().to_owned();
            let expected = if outer == "stored.zip" { format!("case.{}", stem(outer)) } else { "case".to_owned() };
            let inner_name = if inner == "stored.zip" { "oss01.stored" } else { "oss01" };
            assert_eq!(place, Path::new(&expected).join("in").join(inner_name).join("tmp/rpc.txt"));
            assert!(all(open(&found.files[0]).unwrap()) == text, "{inner} in {outer}");
            // One level more.
            let deeper = pack_outer(&[("deep.tar", &tar(&[("case", &archive)])), ("rpc.txt", &text)]);
            let (dir, found) = found_in("case", &deeper);
            assert_eq!(names(&dir, &found), ["case!rpc.txt"], "{inner} in {outer}");
            let notes = texts(&found, Severity::Note);
            assert!(notes.contains("deep.tar!case") && notes.contains("does not look into"), "{notes}");
        }
    }
}

#[test]
fn hostile_names_lead_nowhere() {
    let text = log(1, 100);
    let files: [(&str, &[u8]); 5] = [
        ("../../etc/a.log", &text),
        ("/etc/b.log", &text),
        ("c\x1b[2J.log", &text),
        ("!!.log", &text),
        ("d\n.log", &text),
    ];
    for (form, pack) in FORMS {
        let (dir, found) = found_in(&format!("x.{form}"), &pack(&files));
        assert_eq!(found.files.len(), 5, "{form}: {:?}", found.problems);
        for found in &found.files {
            assert!(found.place().starts_with(dir.path()), "{found:?}");
            assert!(!found.path.display().to_string().contains(|c: char| c.is_control()), "{found:?}");
            assert!(!found.place().components().any(|it| it == std::path::Component::ParentDir), "{found:?}");
            assert_eq!(all(open(found).unwrap()), text, "{form}");
        }
    }
}

#[test]
fn kernel_logs_are_found_beside_debug_logs() {
    let text = log(1, 300_000);
    let line =
        "[ 3933.759450] LustreError: 0:0:(ldlm_lockd.c:259:expired_lock_main()) ### lock callback timer expired\n";
    let dmesg = line.repeat(5000).into_bytes();
    let files: [(&str, &[u8]); 3] = [("oss01/log.txt", &text), ("oss01/dmesg", &dmesg), ("oss01/z.log.gz", &gz(&text))];
    for (form, pack) in FORMS {
        let (dir, found) = found_in("x", &pack(&files));
        assert_eq!(names(&dir, &found), ["x!oss01/log.txt", "x!oss01/z.log.gz"], "{form}");
        let [(kernel_log, true)] = &found.kernel_logs[..] else { panic!("{form}: {:?}", found.kernel_logs) };
        assert!(kernel_log.path.ends_with("x!oss01/dmesg"), "{form}");
        // Nothing passed over is lost.
        let Err(InputError::KernelLog { log, .. }) = open(kernel_log) else { panic!("{form}: no kernel log") };
        let mut bytes = Vec::new();
        let mut stream = log.stream;
        stream.read_to_end(&mut bytes).unwrap();
        assert!(bytes == dmesg, "{form}");
        for found in &found.files {
            assert!(all(open(found).unwrap()) == text, "{form}");
        }
        // One alone is enough.
        let (_dir, found) = found_in("x", &pack(&files[1..2]));
        assert_eq!(
            (found.files.len(), found.kernel_logs.len(), texts(&found, Severity::Error).as_str()),
            (0, 1, ""),
            "{form}"
        );
    }
}

#[test]
fn members_of_two_bytes_per_character() {
    let text = log(1, 200_000);
    let wide: Vec<u8> =
        [0xfeff].into_iter().chain(text.iter().map(|&b| u16::from(b))).flat_map(u16::to_le_bytes).collect();
    for (form, pack) in FORMS {
        let (_dir, found) = found_in("x", &pack(&[("a.log", &wide), ("b.log.gz", &gz(&wide))]));
        assert_eq!(found.files.len(), 2, "{form}: {:?}", found.problems);
        for found in &found.files {
            let opened = open(found).unwrap();
            assert!(!opened.recoded.is_none() && !opened.is_plain(), "{form}");
            assert!(all(opened) == text, "{form}");
        }
    }
}

#[test]
fn hidden_members_are_left_out_as_in_a_folder() {
    let text = log(1, 100);
    for (form, pack) in FORMS {
        let (dir, found) = found_in("x", &pack(&[("./d/a.log", &text), ("d/.a.log", &text), (".d/a.log", &text)]));
        assert_eq!(names(&dir, &found), ["x!./d/a.log"], "{form}");
        assert!(texts(&found, Severity::Note).contains("skipped 2 hidden files (d/.a.log, .d/a.log)"), "{form}");
    }
}

#[test]
fn the_last_member_of_a_name_counts() {
    let (old, new) = (log(1, 100), log(2, 100));
    for (form, pack) in [FORMS[0], FORMS[1]] {
        let (dir, found) = found_in("x", &pack(&[("a.log", &old), ("b", b""), ("./a.log", &new)]));
        assert_eq!(names(&dir, &found), ["x!./a.log"], "{form}");
        assert_eq!(all(open(&found.files[0]).unwrap()), new, "{form}");
        assert!(
            texts(&found, Severity::Note).contains("`x!a.log` skipped")
                || texts(&found, Severity::Note).contains("x!a.log")
        );
    }
}

#[test]
fn only_so_many_members_are_looked_at() {
    let text = log(1, 100);
    let names_: Vec<String> = (0..30).map(|at| format!("n{at:02}.log")).collect();
    let files: Vec<(&str, &[u8])> = names_.iter().map(|name| (name.as_str(), text.as_slice())).collect();
    for (form, pack) in FORMS {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("x");
        fs::write(&path, pack(&files)).unwrap();
        let listed = list(&path, Stretch::of_file(&path).unwrap(), 10).unwrap();
        assert_eq!(listed.members.len(), 10, "{form}");
        let error = listed.problems.iter().find(|it| it.severity == Severity::Error).unwrap();
        assert!(error.message.contains("more than 10 members"), "{form}: {}", error.message);
        assert!(list(&path, Stretch::of_file(&path).unwrap(), 30).unwrap().problems.is_empty(), "{form}");
    }
    // Members of inner archives count, too.
    let inner = tar(&files[..20]);
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x");
    fs::write(&path, tar(&[("a.tar", &inner), ("b.tar", &inner)])).unwrap();
    assert_eq!(list(&path, Stretch::of_file(&path).unwrap(), 30).unwrap().members.len(), 28);
}

#[test]
fn special_members_are_named() {
    let text = log(1, 100);
    let mut tar = Builder::new(Vec::new());
    let mut add = |name: &str, kind: EntryType, data: &[u8]| {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(data.len() as u64);
        tar.append_data(&mut header, name, data).unwrap();
    };
    add("link.log", EntryType::Symlink, b"");
    add("dev", EntryType::Char, b"");
    add("pipe", EntryType::Fifo, b"");
    add("sparse.log", EntryType::GNUSparse, &text);
    add("dir", EntryType::Directory, b"");
    add("a.log", EntryType::Regular, &text);
    let tar = tar.into_inner().unwrap();
    for archive in [tar.clone(), xz(&tar)] {
        let (dir, found) = found_in("x", &archive);
        assert_eq!(names(&dir, &found), ["x!a.log"]);
        let notes = texts(&found, Severity::Note);
        for note in ["1 link (link.log)", "1 device (dev)", "1 FIFO (pipe)", "1 sparse file (sparse.log)"] {
            assert!(notes.contains(note), "{note} in {notes}");
        }
    }
}

#[test]
fn an_archive_without_a_log_says_what_it_holds() {
    for (form, pack) in FORMS {
        let archive = pack(&[("a", b"1"), ("b/c", b"2"), ("d", b"3"), ("e", b"4")]);
        let (dir, found) = found_in("x", &archive);
        let error = texts(&found, Severity::Error);
        assert!(error.contains("holds no Lustre debug log, but 4 other files (a, b/c, d, ..)"), "{form}: {error}");
        // In a folder it is one of many files.
        fs::write(dir.path().join("a.log"), log(1, 100)).unwrap();
        let found = discover(&[dir.path().to_owned()], &[], &|_| false);
        assert_eq!(names(&dir, &found), ["a.log"]);
        assert_eq!(texts(&found, Severity::Error), "");
        assert!(texts(&found, Severity::Note).contains("x` skipped: the archive holds no Lustre debug log"));
    }
}

#[test]
fn folders_hold_archives() {
    let text = log(1, 100);
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("b.tar.gz"), gz(&tar(&[("oss02/rpc.txt", &text)]))).unwrap();
    fs::write(dir.path().join("c.txt"), &text).unwrap();
    fs::create_dir(dir.path().join("a")).unwrap();
    fs::write(dir.path().join("a/x.zip"), FORMS[5].1(&[("rpc.txt", &text)])).unwrap();
    let found = discover(&[dir.path().to_owned()], &[], &|_| false);
    assert_eq!(names(&dir, &found), ["a/x.zip!rpc.txt", "b.tar.gz!oss02/rpc.txt", "c.txt"]);
    assert_eq!(found.files.iter().map(|it| it.node.as_str()).collect::<Vec<_>>(), ["x", "oss02", "c"]);
    let rules: Vec<NodeRule> = vec!["n1=*oss02/rpc.txt".parse().unwrap(), "n2=*!rpc.txt".parse().unwrap()];
    let found = discover(&[dir.path().to_owned()], &rules, &|_| false);
    assert_eq!(found.files.iter().map(|it| it.node.as_str()).collect::<Vec<_>>(), ["n2", "n1", "c"]);
}

#[test]
fn a_cut_archive_yields_what_comes_before() {
    let logs: Vec<Vec<u8>> = (0..3).map(|seed| log(seed, 400_000)).collect();
    let files: Vec<(&str, &[u8])> =
        ["a.log", "b.log", "c.log"].into_iter().zip(logs.iter().map(Vec::as_slice)).collect();
    for (form, pack) in FORMS {
        let archive = pack(&files);
        let (_dir, found) = found_in("x", &archive[..archive.len() / 2]);
        let error = texts(&found, Severity::Error);
        assert!(error.contains("cut off at byte") && error.contains("what lies behind is missing"), "{form}: {error}");
        assert!(!found.files.is_empty() && found.files.len() <= 2, "{form}: {error}");
        assert!(all(open(&found.files[0]).unwrap()) == logs[0], "{form}");
        if let Some(second) = found.files.get(1) {
            let mut opened = open(second).unwrap();
            let mut bytes = Vec::new();
            opened.stream.read_to_end(&mut bytes).unwrap();
            assert!(logs[1].starts_with(&bytes) && bytes.len() > 10_000, "{form}: {}", bytes.len());
            let damage = opened.damage.get().unwrap();
            assert!(damage.truncated && damage.offset == bytes.len() as u64, "{form}: {damage:?}");
        }
    }
}

#[test]
fn corrupted_members_do_not_touch_the_others() {
    let (a, b) = (log(1, 300_000), log(2, 300_000));
    let mut packed = zst(&a);
    let middle = packed.len() / 2;
    packed[middle..middle + 1000].fill(0x55);
    let files: [(&str, &[u8]); 2] = [("a.log.zst", &packed), ("b.log", &b)];
    for (form, pack) in FORMS {
        let (_dir, found) = found_in("x", &pack(&files));
        assert_eq!((found.files.len(), texts(&found, Severity::Error)), (2, String::new()), "{form}");
        assert!(all(open(&found.files[1]).unwrap()) == b, "{form}");
        let mut opened = open(&found.files[0]).unwrap();
        let mut bytes = Vec::new();
        opened.stream.read_to_end(&mut bytes).unwrap();
        let damage = opened.damage.get().unwrap_or_else(|| panic!("{form}"));
        assert!(bytes.len() > 10_000 && damage.to_string().contains("zst data"), "{form}: {damage}");
    }
}

#[test]
fn pipes_bring_tar_but_no_zip() {
    let text = log(1, 300_000);
    for (form, pack) in FORMS {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("x");
        fs::write(&path, pack(&[("oss01/rpc.txt", &text), ("b", b"")])).unwrap();
        let pipe = Found { path: path.clone(), node: String::new(), is_stdin: false, member: None };
        match open_door(&pipe) {
            Ok(Door::Archive(archive)) => {
                let found = look_into(&Found { path: "-".into(), ..pipe }, archive, &[]);
                let found = &found.files[0];
                assert_eq!((found.path.to_str(), found.node.as_str()), (Some("-!oss01/rpc.txt"), "oss01"));
                assert!(all(open(found).unwrap()) == text && all(open(found).unwrap()) == text, "{form}");
            }
            Err(InputError::ZipFromPipe { .. }) => assert!(form.ends_with("zip")),
            _ => panic!("{form}"),
        }
    }
    // Nothing comes out of bzip2 before its first block is there.
    let mut seed = 1_u64;
    let mut noise = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32).to_le_bytes()[0]
    };
    let noise: Vec<u8> = (0..1_000_000).map(|_| noise()).collect();
    let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    out.write_all(&tar(&[("noise", &noise), ("a.log", &text)])).unwrap();
    let (dir, found) = found_in("x", &out.finish().unwrap());
    assert_eq!(names(&dir, &found), ["x!a.log"]);
    // What is no archive is read as it was.
    let dir = TempDir::new().unwrap();
    for bytes in [text.clone(), gz(&text), xz(&text), bz2(&text), zst(&text)] {
        let path = dir.path().join("x");
        fs::write(&path, &bytes).unwrap();
        let pipe = Found { path, node: String::new(), is_stdin: false, member: None };
        let Ok(Door::Log(opened)) = open_door(&pipe) else { panic!("no log") };
        assert!(all(*opened) == text);
    }
}

#[test]
fn an_archive_that_changes_is_damage() {
    let (old, new) = (log(1, 200_000), log(2, 100_000));
    let (dir, found) = found_in("x", &gz(&tar(&[("a.log", &old), ("b.log", &old)])));
    fs::write(dir.path().join("x"), gz(&tar(&[("a.log", &new)]))).unwrap();
    let mut opened = open(&found.files[1]).unwrap();
    assert_eq!(opened.stream.read_to_end(&mut Vec::new()).unwrap(), 0);
    assert!(opened.damage.get().unwrap().why.contains("has changed"));
}

/// A mail with a text, the same as HTML, a packed log, and another mail that was sent on, with a log of the same name.
fn mail(packed: &[u8], text: &[u8]) -> Vec<u8> {
    let encoded = base64::prelude::BASE64_STANDARD.encode(packed);
    let lines: Vec<&str> = encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let text = String::from_utf8_lossy(text);
    let inner = format!(
        "From: b@site\nSubject: log\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=In\n\n--In\nContent-Type: text/plain\n\n\
         this one\n--In\nContent-Type: text/plain; name=\"dk.txt\"\nContent-Disposition: attachment; filename=\"dk.txt\"\n\n{text}\n--In--\n"
    );
    format!(
        "Received: from x\n\tby y\nFrom: a@site\nContent-Type: multipart/mixed;\n boundary=\"Out\"\n\n--Out\n\
         Content-Type: multipart/alternative; boundary=Alt\n\n--Alt\nContent-Type: text/plain; charset=utf-8\n\
         Content-Transfer-Encoding: quoted-printable\n\n{}--Alt\nContent-Type: text/html\n\n<pre>{text}</pre>\n--Alt--\n--Out\n\
         Content-Type: application/gzip; name=\"dk.txt.gz\"\nContent-Transfer-Encoding: base64\n\n{}\n--Out\n\
         Content-Type: message/rfc822\n\n{inner}--Out--\n",
        text.replace(' ', "=20"),
        lines.join("\n"),
    )
    .into_bytes()
}

#[test]
fn a_mail_holds_what_is_attached_to_it() {
    let (short, other) = (log(3, 300), log(4, 2_000));
    let eml = mail(&gz(&other), &short);
    let inside = ["dk.txt.gz", "forwarded/dk.txt", "message.txt"];
    let check = |dir: &TempDir, found: &Discovered, shown: &str| {
        assert_eq!(
            names(dir, found),
            inside.map(|member| format!("{shown}!{member}")),
            "{}",
            texts(found, Severity::Error)
        );
        let read = found.files.iter().map(|it| String::from_utf8(all(open(it).unwrap())).unwrap().replace('\r', ""));
        let want = [&other, &short, &short].map(|text| String::from_utf8(text.clone()).unwrap());
        assert!(read.zip(want).all(|(read, want)| read.trim_end() == want.trim_end()));
    };
    let (dir, found) = found_in("oss01.eml", &eml);
    check(&dir, &found, "oss01.eml");
    assert_eq!(found.files[0].place(), dir.path().join("oss01/dk.txt.gz"));
    let windows: Vec<u8> = String::from_utf8(eml.clone()).unwrap().replace('\n', "\r\n").into_bytes();
    let (dir, found) = found_in("oss01.eml", &windows);
    assert_eq!(found.files.len(), 3);
    drop(dir);
    let (dir, found) = found_in("mails.zip", &zipped(&[("oss01.eml", &eml)], zip::CompressionMethod::DEFLATE));
    check(&dir, &found, "mails.zip!oss01.eml");
    let (dir, found) = found_in("mbox", &[b"From a@site Sat Nov 21 09:00:00 2026\n", eml.as_slice()].concat());
    check(&dir, &found, "mbox");
    // Cut anywhere, what is there is read: of a log that was attached, its beginning.
    let attached = String::from_utf8_lossy(&eml).find("base64\n").unwrap();
    for len in (0..eml.len()).step_by(97) {
        let (dir, found) = found_in("cut.eml", &eml[..len]);
        if len > attached + 200 {
            assert!(names(&dir, &found).contains(&"cut.eml!dk.txt.gz".to_owned()), "{len}: {found:?}");
        }
    }
}

#[test]
fn a_text_with_a_head_is_no_mail() {
    for head in ["Subject: hang\n\n", "From: a@b\nDate: today\nContent-Type: text/plain\n\n", "Note: this\nis all\n"] {
        let (dir, found) = found_in("ticket.txt", &[head.as_bytes(), &log(5, 2_000)].concat());
        assert_eq!(names(&dir, &found), ["ticket.txt"]);
        assert!(found.files[0].member.is_none());
        assert!(open(&found.files[0]).is_ok());
    }
}
