//! Datasets that somebody damaged, of other versions, in several places; and what is kept of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::random::Random;
use crate::support::recorder::{Call, Recorder};
use lioprof_model::Symbols;
use lioprof_store::{
    ClosedPart, Dataset, DatasetWriter, Limits, ManifestFacts, NodeInfo, Options, Session, is_dataset, retention,
};

const HOUR_US: i64 = 3_600_000_000;
/// 2026-11-21T08:51:22Z.
const START_US: i64 = 1_795_251_082_000_000;

fn info(node: &str) -> NodeInfo {
    NodeInfo { fs: "lustre".into(), node: node.into(), session: Session { start_us: START_US, id: "s".into() } }
}

/// Writes parts of 30 RPCs, an hour apart; each RPC's pid is the number of its part.
fn write(dir: &Path, node: &str, parts: u32) -> Vec<ClosedPart> {
    let mut symbols = Symbols::default();
    let symbol = symbols.intern(node.as_bytes());
    let mut writer = DatasetWriter::new(dir, info(node), Options::default());
    let mut random = Random(7);
    (0..parts)
        .map(|part| {
            for _ in 0..30 {
                let mut row = random.rpc(symbol, &mut symbols);
                row.end_us = START_US + i64::from(part) * HOUR_US;
                row.pid = part;
                Call::Rpc(row).make(&mut writer, &symbols);
                let event = random.lock_event(symbol, &mut symbols);
                Call::LockEvent(lioprof_model::LockEvent { time_us: START_US, pid: part, ..event })
                    .make(&mut writer, &symbols);
            }
            writer.close_part(ManifestFacts::default()).unwrap()
        })
        .collect()
}

/// Pids of the RPCs and of the lock events of all nodes, and what went wrong.
fn read(dir: &Path) -> (Vec<u32>, Vec<u32>, String) {
    let dataset = Dataset::open(dir).unwrap();
    let mut problems: Vec<String> = dataset.problems().iter().map(|it| it.chain()).collect();
    let mut recorder = Recorder::default();
    for source in &mut dataset.node_sources() {
        problems.extend(source.read(&mut Symbols::default(), &mut recorder).err());
    }
    let pids = |pid: &dyn Fn(&Call) -> Option<u32>| {
        let mut pids: Vec<u32> = recorder.calls.iter().filter_map(pid).collect();
        pids.dedup();
        pids
    };
    let rpcs = pids(&|call| if let Call::Rpc(row) = call { Some(row.pid) } else { None });
    let locks = pids(&|call| if let Call::LockEvent(event) = call { Some(event.pid) } else { None });
    (rpcs, locks, problems.join("\n"))
}

fn table(part: &ClosedPart, table: &str) -> PathBuf {
    part.files.iter().find(|path| path.components().any(|it| it.as_os_str() == table)).unwrap().clone()
}

#[test]
fn a_missing_file_is_named_and_the_rest_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let parts = write(dir.path(), "oss1", 3);
    let gone = table(&parts[1], "rpcs");
    fs::remove_file(&gone).unwrap();
    let (rpcs, locks, problems) = read(dir.path());
    assert_eq!((rpcs, locks), (vec![0, 2], vec![0, 1, 2]));
    assert!(problems.contains(gone.to_str().unwrap()) && problems.contains("missing"), "{problems}");
}

#[test]
fn a_truncated_or_altered_file_is_named_and_the_rest_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let parts = write(dir.path(), "oss1", 3);
    let path = table(&parts[0], "rpcs");
    let whole = fs::read(&path).unwrap();
    for len in [0, 4, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..len]).unwrap();
        let (rpcs, locks, problems) = read(dir.path());
        assert_eq!((rpcs, locks), (vec![1, 2], vec![0, 1, 2]), "{len} bytes");
        assert!(problems.contains(path.to_str().unwrap()) && problems.contains("bytes"), "{problems}");
    }
    // Of the right length but with a bit changed.
    let mut random = Random(3);
    for _ in 0..300 {
        let mut bytes = whole.clone();
        let at = random.place(bytes.len());
        bytes[at] ^= 1 << random.below(8);
        fs::write(&path, &bytes).unwrap();
        let (rpcs, _, problems) = read(dir.path());
        assert_eq!(rpcs, [1, 2], "bit in byte {at}");
        assert!(problems.contains("CRC-32"), "{problems}");
    }
}

