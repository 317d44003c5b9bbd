//! The comparison for people.

use std::fmt;

use lioprof_model::counted::account::Doubt;

use super::compare::{Comparison, Row, Verdict};

/// Rows that agree are listed up to this number; those that differ always.
const MAX_AGREEING: usize = 40;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differing = self.differing().count();
        let equal = self.rows.iter().filter(|row| row.verdict == Verdict::Equal).count();
        let within = self.rows.len() - differing - equal;
        writeln!(f, "trace against counters: {equal} equal, {within} within bounds, {differing} differ")?;
        writeln!(f, "{:<36} {:>9} {:>15}  result", "", "RPCs", "bytes")?;
        let mut agreeing = 0;
        for row in &self.rows {
            let differs = matches!(row.verdict, Verdict::Differs { .. });
            agreeing += usize::from(!differs);
            if differs || agreeing <= MAX_AGREEING {
                write_row(f, row)?;
            }
        }
        if agreeing > MAX_AGREEING {
            writeln!(f, "({} more rows agree)", agreeing - MAX_AGREEING)?;
        }
        for what in &self.not_compared {
            writeln!(f, "not compared: {what}")?;
        }
        Ok(())
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, row: &Row) -> fmt::Result {
    let scope = row.scope;
    let direction = row.direction.name();
    let name: String = row.name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let head = if name.is_empty() { format!("{scope} {direction}") } else { format!("{scope} {name} {direction}") };
    let (rpcs, bytes) = (row.counted.rpcs, row.counted.bytes);
    write!(f, "{head:<36} {rpcs:>9} {bytes:>15}  ")?;
    match row.verdict {
        Verdict::Equal => write!(f, "equal")?,
        Verdict::WithinBounds => write!(f, "within bounds")?,
        Verdict::Differs { rpcs, bytes, unsized_rpcs } => {
            write!(f, "differs by {rpcs:+} RPCs, {bytes:+} bytes")?;
            if rpcs != 0 && unsized_rpcs > 0 {
                write!(f, " (less what the {unsized_rpcs} traced ones of unknown size moved)")?;
            }
        }
    }
    match row.doubt {
        None => writeln!(f),
        Some(Doubt::Reset) => writeln!(f, " (counters were cleared)"),
        Some(Doubt::Vanished) => writeln!(f, " (counters vanished)"),
        Some(Doubt::SeenLate) => writeln!(f, " (counters seen late)"),
    }
}
