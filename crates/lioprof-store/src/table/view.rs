//! Columns read back from a file.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, PrimitiveArray, StringArray};

/// A column that is not what it should be.
#[derive(Debug)]
pub(crate) struct BadColumn {
    pub(crate) column: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

/// A view of an array whose type is right and that has no nulls where none are allowed.
pub(crate) trait View: Sized {
    fn new(array: &ArrayRef) -> Self;
}

/// Numbers, all there.
pub(crate) struct Numbers<A: ArrowPrimitiveType>(PrimitiveArray<A>);

impl<A: ArrowPrimitiveType> View for Numbers<A> {
    fn new(array: &ArrayRef) -> Self {
        Self(array.as_primitive::<A>().clone())
    }
}

impl<A: ArrowPrimitiveType> Numbers<A> {
    pub(crate) fn get(&self, row: usize) -> A::Native {
        self.0.value(row)
    }

    pub(crate) fn values(&self) -> &[A::Native] {
        self.0.values()
    }
}

/// Numbers, some of them null.
pub(crate) struct OptionalNumbers<A: ArrowPrimitiveType>(PrimitiveArray<A>);

impl<A: ArrowPrimitiveType> Clone for OptionalNumbers<A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: ArrowPrimitiveType> View for OptionalNumbers<A> {
    fn new(array: &ArrayRef) -> Self {
        Self(array.as_primitive::<A>().clone())
    }
}

impl<A: ArrowPrimitiveType> OptionalNumbers<A> {
    pub(crate) fn get(&self, row: usize) -> Option<A::Native> {
        self.0.is_valid(row).then(|| self.0.value(row))
    }
}

/// Flags, all there.
pub(crate) struct Flags(BooleanArray);

impl View for Flags {
    fn new(array: &ArrayRef) -> Self {
        Self(array.as_boolean().clone())
    }
}

impl Flags {
    pub(crate) fn get(&self, row: usize) -> bool {
        self.0.value(row)
    }
}

/// Texts, all there.
pub(crate) struct Words {
    keys: Int32Array,
    texts: StringArray,
}

impl View for Words {
    fn new(array: &ArrayRef) -> Self {
        let dictionary = array.as_dictionary::<Int32Type>();
        Self { keys: dictionary.keys().clone(), texts: dictionary.values().as_string::<i32>().clone() }
    }
}

impl Words {
    /// What each text means; asked once per text and not once per row.
    pub(crate) fn map<T: Copy>(&self, mut meaning: impl FnMut(&str) -> T) -> Meanings<T> {
        let meanings = (0..self.texts.len()).map(|at| meaning(self.texts.value(at))).collect();
        Meanings { keys: self.keys.clone(), meanings }
    }

    /// The same for texts that may mean nothing.
    pub(crate) fn try_map<T: Copy>(
        &self,
        column: &str,
        expected: &str,
        mut meaning: impl FnMut(&str) -> Option<T>,
    ) -> Result<Meanings<T>, BadColumn> {
        let bad = |text: &str| BadColumn {
            column: column.to_owned(),
            expected: expected.to_owned(),
            found: format!("`{}`", text.escape_debug()),
        };
        let meanings = (0..self.texts.len())
            .map(|at| meaning(self.texts.value(at)).ok_or_else(|| bad(self.texts.value(at))))
            .collect::<Result<_, _>>()?;
        Ok(Meanings { keys: self.keys.clone(), meanings })
    }

    /// The text of a row.
    pub(crate) fn get(&self, row: usize) -> &str {
        self.texts.value(place(self.keys.value(row)))
    }
}

/// Texts, some of them null.
pub(crate) struct OptionalWords(Words);

impl View for OptionalWords {
    fn new(array: &ArrayRef) -> Self {
        Self(Words::new(array))
    }
}

impl OptionalWords {
    pub(crate) fn map<T: Copy>(&self, meaning: impl FnMut(&str) -> T) -> OptionalMeanings<T> {
        OptionalMeanings(self.0.map(meaning))
    }

    pub(crate) fn try_map<T: Copy>(
        &self,
        column: &str,
        expected: &str,
        meaning: impl FnMut(&str) -> Option<T>,
    ) -> Result<OptionalMeanings<T>, BadColumn> {
        Ok(OptionalMeanings(self.0.try_map(column, expected, meaning)?))
    }

    pub(crate) fn get(&self, row: usize) -> Option<&str> {
        self.0.keys.is_valid(row).then(|| self.0.get(row))
    }
}

/// What the texts of a column mean.
pub(crate) struct Meanings<T> {
    keys: Int32Array,
    meanings: Vec<T>,
}

impl<T: Copy> Meanings<T> {
    pub(crate) fn get(&self, row: usize) -> T {
        self.meanings[place(self.keys.value(row))]
    }
}

/// The same, with nulls.
pub(crate) struct OptionalMeanings<T>(Meanings<T>);

impl<T: Copy> OptionalMeanings<T> {
    pub(crate) fn get(&self, row: usize) -> Option<T> {
        self.0.keys.is_valid(row).then(|| self.0.get(row))
    }
}

/// A dictionary's keys are places in it: Arrow refuses others.
fn place(key: i32) -> usize {
    usize::try_from(key).expect("a place in the dictionary")
}
