//! Takes the samples.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use lioprof_model::counters::SampleTime;
use lioprof_params::{Cost, Tree};

use super::lustre::{Activity, Lustre};
use super::machine;
use super::options::SamplerOptions;
use super::rows::{Rows, Source};
use super::sample::Sample;

/// Reads the counters of the node whose file system is below a directory, normally `/`.
#[derive(Debug)]
pub(crate) struct Sampler {
    tree: Tree,
    options: SamplerOptions,
    ticks_per_s: u64,
    /// Samples since clients and jobs were read; `None`: never yet.
    since_everyone: Option<u32>,
    activity: Activity,
}

impl Sampler {
    /// Nothing is read yet.
    pub(crate) fn new(root: &Path, options: SamplerOptions) -> Self {
        let ticks_per_s = rustix::param::clock_ticks_per_second();
        Self { tree: Tree::new(root), options, ticks_per_s, since_everyone: None, activity: Activity::default() }
    }

    /// A sample. Clients and jobs are read every [`SamplerOptions::clients_every`] samples.
    ///
    /// What cannot be read is not in the sample: targets come and go. `time_us` is the present time.
    pub(crate) fn sample(&mut self, time_us: i64) -> Sample {
        let everyone = self.since_everyone.is_none_or(|since| since + 1 >= self.options.clients_every);
        self.take(time_us, everyone)
    }

    /// A sample with clients and jobs, whenever the last one was: for the ends of an interval.
    pub(crate) fn sample_all(&mut self, time_us: i64) -> Sample {
        self.take(time_us, true)
    }

    fn take(&mut self, time_us: i64, everyone: bool) -> Sample {
        let begin = Instant::now();
        self.tree.cost = Cost::default();
        let mut sample = Sample { time_us, ..Sample::default() };
        sample.totals.at = SampleTime { begun_us: time_us, ended_us: time_us };
        let mut lustre = Lustre {
            tree: &mut self.tree,
            options: &self.options,
            values: &mut sample.values,
            totals: &mut sample.totals,
            activity: &mut self.activity,
        };
        let devices = lustre.read(everyone);
        let values = &mut sample.values;
        machine::cpu(&mut self.tree, self.ticks_per_s, values);
        machine::memory(&mut self.tree, values);
        machine::disks(&mut self.tree, &devices, values);
        machine::network(&mut self.tree, values);
        machine::infiniband(&mut self.tree, values);

        self.since_everyone = if everyone { Some(0) } else { self.since_everyone.map(|since| since + 1) };
        sample.cost = Cost { elapsed: begin.elapsed(), ..self.tree.cost };
        let elapsed_us = i64::try_from(sample.cost.elapsed.as_micros()).unwrap_or(i64::MAX);
        sample.totals.at.ended_us = time_us.saturating_add(elapsed_us);
        cost_rows(&mut sample);
        sample
    }
}

fn cost_rows(sample: &mut Sample) {
    let cost = sample.cost;
    let none = Arc::from("");
    let mut rows = Rows::of_node(&mut sample.values, Source::Sampler);
    let elapsed_us = u64::try_from(cost.elapsed.as_micros()).unwrap_or(u64::MAX);
    for (counter, value) in
        [("files", cost.files), ("misses", cost.misses), ("bytes", cost.bytes), ("elapsed_us", elapsed_us)]
    {
        rows.push(&none, counter, value);
    }
}
