//! Lock traffic per target and client: callbacks that the servers sent, enqueues and cancels that they handled.

use std::collections::{BTreeMap, BTreeSet};

use super::Unit;
use crate::figures::{number, operation, rows, text};
use crate::table::Table;

const LDLM_ENQUEUE: u64 = 101;
const LDLM_CANCEL: u64 = 103;
const MDS_BATCH: u64 = 63;
const CALLBACKS: [(u64, &str); 3] = [(104, "ldlm_bl_callback"), (105, "ldlm_cp_callback"), (106, "ldlm_gl_callback")];
const DEVICES: [&str; 2] = ["obdfilter", "mdt"];

pub(crate) fn compare(unit: &Unit<'_>, table: &mut Table) {
    let has_mdt = rows(&unit.json, "targets").iter().any(|row| text(row, "kind") == Some("mdt"));
    let mdt_counted = unit.servers.iter().any(|server| !server.truth.exports("mdt", "ldlm_stats").is_empty());
    let devices: &[&str] = if mdt_counted { &DEVICES } else { &["obdfilter"] };
    for (opcode, counter) in CALLBACKS {
        callbacks(unit, table, opcode, counter, devices);
    }
    if has_mdt && !mdt_counted {
        // Counters that nobody took are no zeroes: what the MDT and its OSTs did cannot be told apart without them.
        table.row(&unit.name, "LDLM of the MDT", "not compared", "no mdt.*.exports.*.ldlm_stats in truth.txt", true);
        return;
    }
    let handled = |opcode, service: &dyn Fn(&str) -> bool| Some(operation(&unit.json, opcode, service));
    let cancels = handled(LDLM_CANCEL, &|_| true);
    unit.count(table, "LDLM_CANCEL handled", cancels, counted(unit, &DEVICES, "ldlm_cancel", None));
    let enqueues = handled(LDLM_ENQUEUE, &|service| service == "ll_ost");
    unit.count(table, "LDLM_ENQUEUE handled by OSTs", enqueues, counted(unit, &["obdfilter"], "ldlm_enqueue", None));
    let enqueues = handled(LDLM_ENQUEUE, &|service| service.starts_with("mdt"));
    on_mdt(unit, table, "LDLM_ENQUEUE handled by MDTs", enqueues, counted(unit, &["mdt"], "ldlm_enqueue", None));
    per_client(unit, table);
}

/// `Sending RPC` of a callback, by target and client.
fn callbacks(unit: &Unit<'_>, table: &mut Table, opcode: u64, counter: &str, devices: &[&str]) {
    let mut sent: BTreeMap<(String, String), u64> = BTreeMap::new();
    for row in rows(&unit.json, "sent").iter().filter(|row| number(row, "opcode") == Some(opcode)) {
        let key = (text(row, "target").unwrap_or_default().to_owned(), text(row, "nid").unwrap().to_owned());
        *sent.entry(key).or_default() += number(row, "rpcs").unwrap();
    }
    let mut truth: BTreeMap<(String, String), u64> = BTreeMap::new();
    for server in &unit.servers {
        for kind in devices {
            for (device, nid, stats) in server.truth.exports(kind, "ldlm_stats") {
                *truth.entry((device, nid)).or_default() += stats.get(counter).map_or(0, |it| it.samples);
            }
        }
    }
    if !devices.contains(&"mdt") {
        sent.retain(|(target, _), _| !target.contains("-MDT"));
    }
    let keys: BTreeSet<_> = sent.keys().chain(truth.keys()).cloned().collect();
    for key in keys {
        let (sent, truth) = (sent.get(&key).copied().unwrap_or(0), truth.get(&key).copied().unwrap_or(0));
        unit.count(table, &format!("{counter} sent by {} to {}", key.0, key.1), Some(sent), truth);
    }
}

/// Per client, from `clients[].opcodes`.
fn per_client(unit: &Unit<'_>, table: &mut Table) {
    let clients: BTreeSet<String> = unit
        .servers
        .iter()
        .flat_map(|server| {
            DEVICES.iter().flat_map(|kind| server.truth.exports(kind, "ldlm_stats")).map(|(_, nid, _)| nid)
        })
        .collect();
    for nid in clients {
        let cancels = counted(unit, &DEVICES, "ldlm_cancel", Some(&nid));
        unit.count(table, &format!("LDLM_CANCEL of client {nid}"), opcode_of(unit, &nid, "LDLM_CANCEL"), cancels);
        // Enqueues of the configuration locks go to the MGS, which has no such counter here.
        let to_mgs = operation(&unit.json, LDLM_ENQUEUE, |service| service.starts_with("ll_mgs"));
        if to_mgs == 0 {
            let enqueues = counted(unit, &DEVICES, "ldlm_enqueue", Some(&nid));
            let figure = format!("LDLM_ENQUEUE of client {nid}");
            on_mdt(unit, table, &figure, opcode_of(unit, &nid, "LDLM_ENQUEUE"), enqueues);
        }
    }
}

fn opcode_of(unit: &Unit<'_>, nid: &str, name: &str) -> Option<u64> {
    match rows(&unit.json, "clients").iter().find(|row| text(row, "nid") == Some(nid)) {
        Some(row) => Some(number(row.get("opcodes")?, name).unwrap_or(0)),
        None => Some(0),
    }
}

/// On an MDT enqueues also arrive inside `MDS_BATCH`: without that the counts are equal.
fn on_mdt(unit: &Unit<'_>, table: &mut Table, figure: &str, handled: Option<u64>, truth: u64) {
    if operation(&unit.json, MDS_BATCH, |_| true) == 0 {
        unit.count(table, figure, handled, truth);
    } else {
        table.within(&unit.name, &format!("{figure} (others inside MDS_BATCH)"), handled, None, truth);
    }
}

fn counted(unit: &Unit<'_>, kinds: &[&str], counter: &str, client: Option<&str>) -> u64 {
    let exports =
        unit.servers.iter().flat_map(|server| kinds.iter().flat_map(|kind| server.truth.exports(kind, "ldlm_stats")));
    let mine = exports.filter(|(_, nid, _)| client.is_none_or(|client| client == nid));
    mine.filter_map(|(_, _, stats)| Some(stats.get(counter)?.samples)).sum()
}