#[test]
fn other_versions_and_rubbish_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let parts = write(dir.path(), "oss1", 2);
    let manifest = &parts[0].manifest_path;
    let text = fs::read_to_string(manifest).unwrap();

    fs::write(manifest, text.replace("lioprof.manifest/1", "lioprof.manifest/2")).unwrap();
    let (rpcs, _, problems) = read(dir.path());
    assert_eq!(rpcs, [1]);
    assert!(problems.contains("`lioprof.manifest/2`, expected `lioprof.manifest/1`"), "{problems}");

    fs::write(manifest, &text[..text.len() / 2]).unwrap();
    let (rpcs, _, problems) = read(dir.path());
    assert_eq!(rpcs, [1]);
    assert!(problems.contains(manifest.to_str().unwrap()) && problems.contains("line"), "{problems}");

    // Keys of later versions do no harm.
    fs::write(manifest, text.replacen('{', "{\n  \"new_key\": {\"a\": [1]},", 1)).unwrap();
    let (rpcs, _, problems) = read(dir.path());
    assert_eq!((rpcs, problems.as_str()), (vec![0, 1], ""));
}

#[test]
fn datasets_are_found_below_a_folder_and_copies_count_once() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("collected/a"), dir.path().join("b"));
    for place in [&a, &b] {
        fs::create_dir_all(place).unwrap();
    }
    write(&a, "oss1", 2);
    write(&b, "oss1", 2);
    write(&b, "oss2", 1);
    assert!(is_dataset(&a) && is_dataset(&b) && !is_dataset(dir.path()) && !is_dataset(&a.join("rpcs")));
    let dataset = Dataset::open(dir.path()).unwrap();
    assert_eq!(dataset.nodes().collect::<Vec<_>>(), ["oss1", "oss2"]);
    assert_eq!((dataset.parts("oss1").len(), dataset.parts("oss2").len()), (2, 1));
    assert_eq!(read(dir.path()).0, [0, 1, 0]);
}

#[test]
fn names_that_are_no_file_names_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let node = "oss/1 = \"ä\"\n";
    write(dir.path(), node, 1);
    let dataset = Dataset::open(dir.path()).unwrap();
    assert_eq!(dataset.nodes().collect::<Vec<_>>(), [node]);
    assert_eq!(read(dir.path()).0, [0]);
}

#[test]
fn retention_deletes_the_oldest_parts_of_the_node() {
    let now_us = START_US + 4 * HOUR_US;
    let age = |hours: u64| Some(Duration::from_secs(hours * 3600));

    let dir = tempfile::tempdir().unwrap();
    let parts = write(dir.path(), "oss1", 5);
    write(dir.path(), "oss2", 2);
    assert!(retention(dir.path(), "oss1", Limits::default(), now_us).unwrap().deleted.is_empty());
    let deleted = retention(dir.path(), "oss1", Limits { max_age: age(2), max_bytes: None }, now_us).unwrap().deleted;
    let of = |deleted: &[lioprof_store::DeletedPart]| deleted.iter().map(|it| it.manifest.part).collect::<Vec<_>>();
    assert_eq!(of(&deleted), [1, 2]);
    assert_eq!(deleted[0].bytes, parts[0].bytes);
    for path in parts[0].files.iter().chain([&parts[0].manifest_path]) {
        assert!(!path.exists(), "{}", path.display());
    }
    assert_eq!(read(dir.path()), (vec![2, 3, 4, 0, 1], vec![2, 3, 4, 0, 1], String::new()));

    let room = parts[3].bytes + parts[4].bytes;
    let limits = Limits { max_age: None, max_bytes: Some(room) };
    assert_eq!(of(&retention(dir.path(), "oss1", limits, now_us).unwrap().deleted), [3]);
    // The newest stays, whatever the limits.
    let nothing = Limits { max_age: age(0), max_bytes: Some(0) };
    assert_eq!(of(&retention(dir.path(), "oss1", nothing, now_us + HOUR_US).unwrap().deleted), [4]);
    assert!(retention(dir.path(), "oss1", nothing, now_us + HOUR_US).unwrap().deleted.is_empty());
    assert!(retention(&dir.path().join("nowhere"), "oss1", nothing, now_us).unwrap().deleted.is_empty());
}

#[test]
fn an_unreadable_manifest_does_not_stop_retention() {
    let dir = tempfile::tempdir().unwrap();
    let parts = write(dir.path(), "oss1", 3);
    fs::write(&parts[0].manifest_path, "{").unwrap();
    let nothing = Limits { max_age: None, max_bytes: Some(0) };
    let done = retention(dir.path(), "oss1", nothing, START_US).unwrap();
    assert_eq!(done.deleted.iter().map(|it| it.manifest.part).collect::<Vec<_>>(), [2]);
    assert_eq!(done.problems.len(), 1);
    assert!(parts[0].files[0].exists() && parts[2].manifest_path.exists());
}
