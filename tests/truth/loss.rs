//! What is missing: nothing in an undamaged capture; in a wrapped one the head, and nobody knows how much.

use serde_json::Value;

use super::Unit;
use crate::figures::{number, rows};
use crate::table::Table;

pub(crate) fn compare(unit: &Unit<'_>, table: &mut Table) {
    for (which, json) in [("whole capture", &unit.whole), ("interval", &unit.json)] {
        let loss = &json["loss"];
        if unit.wrapped {
            wrapped(unit, table, which, loss);
        } else {
            undamaged(unit, table, which, loss);
        }
    }
    if unit.wrapped {
        let warnings = rows(&unit.json, "warnings").len();
        table.row(&unit.name, "warnings about the overwritten head", warnings, "at least 1", warnings > 0);
    }
}

fn undamaged(unit: &Unit<'_>, table: &mut Table, which: &str, loss: &Value) {
    for key in ["nrs_sequence_gaps", "torn_seams", "discarded_heads", "clock_steps"] {
        table.equal(&unit.name, &format!("{which}: {key}"), number(loss, key), 0);
    }
    // Pages that a full disk had cut were written again: their first halves are bad, and nothing is lost.
    let cut = unit.servers.iter().map(|server| server.bad_for_lctl()).sum();
    table.equal(&unit.name, &format!("{which}: bad_records"), number(loss, "bad_records"), cut);
    let overwritten = loss["head_overwritten"].as_bool();
    table.row(
        &unit.name,
        &format!("{which}: head_overwritten"),
        format!("{overwritten:?}"),
        "Some(false)",
        overwritten == Some(false),
    );
    // Null where no scheduler line says anything.
    let fraction = &loss["estimated_lost_fraction"];
    let good = fraction.as_f64() == Some(0.0) || (fraction.is_null() && number(loss, "nrs_sequence_seen") == Some(0));
    table.row(&unit.name, &format!("{which}: estimated_lost_fraction"), fraction, "0", good);
}

fn wrapped(unit: &Unit<'_>, table: &mut Table, which: &str, loss: &Value) {
    let overwritten = loss["head_overwritten"].as_bool();
    table.row(
        &unit.name,
        &format!("{which}: head_overwritten"),
        format!("{overwritten:?}"),
        "Some(true)",
        overwritten == Some(true),
    );
    let fraction = &loss["estimated_lost_fraction"];
    table.row(&unit.name, &format!("{which}: estimated_lost_fraction"), fraction, "null", fraction.is_null());
    // `lctl` sorts the records of a text: no seam is left in it.
    let binary = rows(&unit.whole, "inputs").iter().filter(|row| row["format"] == "binary").count() as u64;
    table.within(
        &unit.name,
        &format!("{which}: torn_seams, one per ring"),
        Some(binary),
        None,
        number(loss, "torn_seams").unwrap_or(0),
    );
}
