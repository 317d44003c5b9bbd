//! `analysis.json` with joined bins, its complete tables, and what reads it.

use std::fs;
use std::path::Path;

use lioprof_testkit::files::capture;
use serde_json::Value;

use crate::util::lioprof;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn thousands_of_bins_are_joined_in_the_json_and_complete_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("report");
    let (input, output) = (capture("pair_slow_ost_sick").display().to_string(), out.display().to_string());
    // 43 s in bins of 1 ms.
    let analyze = |bin: &str| {
        lioprof(&["analyze", &input, "--bin", bin, "-o", &output, "--format", "none", "--plots", "none"]).exits(0)
    };
    analyze("0.001").says(&["series.targets", "tables"]);
    let path = out.join("analysis.json");
    let saved = json(&path);
    let series = &saved["series"];
    let joined = series["joined"].as_u64().unwrap();
    assert_eq!((joined, series["bin_s"].as_f64()), (2, Some(0.002)));
    let table = out.join("tables/series.targets.parquet");
    assert!(table.is_file());
    let sum = |values: &Value| values.as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).sum::<u64>();
    for (target, peaks) in series["targets"].as_array().unwrap().iter().zip(series["peaks"].as_array().unwrap()) {
        assert_eq!(target["name"], peaks["name"]);
        let all = saved["targets"].as_array().unwrap().iter().find(|it| it["name"] == target["name"]);
        if let Some(bytes) = all.and_then(|all| all["read"]["bytes"].as_u64()) {
            assert_eq!(sum(&target["read_bytes"]), bytes, "{target}");
        }
        let highest = |values: &Value| values.as_array().unwrap().iter().filter_map(Value::as_u64).max();
        assert!(highest(&peaks["read_bytes"]) <= highest(&target["read_bytes"]));
    }

    // What reads it says that bins are joined; findings are those that were saved.
    let saved_at = path.display().to_string();
    #[cfg(feature = "report")]
    {
        let page = dir.path().join("page.html").display().to_string();
        lioprof(&["report", &saved_at, "-o", &page]).exits(0).says(&["time bins are joined"]);
    }
    let compared =
        lioprof(&["compare", &output, &saved_at, "--format", "json"]).exits(0).says(&["time bins are joined"]);
    assert_eq!(compared.json()["schema"], "lioprof.comparison/1");

    // Analyzed again with fewer bins, nothing is left of the table.
    analyze("0.1");
    assert!(json(&path)["series"].get("joined").is_none() && !table.exists());
}
