//! Tables for people: the first column is text, the others are numbers.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};
use lioprof_model::units::thousands;

/// Rows per table.
pub(crate) const TOP: usize = 10;

/// A table whose first column is text and whose others are numbers.
pub(crate) struct NumberTable {
    table: Table,
    columns: usize,
    rows: usize,
}

impl NumberTable {
    pub(crate) fn new(header: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(header);
        Self { table, columns: header.len(), rows: 0 }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.table.add_row(cells);
        self.rows += 1;
    }

    pub(crate) fn print(mut self, title: &str, all: usize, out: &mut dyn Write) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        for column in 0..self.columns {
            if let Some(column_mut) = self.table.column_mut(column) {
                column_mut.set_padding((if column == 0 { 2 } else { 1 }, 0));
                if column > 0 {
                    column_mut.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        let more = if all > TOP { format!(" (top {TOP} of {})", thousands(all as u64)) } else { String::new() };
        writeln!(out, "\n{title}{more}")?;
        for line in self.table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
