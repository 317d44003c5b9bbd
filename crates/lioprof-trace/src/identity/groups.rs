//! Inputs that cannot be of one server.

use std::collections::BTreeMap;
use std::fmt;

use lioprof_model::SeveralServers;
use lioprof_model::time::utc;

use super::contents::{Contents, Span, Window, overlap};

/// Windows of one thread that overlap by less are not worth a word, microseconds: times are rounded, and a thread may change its CPU.
pub(crate) const SHORTEST_OVERLAP_US: i64 = 100;

/// Two inputs that are certainly logs of different servers, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contradiction {
    pub(crate) inputs: [usize; 2],
    why: SeveralServers,
    at_us: i64,
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.why, utc(self.at_us))
    }
}

/// Contradictions between these inputs: none if they may be logs of one server. One for each pair that is found; where many contradict
/// each other, not all pairs.
pub(crate) fn contradictions(inputs: &[(usize, &Contents)]) -> Vec<Contradiction> {
    let mut found: BTreeMap<[usize; 2], Contradiction> = BTreeMap::new();
    let mut add = |a: usize, b: usize, thread: String, pids: [u32; 2], at_us: i64| {
        let inputs = [a.min(b), a.max(b)];
        let why = SeveralServers { thread, pids, seen: 1, since: None };
        let known = found.entry(inputs).or_insert(Contradiction { inputs, why, at_us });
        known.why.seen += 1;
    };
    for (name, mut spans) in threads(inputs) {
        spans.sort_unstable();
        // The latest end up to here, and the latest of any other pid than that.
        let mut latest: Vec<(Span, u32, usize)> = Vec::new();
        for (span, pid, input) in spans {
            let other = latest.iter().find(|(earlier, of, at)| *of != pid && *at != input && overlap(*earlier, span));
            if let Some((_, of, at)) = other {
                add(*at, input, String::from_utf8_lossy(name).into_owned(), [*of, pid], span.0);
            }
            latest.retain(|(earlier, ..)| earlier.1 >= span.0);
            latest.push((span, pid, input));
        }
    }
    for (pid, mut windows) in windows(inputs) {
        windows.sort_unstable();
        let mut latest: Option<(&Window, usize)> = None;
        for (window, input) in windows {
            if let Some((earlier, at)) = latest
                && at != input
                && earlier.xid != window.xid
                && window.from_us + SHORTEST_OVERLAP_US < earlier.until_us.min(window.until_us)
            {
                let thread = name_of(inputs, pid).unwrap_or_default();
                add(at, input, thread, [pid, pid], window.from_us);
            }
            if latest.is_none_or(|(earlier, _)| earlier.until_us < window.until_us) {
                latest = Some((window, input));
            }
        }
    }
    found.into_values().collect()
}

type Spans = Vec<(Span, u32, usize)>;

/// When each thread had which pid, in which input; only of threads that have several.
fn threads<'a>(inputs: &[(usize, &'a Contents)]) -> impl Iterator<Item = (&'a [u8], Spans)> {
    let mut threads: BTreeMap<&[u8], Spans> = BTreeMap::new();
    for (input, contents) in inputs {
        for (name, pids) in &contents.pids {
            threads.entry(name).or_default().extend(pids.iter().map(|(&pid, &span)| (span, pid, *input)));
        }
    }
    threads.into_iter().filter(|(_, spans)| spans.iter().any(|(_, pid, _)| *pid != spans[0].1))
}

fn windows<'a>(inputs: &[(usize, &'a Contents)]) -> BTreeMap<u32, Vec<(&'a Window, usize)>> {
    let mut windows: BTreeMap<u32, Vec<(&Window, usize)>> = BTreeMap::new();
    for (input, contents) in inputs {
        for (&pid, of_pid) in &contents.windows {
            windows.entry(pid).or_default().extend(of_pid.iter().map(|window| (window, *input)));
        }
    }
    windows
}

fn name_of(inputs: &[(usize, &Contents)], pid: u32) -> Option<String> {
    let mut names = inputs.iter().flat_map(|(_, contents)| &contents.pids);
    names.find(|(_, pids)| pids.contains_key(&pid)).map(|(name, _)| String::from_utf8_lossy(name).into_owned())
}
