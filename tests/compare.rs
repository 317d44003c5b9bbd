//! `lioprof compare`: the two case studies before and after, a capture with itself, exit codes.

use std::fs;

use lioprof_testkit::blessed_table;
use serde_json::Value;
use tempfile::TempDir;

use crate::figures::{rows, text};
use crate::util::{Run, analyze, assert_same, lioprof};

fn fixture(name: &str) -> String {
    lioprof_testkit::files::fixture(name).to_str().unwrap().to_owned()
}

fn case(name: &str) -> [String; 2] {
    ["before", "after"].map(|side| fixture(&format!("case-studies/{name}/{side}.txt.zst")))
}

#[track_caller]
fn run(sides: &[String; 2], more: &[&str]) -> Run {
    lioprof(&[&["compare", &sides[0], &sides[1]][..], more].concat())
}

#[track_caller]
fn json(sides: &[String; 2]) -> Value {
    run(sides, &["--format", "json"]).exits(0).json()
}

fn ids(json: &Value, what: &str) -> Vec<String> {
    let changes = json["findings"][what].as_array().unwrap();
    changes.iter().filter_map(|change| text(&change["finding"], "id").map(ToOwned::to_owned)).collect()
}

/// Value before, value after, verdict.
fn figure<'a>(json: &'a Value, name: &str) -> (f64, f64, &'a str) {
    let figure = if json["totals"][name].is_null() { &json["locks"][name] } else { &json["totals"][name] };
    (figure["before"].as_f64().unwrap(), figure["after"].as_f64().unwrap(), figure["verdict"].as_str().unwrap())
}

const MIB: f64 = 1_048_576.0;

#[test]
fn a_collective_read_that_becomes_lustre_aware() {
    let json = json(&case("collective-read"));
    assert_eq!(ids(&json, "lost"), ["reads-not-lustre-aware"]);
    assert!(ids(&json, "gained").is_empty());
    // What the simulated program does: 4 clients read 32 stripes of 1 MiB from each of 4 OSTs.
    let (before, after, _) = figure(&json, "read_bytes");
    assert_eq!((before / MIB, after / MIB), (512.0, 512.0));
    assert_eq!(figure(&json, "written_bytes"), (0.0, 0.0, "same"));
    for row in rows(&json["targets"], "rows") {
        let bytes = &row["figures"]["read_bytes"];
        assert_eq!((bytes["before"].as_f64(), bytes["after"].as_f64()), (Some(128.0 * MIB), Some(128.0 * MIB)));
        assert_eq!(row["figures"]["read_bandwidth_bytes_per_s"]["verdict"], "better", "{row}");
    }
    let (before, after, verdict) = figure(&json, "activity_s");
    assert!(verdict == "better" && after < before / 3.0, "{before} {after} {verdict}");
    // One OST at a time became four at a time, so each RPC waits longer.
    assert_eq!(figure(&json, "bandwidth_bytes_per_s").2, "better");
    assert_eq!(figure(&json, "read_total_p99_us").2, "worse");
}

#[test]
fn hdf5_metadata_that_one_client_reads_for_all() {
    let json = json(&case("hdf5-metadata"));
    assert!(ids(&json, "lost").contains(&"small-io-between-large".to_owned()), "{:?}", ids(&json, "lost"));
    // 4 clients write 48 MiB each in RPCs of 1 MiB, with 4 header reads before each: by all, then by one of them.
    let (before, after, verdict) = figure(&json, "written_bytes");
    assert_eq!((before / MIB, after / MIB, verdict), (192.0, 192.0, "same"));
    let (before, after, _) = figure(&json, "read_rpcs");
    assert_eq!((before, after), (768.0, 192.0));
    assert_eq!(figure(&json, "activity_s").2, "better");
    // Hardly any of the bytes: that reads became fewer is no loss of bandwidth.
    let reads = &json["totals"]["read_bandwidth_bytes_per_s"];
    assert_eq!(reads["headline"], false, "{reads}");
}

