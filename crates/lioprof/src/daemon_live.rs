//! What the daemon's server does now: rates and analyses of `lioprof-analysis`, judged by the rules of `lioprof-insight`.

use std::time::Duration;

use lioprof_analysis::LiveWindow;
use lioprof_capture::LiveView;
use lioprof_insight::{Limits, find, verdict};
use lioprof_model::live::LiveVerdict;
use lioprof_model::{Live, LockEvent, Mark, RowSink, RpcRow, SentRpc, Symbols};

/// Findings kept of a window: the worst.
const MAX_FINDINGS: usize = 20;

/// What the log lost is not in its rows; the daemon's status has it.
const OF_LOSS: &str = "trace-quality";

pub(crate) struct DaemonLive {
    window: LiveWindow,
    limits: Limits,
}

impl DaemonLive {
    /// For the server `node`, which is judged by windows of this length.
    pub(crate) fn boxed(node: &str, window: Duration) -> Box<dyn LiveView> {
        Box::new(Self { window: LiveWindow::new(node, window), limits: Limits::default() })
    }
}

impl RowSink for DaemonLive {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.window.rpc(row, symbols);
    }

    fn lock_event(&mut self, event: &LockEvent, symbols: &Symbols) {
        self.window.lock_event(event, symbols);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.window.sent_rpc(sent, symbols);
    }

    fn mark(&mut self, mark: &Mark, symbols: &Symbols) {
        self.window.mark(mark, symbols);
    }
}

impl LiveView for DaemonLive {
    fn handed_on(&mut self, through_us: i64, symbols: &Symbols) -> Option<LiveVerdict> {
        let mut analysis = self.window.handed_on(through_us, symbols)?;
        find(&mut analysis, &self.limits);
        analysis.checks.retain(|check| check.id != OF_LOSS);
        analysis.findings.retain(|finding| finding.id != OF_LOSS);
        let text = verdict(&analysis).text;
        let mut findings = analysis.findings;
        findings.truncate(MAX_FINDINGS);
        Some(LiveVerdict {
            from: analysis.window.start,
            to: analysis.window.end,
            text,
            severity: findings.first().map(|finding| finding.severity),
            findings,
        })
    }

    fn look(&mut self, traced_us: &dyn Fn(i64, i64) -> i64, symbols: &Symbols) -> Live {
        self.window.look(traced_us, symbols)
    }

    fn forget_symbols(&mut self) {
        self.window.forget();
    }
}
