//! Every plot of every made-up capture, as a user gets it.

mod support;

use lioprof_model::{Analysis, Finding};
use lioprof_plot::{Format, PlotOptions, Rendered, Written, plot, plots, render, write_all};
use support::{MIXED, SMALL, Shape, analysis, cases};

fn image(name: &str, analysis: &Analysis, format: Format) -> Option<Vec<u8>> {
    let plot = plot(name).expect("known plot");
    match render(plot, analysis, format, &PlotOptions::default()).expect("renders") {
        Rendered::Image(bytes) => Some(bytes),
        Rendered::Skipped(reason) => {
            assert!(reason.len() > 8, "{reason}");
            None
        }
    }
}

fn svg(name: &str, analysis: &Analysis) -> String {
    String::from_utf8(image(name, analysis, Format::Svg).expect("has data")).expect("UTF-8")
}

/// All text of an SVG, a line each.
fn words(svg: &str) -> String {
    let doc = roxmltree::Document::parse(svg).expect("well-formed XML");
    let texts = doc.descendants().filter(|n| n.has_tag_name("text"));
    texts.filter_map(|n| n.text()).map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_plot_renders_in_both_formats() {
    for (name, analysis) in cases() {
        for plot in plots() {
            let Some(svg) = image(plot.name, &analysis, Format::Svg) else {
                let expected = [("one", "object-offsets"), ("mixed", "lock-timeline")];
                assert!(expected.contains(&(name, plot.name)), "{name}/{}: skipped", plot.name);
                continue;
            };
            assert!(svg.len() < 2_000_000, "{name}/{}: {} bytes", plot.name, svg.len());
            let svg = String::from_utf8(svg).expect("UTF-8");
            let words = words(&svg);
            assert!(words.contains(plot.title), "{name}/{}", plot.name);
            assert!(words.contains("2026-11-21T09:30:05.250Z"), "{name}/{}: no start", plot.name);
            let png = image(plot.name, &analysis, Format::Png).expect("has data");
            let mut reader = png::Decoder::new(std::io::Cursor::new(&png)).read_info().expect("a PNG");
            assert_eq!(reader.info().width, 1720);
            let mut pixels = vec![0; reader.output_buffer_size().expect("fits")];
            reader.next_frame(&mut pixels).expect("a frame");
            assert_eq!(pixels[..3], [255, 255, 255], "white background");
            assert!(pixels.iter().any(|c| *c != 255), "{name}/{}: blank", plot.name);
        }
    }
}

#[test]
fn the_docs_count_the_plots_that_there_are() {
    let locks = plots().iter().filter(|plot| plot.name.starts_with("lock-")).count();
    let parts = plots().iter().filter(|plot| plot.name == "service-parts").count();
    assert_eq!(
        (plots().len() - locks - parts, parts, locks),
        (11, 1, 5),
        "then docs/plots.md and docs/analyze.md, too"
    );
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for (file, first) in [("plots.md", "eleven"), ("analyze.md", "Eleven")] {
        let text = std::fs::read_to_string(docs.join(file)).expect("the docs");
        let found = text.contains(&format!("{first} plots of the I/O, one of disk and network (mask net)"));
        assert!(found && text.contains("up to five"), "{file}");
    }
}

#[test]
fn axes_have_units_and_things_have_names() {
    let small = analysis(&SMALL);
    for (plot, labels) in [
        ("bandwidth-per-ost", &["lustre-OST0000", "lustre-OST0001", "bandwidth (MiB/s)", "time since start (s)"][..]),
        (
            "time-account",
            &[
                "All clients over time",
                "all clients",
                "10.10.0.11@tcp",
                "share (%)",
                "queued",
                "no request at any traced server",
            ],
        ),
        ("requests-per-client", &["10.10.0.11@tcp", "requests (RPCs/s)", "time since start (s)"]),
        ("client-ost-matrix", &["10.10.0.12@tcp", "OST0001", "bytes (GiB)", "client (NID)"]),
        ("latency", &["OST_WRITE", "time, log scale", "100 ms", "queue", "service"]),
        (
            "service-parts",
            &["Writes by target", "lustre-OST0000", "10.10.0.11@tcp", "transfer", "mean service time (ms)"],
        ),
        ("latency-heatmap", &["total time, log scale", "RPCs per cell, log scale", "Reads", "Writes"]),
        ("rpc-size", &["RPCs", "RPC size, up to", "4 KiB", "1 MiB"]),
        ("io-timeline", &["10.10.0.11@tcp", "read, waiting", "time since start (s)"]),
        ("io-time-distribution", &["total time, log scale", "Reads (OST_READ)", "10 ms"]),
        ("queue-depth", &["oss000", "requests (mean number)", "time since start (s)"]),
        (
            "lock-contention-per-ost",
            &["lustre-OST0000", "conflicts/s", "waiting", "expansion-only: only the grants overlap"],
        ),
        ("lock-pairs", &["client that held the lock", "10.10.0.12@tcp", "30 hand-overs", "conflicts"]),
        ("lock-timeline", &["lustre-OST0000 [0x200000401:0xd:0x0]", "offset (MiB)", "EOF", "waiting"]),
        ("lock-wait-distribution", &["lustre-OST0000", "release (60)", "time, log scale"]),
        ("lock-cost", &["lustre-OST0000", "bandwidth (MiB/s)", "a client waited for another client's lock"]),
        ("object-offsets", &["lustre-OST0000 [0x200000401:0xc:0x0]", "offset in object (GiB)"]),
    ] {
        let words = words(&svg(plot, &small));
        for label in labels {
            assert!(words.lines().any(|line| line == *label), "{plot}: no `{label}` in\n{words}");
        }
    }
    assert!(words(&svg("io-time-distribution", &small)).contains("slowest "));
}

fn finding(id: &str, severity: &str, title: &str) -> Finding {
    let finding = serde_json::json!({
        "id": id, "severity": severity, "confidence": "high", "title": title, "explanation": "", "evidence": {}, "thresholds": {},
        "remedies": [], "targets": [], "clients": [], "objects": [], "jobs": [], "nodes": [], "interval": null, "cost_s": null,
        "cost_of": null, "explained_by": null, "plot": null, "docs": id,
    });
    serde_json::from_value(finding).expect("a whole finding")
}

#[test]
fn doubts_and_loss_are_said() {
    let mut mixed = analysis(&MIXED);
    mixed.findings = vec![finding("trace-quality", "warning", "The capture lost about 3 % of the RPCs")];
    for plot in plots().iter().filter(|p| p.name != "lock-timeline") {
        let words = words(&svg(plot.name, &mixed));
        assert!(words.contains("Warning: The capture lost about 3 % of the RPCs."), "{}", plot.name);
    }
    let words = words(&svg("bandwidth-per-ost", &mixed));
    assert!(words.contains("unattributed") && words.contains("estimated part of writes"));
    assert!(words.contains("is estimated; the true total is between"), "{words}");
    mixed.findings = vec![finding("trace-quality", "info", "A note"), finding("hot-ost", "warning", "Else")];
    assert!(!svg("latency", &mixed).contains("Warning"));
}

#[test]
fn the_same_analysis_gives_the_same_bytes() {
    for (name, analysis) in cases() {
        for plot in plots() {
            let again = |format| assert_eq!(image(plot.name, &analysis, format), image(plot.name, &analysis, format));
            again(Format::Svg);
            // Pixels follow from the same list of shapes; slow without optimisation.
            if name == "mixed" {
                again(Format::Png);
            }
        }
    }
}

#[test]
fn nothing_is_skipped_with_a_reason() {
    for plot in plots() {
        assert_eq!(image(plot.name, &Analysis::default(), Format::Svg), None, "{}", plot.name);
    }
}

fn reason(name: &str, analysis: &Analysis) -> &'static str {
    match render(plot(name).expect("known plot"), analysis, Format::Svg, &PlotOptions::default()).expect("renders") {
        Rendered::Skipped(reason) => reason,
        Rendered::Image(_) => panic!("{name} is drawn"),
    }
}

