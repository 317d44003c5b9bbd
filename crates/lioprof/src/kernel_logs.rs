//! Kernel logs in files, for `lioprof check --kernel-log`: what each says of the day before its last line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, ensure};
use lioprof_health::{KernelLogFacts, LogDay};
use lioprof_model::time::{now_us, since_epoch_us};
use lioprof_trace::{as_if_utc_until, kernel_log_lines};
use lustre_debuglog::kernel_log::{KernelLine, Stamp};

/// Names of servers, and what their logs say. A log that names several counts for each of them.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Vec<(String, KernelLogFacts)>> {
    let mut servers = Vec::new();
    for path in paths {
        let of_log = one(path)?;
        ensure!(!of_log.is_empty(), "`{}` has no line of the kernel", path.display());
        servers.extend(of_log);
    }
    Ok(servers)
}

/// The first and the last stamp of a server, as numbers.
type Span = (i64, i64);

fn one(path: &Path) -> anyhow::Result<Vec<(String, KernelLogFacts)>> {
    let changed_us = path.metadata().and_then(|metadata| metadata.modified()).map_or_else(|_| now_us(), since_epoch_us);
    let unnamed = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut spans: BTreeMap<String, Span> = BTreeMap::new();
    let mut absolute = false;
    lines(path, changed_us, &unnamed, &mut |server, us, is_moment, _| {
        absolute = is_moment;
        let span = spans.entry(server.to_owned()).or_insert((us, us));
        *span = (span.0.min(us), span.1.max(us));
    })?;
    // The file was changed when its last line came; only stamps with a zone tell the moment themselves.
    let moment = |last_us: i64| if absolute { last_us } else { changed_us };
    let mut days: BTreeMap<String, LogDay> =
        spans.iter().map(|(server, (_, last))| (server.clone(), LogDay::new(*last, moment(*last)))).collect();
    lines(path, changed_us, &unnamed, &mut |server, us, _, text| {
        if let Some(day) = days.get_mut(server) {
            day.message(us, text);
        }
    })?;
    Ok(days
        .into_iter()
        .map(|(server, day)| {
            let from_us = spans.get(&server).map_or(0, |span| span.0);
            (server, day.finish(from_us, false))
        })
        .collect())
}

/// Shows each line to `each`: server, stamp as a number, whether that is a moment, and text. A line without stamp has that of the one before.
fn lines(
    path: &Path,
    changed_us: i64,
    unnamed: &str,
    each: &mut dyn FnMut(&str, i64, bool, &str),
) -> anyhow::Result<()> {
    let mut before = (0, false);
    kernel_log_lines(path, &mut |KernelLine { stamp, host, text }| {
        before = stamp.map_or(before, |stamp| match stamp {
            Stamp::Boot(us) => (us, false),
            Stamp::Unix(us) => (us, true),
            // No line is younger than the file.
            Stamp::Local { .. } | Stamp::Since(_) => (as_if_utc_until(stamp, changed_us).unwrap_or(before.0), false),
        });
        let server = host.map_or_else(|| unnamed.to_owned(), |host| String::from_utf8_lossy(host).into_owned());
        each(&server, before.0, before.1, &String::from_utf8_lossy(text));
    })
    .map_err(|problem| anyhow!(problem.message))
}
