//! RPCs per service and opcode against the services' own counters.
//!
//! Counters are cleared some time before the start marker and read some time before the stop marker, so
//! they may hold a few RPCs (pings, statfs, destroys) more than the interval, and lack the last few. They never hold
//! more than the whole capture. Reads and writes must be equal: nobody reads or writes at the edges.

use std::collections::BTreeMap;

use super::Unit;
use crate::figures::operation;
use crate::table::Table;

/// RPCs that may fall between the reading of a server's counters and its stop marker, per opcode.
const EDGE: u64 = 3;

const SERVICES: [(&str, &str); 12] = [
    ("ost.OSS.ost", "ll_ost"),
    ("ost.OSS.ost_io", "ll_ost_io"),
    ("ost.OSS.ost_create", "ll_ost_create"),
    ("ost.OSS.ost_seq", "ll_ost_seq"),
    ("ost.OSS.ost_out", "ll_ost_out"),
    ("mds.MDS.mdt", "mdt"),
    ("mds.MDS.mdt_readpage", "mdt_rdpg"),
    ("mds.MDS.mdt_io", "mdt_io"),
    ("mds.MDS.mdt_out", "mdt_out"),
    ("mds.MDS.mdt_fld", "mdt_fld"),
    ("ldlm.services.ldlm_canceld", "ldlm_cn"),
    ("ldlm.services.ldlm_cbd", "ldlm_cb"),
];

/// Counters and the opcode they count. Not here: `mds_reint_*`, which also count what an intent enqueue did.
const OPCODES: [(&str, u64); 35] = [
    ("ost_getattr", 1),
    ("ost_setattr", 2),
    ("ost_read", 3),
    ("ost_write", 4),
    ("ost_create", 5),
    ("ost_destroy", 6),
    ("ost_get_info", 7),
    ("ost_connect", 8),
    ("ost_disconnect", 9),
    ("ost_punch", 10),
    ("ost_statfs", 13),
    ("ost_sync", 16),
    ("ost_set_info", 17),
    ("ost_quotactl", 19),
    ("ost_ladvise", 21),
    ("ost_fallocate", 22),
    ("ost_seek", 23),
    ("mds_getattr", 33),
    ("mds_getattr_lock", 34),
    ("mds_close", 35),
    ("mds_readpage", 37),
    ("mds_connect", 38),
    ("mds_disconnect", 39),
    ("mds_statfs", 41),
    ("mds_sync", 44),
    ("mds_quotactl", 48),
    ("mds_get_info", 53),
    ("mds_hsm_state_get", 54),
    ("mds_swap_layouts", 61),
    ("mds_batch", 63),
    ("ldlm_convert", 102),
    ("ldlm_cancel", 103),
    ("obd_ping", 400),
    ("out_update", 1000),
    ("ldlm_enqueue", 101),
];

pub(crate) fn compare(unit: &Unit<'_>, table: &mut Table) {
    for (parameter, service) in SERVICES {
        let mut truth: BTreeMap<u64, u64> = BTreeMap::new();
        for server in &unit.servers {
            for (name, counter) in server.truth.stats(&format!("{parameter}.stats")) {
                if let Some(opcode) = opcode(&name, service) {
                    *truth.entry(opcode).or_default() += counter.samples;
                }
            }
        }
        for (opcode, truth) in truth {
            let inside = operation(&unit.json, opcode, |name| name == service);
            let figure = format!("{service} opcode {opcode}");
            if unit.wrapped || matches!(opcode, 3 | 4) {
                unit.count(table, &figure, Some(inside), truth);
            } else {
                let edge = EDGE * unit.servers.len() as u64;
                let whole = operation(&unit.whole, opcode, |name| name == service);
                let figure = format!("{figure} (the interval with its edges)");
                table.within(&unit.name, &figure, Some(inside.saturating_sub(edge)), Some(whole), truth);
            }
        }
    }
}

/// The opcode that a counter of a service counts, if it counts RPCs.
fn opcode(name: &str, service: &str) -> Option<u64> {
    if name.starts_with("ldlm_") && name.ends_with("_enqueue") {
        // Those of `mdt_out` are parts of MDS_BATCH.
        return (service != "mdt_out").then_some(101);
    }
    OPCODES.iter().find(|(counter, _)| *counter == name).map(|(_, opcode)| *opcode)
}
