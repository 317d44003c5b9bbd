//! Thresholds: declared beside each rule, changed by name.

use std::collections::BTreeMap;

/// A threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Name within its rule, with its unit.
    pub name: &'static str,
    /// Value unless the user says otherwise.
    pub default: f64,
    /// What it means.
    pub meaning: &'static str,
}

/// A threshold: its name within its rule, with its unit, its value unless the user says otherwise, and what it means.
pub(super) const fn limit(name: &'static str, default: f64, meaning: &'static str) -> Limit {
    Limit { name, default, meaning }
}

/// Thresholds as the user wants them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// By the ids of rules and the names of their thresholds.
    changed: BTreeMap<(&'static str, &'static str), f64>,
}

impl Limits {
    /// Changes a threshold of a rule.
    pub(super) fn change(&mut self, rule_id: &'static str, limit: &Limit, value: f64) {
        self.changed.insert((rule_id, limit.name), value);
    }

    /// The value of a rule's threshold.
    pub(super) fn get(&self, rule_id: &'static str, limit: &Limit) -> f64 {
        self.changed.get(&(rule_id, limit.name)).copied().unwrap_or(limit.default)
    }
}
