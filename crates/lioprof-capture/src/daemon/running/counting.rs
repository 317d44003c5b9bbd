//! The server's counters: read now and then, kept as rows, and put beside the trace.

use std::sync::mpsc;
use std::time::Instant;

use super::super::clock::now_us;
use super::Running;
use super::sampling::sampler_options;
use crate::counters::{Comparison, Sample, Sampler, TraceSums};
use crate::drain::{CounterRows, Interval, Job, SampleTime};
use crate::talk::status::CounterState;

impl Running {
    /// Tracing has been switched on: the counters begin to be compared.
    pub(super) fn traced_from_now(&mut self) {
        let sample = self.sample_now();
        if self.ledger.interval_us().is_none() && self.facts.lock().traced_us.is_empty() {
            self.ledger.observe(&sample.totals);
        } else {
            self.ledger.resume(&sample.totals);
        }
        self.sums.begin_stretch(when(&sample));
        let mut facts = self.facts.lock();
        facts.traced_us.push((sample.time_us, None));
        self.note_profile(&mut facts);
    }

    /// Tracing is about to be switched off.
    pub(super) fn traced_until_now(&mut self) {
        let sample = self.sample_now();
        self.ledger.observe(&sample.totals);
        self.sums.end_stretch(when(&sample));
        if let Some((_, to)) = self.facts.lock().traced_us.last_mut() {
            to.get_or_insert(sample.time_us);
        }
    }

    /// Takes a sample with clients and jobs, and keeps it.
    fn sample_now(&mut self) -> Sample {
        // The sampler may be at work in the background. What it finds would be entered after what is found now, as if
        // counters had gone back.
        self.sampling = None;
        let mut sampler = self
            .sampler
            .take()
            .unwrap_or_else(|| Sampler::new(&self.config.control.root, sampler_options(&self.config)));
        let sample = sampler.sample_all(now_us());
        self.sampler = Some(sampler);
        self.keep_sample(&sample);
        sample
    }

    fn keep_sample(&mut self, sample: &Sample) {
        self.last_sample = Some(CounterState {
            time_us: sample.time_us,
            values: sample.values.len() as u64,
            elapsed_us: u64::try_from(sample.cost.elapsed.as_micros()).unwrap_or(u64::MAX),
        });
        self.queue
            .push(Job::Counters(Box::new(CounterRows { time_us: sample.time_us, values: sample.values.clone() })));
    }

    pub(super) fn sample_if_due(&mut self, now: Instant) {
        let every = if self.capture.is_some() { self.config.counters.every.get().map(|span| span.0) } else { None };
        let Some(every) = every else { return };
        if now < self.next.sample || self.sampling.is_some() {
            return;
        }
        self.next.sample = now + every;
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

    pub(super) fn finish_sample(&mut self) {
        let (sampler, sample) = match self.sampling.as_ref().map(mpsc::Receiver::try_recv) {
            None | Some(Err(mpsc::TryRecvError::Empty)) => return,
            Some(Ok(done)) => done,
            Some(Err(mpsc::TryRecvError::Disconnected)) => {
                self.sampling = None;
                self.sampler = Some(Sampler::new(&self.config.control.root, sampler_options(&self.config)));
                return self.account.failure("the server's counters could not be read: that thread has ended");
            }
        };
        self.sampling = None;
        if self.capture.as_ref().is_some_and(|capture| capture.tracing().is_some()) {
            self.ledger.observe(&sample.totals);
            self.sums.check(when(&sample), self.ledger.total());
        }
        self.keep_sample(&sample);
        self.sampler.get_or_insert(sampler);
    }

    /// The trace beside the server's own counters.
    pub(super) fn comparison(&mut self) -> Option<Comparison> {
        let interval = self.sums.take_interval()?;
        Some(Comparison::new(&self.ledger, &trace_sums(&interval)))
    }
}

/// When a sample was taken, from the first counter to the last.
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
