//! Thresholds: declared beside each rule, changed by name.

use std::collections::BTreeMap;

use super::{RULES, Rule};

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
    /// By the ids of rules and the names of their thresholds.
    changed: BTreeMap<(&'static str, &'static str), f64>,
}

/// A threshold cannot be changed so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LimitError {
    /// There is none of this name.
    #[error("there is no threshold `{name}`; expected one of: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is: the thresholds of its rule, or all rules if there is none of its name.
        known: String,
    },
    /// No threshold has such a value.
    #[error("threshold `{name}`: expected a number from 0 on, found {value}")]
    Value {
        /// Which.
        name: String,
        /// What was asked for.
        value: f64,
    },
}

impl Limits {
    /// Changes the threshold `rule.name`.
    ///
    /// # Errors
    /// If there is none of this name, or the value is no number or below 0.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), LimitError> {
        let (rule_id, limit_name) = name.split_once('.').unwrap_or((name, ""));
        let rule = RULES.iter().find(|rule| rule.id == rule_id);
        let limit = rule.and_then(|rule| rule.limits.iter().find(|limit| limit.name == limit_name));
        let Some((rule, limit)) = rule.zip(limit) else {
            let known: Vec<String> = match rule {
                Some(rule) => rule.limits.iter().map(|limit| full_name(rule, limit.name)).collect(),
                None => RULES.iter().map(|rule| full_name(rule, "NAME")).collect(),
            };
            return Err(LimitError::Unknown { name: name.to_owned(), known: known.join(", ") });
        };
        if !value.is_finite() || value < 0.0 {
            return Err(LimitError::Value { name: name.to_owned(), value });
        }
        self.changed.insert((rule.id, limit.name), value);
        Ok(())
    }

    /// The value of a rule's threshold.
    pub(super) fn get(&self, rule: &Rule, name: &str) -> f64 {
        let limit = rule.limits.iter().find(|limit| limit.name == name);
        let limit = limit.unwrap_or_else(|| unreachable!("rule {} declares no limit {name}", rule.id));
        self.changed.get(&(rule.id, limit.name)).copied().unwrap_or(limit.default)
    }

    /// All thresholds of a rule, for its findings.
    pub(super) fn of(&self, rule: &Rule) -> BTreeMap<String, f64> {
        rule.limits.iter().map(|limit| (full_name(rule, limit.name), self.get(rule, limit.name))).collect()
    }
}

fn full_name(rule: &Rule, limit: &str) -> String {
    format!("{}.{limit}", rule.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_exists_can_be_changed() {
        let mut limits = Limits::default();
        let rule = &RULES[0];
        let name = full_name(rule, rule.limits[0].name);
        limits.set(&name, 42.0).unwrap();
        assert_eq!(limits.get(rule, rule.limits[0].name), 42.0);
        assert_eq!(limits.of(rule)[&name], 42.0);
        for (unknown, known) in [(full_name(rule, "no_such"), &*name), ("no-such.limit".to_owned(), rule.id)] {
            let error = limits.set(&unknown, 1.0).unwrap_err().to_string();
            assert!(error.contains(&unknown) && error.contains(known), "{error}");
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(limits.set(&name, bad).is_err(), "{bad}");
        }
    }
}
