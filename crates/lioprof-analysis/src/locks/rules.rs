//! When a resource is contended, and when clients take turns with a lock.

use lioprof_model::LockRules;
use lioprof_model::units::seconds;

/// Thresholds, in the units of the code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) contended_conflicts: usize,
    pub(crate) contended_window_us: i64,
    pub(crate) contended_hold_us: i64,
    pub(crate) contended_source: &'static str,
    pub(crate) ping_pong_alternations: u64,
    pub(crate) ping_pong_gap_us: i64,
}

impl Rules {
    /// 32 conflicts in 2 s: the defaults up to Lustre 2.17 (`ldlm_extent.c`, `NS_DEFAULT_CONTENDED_LOCKS`,
    /// `NS_DEFAULT_CONTENTION_SECONDS`).
    pub(crate) const TO_2_17: Self = Self {
        contended_conflicts: 32,
        contended_window_us: 2_000_000,
        contended_hold_us: 2_000_000,
        contended_source: "assumed: defaults up to Lustre 2.17",
        ping_pong_alternations: 10,
        ping_pong_gap_us: 5_000_000,
    };

    /// 16 conflicts in 4 s, held 30 s: the defaults since the sliding window of 2.17.55.
    pub(crate) const MASTER: Self = Self {
        contended_conflicts: 16,
        contended_window_us: 4_000_000,
        contended_hold_us: 30_000_000,
        contended_source: "assumed: defaults of Lustre master (2.17.55 and later)",
        ..Self::TO_2_17
    };

    pub(crate) fn model(&self) -> LockRules {
        LockRules {
            contended_conflicts: self.contended_conflicts as u64,
            contended_window_s: seconds(self.contended_window_us),
            contended_hold_s: seconds(self.contended_hold_us),
            contended_source: self.contended_source.to_owned(),
            ping_pong_alternations: self.ping_pong_alternations,
            ping_pong_gap_s: seconds(self.ping_pong_gap_us),
        }
    }
}
