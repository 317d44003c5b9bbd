//! Rows and columns of a list.

use std::cmp::Ordering;

use crate::clean::clean;
use crate::level::Level;

/// A column. Those on the right go first where there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) heading: &'static str,
    /// Left-aligned, and looked at by the filter.
    pub(crate) is_name: bool,
}

pub(crate) const fn name(heading: &'static str) -> Column {
    Column { heading, is_name: true }
}

pub(crate) const fn number(heading: &'static str) -> Column {
    Column { heading, is_name: false }
}

/// A figure or a name, as it is shown and as it is sorted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// `None`: unknown, or a name.
    pub(crate) value: Option<f64>,
}

impl Cell {
    /// A name.
    pub(crate) fn name(text: Option<&str>) -> Self {
        Self { text: clean(text.unwrap_or("?")), value: None }
    }

    /// A figure; what is unknown is a dash.
    pub(crate) fn figure(value: Option<f64>, text: impl FnOnce(f64) -> String) -> Self {
        Self { text: value.map_or_else(|| "-".to_owned(), text), value }
    }

    /// Larger figures first, unknown ones last; names from A to Z.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self.value, other.value) {
            (Some(mine), Some(theirs)) => theirs.total_cmp(&mine),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => self.text.cmp(&other.text),
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    /// What there is below it.
    pub(crate) below: Option<Level>,
}

/// A list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// The sum of what has no row of its own, and of how many things.
    pub(crate) others: Option<(u64, Row)>,
}

impl Row {
    /// Whether one of its names contains the text, which is in lower case.
    pub(crate) fn contains(&self, columns: &[Column], text: &str) -> bool {
        let mut names = self.cells.iter().zip(columns).filter(|(_, column)| column.is_name);
        names.any(|(cell, _)| cell.text.to_lowercase().contains(text))
    }

    /// Its names: what it is known by from one update to the next.
    pub(crate) fn names(&self, columns: &[Column]) -> Vec<String> {
        let names = self.cells.iter().zip(columns).filter(|(_, column)| column.is_name);
        names.map(|(cell, _)| cell.text.clone()).collect()
    }
}

impl Table {
    /// Widths of the columns. Names are cut at some length.
    pub(crate) fn widths(&self) -> Vec<usize> {
        const LONGEST: usize = 40;
        let all = || self.rows.iter().chain(self.others.iter().map(|(_, row)| row));
        let width = |at: usize, column: &Column| {
            let cells = all().map(|row| row.cells.get(at).map_or(0, |cell| cell.text.chars().count()));
            cells.chain([column.heading.len()]).max().unwrap_or(0).min(LONGEST)
        };
        self.columns.iter().enumerate().map(|(at, column)| width(at, column)).collect()
    }
}
