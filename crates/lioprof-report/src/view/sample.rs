//! Single RPCs, in columns.

use lioprof_model::doubts::shown;
use lioprof_model::{Analysis, Direction, SampledRpc};
use serde::Serialize;

use super::limits::MAX_SAMPLE;
use super::names::NameNumbers;
use super::number::{Dense, Precise, drawn};

/// Single RPCs by end time; what is unknown is NaN.
#[derive(Debug, Default, Serialize)]
pub(crate) struct SampleView {
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
}

pub(crate) fn sample<'a>(analysis: &'a Analysis, names: &mut NameNumbers<'a>) -> SampleView {
    let every = analysis.sample.rpcs.len().div_ceil(MAX_SAMPLE).max(1);
    let one_in = analysis.sample.one_in.max(1).saturating_mul(every as u64);
    let mut view = SampleView { one_in, shown: shown(one_in), ..SampleView::default() };
    for rpc in analysis.sample.rpcs.iter().step_by(every) {
        push(&mut view, analysis, rpc, names);
    }
    view
}

fn push<'a>(view: &mut SampleView, analysis: &'a Analysis, rpc: &'a SampledRpc, names: &mut NameNumbers<'a>) {
    let unknown = |value: Option<u64>| value.map_or(f64::NAN, drawn);
    let number = |value: Option<u32>| value.map_or(f64::NAN, f64::from);
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
