//! Wounds, made from the captures: all that can be read is read, and the rest is accounted for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use lioprof_testkit::files::unpacked;
use serde_json::Value;
use tempfile::TempDir;

use crate::binlog::{BinaryLog, as_version_1, shift_seconds, swap_byte_order};
use crate::captures::in_both_formats;
use crate::figures::{number, rows, text};
use crate::util::{analyze_run, assert_same, figures_only, lioprof};

/// Captures above this are too slow to be wounded in every way.
const LARGEST: usize = 400_000;

struct Patient {
    name: String,
    log: BinaryLog,
    text: Vec<u8>,
    clean: Value,
}

fn patients() -> Vec<Patient> {
    let mut patients = Vec::new();
    for (name, binary, text) in in_both_formats() {
        let log = BinaryLog::new(unpacked(&binary));
        if log.bytes().len() <= LARGEST {
            let clean = analyze(log.bytes());
            patients.push(Patient { name, text: unpacked(&text), log, clean });
        }
    }
    assert!(!patients.is_empty());
    patients
}

/// Analyses bytes as the log of node `server`.
#[track_caller]
fn analyze(bytes: &[u8]) -> Value {
    let dir = TempDir::new().unwrap();
    analyze_run(&[&write(&dir, bytes)], &[]).json()
}

fn write(dir: &TempDir, bytes: &[u8]) -> PathBuf {
    let folder = dir.path().join("server");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("rpc.bin"), bytes).unwrap();
    folder.join("rpc.bin")
}

/// The figures, without what may be said about the damage.
fn essence(json: &Value) -> Value {
    let mut json = figures_only(json.clone());
    json.as_object_mut().unwrap().remove("warnings");
    json
}

fn input(json: &Value, key: &str) -> u64 {
    number(&rows(json, "inputs")[0], key).unwrap()
}

fn loss(json: &Value, key: &str) -> u64 {
    number(&json["loss"], key).unwrap()
}

/// The log again and again, each time later, until it is as long as a ring can be (the kernel accepts no
/// limit below 10 MiB).
fn prolonged(log: &BinaryLog) -> BinaryLog {
    let times = || (0..log.len()).map(|index| log.time_us(index) / 1_000_000);
    let step = i32::try_from(times().max().unwrap() - times().min().unwrap()).unwrap() + 2;
    let mut bytes = Vec::new();
    for lap in 0.. {
        if bytes.len() > 11 << 20 {
            break;
        }
        bytes.extend(log.map(|_, record| shift_seconds(record, lap * step)));
    }
    BinaryLog::new(bytes)
}

/// The log with its last part written over its beginning, the first of the last records, and the
/// oldest that survives.
fn as_ring(log: &BinaryLog) -> (Vec<u8>, usize, usize) {
    let starts: BTreeSet<usize> = (0..log.len()).map(|index| log.offset(index)).collect();
    // Where the new records end, an old one must be torn.
    let torn = |split: &usize| !starts.contains(&(log.bytes().len() - log.offset(*split)));
    let split = (log.len() * 95 / 100..log.len()).find(torn).unwrap();
    let new = log.slice(split..log.len());
    let oldest = (0..split).find(|&index| log.offset(index) > new.len()).unwrap();
    (([new, &log.bytes()[new.len()..log.offset(split)]].concat()), split, oldest)
}

#[test]
fn torn_seam_of_a_ring() {
    let largest = in_both_formats().into_iter().map(|(_, binary, _)| unpacked(&binary)).max_by_key(Vec::len).unwrap();
    let log = prolonged(&BinaryLog::new(largest));
    let (ring, split, oldest) = as_ring(&log);
    let got = analyze(&ring);
    let survivors = analyze(log.slice(oldest..log.len()));
    assert_same("survivors", &essence(&got), &essence(&survivors));
    let torn = log.offset(oldest) - (log.bytes().len() - log.offset(split));
    assert_eq!(input(&got, "records"), (log.len() - oldest) as u64);
    assert_eq!(input(&got, "skipped_bytes"), torn as u64);
    assert_eq!(loss(&got, "torn_seams"), 1);
    assert_eq!(got["loss"]["head_overwritten"], true);
    assert!(got["loss"]["estimated_lost_fraction"].is_null(), "{}", got["loss"]);
    assert!(!rows(&got, "warnings").is_empty());
}