#[test]
fn lock_plots_say_why_they_are_left_out() {
    let mut quiet = analysis(&SMALL);
    let locks = quiet.locks.take();
    for plot in plots().iter().filter(|p| p.name.starts_with("lock-")) {
        assert_eq!(reason(plot.name, &quiet), "lock contention was not analysed");
    }
    quiet.locks = Some(lioprof_model::Locks::default());
    for plot in plots().iter().filter(|p| p.name.starts_with("lock-")) {
        assert_eq!(reason(plot.name, &quiet), "no conflict between clients");
    }
    // Conflicts on MDTs are not about extents.
    quiet.locks = locks;
    let locks = quiet.locks.as_mut().expect("has locks");
    locks.targets[0].target = "lustre-MDT0000".to_owned();
    locks.objects[0].target = "lustre-MDT0000".to_owned();
    locks.series.targets[0].target = "lustre-MDT0000".to_owned();
    locks.pairs.iter_mut().for_each(|pair| pair.target = "lustre-MDT0000".to_owned());
    for name in ["lock-contention-per-ost", "lock-pairs", "lock-timeline", "lock-cost"] {
        assert_eq!(reason(name, &quiet), "no conflict between clients");
    }
    assert!(words(&svg("lock-wait-distribution", &quiet)).contains("lustre-MDT0000"));
}

