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

/// Thresholds as the user wants them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    changed: BTreeMap<String, f64>,
}

/// There is no such threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no threshold `{name}`; there are: {known}")]
pub struct UnknownLimit {
    /// What was asked for.
    pub name: String,
    /// What there is.
    pub known: String,
}

impl Limits {
    /// Changes the threshold `rule.name`.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), UnknownLimit> {
        let names: Vec<String> = super::all_limits().map(|(rule, limit)| format!("{rule}.{}", limit.name)).collect();
        if !names.iter().any(|known| known == name) {
            return Err(UnknownLimit { name: name.to_owned(), known: names.join(", ") });
        }
        self.changed.insert(name.to_owned(), value);
        Ok(())
    }

    /// The value of a rule's threshold.
    pub(super) fn get(&self, rule: &super::Rule, name: &str) -> f64 {
        let limit = rule.limits.iter().find(|limit| limit.name == name);
        let limit = limit.unwrap_or_else(|| unreachable!("rule {} declares no limit {name}", rule.id));
        self.changed.get(&format!("{}.{name}", rule.id)).copied().unwrap_or(limit.default)
    }

    /// All thresholds of a rule, for its findings.
    pub(super) fn of(&self, rule: &super::Rule) -> BTreeMap<String, f64> {
        let value = |limit: &Limit| (format!("{}.{}", rule.id, limit.name), self.get(rule, limit.name));
        rule.limits.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_exists_can_be_changed() {
        let mut limits = Limits::default();
        let (rule, limit) = super::super::all_limits().next().expect("there are limits");
        limits.set(&format!("{rule}.{}", limit.name), 42.0).unwrap();
        assert!(limits.set("no-such.limit", 1.0).unwrap_err().to_string().contains(limit.name));
    }
}
