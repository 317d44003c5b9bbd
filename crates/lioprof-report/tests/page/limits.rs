//! Size, sums, and what cannot be right.

use lioprof_model::{Analysis, SpentOn, TimeAccount, TimeOf, TimeSpent};
use serde_json::{Value, json};

use crate::support;

const MAX_BYTES: usize = 5_000_000;

fn page(analysis: &Analysis) -> String {
    let mut out = Vec::new();
    lioprof_report::write(analysis, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn data(page: &str) -> Value {
    let json = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(json).unwrap()
}

/// Sum of a figure over rows, and what the others come to.
fn sum(table: &Value, figure: impl Fn(&Value) -> u64) -> u64 {
    let rows: u64 = table["rows"].as_array().unwrap().iter().map(&figure).sum();
    rows + if table["others"].is_null() { 0 } else { figure(&table["others"]) }
}

#[test]
fn the_largest_system_fits_and_nothing_is_lost() {
    let analysis = support::large(1350, 100_000);
    let page = page(&analysis);
    assert!(page.len() < MAX_BYTES, "{} bytes", page.len());
    let data = data(&page);
    assert_eq!(data["totals"]["write"]["bytes"], analysis.totals.write.bytes);
    assert_eq!(data["totals"]["clients"], 100_000);
    for (direction, total) in [("read", &analysis.totals.read), ("write", &analysis.totals.write)] {
        for table in ["clients", "targets"] {
            assert_eq!(sum(&data[table], |row| row[direction]["bytes"].as_u64().unwrap()), total.bytes, "{table}");
            assert_eq!(sum(&data[table], |row| row[direction]["rpcs"].as_u64().unwrap()), total.rpcs, "{table}");
        }
        let cells = data["matrix"]["cells"].as_array().unwrap();
        assert_eq!(cells.iter().map(|cell| cell[direction]["bytes"].as_u64().unwrap()).sum::<u64>(), total.bytes);
    }
    assert_eq!(data["clients"]["of"], 100_000);
    // What a finding names is on the page, however little it did.
    let lanes = data["series"]["lanes"].as_array().unwrap();
    assert!(lanes.iter().any(|lane| lane["target"] == data["findings"][0]["targets"][0]));
}

#[test]
fn what_only_a_client_spent_time_on_is_not_taken_for_reads_and_writes() {
    let spent = |on, target: Option<&str>, us| {
        let node = if on == SpentOn::Nothing { "" } else { "oss0" };
        TimeSpent::new(on, target.map(str::to_owned), node.to_owned(), us)
    };
    let of = |name: &str, spent: Vec<TimeSpent>| TimeOf {
        name: name.to_owned(),
        span_us: spent.iter().map(|it| it.us).sum(),
        spent,
        ..TimeOf::default()
    };
    // Together the clients are busy all the time, each of them is not.
    let analysis = Analysis {
        time_account: TimeAccount {
            all: Some(of("", vec![spent(SpentOn::Bulk, Some("a-OST0000"), 1000)])),
            clients: vec![
                of("busy", vec![spent(SpentOn::Bulk, Some("a-OST0000"), 990), spent(SpentOn::Nothing, None, 10)]),
                of("idle", vec![spent(SpentOn::Nothing, None, 997), spent(SpentOn::Queue, None, 3)]),
            ],
            ..TimeAccount::default()
        },
        ..Analysis::default()
    };
    let account = &data(&page(&analysis))["time_account"];
    let kinds: Vec<&str> = account["kinds"].as_array().unwrap().iter().map(|it| it["on"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["bulk", "queue", "nothing"]);
    let rows: Vec<&Value> = account["rows"].as_array().unwrap().iter().map(|it| &it["us"]).collect();
    assert_eq!(rows, [&json!([1000, 0, 0]), &json!([990, 0, 10]), &json!([0, 3, 997])]);
}

#[test]
fn the_same_analysis_gives_the_same_bytes() {
    let analysis = support::large(40, 300);
    assert_eq!(page(&analysis), page(&analysis.clone()));
}

#[test]
fn an_empty_analysis_has_a_page() {
    let data = data(&page(&Analysis::default()));
    assert_eq!(data["verdict"]["level"], "unknown");
    assert_eq!(data["totals"]["read"]["bytes"], 0);
}

#[test]
fn arrays_of_the_wrong_length_do_no_harm() {
    let mut analysis = support::large(30, 50);
    analysis.series.targets[0].read_bytes.truncate(3);
    analysis.series.targets[1].queued.push(f64::NAN);
    analysis.series.bins = usize::MAX;
    analysis.series.latency[0].cells.push((u32::MAX, u32::MAX, 1));
    analysis.sample.rpcs[0].client = u32::MAX;
    page(&analysis);
}

#[test]
fn every_plot_has_a_view() {
    let page = page(&Analysis::default());
    for plot in lioprof_plot::plots() {
        assert!(page.contains(&format!("\"{}\"", plot.name)), "no view shows the plot {}", plot.name);
    }
}

#[test]
fn scripts_and_styles_can_be_read() {
    const WIDTH: usize = 140;
    const LINES: usize = 330;
    let web = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let folders = [web.clone(), web.join("report"), web.join("comparison")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|it| it.unwrap().path());
    let ours = files.filter(|path| path.extension().is_some_and(|it| it == "js" || it == "css"));
    let mut seen = 0;
    for path in ours {
        seen += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.lines().count() <= LINES, "{} is too long", path.display());
        for (at, line) in text.lines().enumerate() {
            assert!(line.chars().count() <= WIDTH, "{}:{}: longer than {WIDTH} characters", path.display(), at + 1);
        }
    }
    assert!(seen > 30, "{seen} files");
}
