//! Samples of counters, one number per row, put together to what they tell about loss.

use lioprof_model::CounterSnapshot;
use lioprof_model::ReadWrite;
use lioprof_model::counters::{Count, SampleTime};

use super::traced::Stretch;
use crate::manifest::Session;
use crate::table::counters::CounterSample;

/// Collects the rows of a sample, and hands it on if it was taken while everything was traced, and all that was traced then
/// is there.
pub(super) struct Snapshots<'a> {
    stretches: Vec<Stretch>,
    to: &'a mut dyn FnMut(&CounterSnapshot),
    /// The sample at hand, and whether anything of a server was in it.
    at: Option<(Session, CounterSnapshot, bool)>,
}

impl<'a> Snapshots<'a> {
    pub(super) fn new(stretches: Vec<Stretch>, to: &'a mut dyn FnMut(&CounterSnapshot)) -> Self {
        Self { stretches, to, at: None }
    }

    pub(super) fn sample(&mut self, session: &Session, sample: &CounterSample<'_>) {
        let is_next = self.at.as_ref().is_none_or(|(of, at, _)| at.at.begun_us != sample.time_us || of != session);
        if is_next {
            self.finish();
            let at = SampleTime { begun_us: sample.time_us, ended_us: sample.time_us };
            let at = CounterSnapshot { at, ..CounterSnapshot::default() };
            self.at = Some((session.clone(), at, false));
        }
        let Some((_, at, of_server)) = &mut self.at else { return };
        *of_server |= matches!(sample.source, "target" | "service" | "stats");
        match (sample.source, sample.counter) {
            ("sampler", "elapsed_us") => at.at.ended_us = at.at.begun_us.saturating_add_unsigned(sample.value),
            ("service", "req_waittime.samples") => {
                if let Some(service) = sample.entity {
                    at.services.insert(service.into(), sample.value);
                }
            }
            ("stats", counter) => {
                let Some(target) = sample.target.filter(|target| target.contains("-OST")) else { return };
                let figure: fn(&mut ReadWrite<Count>) -> &mut u64 = match counter {
                    "read_bytes.samples" => |rw| &mut rw.read.rpcs,
                    "read_bytes.sum" => |rw| &mut rw.read.bytes,
                    "write_bytes.samples" => |rw| &mut rw.write.rpcs,
                    "write_bytes.sum" => |rw| &mut rw.write.bytes,
                    _ => return,
                };
                *figure(&mut at.targets.entry(target.into()).or_default().rw) = sample.value;
            }
            _ => {}
        }
    }

    /// There are no more rows of the sample at hand.
    pub(super) fn finish(&mut self) {
        // A sample without anything of a server was taken while there was none, or it could not be read.
        let Some((session, mut snapshot, true)) = self.at.take() else { return };
        let holds =
            |stretch: &Stretch| stretch.session == session && stretch.holds(snapshot.at.begun_us, snapshot.at.ended_us);
        if let Some(stretch) = self.stretches.iter().position(holds) {
            snapshot.stretch = stretch as u64;
            (self.to)(&snapshot);
        }
    }
}