#[test]
fn tail_cut_inside_a_record() {
    for Patient { name, log, .. } in patients() {
        for left in [1, 30, 60] {
            let complete = log.len() - 1;
            let got = analyze(&log.bytes()[..log.offset(complete) + left]);
            assert_same(&name, &essence(&got), &essence(&analyze(log.slice(0..complete))));
            assert_eq!(input(&got, "skipped_bytes"), left as u64, "{name}");
            assert!(loss(&got, "bad_records") >= 1, "{name}");
        }
    }
}

#[test]
fn nul_bytes_between_records() {
    for Patient { name, log, clean, .. } in patients() {
        let middle = log.len() / 2;
        let hole = [log.slice(0..middle), &[0; 4096], log.slice(middle..log.len())].concat();
        let got = analyze(&hole);
        assert_same(&name, &essence(&got), &essence(&clean));
        assert_eq!(input(&got, "skipped_bytes"), 4096, "{name}");
        assert!(loss(&got, "bad_records") >= 1, "{name}");
    }
}

#[test]
fn nul_bytes_instead_of_records() {
    for Patient { name, log, .. } in patients() {
        let (from, to) = (log.len() / 2, log.len() / 2 + 20);
        let mut holed = log.bytes().to_vec();
        // From inside one record to inside another.
        holed[log.offset(from) + 20..log.offset(to) + 60].fill(0);
        let rest = [log.slice(0..from), log.slice(to + 1..log.len())].concat();
        let got = analyze(&holed);
        assert_same(&name, &essence(&got), &essence(&analyze(&rest)));
        assert_eq!(input(&got, "records"), (log.len() - 21) as u64, "{name}");
    }
}

#[test]
fn nul_bytes_in_a_text() {
    for Patient { name, log, text, clean } in patients() {
        let middle = text.len() / 2;
        let line = middle + text[middle..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let got = analyze(&[&text[..line], &[0; 4096], &text[line..]].concat());
        assert_eq!(input(&got, "records"), log.len() as u64, "{name}");
        assert_eq!(got["totals"]["rpcs"], clean["totals"]["rpcs"], "{name}: RPCs");
        // They are no text of any record, so they must be accounted for.
        assert_eq!((input(&got, "skipped_bytes"), loss(&got, "bad_records")), (4096, 1), "{name}");
    }
}

#[test]
fn garbage_between_records() {
    for Patient { name, log, clean, .. } in patients() {
        let mut seed = 1_u32;
        let mut garbage = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u8::try_from(seed >> 24).unwrap()
        };
        let garbage: Vec<u8> = (0..1000).map(|_| garbage()).collect();
        let third = log.len() / 3;
        let got = analyze(&[log.slice(0..third), &garbage, log.slice(third..log.len())].concat());
        assert_same(&name, &essence(&got), &essence(&clean));
        assert_eq!(input(&got, "skipped_bytes"), 1000, "{name}");
    }
}

/// A capture of a machine of the other byte order is read alike, or refused by name; never read as nonsense.
#[test]
fn other_byte_order() {
    for Patient { name, log, clean, .. } in patients() {
        let dir = TempDir::new().unwrap();
        let path = write(&dir, &log.map(|_, record| swap_byte_order(record)));
        let run = lioprof(&["analyze".as_ref(), path.as_os_str(), "--format".as_ref(), "json".as_ref()]);
        match run.code {
            Some(0) => assert_same(&name, &essence(&run.json()), &essence(&clean)),
            _ => drop(run.exits(2).says(&["rpc.bin", "byte order"])),
        }
    }
}

