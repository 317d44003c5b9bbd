//! What the server does now, for those who ask while the daemon runs.
//!
//! The daemon hands rows to a [`LiveView`] as they come, and knows nothing of sums and rules: whoever starts it brings the view.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lioprof_model::live::LiveVerdict;
use lioprof_model::{Live, RowSink, Symbols, lock};
use tokio::sync::oneshot;

/// Sums up the last seconds, and judges longer windows.
pub trait LiveView: RowSink + Send {
    /// Everything that happened before this time has been handed on. The verdict on a window that is full now, if one is.
    fn handed_on(&mut self, through_us: i64, symbols: &Symbols) -> Option<LiveVerdict>;

    /// What happened in the last seconds. `traced_us` tells how much of a span of time was traced.
    fn look(&mut self, traced_us: &dyn Fn(i64, i64) -> i64, symbols: &Symbols) -> Live;

    /// The symbols to come are of another table.
    fn forget_symbols(&mut self);
}

/// Where the answer to a request goes: a view, or why there is none.
pub(crate) type Asker = oneshot::Sender<Result<Arc<Live>, String>>;

/// An answer as fresh as this is given again: however many ask, they cost as much as one.
const FRESH: Duration = Duration::from_millis(500);

/// What the thread that sums up shares with those who ask.
#[derive(Debug, Default)]
pub(crate) struct SharedLive {
    askers: Mutex<Vec<Asker>>,
    last: Mutex<Option<(Instant, Arc<Live>)>>,
    verdict: Mutex<Option<Arc<LiveVerdict>>>,
}

impl SharedLive {
    /// Notes a request; whether the view is needed for it.
    pub(crate) fn ask(&self, asker: Asker) -> bool {
        if let Some((_, last)) = lock(&self.last).as_ref().filter(|(when, _)| when.elapsed() < FRESH) {
            // A client that has gone needs no answer.
            drop(asker.send(Ok(Arc::clone(last))));
            return false;
        }
        let mut askers = lock(&self.askers);
        askers.push(asker);
        askers.len() == 1
    }

    /// Answers all requests.
    pub(crate) fn answer(&self, live: Result<Live, String>) {
        let live = live.map(Arc::new);
        if let Ok(live) = &live {
            *lock(&self.last) = Some((Instant::now(), Arc::clone(live)));
        }
        for asker in lock(&self.askers).drain(..) {
            drop(asker.send(live.clone()));
        }
    }

    pub(crate) fn set_verdict(&self, verdict: LiveVerdict) {
        *lock(&self.verdict) = Some(Arc::new(verdict));
    }

    /// The latest verdict.
    pub(crate) fn verdict(&self) -> Option<Arc<LiveVerdict>> {
        lock(&self.verdict).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_who_ask_cost_as_much_as_one() {
        let shared = SharedLive::default();
        let (first, mut first_hears) = oneshot::channel();
        let (second, mut second_hears) = oneshot::channel();
        assert!(shared.ask(first));
        assert!(!shared.ask(second), "the view is asked already");
        shared.answer(Ok(Live::default()));
        let one = first_hears.try_recv().unwrap().unwrap();
        assert!(Arc::ptr_eq(&one, &second_hears.try_recv().unwrap().unwrap()));
        let (third, mut third_hears) = oneshot::channel();
        assert!(!shared.ask(third), "the last answer is fresh");
        assert!(Arc::ptr_eq(&one, &third_hears.try_recv().unwrap().unwrap()));
    }

    #[test]
    fn an_error_is_not_kept() {
        let shared = SharedLive::default();
        let (first, mut hears) = oneshot::channel();
        assert!(shared.ask(first));
        shared.answer(Err("no".to_owned()));
        assert_eq!(hears.try_recv().unwrap(), Err("no".to_owned()));
        let (second, _) = oneshot::channel();
        assert!(shared.ask(second));
    }
}