#[test]
fn changes_follow_from_the_analyses_of_both_sides() {
    let sides = case("hdf5-metadata");
    let json = json(&sides);
    let [before, after] = [0, 1].map(|side| analyze(&[sides[side].as_ref()], &[]));
    for (row, io) in [("read_rpcs", "read"), ("write_rpcs", "write")] {
        let want = |side: &Value| side["totals"][io]["rpcs"].as_f64().unwrap();
        let (got_before, got_after, _) = figure(&json, row);
        assert_eq!((got_before, got_after), (want(&before), want(&after)));
        let change = json["totals"][row]["change"].as_f64().unwrap();
        assert!((change - (want(&after) / want(&before) - 1.0)).abs() < 1e-12);
    }
    let row = rows(&json["operations"], "rows").iter().find(|row| row["name"] == "OST_WRITE ll_ost_io").unwrap();
    for (side, analysis) in [("before", &before), ("after", &after)] {
        let writes = rows(analysis, "operations").iter().find(|it| it["name"] == "OST_WRITE").unwrap();
        for time in ["queue", "service", "total"] {
            for percentile in ["p50", "p90", "p99"] {
                let want = writes[format!("{time}_us")][percentile].as_f64();
                assert_eq!(row["figures"][format!("{time}_{percentile}_us")][side].as_f64(), want);
            }
        }
        assert_eq!(json["locks"]["wait_s"][side], analysis["locks"]["totals"]["wait_s"]);
    }
}

#[test]
fn a_capture_has_not_changed_from_itself() {
    for name in ["case-studies/hdf5-metadata/before.txt.zst", "captures/lock_pingpong_dlm"] {
        let sides = [fixture(name), fixture(name)];
        let json = json(&sides);
        for changes in ["lost", "gained"] {
            assert!(ids(&json, changes).is_empty());
        }
        let figures = ["totals", "locks"].into_iter().flat_map(|part| json[part].as_object().unwrap().values());
        let rows = ["targets", "clients", "operations"].into_iter().flat_map(|part| rows(&json[part], "rows"));
        let figures: Vec<&Value> =
            figures.chain(rows.flat_map(|row| row["figures"].as_object().unwrap().values())).collect();
        assert!(figures.len() > 50);
        for figure in figures {
            assert!(figure["change"].is_null() || figure["change"] == 0.0, "{figure}");
            let same = if figure["before"].is_null() { "unknown" } else { "same" };
            assert_eq!(figure["verdict"], same, "{figure}");
        }
        run(&sides, &["--fail-on", "regression=0", "--format", "none"]).exits(0);
    }
}

/// Real runs of the same bytes, sick and cured: `better`, by intervals that leave out no change.
#[test]
fn a_large_change_is_one_however_much_the_runs_vary() {
    let json = json(&[fixture("captures/pair_slow_ost_sick"), fixture("captures/pair_healthy_run1")]);
    let figure = &json["totals"]["bandwidth_bytes_per_s"];
    let (min, change, max) = (figure["change_min"].as_f64(), figure["change"].as_f64(), figure["change_max"].as_f64());
    assert!(0.0 < min.unwrap() && min < change && change < max, "{figure}");
    assert_eq!(figure["verdict"], "better");
    assert!(json["error"].as_f64().unwrap() <= json["rules"]["error_rate"].as_f64().unwrap());
}

/// Analyzes a capture into a folder of `dir`.
#[track_caller]
fn saved(capture: &str, dir: &TempDir, name: &str, options: &[&str]) -> String {
    let out = dir.path().join(name).to_str().unwrap().to_owned();
    lioprof(&[&["analyze", capture, "--format", "none", "--plots", "none", "-q", "-o", &out], options].concat())
        .exits(0);
    out
}

/// Whole captures have none.
#[test]
fn a_note_tells_different_parts_apart() {
    let dir = TempDir::new().unwrap();
    let capture = fixture("captures/file_per_process");
    let parts: [&[&str]; 3] =
        [&["--target", "lustre-OST0002"], &["--target", "lustre-OST0003", "--opcode", "OST_WRITE"], &[]];
    let [second, third, all] = [0, 1, 2].map(|at| saved(&capture, &dir, &at.to_string(), parts[at]));
    for (sides, note) in [
        (
            [&second, &third],
            Some("--target lustre-OST0002 before is compared with --target lustre-OST0003 --opcode OST_WRITE after"),
        ),
        ([&all, &second], Some("everything before is compared with --target lustre-OST0002 after")),
        ([&second, &second], None),
        ([&all, &all], None),
    ] {
        let notes = json(&sides.map(Clone::clone))["notes"].to_string();
        assert_eq!(notes.contains("is compared with"), note.is_some(), "{notes}");
        assert!(notes.contains(note.unwrap_or_default()), "{notes}");
    }
}