#[test]
fn header_of_lustre_1_8() {
    for Patient { name, log, clean, .. } in patients() {
        let got = analyze(&log.map(|_, record| as_version_1(record)));
        assert_eq!(input(&got, "records"), log.len() as u64, "{name}");
        for key in ["totals", "targets", "clients", "jobs", "operations"] {
            assert_same(&format!("{name}: {key}"), &got[key], &clean[key]);
        }
    }
}

/// After a short write (disk full) the kernel writes the same page again: nothing may count twice.
#[test]
fn page_repeated_after_a_short_write() {
    for Patient { name, log, clean, .. } in patients() {
        let from = log.len() / 2;
        let to = (from..log.len())
            .find(|&to| log.stream(to) != log.stream(from) || log.offset(to) - log.offset(from) > 3500);
        let to = to.unwrap_or(log.len());
        let page = log.slice(from..to);
        let short = &page[..page.len() * 2 / 3 + 7];
        let got = analyze(&[log.slice(0..from), short, log.slice(from..log.len())].concat());
        for key in ["totals", "targets", "clients", "jobs", "sent"] {
            assert_same(&format!("{name}: {key}"), &got[key], &clean[key]);
        }
    }
}

/// A dump that was taken while a daemon ran holds what the daemon's file holds, too.
#[test]
fn a_dump_beside_the_daemon_file() {
    for Patient { name, log, clean, .. } in patients() {
        let dir = TempDir::new().unwrap();
        let daemon = write(&dir, log.slice(0..log.len() * 7 / 10));
        let dump = daemon.with_file_name("lustre-log.1795250608.2546");
        fs::write(&dump, log.slice(log.len() * 3 / 10..log.len())).unwrap();
        let got = analyze_run(&[dir.path()], &[]).json();
        assert_eq!(rows(&got, "inputs").len(), 2, "{name}");
        for key in ["totals", "targets", "clients", "jobs", "sent"] {
            assert_same(&format!("{name}: {key}"), &got[key], &clean[key]);
        }
    }
}

#[test]
fn clock_steps() {
    for Patient { name, log, clean, .. } in patients() {
        let mut times: Vec<u64> = (0..log.len()).map(|index| log.time_us(index)).collect();
        times.sort_unstable();
        let middle = times[times.len() / 2];
        // Back half a minute; ahead an hour; ahead three years.
        for seconds in [-30, 3600, 100_000_000] {
            let stepped = log.map(|index, record| {
                if log.time_us(index) >= middle {
                    shift_seconds(record, seconds);
                }
            });
            let got = analyze(&stepped);
            let what = format!("{name}: {seconds} s");
            if goes_back(&BinaryLog::new(stepped)) {
                assert!(loss(&got, "clock_steps") >= 1, "{what}: {}", got["loss"]);
            }
            for key in ["rpcs", "sent_rpcs"] {
                assert_eq!(got["totals"][key], clean["totals"][key], "{what}: {key}");
            }
            // Only the estimate of what is not exact may differ: it rests on what came before.
            for direction in ["read", "write"] {
                for key in ["rpcs", "errors", "bytes_min", "bytes_max", "exact_rpcs", "bounded_rpcs", "unsized_rpcs"] {
                    let (got, clean) = (&got["totals"][direction][key], &clean["totals"][direction][key]);
                    assert_eq!(got, clean, "{what}: {direction} {key}");
                }
            }
            let bins = number(&got["series"], "bins").unwrap();
            assert!(bins <= 100_000, "{what}: {bins} bins");
        }
    }
}

/// Whether time goes back inside a run of one of the kernel's buffers. (Between two runs it may also do so
/// in a dump, to which the kernel appends the older pages that a daemon has written already.)
fn goes_back(log: &BinaryLog) -> bool {
    let mut latest: BTreeMap<(u16, u16), u64> = BTreeMap::new();
    (0..log.len()).any(|index| {
        let time = log.time_us(index);
        latest.insert(log.stream(index), time).is_some_and(|before| time < before && !log.is_first(index))
    })
}

