//! Finds values that parse but are invalid.

use std::path::Path;
use std::time::Duration;

use super::Problem;
use super::sections::{Config, LEAST_SEGMENT_MIB, LEAST_SEGMENTS};
use super::values::{Auto, OrOff, Span};
use crate::control::LARGEST_DAEMON_SIZE_MIB;

/// Largest segment: the kernel's file may become twice as large, which leaves time to rotate.
const LARGEST_SEGMENT_MIB: u64 = LARGEST_DAEMON_SIZE_MIB / 2;

struct Check {
    problems: Vec<Problem>,
}

impl Check {
    fn that(&mut self, well: bool, key: &str, expected: impl Into<String>, found: impl ToString) {
        if !well {
            let (key, expected, found) = (key.to_owned(), expected.into(), found.to_string());
            self.problems.push(Problem { line: None, key, expected, found });
        }
    }

    fn range(&mut self, key: &str, value: u64, low: u64, high: u64) {
        self.that((low..=high).contains(&value), key, format!("{low} to {high}"), value);
    }

    fn span(&mut self, key: &str, value: Span, low: Duration, high: Duration) {
        let well = (low..=high).contains(&value.0);
        self.that(well, key, format!("\"{}\" to \"{}\"", Span(low), Span(high)), format!("\"{value}\""));
    }

    fn directory(&mut self, key: &str, path: &Path) {
        self.that(path.is_absolute(), key, "an absolute path", path.display());
    }
}

/// All invalid values of `config`.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    const SECOND: Duration = Duration::from_secs(1);
    const DAY: Duration = Duration::from_secs(86_400);
    let mut check = Check { problems: Vec::new() };

    let name = &config.node.name;
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let well = !name.is_empty() && name.chars().all(plain) && !name.starts_with('.');
    check.that(well, "node.name", "letters, digits, `-`, `_` and `.` (it becomes a directory)", format!("\"{name}\""));
    check.directory("control.root", &config.control.root);

    let capture = &config.capture;
    if let Auto::Is(dir) = &capture.spool_dir {
        check.directory("capture.spool_dir", dir);
    }
    // The kernel takes paths shorter than 1024 bytes; the file's name needs some.
    let bytes = capture.spool_dir().as_os_str().len();
    check.that(bytes <= 960, "capture.spool_dir", "a path of at most 960 bytes", format!("{bytes} bytes"));
    if let Auto::Is(mib) = capture.segment_mib {
        check.range("capture.segment_mib", mib, LEAST_SEGMENT_MIB, LARGEST_SEGMENT_MIB);
    }
    if let Auto::Is(limit_mib) = capture.spool_limit_mib {
        let least_mib = capture.least_spool_mib();
        let mut expected = format!("room for four segments at least, {least_mib} MiB");
        let lower_mib = limit_mib / LEAST_SEGMENTS;
        if lower_mib >= LEAST_SEGMENT_MIB {
            expected += &format!(", or capture.segment_mib lowered to {lower_mib} (or \"auto\")");
        }
        check.that(limit_mib >= least_mib, "capture.spool_limit_mib", expected, limit_mib);
    }
    check.span("capture.rotate", capture.rotate, SECOND / 10, DAY / 24);
    if let Auto::Is(mib) = capture.buffer_mib {
        check.range("capture.buffer_mib", mib, 1, 1 << 20);
    }
    check.range("capture.buffer_limit_mib", capture.buffer_limit_mib, 1, 1 << 20);
    if let OrOff::Is(duration) = capture.duration {
        check.span("capture.for", duration, SECOND, DAY * 36_500);
    }
    if let OrOff::Is(lease) = capture.lease {
        check.span("capture.lease", lease, SECOND, DAY);
    }

    let trigger = &config.trigger;
    for (key, value) in
        [("trigger.start_mib_per_s", trigger.start_mib_per_s), ("trigger.start_rpcs_per_s", trigger.start_rpcs_per_s)]
    {
        check.that(value != OrOff::Is(0), key, "1 or more, or \"off\"", 0);
    }
    check.span("trigger.every", trigger.every, SECOND, DAY);
    check.span("trigger.stop_after", trigger.stop_after, SECOND, DAY);

    let keep = &config.keep;
    check.directory("keep.dir", &keep.dir);
    check.range("keep.file_mib", keep.file_mib, 1, 65_536);
    check.span("keep.file_age", keep.file_age, SECOND, DAY);
    check.span("keep.drain_at_most", keep.drain_at_most, SECOND, DAY);
    check.that(
        keep.retention_mib >= keep.file_mib.saturating_mul(2),
        "keep.retention_mib",
        format!("room for two files at least, {} MiB", keep.file_mib.saturating_mul(2)),
        keep.retention_mib,
    );
    if let OrOff::Is(age) = keep.retention {
        let well = age >= keep.file_age;
        check.that(
            well,
            "keep.retention",
            format!("not less than keep.file_age, \"{}\"", keep.file_age),
            format!("\"{age}\""),
        );
    }

    let budget = &config.budget;
    check.range("budget.cpu_percent", u64::from(budget.cpu_percent), 1, 1600);
    check.range("budget.memory_mib", budget.memory_mib, 64, 65_536);
    check.range("budget.records_per_s", budget.records_per_s, 1000, 1_000_000_000);
    if let OrOff::Is(window) = config.live.window {
        check.span("live.window", window, 2 * SECOND, DAY / 24);
    }
    check.span("budget.duty_on", budget.duty_on, SECOND, DAY / 24);
    check.that(
        budget.duty_every > budget.duty_on,
        "budget.duty_every",
        format!("more than budget.duty_on, \"{}\"", budget.duty_on),
        format!("\"{}\"", budget.duty_every),
    );

    let counters = &config.counters;
    for (key, value) in [("counters.every", counters.every), ("counters.clients_every", counters.clients_every)] {
        if let OrOff::Is(span) = value {
            check.span(key, span, SECOND, DAY);
        }
    }

    let socket = &config.talk.socket;
    check.directory("talk.socket", socket);
    // sun_path of unix(7), with the byte at its end.
    let bytes = socket.as_os_str().len();
    check.that(bytes <= 107, "talk.socket", "a path of at most 107 bytes", format!("{bytes} bytes"));
    check.problems
}