#[test]
fn lock_plots_say_what_they_rest_on() {
    let cases = cases();
    let of = |name: &str| &cases.iter().find(|c| c.0 == name).expect("known case").1;
    for plot in plots().iter().filter(|p| p.name.starts_with("lock-")) {
        assert!(words(&svg(plot.name, of("small"))).contains("Evidence: the lock manager's own lines (dlmtrace).\n"));
        assert!(words(&svg(plot.name, of("storm"))).contains("conflicts only RPCs (rpctrace)"), "{}", plot.name);
        if plot.name != "lock-timeline" {
            assert!(words(&svg(plot.name, of("mixed"))).contains("Evidence: only RPCs (rpctrace)"), "{}", plot.name);
        }
    }
    let inferred = of("mixed");
    assert!(reason("lock-timeline", inferred).contains("needs dlmtrace"));
    assert!(words(&svg("lock-wait-distribution", inferred)).contains("release (unknown)"));
    assert!(words(&svg("lock-contention-per-ost", inferred)).contains("conflicts, kind not known"));
    assert!(words(&svg("lock-contention-per-ost", of("storm"))).contains("OST0003 (inferred)"));
}

#[test]
fn names_are_escaped() {
    let mut odd = analysis(&Shape { rpcs: 200, ..SMALL });
    odd.clients[0].nid = "<&\"'>\u{7}\n\u{1F600}@tcp".repeat(9);
    for flow in odd.flows.iter_mut().take(1) {
        flow.nid.clone_from(&odd.clients[0].nid);
    }
    for target in &mut odd.series.targets {
        target.name = Some("</svg>\u{0}".to_owned());
    }
    for plot in plots() {
        words(&svg(plot.name, &odd));
    }
}

#[test]
fn plots_are_described() {
    let mut names: Vec<&str> = plots().iter().map(|p| p.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 17);
    for plot in plots() {
        let sentences = plot.how_to_read.matches(". ").count() + 1;
        assert!((3..=6).contains(&sentences), "{}: {sentences}", plot.name);
        assert!(!plot.how_to_read.contains("  "), "{}", plot.name);
    }
    assert!(plot("bandwidth-per-ost").is_some() && plot("nothing").is_none());
}

#[test]
fn files_are_written() {
    let dir = tempfile::tempdir().expect("a directory");
    let into = dir.path().join("plots/of/today");
    let one = analysis(&Shape { rpcs: 1, bins: 1, osts: 1, clients: 1, ..SMALL });
    let formats = [Format::Svg, Format::Png];
    let written = write_all(&one, &into, &formats, &PlotOptions::default(), &|| ()).expect("written");
    let skipped = |w: &&Written| matches!(w, Written::Skipped { .. });
    assert_eq!(written.iter().filter(skipped).count(), 1);
    assert_eq!(written.len(), 33);
    for one in &written {
        if let Written::File { plot, path } = one {
            assert!(path.metadata().expect("is there").len() > 500, "{plot}");
        }
    }
    let taken = dir.path().join("file");
    std::fs::write(&taken, "x").expect("written");
    let err = write_all(&one, &taken, &formats, &PlotOptions::default(), &|| ()).expect_err("no directory");
    assert!(err.to_string().contains("failed to create directory"), "{err}");
}