/// The same run in bins of several widths: pauses within a wide bin count as time in which bytes moved.
#[test]
fn bins_of_other_widths_change_nothing() {
    let dir = TempDir::new().unwrap();
    let log = fixture("captures/pair_slow_ost_sick");
    let [narrow, wide] = ["0.02", "0.5"].map(|bin| saved(&log, &dir, bin, &["--bin", bin]));
    for sides in [[&narrow, &wide], [&wide, &narrow]] {
        let sides = sides.map(Clone::clone);
        run(&sides, &["--fail-on", "regression=1%", "--format", "none"]).exits(0);
        let json = json(&sides);
        assert!(json["notes"].to_string().contains("--bin"), "{}", json["notes"]);
        assert_eq!(figure(&json, "write_bandwidth_bytes_per_s").2, "unknown");
    }
    // A log is analyzed in the bins of the other side.
    for sides in [[&log, &wide], [&narrow, &log], [&log, &log]] {
        let json = json(&sides.map(Clone::clone));
        assert_eq!(
            (json["notes"].to_string().contains("--bin"), figure(&json, "write_bandwidth_bytes_per_s").2),
            (false, "same")
        );
    }
}

#[test]
fn saved_analyses_compare_as_the_logs_do() {
    let sides = case("collective-read");
    let dir = TempDir::new().unwrap();
    let saved = [0, 1].map(|side| saved(&sides[side], &dir, &side.to_string(), &[]));
    let want = json(&sides);
    let files = saved.clone().map(|dir| format!("{dir}/analysis.json"));
    assert_same("two files", &json(&files), &want);
    assert_same("two report directories", &json(&saved), &want);
    assert_same("a log and a file", &json(&[sides[0].clone(), files[1].clone()]), &want);
}

#[test]
fn regressions_decide_the_exit_code() {
    let [good, bad] = {
        let [before, after] = case("hdf5-metadata");
        [after, before]
    };
    let code = |sides: [&String; 2], limit: &str| {
        run(&sides.map(Clone::clone), &["--fail-on", &format!("regression={limit}"), "--format", "none"])
    };
    code([&bad, &good], "0%").exits(0);
    code([&good, &bad], "1%").exits(1).says(&["regression: "]);
    code([&good, &bad], "500%").exits(0);
    code([&good, &bad], "ten").exits(2).says(&["regression=10%", "`regression=ten`"]);
    let missing = "/nonexistent/rpc.bin".to_owned();
    code([&good, &missing], "10%").exits(2).says(&["/nonexistent/rpc.bin"]);
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("other.json");
    fs::write(&path, "{\"schema\": \"something/1\"}").unwrap();
    code([&good, &path.to_str().unwrap().to_owned()], "10%").exits(2).says(&[
        "other.json",
        "`something/1`",
        "`lioprof.analysis/1`",
    ]);
}

#[test]
fn the_summary_begins_with_what_changed() {
    let sides = case("collective-read");
    let shown = String::from_utf8(run(&sides, &[]).exits(0).stdout).unwrap();
    let (head, tables) = shown.split_once("\nBefore: ").unwrap();
    assert!(head.contains("GONE critical reads-not-lustre-aware"), "{head}");
    assert!(tables.contains("read bandwidth *"), "{tables}");
    let back = [sides[1].clone(), sides[0].clone()];
    let worse = String::from_utf8(run(&back, &[]).exits(0).stdout).unwrap();
    assert!(worse.contains("NEW critical reads-not-lustre-aware"), "{worse}");
    for line in shown.lines().chain(worse.lines()) {
        assert!(line.chars().count() <= 80 && !line.contains('\x1b'), "{line:?}");
    }
}

