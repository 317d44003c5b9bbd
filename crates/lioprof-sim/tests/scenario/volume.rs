//! A bulk RPC costs as many lines and bytes as on a real server.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use lioprof_sim::scenario::Options;
use lioprof_sim::wording::{V2_15, V2_17, Wording};
use regex::Regex;

use crate::records::{Rec, capture, is_wanted, simulated};

static XID: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?:\bx|req |xid )(\d{16})").unwrap());
static BULK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^Handling RPC .*:x(\d+):[^ ]*:[34]:").unwrap());

/// Lines and bytes per OST_READ or OST_WRITE under a client's lock: those that name its xid, the scheduler's, and
/// the arrival. Bytes as in the binary log. xids of replies and pieces are a little above that of their request.
fn per_rpc(recs: &[Rec], masks: u32) -> (f64, f64) {
    const NEAR: u64 = !63;
    let wanted = || recs.iter().filter(|rec| is_wanted(rec) && rec.mask & masks != 0);
    let refreshed: Vec<&Rec> = wanted().filter(|rec| rec.text.contains("refresh rw locks")).collect();
    let mut cost: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for rec in wanted().filter(|rec| BULK.is_match(&rec.text)) {
        let xid: u64 = BULK.captures(&rec.text).unwrap()[1].parse().unwrap();
        if refreshed.iter().any(|rec| rec.text.contains(&format!("x{xid}/"))) {
            cost.insert(xid & NEAR, (0.0, 0.0));
        }
    }
    let size = |rec: &Rec| f64::from(u32::try_from(50 + rec.file.len() + rec.function.len() + rec.text.len()).unwrap());
    let mut at_pid: BTreeMap<u32, (u64, &Rec)> = BTreeMap::new();
    for rec in wanted() {
        let xid = XID.captures(&rec.text).map(|found| found[1].parse::<u64>().unwrap() & NEAR);
        if let Some((lines, bytes)) = xid.and_then(|xid| cost.get_mut(&xid)) {
            *lines += 1.0;
            *bytes += size(rec);
        }
        if let Some(xid) = xid {
            at_pid.insert(rec.pid, (xid, rec));
        }
        // The scheduler's and the transfer's line follow or precede a line with the xid on the same thread.
        let belongs = ["NRS stop", "Transferring", "lustre-OST"].iter().any(|start| rec.text.starts_with(start));
        if belongs
            && let Some((xid, _)) = at_pid.get(&rec.pid)
            && let Some((lines, bytes)) = cost.get_mut(xid)
        {
            *lines += if rec.text.starts_with("NRS stop") { 2.0 } else { 1.0 };
            *bytes += size(rec) * if rec.text.starts_with("NRS stop") { 2.0 } else { 1.0 };
        }
    }
    assert!(!cost.is_empty());
    let rpcs = f64::from(u32::try_from(cost.len()).unwrap());
    let (lines, bytes) = cost.values().fold((0.0, 0.0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    (lines / rpcs, bytes / rpcs)
}

fn check(wording: &'static Wording, name: &str, server: &str, masks: u32) {
    let real = per_rpc(&capture(name, server), masks);
    let options = Options { wording, clients: 2, osts: 2, ..Options::default() };
    let simulated = per_rpc(&simulated("file-per-process", &options).0, masks);
    println!(
        "{name}: {:.2} lines and {:.0} bytes per bulk RPC, simulated {:.2} and {:.0}",
        real.0, real.1, simulated.0, simulated.1
    );
    for (real, simulated) in [(real.0, simulated.0), (real.1, simulated.1)] {
        assert!((simulated / real - 1.0).abs() < 0.1, "{name}: {simulated:.2} instead of {real:.2}");
    }
}

#[test]
fn under_rpctrace() {
    check(&V2_17, "file_per_process", "server2", 0x10_0000);
    check(&V2_15, "v215_file_per_process", "server2", 0x10_0000);
}

#[test]
fn under_rpctrace_dlmtrace_net() {
    check(&V2_17, "masks", "server2", 0x11_0200);
    check(&V2_15, "v215_masks", "server2", 0x11_0200);
}
