//! `lioprof rollup`: which nodes it reads, what it says, and that an analysis of sums is that of the rows.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use lioprof_testkit::files::{files_under, fixture};
use tempfile::TempDir;

use crate::captures::captures;
use crate::util::{Run, lioprof};

/// The capture `masks` of two servers as a dataset.
fn dataset(dir: &TempDir) -> PathBuf {
    let rows = dir.path().join("rows");
    let capture = captures().into_iter().find(|capture| capture.dir.ends_with("masks")).unwrap();
    let args: [&OsStr; 4] = ["export".as_ref(), capture.dir.as_os_str(), "--parquet".as_ref(), rows.as_os_str()];
    assert_eq!(lioprof(&args).code, Some(0));
    rows
}

#[track_caller]
fn rollup(rows: &Path, more: &[&str]) -> Run {
    let mut args: Vec<&OsStr> = vec!["rollup".as_ref(), rows.as_os_str()];
    args.extend(more.iter().map(OsStr::new));
    lioprof(&args)
}

fn nodes(rows: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(rows.join("rollups/sums")) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn only_what_is_new_is_read() {
    let dir = TempDir::new().unwrap();
    let rows = dataset(&dir);
    let first = rollup(&rows, &[]);
    assert_eq!(first.code, Some(0), "{first}");
    assert!(first.stderr.contains("server1: 280 RPCs of 1 part rolled up\n"), "{first}");
    // The second server's clock is off by a tenth of a second.
    assert!(first.stderr.contains("server2: 46 RPCs of 1 part rolled up, once more, on the clock"), "{first}");
    assert_eq!(nodes(&rows), ["server1.sums", "server2.sums"]);
    let again = rollup(&rows, &[]);
    assert_eq!((again.code, again.stderr.as_str()), (Some(0), "lioprof: all rollups are up to date\n"));
    let forced = rollup(&rows, &["--force", "--node", "server1"]);
    assert!(forced.stderr.contains("server1") && !forced.stderr.contains("server2"), "{forced}");
}

/// Paths of a node's rollup.
fn files(rows: &Path, node: &str) -> Vec<PathBuf> {
    let paths =
        [format!("rollups/seconds/{node}.parquet"), format!("rollups/sums/{node}.sums")].map(|path| rows.join(path));
    paths.into_iter().filter(|path| path.exists()).collect()
}

#[test]
fn a_rollup_outlives_its_rows_until_it_is_to_be_forgotten() {
    let dir = TempDir::new().unwrap();
    let rows = dataset(&dir);
    assert_eq!(rollup(&rows, &[]).code, Some(0));
    let all = files(&rows, "server2");
    assert_eq!(all.len(), 2, "{all:?}");
    // Retention deletes manifests first.
    fs::remove_dir_all(rows.join("manifests/fs=lustre/node=server2")).unwrap();
    let run = rollup(&rows, &[]);
    let expected = "lioprof: server2: its rows are gone; its rollup stays (--forget deletes it)\n";
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), expected), "{run}");
    assert_eq!(files(&rows, "server2"), all);
    let run = rollup(&rows, &["--forget"]);
    assert_eq!(run.stderr, "lioprof: server2: its rows are gone; deleted its rollup\n", "{run}");
    assert_eq!(files(&rows, "server2"), Vec::<PathBuf>::new());
    assert_eq!(nodes(&rows), ["server1.sums"]);
}

