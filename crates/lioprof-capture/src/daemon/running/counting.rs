//! The server's counters: sampled, kept as rows, compared with the trace, and watched for the load that starts a capture.

use std::sync::mpsc;
use std::time::Instant;

use super::super::clock::now_us;
use super::super::trigger::Trigger;
use super::common::Common;
use crate::config::Config;
use crate::counters::{Comparison, Ledger, Sample, Sampler, SamplerOptions, TraceSums};
use crate::drain::{CounterRows, Interval, Job, SampleTime};
use crate::status::CounterState;

pub(super) struct Counting {
    sampler: Option<Sampler>,
    /// The sample that another thread is taking, if any.
    sampling: Option<mpsc::Receiver<(Sampler, Sample)>>,
    next: Instant,
    ledger: Ledger,
    pub(super) last: Option<CounterState>,
    trigger: Option<Trigger>,
}

impl Counting {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            sampler: Some(sampler(config)),
            sampling: None,
            next: Instant::now(),
            ledger: Ledger::default(),
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
        let sample = self.sample_now(common);
        if self.ledger.interval_us().is_none() && common.facts.lock().traced_us.is_empty() {
            self.ledger.observe(&sample.totals);
        } else {
            self.ledger.resume(&sample.totals);
        }
        common.sums.begin_stretch(when(&sample));
        sample.time_us
    }

    /// Tracing is about to stop: takes the last sample to compare with.
    pub(super) fn traced_until_now(&mut self, common: &Common) {
        let sample = self.sample_now(common);
        self.ledger.observe(&sample.totals);
        common.sums.end_stretch(when(&sample));
        if let Some((_, to)) = common.facts.lock().traced_us.last_mut() {
            to.get_or_insert(sample.time_us);
        }
    }

    /// Takes and keeps a sample that includes clients and jobs.
    fn sample_now(&mut self, common: &Common) -> Sample {
        // The sampler may be at work in the background. What it finds would be entered after what is found now, as if
        // counters had gone back.
        self.sampling = None;
        let sample = self.sampler.get_or_insert_with(|| sampler(&common.config)).sample_all(now_us());
        self.keep(common, &sample);
        sample
    }

    fn keep(&mut self, common: &Common, sample: &Sample) {
        self.last = Some(CounterState {
            time_us: sample.time_us,
            values: sample.values.len() as u64,
            elapsed_us: u64::try_from(sample.cost.elapsed.as_micros()).unwrap_or(u64::MAX),
        });
        let rows = CounterRows { time_us: sample.time_us, values: sample.values.clone() };
        common.queue.push(Job::Counters(Box::new(rows)));
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
            let time_us = now_us();
            let (done, sampling) = mpsc::channel();
            self.sampling = Some(sampling);
            // The samples of a hundred thousand exports take a while. Nobody waits for this thread.
            tokio::task::spawn_blocking(move || {
                let sample = sampler.sample(time_us);
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
        if traces {
            self.ledger.observe(&sample.totals);
            common.sums.check(when(&sample), self.ledger.total());
        }
        self.keep(common, &sample);
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

    /// Compares the trace with the server's own counters.
    pub(super) fn comparison(&self, common: &Common) -> Option<Comparison> {
        let interval = common.sums.take_interval()?;
        Some(Comparison::new(&self.ledger, &trace_sums(&interval)))
    }
}

fn sampler(config: &Config) -> Sampler {
    let every = config.counters.every.get().map_or(10, |span| span.0.as_secs().max(1));
    let clients = config.counters.clients_every.get().map_or(u64::MAX, |span| span.0.as_secs());
    let clients_every = u32::try_from(clients.div_ceil(every).max(1)).unwrap_or(u32::MAX);
    Sampler::new(&config.control.root, SamplerOptions { clients_every, ..SamplerOptions::default() })
}

/// Time span of a sample, from its first counter to its last.
fn when(sample: &Sample) -> SampleTime {
    let elapsed_us = i64::try_from(sample.cost.elapsed.as_micros()).unwrap_or(i64::MAX);
    SampleTime { begun_us: sample.time_us, ended_us: sample.time_us.saturating_add(elapsed_us) }
}

fn trace_sums(interval: &Interval) -> TraceSums {
    let named = |sums: &rustc_hash::FxHashMap<Box<[u8]>, lioprof_model::ReadWrite>| {
        sums.iter().map(|(key, io)| (lioprof_model::symbol::escape(key), io.clone())).collect()
    };
    TraceSums {
        total: interval.total.clone(),
        unattributed: interval.unattributed.clone(),
        targets: interval.targets.iter().map(|(target, io)| (target.to_string(), io.clone())).collect(),
        clients: named(&interval.clients),
        jobs: interval.jobs_known.then(|| named(&interval.jobs)),
        edges: interval.edges,
    }
}
