//! The list as text.

use std::fmt::Write as _;

use crate::clean::clean;
use crate::headline;
use crate::state::State;
use crate::table::{Column, Row};

/// What the screen would show, with all rows and columns.
#[must_use]
pub fn plain(state: &State) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    write(state, &mut text).unwrap_or_default();
    text
}

fn write(state: &State, out: &mut String) -> std::fmt::Result {
    let live = &state.live;
    writeln!(out, "{}", headline::totals(live))?;
    writeln!(out, "{}", headline::verdict(live).1)?;
    for trouble in headline::troubles(live) {
        writeln!(out, "{trouble}")?;
    }
    let table = state.table();
    let widths = table.widths();
    writeln!(out, "\n{}", clean(&state.level().title()))?;
    let headings = table.columns.iter().map(|column| column.heading);
    line(&table.columns, &widths, headings, out)?;
    for row in &table.rows {
        line(&table.columns, &widths, texts(row), out)?;
    }
    if let Some((count, row)) = &table.others {
        let first = format!("others: {count}");
        let texts = std::iter::once(first.as_str()).chain(texts(row).skip(1));
        line(&table.columns, &widths, texts, out)?;
    }
    Ok(())
}

fn texts(row: &Row) -> impl Iterator<Item = &str> {
    row.cells.iter().map(|cell| cell.text.as_str())
}

fn line<'a>(
    columns: &[Column],
    widths: &[usize],
    cells: impl Iterator<Item = &'a str>,
    out: &mut String,
) -> std::fmt::Result {
    let mut line = String::new();
    for ((cell, column), &width) in cells.zip(columns).zip(widths) {
        if column.is_name {
            write!(line, "  {cell:<width$}")?;
        } else {
            write!(line, "  {cell:>width$}")?;
        }
    }
    writeln!(out, "{}", line.trim_end())
}
