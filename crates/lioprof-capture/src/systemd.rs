//! Telling systemd how the daemon is (`Type=notify`).

use std::time::Duration;

use sd_notify::NotifyState;

/// Longest status line that is sent.
const MAX_STATUS_CHARS: usize = 200;

/// The service manager, if the daemon was started by one. Without `NOTIFY_SOCKET` nothing is sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notifier;

impl Notifier {
    /// The daemon traces, or waits for its trigger or for Lustre: what depends on it may start.
    pub(crate) fn ready(self) {
        self.send(&[NotifyState::Ready]);
    }

    /// Whether a service manager wants to be told.
    pub(crate) fn has_manager(self) -> bool {
        std::env::var_os("NOTIFY_SOCKET").is_some_and(|socket| !socket.is_empty())
    }

    /// One line for `systemctl status`.
    pub(crate) fn status(self, text: &str) {
        // A line break would begin another assignment.
        let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        let line: String = line.take(MAX_STATUS_CHARS).collect();
        self.send(&[NotifyState::Status(&line)]);
    }

    /// The main loop is alive. To be sent every [`Self::watchdog_interval`].
    pub(crate) fn watchdog(self) {
        self.send(&[NotifyState::Watchdog]);
    }

    /// The daemon drains and restores, and may take this long.
    pub(crate) fn stopping(self, at_most: Duration) {
        let micros = u32::try_from(at_most.as_micros()).unwrap_or(u32::MAX);
        self.send(&[NotifyState::Stopping, NotifyState::ExtendTimeoutUsec(micros)]);
    }

    /// How often the watchdog wants to be told; half of the time that it allows. `None`: there is no watchdog.
    pub(crate) fn watchdog_interval(self) -> Option<Duration> {
        sd_notify::watchdog_enabled().map(|limit| limit / 2).filter(|interval| !interval.is_zero())
    }

    fn send(self, states: &[NotifyState<'_>]) {
        // A service manager that does not listen must not end the capture.
        if let Err(err) = sd_notify::notify(states) {
            tracing::warn!(%err, "failed to notify systemd");
        }
    }
}

#[cfg(test)]
#[path = "systemd_tests.rs"]
mod tests;
