//! All rules.

use lioprof_model::SpentOn;
use lioprof_model::analysis::NOTED_LOSS;

use super::case::{Question, Rule};
use super::limits::Limits;
use super::{
    below_available, client_bound, could_be_faster, disk_bound, failed_requests, faults, gapped_rpcs, glimpses,
    hot_ost, hung_requests, load_imbalance, lock_ping_pong, many_writers, metadata_bound, queue_bound, read_fan_out,
    read_order, server_errors, single_writer, slow_link, slow_tail, sluggish_ost, small_between_large, small_rpcs,
    storms, throttled, trace_quality, unaligned_rpcs, unfair_sharing,
};

/// Every kind, causes before what they bring about; a new one is a module and a line here.
static RULES: &[Rule] = &[
    trace_quality::RULE,
    hung_requests::RULE,
    failed_requests::RULE,
    server_errors::RULE,
    faults::EVICTIONS,
    lock_ping_pong::RULE,
    glimpses::RULE,
    sluggish_ost::RULE,
    slow_link::RULE,
    hot_ost::RULE,
    single_writer::RULE,
    unfair_sharing::RULE,
    load_imbalance::RULE,
    many_writers::RULE,
    read_fan_out::RULE,
    small_between_large::RULE,
    gapped_rpcs::RULE,
    unaligned_rpcs::RULE,
    read_order::STRIDED,
    read_order::BACKWARD,
    small_rpcs::RULE,
    throttled::RULE,
    queue_bound::RULE,
    slow_tail::RULE,
    faults::RESENDS,
    storms::PING,
    storms::STATFS,
    metadata_bound::RULE,
    below_available::RULE,
    disk_bound::RULE,
    client_bound::RULE,
    could_be_faster::RULE,
];

/// Every kind of finding.
#[must_use]
pub fn rules() -> &'static [Rule] {
    RULES
}

fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

/// Which question a kind of finding answers.
pub(super) fn question(id: &str) -> Option<Question> {
    rule(id).map(|rule| rule.question)
}

/// What a kind of finding explains of the clients' time.
pub(super) fn explains(id: &str) -> &'static [SpentOn] {
    rule(id).map_or(&[], |rule| rule.explains)
}

/// Where a rule stands: causes come before what they bring about.
pub(super) fn place(id: &str) -> Option<usize> {
    RULES.iter().position(|rule| rule.id == id)
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
    /// Share of lost RPCs from which it is said that they are lost: the threshold `trace-quality.lost_share`.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        let limit = trace_quality::RULE.limits.iter().find(|limit| limit.name == "lost_share");
        limit.map_or(NOTED_LOSS, |limit| self.get(trace_quality::RULE.id, limit))
    }

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
                Some(rule) => rule.limits.iter().map(|limit| rule.full_name(limit)).collect(),
                None => RULES.iter().map(|rule| format!("{}.NAME", rule.id)).collect(),
            };
            return Err(LimitError::Unknown { name: name.to_owned(), known: known.join(", ") });
        };
        if !value.is_finite() || value < 0.0 {
            return Err(LimitError::Value { name: name.to_owned(), value });
        }
        self.change(rule.id, limit, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_exists_can_be_changed() {
        let mut limits = Limits::default();
        let rule = &RULES[0];
        let name = rule.full_name(&rule.limits[0]);
        limits.set(&name, 42.0).unwrap();
        assert_eq!(limits.get(rule.id, &rule.limits[0]), 42.0);
        for (unknown, known) in [(format!("{}.no_such", rule.id), &*name), ("no-such.limit".to_owned(), rule.id)] {
            let error = limits.set(&unknown, 1.0).unwrap_err().to_string();
            assert!(error.contains(&unknown) && error.contains(known), "{error}");
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(limits.set(&name, bad).is_err(), "{bad}");
        }
    }
}
