//! A progress bar on the terminal for work that takes long.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lioprof_model::units::human_bytes;
use lioprof_trace::Progress;

use crate::messages::Verbosity;

/// No bar is shown before this time.
const AFTER: Duration = Duration::from_secs(1);
/// Interval between updates of the bar.
const EVERY: Duration = Duration::from_millis(100);

/// Shows the progress of reading or drawing; dropping it erases the bar.
pub(crate) struct Bar {
    /// Closed to end the thread that draws the bar.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bar {
    /// Shows `progress` if standard error is a terminal and messages are not suppressed.
    pub(crate) fn start(progress: &Progress, verbosity: Verbosity) -> Self {
        let progress = progress.clone();
        Self::showing(verbosity, move |elapsed| {
            let (done, total) = (progress.done_bytes(), progress.total_bytes().filter(|&total| total > 0));
            State { done, total, text: text(done, total, elapsed) }
        })
    }

    /// Shows how many of `total` plots are written, by a count that grows.
    pub(crate) fn of_plots(written: &Arc<AtomicU64>, total: u64, verbosity: Verbosity) -> Self {
        let written = Arc::clone(written);
        Self::showing(verbosity, move |_| {
            let done = written.load(Ordering::Relaxed);
            State { done, total: Some(total), text: format!("plots: {done} of {total}") }
        })
    }

    fn showing(verbosity: Verbosity, state: impl Fn(Duration) -> State + Send + 'static) -> Self {
        if verbosity == Verbosity::Quiet || !io::stderr().is_terminal() {
            return Self { end: None, thread: None };
        }
        let (end, ended) = channel();
        // Without a thread there is no bar; that is no reason to fail.
        let thread = thread::Builder::new().name("progress".to_owned()).spawn(move || show(&state, &ended)).ok();
        Self { end: Some(end), thread }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        drop(self.end.take());
        // A panic in there has been printed.
        self.thread.take().map(JoinHandle::join);
    }
}

/// How far it is.
struct State {
    done: u64,
    /// `None` if nobody knows it yet.
    total: Option<u64>,
    text: String,
}

fn show(state: &dyn Fn(Duration) -> State, ended: &Receiver<()>) {
    let started = Instant::now();
    if ended.recv_timeout(AFTER) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style("{msg}"));
    loop {
        let State { done, total, text } = state(started.elapsed());
        if let Some(total) = total.filter(|_| bar.length().is_none()) {
            bar.set_length(total);
            bar.set_style(style("[{bar:24}] {msg}"));
        }
        bar.set_message(text);
        bar.set_position(done);
        if ended.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("templates are constants, and tested").progress_chars("#-")
}

/// `28 % of 3.40 GiB, 612 MiB/s, 4 s left`.
fn text(done: u64, total: Option<u64>, elapsed: Duration) -> String {
    let elapsed_ms = elapsed.as_millis().max(1);
    let per_s = u64::try_from(u128::from(done) * 1000 / elapsed_ms).unwrap_or(u64::MAX);
    let rate = human_bytes(per_s);
    let Some(total) = total else { return format!("{} read, {rate}/s", human_bytes(done)) };
    let percent = u128::from(done.min(total)) * 100 / u128::from(total.max(1));
    let left = match total.saturating_sub(done).checked_div(per_s) {
        None => String::new(),
        Some(left @ ..60) => format!(", {left} s left"),
        Some(left) => format!(", {} min {} s left", left / 60, left % 60),
    };
    format!("{percent:2} % of {}, {rate}/s{left}", human_bytes(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_time_left() {
        const GIB: u64 = 1 << 30;
        let text = |done, total, elapsed_s| text(done, total, Duration::from_secs(elapsed_s));
        assert_eq!(text(GIB, Some(4 * GIB), 2), "25 % of 4.00 GiB, 512 MiB/s, 6 s left");
        assert_eq!(text(GIB, Some(4 * GIB), 30), "25 % of 4.00 GiB, 34.1 MiB/s, 1 min 30 s left");
        assert_eq!(text(5 * GIB, Some(4 * GIB), 10), "100 % of 4.00 GiB, 512 MiB/s, 0 s left");
        assert_eq!(text(0, Some(GIB), 1), " 0 % of 1.00 GiB, 0 B/s");
        assert_eq!(text(GIB, None, 2), "1.00 GiB read, 512 MiB/s");
    }

    #[test]
    fn templates_are_valid() {
        for template in ["[{bar:24}] {msg}", "{msg}"] {
            style(template);
        }
    }
}
