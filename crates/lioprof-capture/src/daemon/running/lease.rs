//! The lease of a daemon that somebody elsewhere has started and must keep alive.

use std::time::{Duration, Instant};

/// Time that is left until the capture ends by itself.
pub(super) struct Lease {
    span: Duration,
    until: Instant,
}

impl Lease {
    pub(super) fn new(span: Duration, now: Instant) -> Self {
        Self { span, until: now + span }
    }

    /// Counts the time from now again. Returns what to answer.
    pub(super) fn renew(&mut self, now: Instant) -> String {
        self.until = now + self.span;
        format!("renewed for {}", humantime::format_duration(self.span))
    }

    pub(super) fn has_run_out(&self, now: Instant) -> bool {
        now >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_out_unless_it_is_renewed() {
        let second = Duration::from_secs(1);
        let start = Instant::now();
        let mut lease = Lease::new(second * 3, start);
        assert!(!lease.has_run_out(start + second * 2));
        assert_eq!(lease.renew(start + second * 2), "renewed for 3s");
        assert!(!lease.has_run_out(start + second * 4));
        assert!(lease.has_run_out(start + second * 5));
    }
}
