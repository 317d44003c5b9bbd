//! Tests of `discover` and `open` on real directories.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::encoders::{bz2, gz, xz, zst};
use super::*;
use crate::input::damage::Layer;
use crate::input::open::open;

const TEXT: &[u8] = b"00000100:00100000:0.0:1.000000:0:1:0:(a.c:1:f()) x\n";
const BINARY: &[u8] = b"\x38\0\0\0\0\0\0\0\0\x01\0\0\0\0\x10\0\0\0\0\0\0\0\0\x65\0\0\0\0\0\0\0\0\
    \0\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0a.c\0f\0x\n";

struct Tree(TempDir);

impl Tree {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let tree = Self(TempDir::new().unwrap());
        for (name, bytes) in files {
            let path = tree.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn discover(&self, names: &[&str]) -> Discovered {
        let inputs: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        discover(&inputs, &[], &is_store)
    }

    fn names(&self, found: &Discovered) -> Vec<String> {
        let below = |path: &Path| path.strip_prefix(self.0.path()).unwrap_or(path).to_string_lossy().into_owned();
        found.files.iter().map(|file| below(&file.path)).collect()
    }
}

fn errors(found: &Discovered) -> Vec<&str> {
    let errors = found.problems.iter().filter(|p| p.severity == Severity::Error);
    errors.map(|p| p.message.as_str()).collect()
}

fn notes(found: &Discovered) -> Vec<&str> {
    let notes = found.problems.iter().filter(|p| p.severity == Severity::Note);
    notes.map(|p| p.message.as_str()).collect()
}

fn found(path: &Path) -> Found {
    Found { path: path.to_owned(), node: "n".to_owned(), is_stdin: false, member: None }
}

type Encoder = fn(&[u8]) -> Vec<u8>;
const ENCODERS: [(Compression, Encoder); 4] =
    [(Compression::Gz, gz), (Compression::Zst, zst), (Compression::Xz, xz), (Compression::Bz2, bz2)];

/// Lines that do not compress away.
fn long_text(lines: u64) -> Vec<u8> {
    let mut seed = 7_u64;
    let mut text = Vec::new();
    for _ in 0..lines {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        writeln!(text, "00000100:00100000:0.0:1.000000:0:1:0:(a.c:1:f()) {seed:016x}").unwrap();
    }
    text
}

#[test]
fn directories_are_searched_in_order() {
    let tree = Tree::new(&[("b/rpc.bin", BINARY), ("a/two.txt", TEXT), ("a/one.txt", TEXT), ("a/x/y/z/dk.txt", TEXT)]);
    let found = tree.discover(&[""]);
    assert_eq!(tree.names(&found), ["a/one.txt", "a/two.txt", "a/x/y/z/dk.txt", "b/rpc.bin"]);
    let nodes: Vec<&str> = found.files.iter().map(|file| file.node.as_str()).collect();
    assert_eq!(nodes, ["one", "two", "z", "b"]);
    assert_eq!(found.problems, []);
}

#[test]
fn inputs_keep_their_order_and_count_once() {
    let tree = Tree::new(&[("b.bin", BINARY), ("a.bin", BINARY), ("d/c.bin", BINARY)]);
    let found = tree.discover(&["b.bin", "d", "a.bin", "d", "b.bin", "d/c.bin"]);
    assert_eq!(tree.names(&found), ["b.bin", "a.bin", "d/c.bin"]);
    assert_eq!(errors(&found), [""; 0]);
    assert_eq!(notes(&found).len(), 1, "{:?}", found.problems);
}

#[test]
fn standard_input_counts_once() {
    let found = discover(&["-".into(), "-".into()], &[], &is_store);
    assert_eq!(found.files, [Found { path: "-".into(), node: "stdin".to_owned(), is_stdin: true, member: None }]);
    assert_eq!(notes(&found).len(), 1);
}

#[test]
fn links_loops_and_hard_links_count_once() {
    let tree = Tree::new(&[("s/rpc.bin", BINARY)]);
    symlink(tree.path("s"), tree.path("s/loop")).unwrap();
    symlink(tree.path(""), tree.path("s/up")).unwrap();
    symlink(tree.path("s/rpc.bin"), tree.path("s/same.bin")).unwrap();
    fs::hard_link(tree.path("s/rpc.bin"), tree.path("s/too.bin")).unwrap();
    symlink("nowhere", tree.path("s/broken")).unwrap();
    let found = tree.discover(&["s"]);
    assert_eq!(tree.names(&found), ["s/rpc.bin"]);
    assert_eq!(notes(&found).len(), 1);
    assert!(notes(&found)[0].contains("broken"));
    assert_eq!(errors(&found), [""; 0]);
}

#[test]
fn text_and_binary_of_one_capture_are_read_once() {
    let (text, binary) = (zst(TEXT), zst(BINARY));
    let tree = Tree::new(&[
        ("s1/rpc.bin.zst", &binary),
        ("s1/rpc.txt.zst", &text),
        ("s2/rpc.bin", BINARY),
        ("s2/rpc.bin.zst", &binary),
        ("s3/rpc.bin.1", BINARY),
        ("s3/rpc.bin.2", BINARY),
        ("s4/rpc", BINARY),
        ("s4/rpc.txt", TEXT),
        ("s5/dk.log", TEXT),
        ("s5/dk.txt", TEXT),
    ]);
    let found = tree.discover(&[""]);
    let want = ["s1/rpc.bin.zst", "s2/rpc.bin", "s3/rpc.bin.1", "s3/rpc.bin.2", "s4/rpc", "s5/dk.log", "s5/dk.txt"];
    assert_eq!(tree.names(&found), want);
    assert_eq!(notes(&found).len(), 3);
    assert!(notes(&found).iter().all(|note| note.contains("same capture as")), "{:?}", notes(&found));

    let named = tree.discover(&["s1/rpc.bin.zst", "s1/rpc.txt.zst"]);
    assert_eq!(named.files.len(), 2, "named files are always taken");
    let mixed = tree.discover(&["s1", "s1/rpc.txt.zst"]);
    assert_eq!(tree.names(&mixed), ["s1/rpc.txt.zst"], "a named file wins over its twin");
}

#[test]
fn foreign_files_of_a_directory_are_notes() {
    let tree = Tree::new(&[
        ("s/rpc.bin", BINARY),
        ("s/README", b"hello"),
        ("s/picture.png", b"\x89PNG\r\n"),
        ("s/truth.txt", b""),
        ("s/dk.log", b"Debug log: 3 lines\n"),
        ("s/.hidden", b"never looked at"),
    ]);
    let found = tree.discover(&["s"]);
    assert_eq!(tree.names(&found), ["s/rpc.bin"]);
    assert_eq!(errors(&found), [""; 0]);
    assert_eq!(notes(&found).len(), 4);
}

#[test]
fn files_that_claim_to_be_logs_are_errors() {
    let tree = Tree::new(&[("a/rpc.bin", b""), ("b/rpc-oss1.log", b"no log"), ("c/rpc.bin", BINARY)]);
    let found = tree.discover(&[""]);
    assert_eq!(tree.names(&found), ["c/rpc.bin"]);
    assert_eq!(errors(&found).len(), 2, "{:?}", found.problems);
    assert!(errors(&found)[0].contains("is empty"), "{:?}", errors(&found));
}

#[test]
fn directories_without_a_log_are_errors() {
    let tree = Tree::new(&[("foreign/README", b"hello")]);
    fs::create_dir(tree.path("empty")).unwrap();
    symlink(tree.path("empty"), tree.path("empty/loop")).unwrap();
    for name in ["empty", "foreign"] {
        let found = tree.discover(&[name]);
        assert!(found.problems.iter().any(|problem| problem.severity == Severity::Error));
        let message = errors(&found)[0];
        assert!(message.contains(name) && message.contains("no Lustre debug log"), "{message}");
    }
}

#[test]
fn missing_files_are_errors_and_the_others_are_found() {
    let tree = Tree::new(&[("a.bin", BINARY)]);
    let found = tree.discover(&["missing.bin", "a.bin"]);
    assert_eq!(tree.names(&found), ["a.bin"]);
    assert!(errors(&found)[0].contains("missing.bin"));
}

#[test]
fn unreadable_files_and_directories_are_errors() {
    let tree = Tree::new(&[("s/rpc.bin", BINARY), ("s/sub/rpc.bin", BINARY)]);
    symlink("itself", tree.path("itself")).unwrap();
    let found = tree.discover(&["itself"]);
    assert_eq!(errors(&found).len(), 1);
    for name in ["s/rpc.bin", "s/sub"] {
        fs::set_permissions(tree.path(name), fs::Permissions::from_mode(0o000)).unwrap();
    }
    // Root may read everything.
    if fs::File::open(tree.path("s/rpc.bin")).is_err() {
        assert_eq!(errors(&tree.discover(&["s"])).len(), 2);
    }
    fs::set_permissions(tree.path("s/sub"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn pipes_and_devices_in_a_directory_are_skipped() {
    let tree = Tree::new(&[("s/rpc.bin", BINARY)]);
    let made = std::process::Command::new("mkfifo").arg(tree.path("s/pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    symlink("/dev/zero", tree.path("s/zero")).unwrap();
    let found = tree.discover(&["s"]);
    assert_eq!(tree.names(&found), ["s/rpc.bin"]);
    assert_eq!(notes(&found).len(), 2);
}

#[test]
fn names_that_are_not_utf8() {
    let tree = Tree::new(&[]);
    for name in [b"oss\xfe.bin", b"oss\xff.bin"] {
        fs::write(tree.0.path().join(OsStr::from_bytes(name)), BINARY).unwrap();
    }
    let found = tree.discover(&[""]);
    assert_eq!(found.files.len(), 2, "{:?}", found.problems);
    assert!(open(&found.files[0]).is_ok());
}

#[test]
fn every_compression_is_told_by_content() {
    for (kind, encode) in ENCODERS {
        let tree = Tree::new(&[("no-ending", &encode(TEXT))]);
        let mut opened = open(&found(&tree.path("no-ending"))).unwrap();
        assert_eq!((opened.compression, opened.form), (Some(kind), Form::Text));
        let mut got = Vec::new();
        opened.stream.read_to_end(&mut got).unwrap();
        assert_eq!(got, TEXT);
        assert_eq!(opened.damage.get(), None);
    }
}

#[test]
fn several_members_are_one_stream() {
    let text = long_text(5_000);
    let (one, two) = text.split_at(text.len() / 3);
    for (kind, encode) in ENCODERS {
        let tree = Tree::new(&[("rpc", &[encode(one), encode(two)].concat())]);
        let opened = open(&found(&tree.path("rpc"))).unwrap();
        let damage = opened.damage.clone();
        let spooled = opened.into_read_at(usize::MAX).unwrap();
        assert!(spooled.as_slice() == Some(&text[..]), "{kind}");
        assert_eq!(damage.get(), None);
    }
}

#[test]
fn truncated_files_give_what_they_hold() {
    let text = long_text(20_000);
    for (kind, encode) in ENCODERS {
        let packed = encode(&text);
        let cut = packed.len() * 2 / 3;
        let tree = Tree::new(&[("rpc", &packed[..cut])]);
        let mut opened = open(&found(&tree.path("rpc"))).unwrap();
        let mut got = Vec::new();
        opened.stream.read_to_end(&mut got).unwrap();
        assert!(text.starts_with(&got), "{kind}");
        assert!(got.len() > text.len() / 2, "{kind}: {} of {}", got.len(), text.len());
        let damage = opened.damage.get().unwrap();
        assert!(damage.truncated, "{kind}: {damage:?}");
        assert_eq!((damage.layer, damage.offset), (Layer::Compression(kind), got.len() as u64));
        assert_eq!(damage.file_offset, cut as u64, "{kind}");
    }
}

#[test]
fn corrupt_files_give_what_comes_before() {
    let text = long_text(20_000);
    for (kind, encode) in ENCODERS {
        let mut packed = encode(&text);
        let at = packed.len() * 2 / 3;
        packed[at..at + 64].fill(0x55);
        let tree = Tree::new(&[("rpc", &packed)]);
        let mut opened = open(&found(&tree.path("rpc"))).unwrap();
        let mut got = Vec::new();
        opened.stream.read_to_end(&mut got).unwrap();
        let same = text.iter().zip(&got).take_while(|(a, b)| a == b).count();
        assert!(same > text.len() / 2, "{kind}: {same} of {}", text.len());
        let damage = opened.damage.get().unwrap();
        assert_eq!(damage.offset, got.len() as u64, "{kind}");
    }
}

#[test]
fn nothing_to_decompress() {
    for (kind, encode) in ENCODERS {
        let tree = Tree::new(&[("empty", &encode(b"")), ("head", &encode(TEXT)[..12])]);
        let empty = open(&found(&tree.path("empty"))).err().unwrap();
        assert!(matches!(empty, InputError::Empty { compression: Some(it), .. } if it == kind), "{empty}");
        let head = open(&found(&tree.path("head"))).err().unwrap();
        assert!(matches!(head, InputError::Damaged { .. }), "{kind}: {head}");
    }
}

#[test]
fn named_files_that_are_no_logs() {
    let tree = Tree::new(&[("empty", b""), ("x.png", b"\x89PNG\r\n\x1a\n"), ("x.zip", b"PK\x03\x04...")]);
    let open_named = |name: &str| open(&found(&tree.path(name))).err().unwrap();
    assert!(matches!(open_named("empty"), InputError::Empty { compression: None, .. }));
    let png = open_named("x.png");
    assert!(png.to_string().contains(r#"expected a record header at byte 0, found "\x89PNG\r\n"#), "{png}");
    assert!(png.hint().unwrap().contains("lctl debug_file"));
    assert!(matches!(open_named("x.zip"), InputError::IsAnArchive { .. }));
    assert!(matches!(open_named("gone"), InputError::Io { action: "open", .. }));
    assert!(matches!(open_named(""), InputError::IsADirectory { .. }));
}

#[test]
fn files_that_open_but_cannot_be_read() {
    // Reading the unmapped page 0 of a process is an input/output error.
    let err = open(&found(Path::new("/proc/self/mem"))).err().unwrap();
    assert!(matches!(&err, InputError::Io { action: "read", .. }), "{err}");
}

#[test]
fn plain_files_are_used_in_place() {
    let tree = Tree::new(&[("rpc.bin", BINARY)]);
    let spooled = open(&found(&tree.path("rpc.bin"))).unwrap().into_read_at(usize::MAX).unwrap();
    assert_eq!(spooled.as_slice(), None);
    let mut buf = [0; 6];
    assert_eq!(spooled.read_full_at(48, &mut buf).unwrap(), 6);
    assert_eq!(&buf, b"a.c\0f\0");
}

fn is_store(dir: &Path) -> bool {
    dir.join("manifests").is_dir()
}

#[test]
fn folders_of_rows_are_found_and_what_lies_in_them_is_left_alone() {
    let raw = "day/oss1/raw/node=oss1/date=2026-11-21/0-1.bin";
    let tree = Tree::new(&[("day/oss1/manifests/x.bin", BINARY), (raw, BINARY), ("day/oss2.bin", BINARY)]);
    let found = tree.discover(&["day"]);
    assert_eq!(found.stores, [tree.path("day/oss1")]);
    assert_eq!(found.files.len(), 1);
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    assert_eq!(tree.discover(&["day/oss1"]).stores.len(), 1);
    // Its raw logs can be asked for.
    let raw = tree.discover(&["day/oss1/raw"]);
    assert_eq!((raw.stores.len(), raw.files[0].node.as_str()), (0, "oss1"));
}
