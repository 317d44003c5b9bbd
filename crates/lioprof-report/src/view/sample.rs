//! Single RPCs, in columns.

use lioprof_model::doubts::shown;
use lioprof_model::names::job;
use lioprof_model::{Analysis, Direction, SampledRpc};
use serde::Serialize;

use super::limits::MAX_SAMPLE;
use super::names::NameNumbers;
use super::number::{Dense, Precise, drawn};
use super::rows;
use crate::numbered::Numbered;

/// Single RPCs by end time; what is unknown is NaN.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SampleView<'a> {
    /// One in this many is here.
    one_in: u64,
    /// The same as a sentence.
    shown: String,
    /// Arrival, seconds since the start of the window.
    arrival_s: Precise,
    queue_us: Dense,
    service_us: Dense,
    /// A letter each: `r` or `w`.
    direction: String,
    client: Dense,
    target: Dense,
    object: Dense,
    first_byte: Precise,
    /// From the first byte to the last one, gaps included.
    extent_bytes: Dense,
    bytes: Dense,
    /// Number in `jobs`.
    job: Dense,
    jobs: Vec<&'a str>,
    /// Parts of the service time around the bulk transfer; empty where no log shows any.
    before_us: Dense,
    transfer_us: Dense,
}

pub(crate) fn sample<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> SampleView<'a> {
    let every = analysis.sample.rpcs.len().div_ceil(MAX_SAMPLE).max(1);
    let one_in = analysis.sample.one_in.max(1).saturating_mul(every as u64);
    let mut view = SampleView { one_in, shown: shown(one_in), ..SampleView::default() };
    for rpc in analysis.sample.rpcs.iter().step_by(every) {
        push(&mut view, analysis, rpc, names);
    }
    let printed = rows::job_is_printed(analysis);
    let mut jobs = Numbered::default();
    let job_of = |rpc: &SampledRpc| analysis.jobs.get(rpc.job? as usize).map(|it| job(it.job.as_deref(), printed));
    let rpcs = || analysis.sample.rpcs.iter().step_by(every);
    view.job = Dense(rpcs().map(|rpc| number(job_of(rpc).map(|name| jobs.number(name)))).collect());
    view.jobs = jobs.names;
    if rpcs().any(|rpc| rpc.transfer_us.is_some()) {
        view.before_us = Dense(rpcs().map(|rpc| unknown(rpc.before_us)).collect());
        view.transfer_us = Dense(rpcs().map(|rpc| unknown(rpc.transfer_us)).collect());
    }
    view
}

/// What is unknown has no number to draw.
fn unknown(value: Option<u64>) -> f64 {
    value.map_or(f64::NAN, drawn)
}

fn number(value: Option<u32>) -> f64 {
    value.map_or(f64::NAN, f64::from)
}

fn push<'a>(view: &mut SampleView<'_>, analysis: &'a Analysis, rpc: &'a SampledRpc, names: &mut NameNumbers<'a>) {
    let client = analysis.clients.get(rpc.client as usize).map(|it| names.client(&it.nid));
    let target = rpc.target.and_then(|it| analysis.targets.get(it as usize)).map(|it| names.target(&it.name));
    view.arrival_s.0.push(rpc.arrival - analysis.window.start);
    view.queue_us.0.push(((rpc.start - rpc.arrival) * 1e6).round());
    view.service_us.0.push(((rpc.end - rpc.start) * 1e6).round());
    view.direction.push(if rpc.direction == Direction::Write { 'w' } else { 'r' });
    view.client.0.push(number(client));
    view.target.0.push(number(target));
    view.object.0.push(number(rpc.object.as_deref().map(|fid| names.object(target, fid))));
    view.first_byte.0.push(unknown(rpc.offset));
    let extent = rpc.offset.zip(rpc.last).map(|(first, last)| last.saturating_sub(first).saturating_add(1));
    view.extent_bytes.0.push(unknown(extent));
    view.bytes.0.push(unknown(rpc.bytes));
}