#[test]
fn what_is_left_of_the_rows_replaces_a_rollup_of_all_only_if_asked_to() {
    let dir = TempDir::new().unwrap();
    let rows = dataset(&dir);
    // The only part has a name of its own, so that the rollup is of a part that is gone later.
    rename_part(&rows, "20261120T000000.000000Z-export-000001");
    assert_eq!(rollup(&rows, &[]).code, Some(0));
    let seconds = fs::read(rows.join("rollups/seconds/server1.parquet")).unwrap();
    rename_part(&rows, "20261121T085119.821913Z-export-000001");
    let run = rollup(&rows, &[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("server1 was not rolled up: 1 part of its rollup is gone"), "{run}");
    assert!(run.stderr.contains("--forget rolls up what is left"), "{run}");
    assert_eq!(fs::read(rows.join("rollups/seconds/server1.parquet")).unwrap(), seconds);
    let run = rollup(&rows, &["--forget"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("server1: 280 RPCs of 1 part rolled up"), "{run}");
    assert_eq!(rollup(&rows, &[]).stderr, "lioprof: all rollups are up to date\n");
}

#[test]
fn a_part_that_is_there_twice_is_named() {
    let dir = TempDir::new().unwrap();
    let rows = dataset(&dir);
    for file in part_files(&rows) {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let extension = file.extension().unwrap().to_str().unwrap();
        fs::copy(&file, file.with_file_name(format!("{stem} (1).{extension}"))).unwrap();
    }
    let run = rollup(&rows, &[]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stderr.contains("a part of server1 is there twice: `"), "{run}");
    assert!(run.stderr.contains("000001 (1).json`") && run.stderr.contains("SQL counts both"), "{run}");
    // Whichever copy is deleted, the rows are the same: nothing is gone.
    for file in part_files(&rows).iter().filter(|file| file.to_str().unwrap().contains(" (1).")) {
        fs::remove_file(file).unwrap();
    }
    let run = rollup(&rows, &[]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(!run.stderr.contains("twice") && run.stderr.contains("server1: 280 RPCs"), "{run}");
}

/// The files of the first server, of every table and the manifests.
fn part_files(rows: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for table in ["manifests", "rpcs", "lock_events", "sent_rpcs"] {
        for day in fs::read_dir(rows.join(table).join("fs=lustre/node=server1")).unwrap() {
            files.extend(fs::read_dir(day.unwrap().path()).unwrap().map(|it| it.unwrap().path()));
        }
    }
    files
}

fn rename_part(rows: &Path, name: &str) {
    for file in part_files(rows) {
        let extension = file.extension().unwrap().to_str().unwrap();
        fs::rename(&file, file.with_file_name(format!("{name}.{extension}"))).unwrap();
    }
}

#[test]
fn nodes_one_by_one_and_then_the_clocks() {
    let dir = TempDir::new().unwrap();
    let rows = dataset(&dir);
    for node in ["server2", "server1"] {
        let run = rollup(&rows, &["--node", node]);
        assert_eq!(run.code, Some(0), "{run}");
        assert!(!run.stderr.contains("once more"), "{run}");
    }
    let run = rollup(&rows, &[]);
    assert!(run.stderr.contains("server2: 46 RPCs of 1 part rolled up, once more"), "{run}");
}

#[test]
fn a_node_that_cannot_be_read_keeps_the_rollup_that_it_has() {
    let dir = TempDir::new().unwrap();
    let rows = dataset(&dir);
    assert_eq!(rollup(&rows, &[]).code, Some(0));
    let table = rows.join("rpcs/fs=lustre/node=server1");
    fs::remove_dir_all(&table).unwrap();
    let run = rollup(&rows, &["--force"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("server1 was not rolled up") && run.stderr.contains("is missing"), "{run}");
    assert!(run.stderr.contains("server2: 46 RPCs"), "{run}");
    assert_eq!(nodes(&rows), ["server1.sums", "server2.sums"]);
}

#[test]
fn what_is_no_dataset_is_refused() {
    let dir = TempDir::new().unwrap();
    let run = rollup(dir.path(), &[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("is not a dataset"), "{run}");
    let rows = dataset(&dir);
    let run = rollup(&rows, &["--node", "oss7"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("no rows of node `oss7`") && run.stderr.contains("server1, server2"), "{run}");
}

fn analysis(rows: &Path, more: &[&str]) -> String {
    let mut args: Vec<&OsStr> = vec!["analyze".as_ref(), rows.as_os_str()];
    args.extend(["--format", "json", "--quiet", "--max-loss", "1"].iter().chain(more).map(OsStr::new));
    let run = lioprof(&args);
    assert!(run.stdout.starts_with(b"{"), "{run}");
    String::from_utf8_lossy(&run.stdout).into_owned()
}

#[test]
fn the_analysis_of_sums_is_that_of_the_rows() {
    for capture in captures() {
        let dir = TempDir::new().unwrap();
        let rows = dir.path().join("rows");
        lioprof(&["export".as_ref(), capture.dir.as_os_str(), "--parquet".as_ref(), rows.as_os_str()]);
        if !rows.exists() {
            continue;
        }
        let selected = |rows: &Path| analysis(rows, &["--opcode", "OST_WRITE"]);
        let (of_rows, of_writes) = (analysis(&rows, &[]), selected(&rows));
        assert_eq!(rollup(&rows, &[]).code, Some(0), "{}", capture.name);
        assert!(analysis(&rows, &[]) == of_rows, "{}", capture.name);
        // Sums are of all rows: of some they know nothing.
        assert!(selected(&rows) == of_writes, "{}", capture.name);
        // And they are what was taken.
        for table in ["rpcs", "lock_events", "sent_rpcs"].map(|table| rows.join(table)).iter().filter(|it| it.exists())
        {
            fs::remove_dir_all(table).unwrap();
        }
        assert!(analysis(&rows, &[]) == of_rows, "{} without rows", capture.name);
    }
}

#[test]
fn sums_that_are_damaged_or_of_other_rows_are_not_taken() {
    let dir = TempDir::new().unwrap();
    let rows = dataset(&dir);
    assert_eq!(rollup(&rows, &[]).code, Some(0));
    let of_rows = analysis(&rows, &[]);
    let path = rows.join("rollups/sums/server1.sums");
    let kept = fs::read(&path).unwrap();
    let header = kept.iter().position(|byte| *byte == b'\n').unwrap();
    let mut flipped = kept.clone();
    flipped[header + 100] ^= 0xff;
    let text = String::from_utf8_lossy(&kept[..header]).replace("lioprof.sums/1", "lioprof.sums/0");
    let other = [text.as_bytes(), &kept[header..]].concat();
    for changed in [flipped, other, kept[..kept.len() / 2].to_vec(), kept[..header / 2].to_vec(), Vec::new()] {
        fs::write(&path, changed).unwrap();
        assert!(analysis(&rows, &[]) == of_rows);
        // They are made again, and no other ones.
        let run = rollup(&rows, &[]);
        assert_eq!(run.code, Some(0), "{run}");
        assert!(
            run.stderr.contains("server1: 280 RPCs") && !run.stderr.contains("server2: 46 RPCs of 1 part rolled up\n"),
            "{run}"
        );
        assert!(analysis(&rows, &[]) == of_rows);
    }
    // A part more than they are of.
    rename_part(&rows, "20261120T000000.000000Z-export-000001");
    assert!(analysis(&rows, &[]) == of_rows);
}

/// `fixtures/rollup-1` was made by the last version that kept tables.
#[test]
fn rollups_of_older_versions_are_left_alone() {
    let dir = TempDir::new().unwrap();
    let rows = dataset(&dir);
    let older = fixture("rollup-1/rollups");
    for file in files_under(&older) {
        let to = rows.join("rollups").join(file.strip_prefix(&older).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&file, to).unwrap();
    }
    let seconds = fs::read(rows.join("rollups/seconds/server1.parquet")).unwrap();
    let of_rows = analysis(&rows, &[]);
    let run = rollup(&rows, &[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("may be deleted: exchanges, nodes, series"), "{run}");
    assert!(
        run.stderr.contains("server1 was not rolled up: `rollups` has seconds of it that an older lioprof made"),
        "{run}"
    );
    assert_eq!(fs::read(rows.join("rollups/seconds/server1.parquet")).unwrap(), seconds);
    assert!(analysis(&rows, &[]) == of_rows);
    let run = rollup(&rows, &["--force"]);
    assert_eq!(run.code, Some(0), "{run}");
    // The same figures in the same columns.
    assert_eq!(fs::read(rows.join("rollups/seconds/server1.parquet")).unwrap(), seconds);
}