#[test]
fn files_are_written() {
    let sides = case("hdf5-metadata");
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("cmp");
    run(&sides, &["--format", "none", "-o", out.to_str().unwrap()]).exits(0);
    let saved: Value = serde_json::from_slice(&fs::read(out.join("comparison.json")).unwrap()).unwrap();
    assert_eq!(saved["schema"], "lioprof.comparison/1");
    assert_same("comparison.json", &saved, &json(&sides));
    let page = fs::read(out.join("comparison.html")).unwrap();
    assert!(page.starts_with(b"<!doctype html>"));
    // A saved comparison gives the same page, beside it.
    fs::remove_file(out.join("comparison.html")).unwrap();
    lioprof(&["report", out.join("comparison.json").to_str().unwrap()]).exits(0).says(&["comparison.html"]);
    assert!(fs::read(out.join("comparison.html")).unwrap() == page);
    for plot in ["compare-bandwidth", "compare-latency", "compare-osts"] {
        assert!(fs::read(out.join(format!("{plot}.png"))).unwrap().starts_with(b"\x89PNG"));
        let svg = fs::read_to_string(out.join(format!("{plot}.svg"))).unwrap();
        assert!(svg.contains("before") && svg.contains("after"), "{plot}");
    }
}

#[test]
fn both_runs_can_be_drawn_from_the_comparison_alone() {
    let sides = case("collective-read");
    let json = json(&sides);
    for (side, path) in [("before", &sides[0]), ("after", &sides[1])] {
        let analysis = analyze(&[path.as_ref()], &[]);
        let course = &json[side]["course"];
        let sum = |key: &str| course[key].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("read_bytes"), analysis["totals"]["read"]["bytes"].as_u64().unwrap(), "{side}");
        let reads = rows(&analysis, "operations").iter().find(|it| it["name"] == "OST_READ").unwrap();
        assert_eq!(course["read_total_hist_us"], reads["total_hist_us"], "{side}");
        assert_eq!(json[side]["nodes"][0], analysis["nodes"][0]["name"]);
    }
}

#[test]
fn one_word_for_what_cannot_be_told_and_no_rows_of_it() {
    let sides = ["lock_pingpong", "lock_pingpong_dlm"].map(|name| fixture(&format!("captures/{name}")));
    let printed = String::from_utf8(run(&sides, &[]).exits(0).stdout).unwrap();
    for word in ["anything", "Not judged", "unknown", "leaves open"] {
        assert!(!printed.contains(word), "{word}: {printed}");
    }
    let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Cannot tell: write total p90: the change lies in "), "{printed}");
    assert!(words.contains("Cannot tell whether the p99 of ") && words.contains(" operations changed"), "{printed}");
    assert!(!printed.contains("OBD_PING") && words.contains("?: cannot tell."), "{printed}");
    assert!(
        words.starts_with("Worse: the I/O took 10.7 s") || words.starts_with("Worse: the I/O took 11 s"),
        "{printed}"
    );
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
}

/// Neither what was not looked for is gone, nor what cannot have been there.
#[test]
fn what_the_other_side_does_not_have_is_not_gone() {
    let whole = fixture("captures/pair_slow_ost_sick");
    let server1 = format!("{whole}/server1");
    let sides = [whole, server1];
    let there = json(&sides);
    assert_eq!(ids(&there, "lost"), ["sluggish-ost"]);
    assert_eq!(text(&there["findings"]["lost"][0], "other"), Some("not_applicable"));
    let printed = String::from_utf8(run(&sides, &[]).exits(0).stdout).unwrap();
    for said in ["NOT SEEN critical sluggish-ost", "1 finding not checked on the other side", "server2 only before"] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
    assert!(!printed.contains("gone"), "{printed}");
}

/// The case studies of the page, as the command prints them today.
#[test]
fn the_page_shows_what_the_command_prints() {
    for (name, behind) in [("collective-read", "\nThe same 512 MiB"), ("hdf5-metadata", "\nOnly a quarter")] {
        let printed = String::from_utf8(run(&case(name), &["--quiet"]).exits(0).stdout).unwrap();
        let shown: String = printed
            .lines()
            .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") })
            .collect();
        let command = format!("        fixtures/case-studies/{name}/after.txt.zst\n");
        blessed_table("docs/compare.md", (&command, behind), &shown);
    }
}
