//! A column while rows are gathered.

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::cell::Cell;
use super::texts::Texts;

/// The cells of a column.
pub(crate) struct Column<C: Cell> {
    values: Vec<C::Stored>,
    /// Whether each cell is there; stays empty where nulls are impossible.
    valid: Vec<bool>,
}

impl<C: Cell> Default for Column<C> {
    fn default() -> Self {
        Self { values: Vec::new(), valid: Vec::new() }
    }
}

impl<C: Cell> Column<C> {
    /// Adds a cell.
    #[inline]
    pub(crate) fn push(&mut self, cell: C) {
        let (value, valid) = cell.split();
        self.values.push(value);
        if C::NULLABLE {
            self.valid.push(valid);
        }
    }

    /// What was stored for each row, whether null or not.
    pub(crate) fn stored(&self) -> &[C::Stored] {
        &self.values
    }

    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.valid.clear();
    }
}

/// A column of whatever type.
pub(crate) trait AnyColumn {
    /// Its cells in the given order as an Arrow array.
    fn gather(&self, order: &[u32], texts: &mut Texts) -> ArrayRef;

    /// Writes a cell as CSV; nothing if it is null.
    fn csv(&self, row: usize, texts: &Texts, out: &mut Vec<u8>);

    /// Memory of its cells.
    fn bytes(&self) -> usize;
}

impl<C: Cell> AnyColumn for Column<C> {
    fn gather(&self, order: &[u32], texts: &mut Texts) -> ArrayRef {
        let values = order.iter().map(|row| self.values[*row as usize]).collect();
        let nulls = C::NULLABLE
            .then(|| NullBuffer::new(BooleanBuffer::collect_bool(order.len(), |at| self.valid[order[at] as usize])));
        C::array(values, nulls.filter(|it| it.null_count() > 0), texts)
    }

    fn csv(&self, row: usize, texts: &Texts, out: &mut Vec<u8>) {
        if self.valid.get(row).is_none_or(|valid| *valid) {
            C::csv(self.values[row], texts, out);
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.values[..]) + self.valid.len()
    }
}
