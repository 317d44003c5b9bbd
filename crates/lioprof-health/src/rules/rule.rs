//! What a rule is.

use super::draft::Draft;
use crate::facts::ServerFacts;

/// A rule.
pub(super) struct Rule {
    /// Stable name for scripts.
    pub(super) id: &'static str,
    /// What is checked.
    pub(super) title: &'static str,
    /// What is counted: `OST`.
    pub(super) noun: &'static str,
    /// What is expected.
    pub(super) expected: &'static str,
    /// What to do if it is otherwise.
    pub(super) remedy: &'static str,
    /// Looks at all servers.
    pub(super) check: fn(&[ServerFacts], &mut Draft),
}
