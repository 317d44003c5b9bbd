//! Rows of samples.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use serde::Serialize;
use super::totals::Totals;

/// Collects values with less writing.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    pub(super) values: &'a mut Vec<Value>,
    pub(super) source: Source,
    pub(super) target: Arc<str>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(values: &'a mut Vec<Value>, source: Source, target: &Arc<str>) -> Self {
        Self { values, source, target: Arc::clone(target) }
    }

    /// Rows of the node, not of a target.
    pub(super) fn of_node(values: &'a mut Vec<Value>, source: Source) -> Self {
        Self { values, source, target: Arc::from("") }
    }

    pub(super) fn push(&mut self, entity: &Arc<str>, counter: impl Into<Cow<'static, str>>, value: u64) {
        self.values.push(Value {
            source: self.source,
            target: Arc::clone(&self.target),
            entity: Arc::clone(entity),
            counter: counter.into(),
            value,
        });
    }
}