/// The kernel writes the buffers of the CPUs one after the other, in any order.
#[test]
fn records_ordered_by_cpu() {
    for Patient { name, log, clean, .. } in patients() {
        for descending in [false, true] {
            let mut order: Vec<usize> = (0..log.len()).collect();
            order.sort_by_key(|&index| log.stream(index));
            if descending {
                order.sort_by_key(|&index| std::cmp::Reverse(log.stream(index)));
            }
            let bytes: Vec<u8> = order.iter().flat_map(|&index| log.record(index).to_vec()).collect();
            assert_same(&name, &essence(&analyze(&bytes)), &essence(&clean));
        }
    }
}

/// A buffer that overflowed lost its oldest pages: its next run does not begin with the `F` flag.
#[test]
fn heads_discarded_by_the_kernel() {
    let mut tried = 0;
    for Patient { name, log, .. } in patients() {
        let middle = log.len() / 3;
        let start = (middle..log.len()).find(|&at| log.is_first(at) && log.stream(at) != log.stream(at - 1));
        let Some(start) = start else { continue };
        let end = (start..log.len()).find(|&at| log.stream(at) != log.stream(start)).unwrap_or(log.len());
        if end - start < 10 || (start + 1..end).any(|at| log.is_first(at)) {
            continue;
        }
        let got = analyze(&[log.slice(0..start), log.slice(start + 5..log.len())].concat());
        assert_eq!(loss(&got, "discarded_heads"), 1, "{name}");
        assert!(!rows(&got, "warnings").is_empty(), "{name}");
        tried += 1;
    }
    assert!(tried > 0);
}

/// RPCs of which no record is left show as gaps in the schedulers' numbers.
#[test]
fn missing_numbers_of_the_scheduler() {
    let mut tried = 0;
    for Patient { name, log, .. } in patients() {
        let starts: Vec<usize> = (0..log.len()).filter(|&at| log.contains(at, "NRS start fifo request")).collect();
        let of_io = |at: usize| {
            (at..log.len().min(at + 12))
                .any(|next| log.contains(next, "Handling RPC") && log.contains(next, "ll_ost_io"))
        };
        let starts: Vec<usize> = starts.into_iter().filter(|&at| of_io(at)).collect();
        if starts.len() < 40 {
            continue;
        }
        let gone = &starts[starts.len() / 2..starts.len() / 2 + 10];
        let kept = (0..log.len()).filter(|at| !gone.contains(at));
        let bytes: Vec<u8> = kept.flat_map(|at| log.record(at).to_vec()).collect();
        let got = analyze(&bytes);
        let gaps = loss(&got, "nrs_sequence_gaps");
        assert!((1..=10).contains(&gaps), "{name}: {gaps} gaps");
        assert!(got["loss"]["estimated_lost_fraction"].as_f64().unwrap() > 0.0, "{name}");
        tried += 1;
    }
    assert!(tried > 0);
}

/// Damage is told to people, too, with the place; and it decides the exit code.
#[test]
fn damage_is_reported_and_limited() {
    let Patient { log, .. } = patients().swap_remove(0);
    let dir = TempDir::new().unwrap();
    let run = |bytes: &[u8], more: &[&str]| analyze_run(&[&write(&dir, bytes)], more);
    run(log.bytes(), &["--max-loss", "0"]).exits(0);
    let middle = log.len() / 2;
    let mut holed = log.bytes().to_vec();
    holed[log.offset(middle)..log.offset(middle + 40)].fill(0);
    let damaged = run(&holed, &["--max-loss", "0"]).exits(3).says(&["rpc.bin"]);
    let json = damaged.json();
    let place = &rows(&rows(&json, "inputs")[0], "bad_places")[0];
    assert_eq!(number(place, "offset"), Some(log.offset(middle) as u64));
    assert!(text(place, "why").is_some_and(|why| !why.is_empty()));
}
