//! A thread for what a file system that hangs may hold up, so that the main loop goes on and can say so.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lioprof_model::lock;

/// How long the main loop waits for an errand, which usually takes microseconds.
pub(super) const PROMPTLY: Duration = Duration::from_millis(100);

type Work = Box<dyn FnOnce() + Send>;

/// Carries out errands one after the other.
#[derive(Debug)]
pub(super) struct Errands {
    send: mpsc::Sender<Work>,
    /// When the errand at hand was begun.
    begun: Arc<Mutex<Option<Instant>>>,
}

/// What becomes of an errand.
#[derive(Debug)]
pub(super) struct Errand<T>(mpsc::Receiver<T>);

impl Errands {
    /// Starts the thread. It ends with the errand at hand once this is dropped.
    /// Fails if the thread cannot be started.
    pub(super) fn new(name: &str) -> io::Result<Self> {
        let (send, works) = mpsc::channel::<Work>();
        let begun = Arc::new(Mutex::new(None));
        let at_hand = Arc::clone(&begun);
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            for work in works {
                *lock(&at_hand) = Some(Instant::now());
                work();
                *lock(&at_hand) = None;
            }
        })?;
        Ok(Self { send, begun })
    }

    /// Queues an errand.
    pub(super) fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Errand<T> {
        let (done, result) = mpsc::channel();
        // An errand whose result nobody wants is carried out all the same. The thread lives as long as this does, unless an errand
        // panicked; then the result never comes, and whoever waits is told.
        drop(self.send.send(Box::new(move || drop(done.send(work())))));
        Errand(result)
    }

    /// How long the errand at hand has been going on.
    pub(super) fn busy_for(&self, now: Instant) -> Option<Duration> {
        lock(&self.begun).map(|begun| now.saturating_duration_since(begun))
    }
}

impl<T> Errand<T> {
    /// Its result, once it is carried out; waits up to `at_most`.
    ///
    /// # Errors
    /// [`RecvTimeoutError::Timeout`] if it is still going on, [`RecvTimeoutError::Disconnected`] if its thread has ended.
    pub(super) fn wait(&self, at_most: Duration) -> Result<T, RecvTimeoutError> {
        self.0.recv_timeout(at_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_is_told_that_an_errand_takes_long() {
        let errands = Errands::new("errands").unwrap();
        assert_eq!(errands.run(|| 7).wait(Duration::MAX), Ok(7));
        let (go_on, hang) = mpsc::channel::<()>();
        let hanging = errands.run(move || hang.recv().is_ok());
        let behind = errands.run(|| "behind");
        assert_eq!(hanging.wait(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
        assert_eq!(behind.wait(Duration::ZERO), Err(RecvTimeoutError::Timeout));
        // The thread may not have been scheduled yet.
        while errands.busy_for(Instant::now()).is_none() {
            std::thread::yield_now();
        }
        assert!(errands.busy_for(Instant::now() + Duration::from_secs(60)) >= Some(Duration::from_secs(60)));
        go_on.send(()).unwrap();
        assert_eq!(hanging.wait(Duration::MAX), Ok(true));
        assert_eq!(behind.wait(Duration::MAX), Ok("behind"));
    }

    #[test]
    fn an_errand_that_panics_holds_nobody_up() {
        let errands = Errands::new("errands").unwrap();
        let panics = errands.run(|| panic!("on purpose"));
        assert_eq!(panics.wait(Duration::MAX), Err(RecvTimeoutError::Disconnected));
        assert_eq!(errands.run(|| 1).wait(Duration::MAX), Err(RecvTimeoutError::Disconnected));
    }
}
