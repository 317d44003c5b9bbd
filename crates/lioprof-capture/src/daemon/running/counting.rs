//! The server's counters: sampled, kept as rows, compared with the trace, and watched for the load that starts a capture.

use std::sync::mpsc;
use std::time::Instant;

use super::super::clock::now_us;
use super::super::trigger::Trigger;
use super::common::Common;
use crate::config::Config;
use crate::counters::{Sample, Sampler, SamplerOptions};
use crate::drain::{Job, Traced};
use crate::status::CounterState;

pub(super) struct Counting {
    sampler: Option<Sampler>,
    /// The sample that another thread is taking, if any.
    sampling: Option<mpsc::Receiver<(Sampler, Sample)>>,
    next: Instant,
    /// Number of the stretch of tracing.
    stretch: u64,
    pub(super) last: Option<CounterState>,
    trigger: Option<Trigger>,
}

impl Counting {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            sampler: Some(sampler(config)),
            sampling: None,
            next: Instant::now(),
            stretch: 0,
            last: None,
            trigger: config.trigger.is_on().then(|| Trigger::new(&config.trigger)),
        }
    }

    /// Finds the files of the counters again: Lustre was reloaded.
    pub(super) fn look_anew(&mut self, config: &Config) {
        self.sampling = None;
        self.sampler = Some(sampler(config));
    }

    /// Tracing was started: starts the comparison with the counters. Returns its start time.
    pub(super) fn traced_from_now(&mut self, common: &Common) -> i64 {
        self.stretch += 1;
        self.sample_now(common, Traced::GoesOn)
    }

    /// Tracing is about to stop: takes the last sample to compare with.
    pub(super) fn traced_until_now(&mut self, common: &Common) {
        let time_us = self.sample_now(common, Traced::Ends);
        if let Some((_, to)) = common.facts.lock().traced_us.last_mut() {
            to.get_or_insert(time_us);
        }
    }

    /// Takes and keeps a sample that includes clients and jobs; returns its time.
    fn sample_now(&mut self, common: &Common, traced: Traced) -> i64 {
        // The sampler may be at work in the background. What it finds would be entered after what is found now, as if
        // counters had gone back.
        self.sampling = None;
        let sample = self.sampler.get_or_insert_with(|| sampler(&common.config)).sample_all(now_us());
        self.keep(common, sample, traced)
    }

    fn keep(&mut self, common: &Common, mut sample: Sample, traced: Traced) -> i64 {
        let time_us = sample.time_us;
        self.last = Some(CounterState {
            time_us,
            values: sample.values.len() as u64,
            elapsed_us: u64::try_from(sample.cost.elapsed.as_micros()).unwrap_or(u64::MAX),
        });
        sample.totals.stretch = self.stretch;
        common.queue.push(Job::Counters(Box::new(sample), traced));
        time_us
    }

    pub(super) fn is_sampling(&self) -> bool {
        self.sampling.is_some()
    }

    /// Starts a sample in the background, if one is due.
    pub(super) fn sample_if_due(&mut self, config: &Config, now: Instant) {
        let Some(every) = config.counters.every.get() else { return };
        if now < self.next || self.sampling.is_some() {
            return;
        }
        self.next = now + every.0;
        if let Some(mut sampler) = self.sampler.take() {
            let (done, sampling) = mpsc::channel();
            self.sampling = Some(sampling);
            // The samples of a hundred thousand exports take a while. Nobody waits for this thread.
            tokio::task::spawn_blocking(move || {
                // On a busy machine the thread begins late: what is counted until then is of this sample.
                let sample = sampler.sample(now_us());
                drop(done.send((sampler, sample)));
            });
        }
    }

    /// Enters the sample that was taken in the background, if it is complete.
    pub(super) fn finish_sample(&mut self, common: &Common, traces: bool) -> Result<(), &'static str> {
        let (sampler, sample) = match self.sampling.as_ref().map(mpsc::Receiver::try_recv) {
            None | Some(Err(mpsc::TryRecvError::Empty)) => return Ok(()),
            Some(Ok(done)) => done,
            Some(Err(mpsc::TryRecvError::Disconnected)) => {
                self.look_anew(&common.config);
                return Err("the server's counters could not be read: that thread has ended");
            }
        };
        self.sampling = None;
        self.keep(common, sample, if traces { Traced::GoesOn } else { Traced::Nothing });
        self.sampler.get_or_insert(sampler);
        Ok(())
    }

    pub(super) fn has_trigger(&self) -> bool {
        self.trigger.is_some()
    }

    /// Whether the load calls for a capture; `None` if the check is not due. While a sample is taken in the background, the
    /// check stays due.
    pub(super) fn wants_capture(&mut self, now: Instant, now_us: i64) -> Option<bool> {
        let (trigger, sampler) = (self.trigger.as_mut()?, self.sampler.as_mut()?);
        trigger.is_due(now).then(|| trigger.wants_capture(now, &sampler.sample(now_us).totals))
    }
}

fn sampler(config: &Config) -> Sampler {
    let every = config.counters.every.get().map_or(10, |span| span.0.as_secs().max(1));
    let clients = config.counters.clients_every.get().map_or(u64::MAX, |span| span.0.as_secs());
    let clients_every = u32::try_from(clients.div_ceil(every).max(1)).unwrap_or(u32::MAX);
    Sampler::new(&config.control.root, SamplerOptions { clients_every, ..SamplerOptions::default() })
}
