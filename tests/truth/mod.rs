//! Every figure against the servers' own counters, over the interval that the counters cover.
//!
//! The counters of a capture go from `lctl mark "CAPTURE-START ..."` to `"CAPTURE-STOP ..."`. Each capture is
//! analysed as a whole and server by server. A capture whose start marker is overwritten is a *wrapped*
//! one: it can only hold a part of what the servers counted.
//!
//! What is compared is listed in `figures.txt`; `LIOPROF_BLESS=1` writes the list anew. `LIOPROF_CAPTURES=DIR` takes
//! other captures of the same layout, `LIOPROF_TRUTH_TABLE=FILE` writes all comparisons to a file;
//! `scripts/truth-table` does both.

mod io;
mod locks;
mod loss;
mod services;
mod sizes;

use std::path::Path;

use lioprof_testkit::blessed;
use serde_json::Value;

use crate::captures::{Capture, Server, captures};
use crate::figures::{rows, text};
use crate::table::Table;
use crate::util::analyze_run;

/// Servers that are analysed and compared together.
struct Unit<'a> {
    name: String,
    servers: Vec<&'a Server>,
    /// The analysis of everything.
    whole: Value,
    /// The analysis of what the counters cover.
    json: Value,
    /// The start of the capture is overwritten.
    wrapped: bool,
}

impl<'a> Unit<'a> {
    fn new(name: String, servers: Vec<&'a Server>, input: &Path) -> Self {
        let run = analyze_run(&[input], &[]);
        let whole = run.json();
        let marker = |word: &str| {
            let texts = rows(&whole, "markers").iter().filter_map(|row| text(row, "text"));
            texts.into_iter().find(|text| text.starts_with(word)).map(str::to_owned)
        };
        let (from, to) = (marker("CAPTURE-START"), marker("CAPTURE-STOP"));
        let mut window: Vec<&str> = Vec::new();
        window.extend(from.iter().flat_map(|from| ["--from", from]));
        window.extend(to.iter().flat_map(|to| ["--to", to]));
        let json = analyze_run(&[input], &window).json();
        let wrapped = from.is_none();
        assert!(wrapped || run.code == Some(0), "an undamaged capture must end with 0: {run}");
        Self { name, servers, whole, json, wrapped }
    }

    fn compare(&self) -> Table {
        let mut table = Table::default();
        io::compare(self, &mut table);
        sizes::compare(self, &mut table);
        locks::compare(self, &mut table);
        services::compare(self, &mut table);
        loss::compare(self, &mut table);
        table
    }

    /// A count that must be the servers'; a wrapped capture may have lost some.
    fn count(&self, table: &mut Table, figure: &str, lioprof: Option<u64>, truth: u64) {
        if self.wrapped {
            let good = lioprof.is_some_and(|lioprof| lioprof <= truth);
            let lioprof = lioprof.map_or_else(|| "missing".to_owned(), |it| it.to_string());
            table.row(&self.name, figure, lioprof, format!("at most {truth}"), good);
        } else {
            table.equal(&self.name, figure, lioprof, truth);
        }
    }
}

fn compare_capture(capture: &Capture) -> Table {
    let mut table = Table::default();
    let all: Vec<&Server> = capture.servers.iter().collect();
    table.extend(Unit::new(capture.name.clone(), all, &capture.dir).compare());
    for server in capture.servers.iter().filter(|_| capture.servers.len() > 1) {
        let name = format!("{}/{}", capture.name, server.name);
        table.extend(Unit::new(name, vec![server], &server.dir).compare());
    }
    table
}

/// All captures at once, a thread each; one that cannot be analysed is a row of its own.
fn compare_all(captures: &[Capture]) -> Table {
    let mut table = Table::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = captures.iter().map(|it| (it, scope.spawn(|| compare_capture(it)))).collect();
        for (capture, thread) in threads {
            match thread.join() {
                Ok(compared) => table.extend(compared),
                Err(panic) => {
                    let why = panic.downcast_ref::<String>().map_or("failed", String::as_str);
                    table.row(&capture.name, "analyze", why.replace(['\n', '|'], " "), "runs", false);
                }
            }
        }
    });
    table
}

#[test]
fn figures_are_those_of_the_servers() {
    let table = compare_all(&captures());
    if let Some(path) = std::env::var_os("LIOPROF_TRUTH_TABLE") {
        std::fs::write(path, table.markdown(true)).unwrap();
    }
    table.check();
    // Other captures have other figures.
    if std::env::var_os("LIOPROF_CAPTURES").is_some() {
        assert!(table.len() > 0);
        return;
    }
    blessed("tests/truth/figures.txt", |_| table.figures());
}
