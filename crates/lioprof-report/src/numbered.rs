//! Texts by number: the same few come again and again, and the page has each once.

use std::collections::BTreeMap;

/// Texts in the order in which they were first asked for.
#[derive(Default)]
pub(crate) struct Numbered<'a> {
    numbers: BTreeMap<&'a str, usize>,
    pub(crate) texts: Vec<&'a str>,
}

impl<'a> Numbered<'a> {
    pub(crate) fn number(&mut self, text: &'a str) -> usize {
        *self.numbers.entry(text).or_insert_with(|| {
            self.texts.push(text);
            self.texts.len() - 1
        })
    }
}
