//! Archives with damage anywhere: never a panic, never a byte that no member has, and what is missing is told.

use std::fs;
use std::io::{Cursor, Read, Write};

use lioprof_testkit::fuzz::{Rng, for_each_seed};
use lioprof_trace::input::{self, Severity};
use tempfile::TempDir;

const LINE: &str = "00000100:00100000:0.0:1.000000:0:1:0:(a.c:1:f())";

/// A log whose lines say of which member they are.
fn log(rng: &mut Rng, member: usize) -> Vec<u8> {
    (0..1 + rng.below(3000)).flat_map(|at| format!("{LINE} {member} {at} {:x}\n", rng.next()).into_bytes()).collect()
}

fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        tar.append_data(&mut header, name, bytes.as_slice()).unwrap();
    }
    tar.into_inner().unwrap()
}

fn zip(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An archive of one of so many forms.
fn pack(form: usize, files: &[(String, Vec<u8>)]) -> Vec<u8> {
    match form {
        0 => tar(files),
        1 => zip(files),
        2 => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            out.write_all(&tar(files)).unwrap();
            out.finish().unwrap()
        }
        3 => {
            let mut out = liblzma::write::XzEncoder::new(Vec::new(), 0);
            out.write_all(&tar(files)).unwrap();
            out.finish().unwrap()
        }
        4 => {
            let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            out.write_all(&tar(files)).unwrap();
            out.finish().unwrap()
        }
        _ => zstd::encode_all(tar(files).as_slice(), 1).unwrap(),
    }
}

const FORMS: usize = 6;

/// Whether a checksum tells of every change.
fn is_checked(form: usize) -> bool {
    (2..5).contains(&form)
}

/// Changes, cuts, repeats or leaves out something.
fn wound(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(4) {
        if bytes.is_empty() {
            return;
        }
        let (at, len) = (rng.below(bytes.len()), 1 + rng.below(600));
        let to = bytes.len().min(at + len);
        match rng.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => bytes[at..to].fill(rng.pick(&[0, 0x20, b'7', 0xff])),
            3 => {
                let again = bytes[at..to].to_vec();
                bytes.splice(at..at, again);
            }
            _ => bytes[at] = rng.byte(),
        }
    }
}

#[test]
fn archives_with_damage() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x");
    for_each_seed(1, |rng| {
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for at in 0..1 + rng.below(4) {
            let bytes = if rng.one_in(4) { vec![rng.byte(); rng.below(2000)] } else { log(rng, at) };
            files.push((format!("d{}/n{at}", "x".repeat(rng.below(2) * 120)), bytes));
        }
        if rng.one_in(3) {
            let inner = pack(rng.below(FORMS), &files);
            files.push(("inner".to_owned(), inner));
        }
        let form = rng.below(FORMS);
        let mut archive = pack(form, &files);
        let is_whole = rng.one_in(5);
        if !is_whole {
            wound(rng, &mut archive);
        }
        fs::write(&path, &archive).unwrap();
        let found = input::discover(std::slice::from_ref(&path), &[], &|_| false);
        let mut is_told = found.problems.iter().any(|problem| problem.severity == Severity::Error);
        let mut read = 0;
        for found in found.files.iter().rev() {
            let Ok(mut opened) = input::open(found) else {
                is_told = true;
                continue;
            };
            let mut bytes = Vec::new();
            opened.stream.read_to_end(&mut bytes).unwrap();
            is_told |= opened.damage.get().is_some();
            // What is stored is not checked by archives: a changed byte is the log's damage.
            read += bytes.len();
        }
        let logs = files.iter().filter(|(_, bytes)| bytes.starts_with(LINE.as_bytes()));
        let times = if files.last().is_some_and(|(name, _)| name == "inner") { 2 } else { 1 };
        let whole = times * logs.map(|(_, bytes)| bytes.len()).sum::<usize>();
        if is_whole {
            assert!(whole == 0 || !is_told, "{:?}", found.problems);
        }
        if is_whole || (is_checked(form) && !is_told) {
            assert_eq!(read, whole, "{:?}", found.problems);
        }
    });
}
