//! Kernel logs in files, for `lioprof check --kernel-log`: what each says of the day before its last line.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, ensure};
use lioprof_health::{KernelLogFacts, LogDay};
use lioprof_model::time::{DAY_US, now_us, since_epoch_us};
use lioprof_trace::{as_if_utc_until, kernel_log_lines, kernel_log_nodes};
use lustre_debuglog::kernel_log::{KernelLine, Sentence, Stamp};

/// What the user says of the logs' clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// When the node was booted, microseconds since the epoch.
    pub(crate) boot_us: Option<i64>,
    /// Offset from UTC of stamps without zone, microseconds.
    pub(crate) zone_us: Option<i64>,
}

impl Clock {
    /// What to add to a stamp of this kind for microseconds since the epoch; `None` if nobody knows.
    fn offset_us(self, stamp: Stamp) -> Option<i64> {
        match stamp {
            Stamp::Unix(_) => Some(0),
            Stamp::Boot(_) => self.boot_us,
            Stamp::Local { .. } => self.zone_us.map(|zone_us| -zone_us),
            Stamp::Since(_) => None,
        }
    }
}

/// Names of servers, and what their logs say. A log that names several counts for each of them.
pub(crate) fn read(paths: &[PathBuf], clock: Clock) -> anyhow::Result<Vec<(String, KernelLogFacts)>> {
    let mut servers = Vec::new();
    for (path, node) in paths.iter().zip(kernel_log_nodes(paths)) {
        let of_log = one(path, &node, clock)?;
        ensure!(!of_log.is_empty(), "`{}` has no line of the kernel", path.display());
        servers.extend(of_log);
    }
    Ok(servers)
}

/// What a log says of one server.
#[derive(Default)]
struct Server {
    /// The first and the last time by its clock, microseconds.
    span: Option<(i64, i64)>,
    offset_us: Option<i64>,
    /// The stamp before, and as a number.
    before: Option<Stamp>,
    before_us: i64,
    /// Sentences of the day before the last line, and when they were logged.
    day: VecDeque<(i64, String)>,
}

impl Server {
    /// `latest_us`: no line is younger.
    fn line(&mut self, stamp: Option<Stamp>, text: &[u8], latest_us: i64, clock: Clock) {
        // A line without stamp has that of the one before.
        if let Some(stamp) = stamp.and_then(|stamp| stamp.behind(self.before)) {
            self.before = Some(stamp);
            self.offset_us = clock.offset_us(stamp);
            self.before_us = match stamp {
                Stamp::Boot(us) | Stamp::Unix(us) => us,
                Stamp::Local { .. } | Stamp::Since(_) => as_if_utc_until(stamp, latest_us).unwrap_or(self.before_us),
            };
        }
        let us = self.before_us;
        let (first, last) = self.span.unwrap_or((us, us));
        let last = last.max(us);
        self.span = Some((first.min(us), last));
        while self.day.front().is_some_and(|(then, _)| last.saturating_sub(*then) > DAY_US) {
            self.day.pop_front();
        }
        let sentence = Sentence::of(text);
        if sentence.skipped().is_some() || sentence.event().is_some() || sentence.voice.is_some() {
            self.day.push_back((us, String::from_utf8_lossy(text).into_owned()));
        }
    }

    fn facts(self) -> KernelLogFacts {
        let (first_us, last_us) = self.span.unwrap_or_default();
        let mut day = LogDay::new(last_us, self.offset_us.map(|offset_us| last_us.saturating_add(offset_us)));
        self.day.iter().for_each(|(us, text)| day.message(*us, text));
        day.finish(first_us, false)
    }
}

/// What each server says whose lines are in the log; lines that name none are of `node`.
fn one(path: &Path, node: &str, clock: Clock) -> anyhow::Result<Vec<(String, KernelLogFacts)>> {
    let changed_us = path.metadata().and_then(|metadata| metadata.modified()).map_or_else(|_| now_us(), since_epoch_us);
    let mut servers: BTreeMap<String, Server> = BTreeMap::new();
    kernel_log_lines(path, &mut |KernelLine { stamp, host, text }| {
        let server = host.map_or_else(|| node.to_owned(), |host| String::from_utf8_lossy(host).into_owned());
        servers.entry(server).or_default().line(stamp, text, changed_us, clock);
    })
    .map_err(|problem| anyhow!(problem.message))?;
    Ok(servers.into_iter().map(|(name, server)| (name, server.facts())).collect())
}
