//! Puts the page's scripts together: the charting library, and our own files in order.
//! Their hashes go into the page's content security policy, which lets nothing else run.

mod echarts;

use std::path::{Path, PathBuf};
use std::{env, fs};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// What all pages need.
const SHARED: &[&str] = &[
    "dom.js",
    "format.js",
    "data.js",
    "state.js",
    "clock.js",
    "theme.js",
    "tip.js",
    "chart.js",
    "chart-file.js",
    "time-chart.js",
    "heat.js",
    "table.js",
    "section.js",
    "cards.js",
    "toolbar.js",
    "start.js",
];

/// The pages, and what each needs besides, in this order.
const PAGES: &[(&str, &[&str])] = &[
    (
        "report",
        &[
            "names.js",
            "accused.js",
            "sample.js",
            "narrowed.js",
            "overview.js",
            "findings.js",
            "ost-heat.js",
            "ost-table.js",
            "view-account.js",
            "measures.js",
            "view-bandwidth.js",
            "view-matrix.js",
            "view-latency.js",
            "view-sizes.js",
            "view-queue.js",
            "view-timeline.js",
            "lock-pairs.js",
            "view-locks.js",
            "view-lock-timeline.js",
            "stacked.js",
            "view-enqueues.js",
            "view-objects.js",
            "view-jobs.js",
            "view-operations.js",
            "view-parts.js",
            "view-events.js",
            "view-quality.js",
            "main.js",
        ],
    ),
    (
        "comparison",
        &[
            "sides.js",
            "figures.js",
            "findings.js",
            "view-figures.js",
            "view-bandwidth.js",
            "view-latency.js",
            "view-rows.js",
            "main.js",
        ],
    ),
    (
        "operations",
        &[
            "parts.js",
            "view-kinds.js",
            "view-parts.js",
            "view-slowest.js",
            "lanes.js",
            "view-operation.js",
            "view-none.js",
            "main.js",
        ],
    ),
];

/// Our styles; later ones override.
const STYLES: &[&str] = &[
    "theme.css",
    "layout.css",
    "parts.css",
    "cards.css",
    "controls.css",
    "charts.css",
    "tables.css",
    "report/quality.css",
    "comparison/comparison.css",
    "operations/operations.css",
    "print.css",
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let web = crate_dir.join("web");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=echarts");
    println!("cargo::rerun-if-changed=web");

    let library = echarts::source(&crate_dir);
    println!("cargo::rustc-env=LIOPROF_ECHARTS_SHA256={}", base64_sha256(&library));
    fs::write(out.join("echarts.js"), library).expect("OUT_DIR can be written");

    let shared = joined(&web, SHARED);
    for (page, files) in PAGES {
        // One scope for all of them, so that nothing of ours is global.
        let app = format!("(() => {{\n\"use strict\";\n{shared}{}}})();\n", joined(&web.join(page), files));
        println!("cargo::rustc-env=LIOPROF_{}_SHA256={}", page.to_uppercase(), base64_sha256(app.as_bytes()));
        fs::write(out.join(format!("{page}.js")), app).expect("OUT_DIR can be written");
    }
    fs::write(out.join("app.css"), joined(&web, STYLES)).expect("OUT_DIR can be written");
}

fn joined(web: &Path, files: &[&str]) -> String {
    let read = |file: &&str| {
        let path = web.join(file);
        fs::read_to_string(&path).unwrap_or_else(|err| panic!("failed to read `{}`: {err}", path.display()))
    };
    files.iter().map(read).collect()
}

fn base64_sha256(bytes: &[u8]) -> String {
    STANDARD.encode(Sha256::digest(bytes))
}
