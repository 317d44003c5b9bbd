//! The files of two real servers, below directories of their own.

use std::fs;
use std::path::{Path, PathBuf};

use lioprof_health::{Report, Result, ServerFacts, Status, TextOptions, gather, judge, text};
use lioprof_testkit::files::fixture;
use tempfile::TempDir;

/// The time at which facts are read.
pub(crate) const T_US: i64 = 1_795_543_174_000_000;

pub(crate) struct Site {
    dir: TempDir,
}

impl Site {
    pub(crate) fn new() -> Self {
        let site = Self { dir: tempfile::tempdir().unwrap() };
        for number in [1, 2] {
            let text = fs::read_to_string(fixture(format!("servers/server{number}.txt"))).unwrap();
            for part in text.split("==> ").skip(1) {
                let (path, content) = part.split_once(" <==\n").unwrap();
                // Each file is followed by an empty line.
                site.put(number, path, content.strip_suffix('\n').unwrap_or(content));
            }
        }
        site
    }

    pub(crate) fn root(&self, number: u32) -> PathBuf {
        self.dir.path().join(format!("server{number}"))
    }

    /// Writes a file of a server.
    pub(crate) fn put(&self, number: u32, path: &str, content: &str) {
        let path = self.root(number).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Replaces a part of a file that must be there.
    pub(crate) fn change(&self, number: u32, path: &str, from: &str, to: &str) {
        let old = fs::read_to_string(self.root(number).join(path)).unwrap();
        assert!(old.contains(from), "{path}: {old}");
        self.put(number, path, &old.replacen(from, to, 1));
    }

    pub(crate) fn log(&self, number: u32, line: &str) {
        let path = Path::new("dev/kmsg");
        let old = fs::read_to_string(self.root(number).join(path)).unwrap();
        self.put(number, "dev/kmsg", &format!("{old}3,9000,2000000000,-;{line}\n"));
    }

    pub(crate) fn facts(&self, number: u32) -> ServerFacts {
        gather(&self.root(number), T_US)
    }

    pub(crate) fn report(&self) -> Report {
        judge(vec![self.facts(2), self.facts(1)], Vec::new())
    }

    /// The result of one check, which must be this bad and say this.
    pub(crate) fn expect(&self, id: &str, status: Status, says: &str) {
        let report = self.report();
        let result: &Result = report.results.iter().find(|result| result.id == id).unwrap();
        let text = text(&report, TextOptions { all: true });
        assert_eq!(result.status, status, "{text}");
        assert!(text.split_whitespace().collect::<Vec<_>>().join(" ").contains(says), "{says}\n{text}");
        let worse = report.results.iter().filter(|other| other.id != id && other.status < Status::Unknown);
        assert_eq!(worse.count(), 0, "only {id} should be wrong\n{text}");
    }
}
