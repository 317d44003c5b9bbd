//! Adds up a log's text with a few patterns of its own, to compare with the truth.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use lioprof_sim::counters::Samples;
use regex::Regex;

use crate::records::Rec;

static REFRESH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^@@@ (\S+) \S+: refresh rw locks .* \((\d+)->(\d+)\)  req@(\w+) x(\d+)/\S* o\d+->[^@]*@(\S+):\d+/\d+ lens (\d+)/")
        .unwrap()
});
static LOCAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"new lock created ns: filter-(\S+)_UUID .* nid: local remote: 0x0").unwrap());
static TRANSFER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^Transferring \d+ pages (\d+) bytes").unwrap());
static HANDLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^Handled RPC .*:job (\S+?):.*:x(\d+):12345-([^ ]*@[a-z0-9]+):(\d+):(\S*) Request processed in (\d+)us \((\d+)us total\) trans \d+ rc (-?\d+)/(-?\d+)\n$",
    )
    .unwrap()
});
static REPLY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^@@@ sending reply .* lens (\d+)/").unwrap());
static SENDING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^Sending RPC .*:(lustre-\w+)_UUID:\d+:\d+:(\S+):(10[456]):\n$").unwrap());

/// Sums by (target, NID) and by job; (direction is the opcode).
#[derive(Default)]
pub(crate) struct Sums {
    pub(crate) bytes: BTreeMap<(String, String, u16), Samples>,
    pub(crate) jobs: BTreeMap<(String, u16), Samples>,
    pub(crate) handled: BTreeMap<u16, u64>,
    pub(crate) service_us: u64,
    pub(crate) wait_us: u64,
    pub(crate) callbacks: BTreeMap<(String, String, u16), u64>,
    pub(crate) incompatible: u64,
}

#[derive(Default)]
struct Open {
    target: Option<String>,
    bytes: Option<u64>,
    lens: u64,
}

/// Reads a log with all masks.
pub(crate) fn reread(recs: &[Rec]) -> Sums {
    let mut sums = Sums::default();
    let mut threads: BTreeMap<u32, Open> = BTreeMap::new();
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    for rec in recs {
        let text = rec.text.as_str();
        if text.starts_with("Handling RPC") {
            threads.insert(rec.pid, Open::default());
        } else if let Some(found) = REFRESH.captures(text) {
            places.insert(format!("{}@{}", &found[5], &found[6]), found[1].to_owned());
        } else if let Some(found) = LOCAL.captures(text) {
            if let Some(open) = threads.get_mut(&rec.pid) {
                open.target = Some(found[1].to_owned());
            }
        } else if let Some(found) = TRANSFER.captures(text) {
            threads.entry(rec.pid).or_default().bytes = Some(found[1].parse().unwrap());
        } else if let Some(found) = REPLY.captures(text) {
            threads.entry(rec.pid).or_default().lens = found[1].parse().unwrap();
        } else if let Some(found) = SENDING.captures(text) {
            let key = (found[1].to_owned(), found[2].to_owned(), found[3].parse().unwrap());
            *sums.callbacks.entry(key).or_default() += 1;
        } else if text.starts_with("### lock incompatible") {
            sums.incompatible += 1;
        } else if let Some(found) = HANDLED.captures(text) {
            let Some(open) = threads.remove(&rec.pid) else { continue };
            let opcode: u16 = found[4].parse().unwrap();
            *sums.handled.entry(opcode).or_default() += 1;
            let service_us: u64 = found[6].parse().unwrap();
            sums.service_us += service_us;
            sums.wait_us += found[7].parse::<u64>().unwrap() - service_us;
            let status: i64 = found[8].parse().unwrap();
            if (opcode == 3 || opcode == 4) && status >= 0 {
                let (xid, nid) = (&found[2], found[3].to_owned());
                let bytes = match opcode {
                    3 => u64::try_from(status).unwrap(),
                    // Inline data make the request longer: one piece of 488 bytes and the data.
                    _ => open.bytes.unwrap_or_else(|| open.lens - 488),
                };
                let target = open.target.or_else(|| places.get(&format!("{xid}@{nid}")).cloned()).unwrap();
                sums.bytes.entry((target, nid, opcode)).or_default().add(bytes);
                if !found[5].is_empty() {
                    sums.jobs.entry((found[5].to_owned(), opcode)).or_default().add(bytes);
                }
            }
        }
    }
    sums
}
