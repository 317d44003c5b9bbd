//! What several models make of a change.

use lioprof_model::units::{real, share};
use lioprof_model::{Change, Prediction, Replays, WhatIf};
use rayon::prelude::*;

use super::candidates::candidates;
use super::model::{Lean, Model, Sharing, models};
use super::plan::Plan;
use super::replay::{count_links, replay};
use super::resample::resample;
use super::run::Run;
use super::{capacity, change, rests, works};

/// Requests replayed in all, so that it takes no more than a second or two.
const MOST_STEPS: usize = 3 << 19;
/// Resamples of a change: enough for a standard deviation,
const MOST_DRAWS: usize = 8;
/// and hardly enough.
const FEWEST_DRAWS: usize = 3;
/// Models that make so much more or less of the time as it was are not true to the log.
const TRUE_WITHIN: f64 = 0.25;
/// So much do two runs of the same work on the same system differ, of their time: no interval is narrower.
pub(super) const RUNS_DIFFER: f64 = 0.06;
/// By this factor the real change of the time, on a logarithmic scale, was more or less than predicted for real pairs of runs that the
/// models had not been made with (`docs/what-if.md`).
const MODELS_OFF: f64 = 1.8;

/// The requests of an analysis, to be replayed with something changed.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    run: Run,
}

impl Replay {
    pub(crate) fn new(run: Run) -> Self {
        Self { run }
    }

    /// What there is to replay, without a prediction.
    #[must_use]
    pub fn what_if(&self) -> WhatIf {
        let (run, replayed) = (&self.run, self.run.requests.len() as u64);
        WhatIf {
            elapsed_s: whole_elapsed_us(run).map(to_seconds),
            requests: replayed,
            covered_share: (run.all_requests > 0).then(|| share(replayed, run.all_requests)),
            ..WhatIf::default()
        }
    }

    /// Changes that may be worth it, one by one.
    #[must_use]
    pub fn all_candidates(&self) -> Vec<Change> {
        candidates(&self.run)
    }
}

impl Replays for Replay {
    /// One model decides: the least that a change may save is no more than what any of the models says.
    fn candidates(&mut self, least_share: f64) -> Vec<Change> {
        let mut changes = self.all_candidates();
        let (Some(whole_us), false) = (whole_elapsed_us(&self.run), changes.is_empty()) else { return Vec::new() };
        self.run.sort();
        let run = &self.run;
        let is_for_all = |model: &Model| changes.iter().all(|it| change::is_for(*model, it));
        let model = models(tells_parts(run)).into_iter().find(is_for_all);
        let model = model.expect("a model of clients' links has something to say of every change");
        let base = Base::new(run, &Plan::of(run), model, None);
        let least = least_share * whole_us / run.elapsed_us();
        changes.retain(|change| {
            base.saves(run, std::slice::from_ref(change), Lean::Middle).is_some_and(|share| share > least)
        });
        changes
    }

    /// By several models. This takes a second or two for many requests, and nothing without any changes.
    fn predict(&mut self, wanted: &[Vec<Change>]) -> WhatIf {
        let mut what_if = self.what_if();
        if wanted.is_empty() || self.run.elapsed_us() <= 0.0 {
            return what_if;
        }
        self.run.sort();
        let run = &self.run;
        let bases = bases(run, wanted.len());
        let fidelity = bases[0].elapsed_us / run.elapsed_us();
        what_if.fidelity = Some(rounded(fidelity));
        if (fidelity - 1.0).abs() > TRUE_WITHIN {
            return what_if;
        }
        let spans = Spans {
            whole_s: whole_elapsed_us(run).map_or(0.0, to_seconds),
            busy_s: (to_seconds(run.elapsed_us()) - to_seconds(rests::of_all_us(run))).max(0.0),
        };
        // Requests beyond those that were replayed are taken to be like them.
        let scale = real(run.all_requests.max(what_if.requests)) / real(what_if.requests);
        what_if.predictions =
            wanted.iter().filter_map(|changes| prediction(run, &bases, changes.clone(), spans, scale)).collect();
        what_if
    }
}

/// How long a run took.
#[derive(Clone, Copy)]
struct Spans {
    /// All of it, also what is not replayed.
    whole_s: f64,
    /// What is replayed, but for the time in which everybody rests: then nothing takes more or less time.
    busy_s: f64,
}

/// The run by a model, without a change.
struct Base {
    model: Model,
    /// It is a resample: it tells how much chance does, and not what is likely.
    is_draw: bool,
    plan: Plan,
    elapsed_us: f64,
}

impl Base {
    fn new(run: &Run, recorded: &Plan, model: Model, draw: Option<u64>) -> Self {
        let mut plan = works::by(recorded, run, model);
        if model.capped {
            capacity::limit(&mut plan, run);
        }
        if let Some(draw) = draw {
            resample(&mut plan, draw);
        }
        let mut counted = plan.clone();
        count_links(&mut counted);
        let elapsed_us = replay(&counted, model.transfer);
        Self { model, is_draw: draw.is_some(), plan, elapsed_us }
    }

    /// The share of its time that is saved by the model; `None` if it has nothing to say.
    fn saves(&self, run: &Run, changes: &[Change], lean: Lean) -> Option<f64> {
        let changed = change::with(&self.plan, run, changes, self.model.leaning(lean))?;
        Some(1.0 - replay(&changed, self.model.transfer) / self.elapsed_us.max(1.0))
    }
}

/// Whether the log tells the transfer of data from the disk's work.
fn tells_parts(run: &Run) -> bool {
    run.requests.iter().any(|request| request.parts.is_some())
}

/// The run by all models, and resamples of it, the most exact first.
fn bases(run: &Run, changes: usize) -> Vec<Base> {
    let mut variants: Vec<(Model, Option<u64>)> =
        models(tells_parts(run)).into_iter().map(|model| (model, None)).collect();
    let replays = MOST_STEPS / (run.requests.len() * (changes + 1)).max(1);
    let draws = replays.saturating_sub(variants.len()).clamp(FEWEST_DRAWS, MOST_DRAWS) as u64;
    let by_client = variants.iter().find(|(model, _)| model.transfer == Sharing::Client).map(|(model, _)| *model);
    variants.extend(by_client.into_iter().flat_map(|model| (1..=draws).map(move |draw| (model, Some(draw)))));
    let recorded = Plan::of(run);
    variants.into_par_iter().map(|(model, draw)| Base::new(run, &recorded, model, draw)).collect()
}

/// What the models make of changes; `None` if they mean nothing for this log.
fn prediction(
    run: &Run,
    bases: &[Base],
    changes: Vec<Change>,
    Spans { whole_s, busy_s }: Spans,
    scale: f64,
) -> Option<Prediction> {
    let is_uncertain = changes.iter().any(change::is_uncertain);
    let replayed_s = to_seconds(run.elapsed_us());
    let one = |base: &Base| -> Vec<f64> {
        if !changes.iter().all(|change| change::is_for(base.model, change)) {
            return Vec::new();
        }
        let leans = if is_uncertain && !base.is_draw { Lean::ALL.as_slice() } else { &[Lean::Middle] };
        leans.iter().filter_map(|&lean| base.saves(run, &changes, lean)).collect()
    };
    let saved: Vec<Vec<f64>> = bases.par_iter().map(one).collect();
    let of = |draws: bool| -> Vec<f64> {
        let chosen = bases.iter().zip(&saved).filter(|(base, _)| base.is_draw == draws);
        chosen.flat_map(|(_, saved)| saved.iter().map(|share| share * replayed_s)).collect()
    };
    let (by_models, drawn) = (of(false), of(true));
    let mean_s = mean(&by_models)?;
    let chance_s = 2.0 * deviation(&drawn) + RUNS_DIFFER * (busy_s - mean_s).max(0.0);
    let off = [MODELS_OFF, 1.0 / MODELS_OFF].map(|factor| scaled(mean_s, busy_s, factor));
    let least_s = by_models.iter().map(|s| s - chance_s).chain(off).fold(f64::INFINITY, f64::min);
    let most_s = by_models.iter().map(|s| s + chance_s).chain(off).fold(f64::NEG_INFINITY, f64::max);
    let bounded = |saves_s: f64| rounded(saves_s.min(whole_s));
    Some(Prediction {
        changes,
        elapsed_s: rounded(whole_s - bounded(mean_s * scale)),
        saves_s: bounded(mean_s * scale),
        // What was not replayed may save nothing, or as much.
        saves_s_min: bounded(if least_s > 0.0 { least_s } else { least_s * scale }),
        saves_s_max: bounded(if most_s > 0.0 { most_s * scale } else { most_s }),
    })
}

/// What is saved of a time if its logarithm changes so many times as much.
fn scaled(saves_s: f64, of_s: f64, factor: f64) -> f64 {
    // A time of nothing has no logarithm.
    const LEAST: f64 = 1e-6;
    if of_s <= 0.0 {
        return saves_s;
    }
    of_s * (1.0 - (1.0 - saves_s / of_s).max(LEAST).powf(factor))
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / real(values.len() as u64))
}

fn deviation(values: &[f64]) -> f64 {
    let Some(mean) = mean(values).filter(|_| values.len() > 1) else { return 0.0 };
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (squares / real(values.len() as u64 - 1)).sqrt()
}

/// From the first arrival to the end of the last request, of all.
fn whole_elapsed_us(run: &Run) -> Option<f64> {
    run.first_us?;
    let last_us = if run.moves_data() { run.last_bulk_us } else { run.last_us };
    let last_us = last_us.map_or(0.0, |last_us| run.since_first(last_us));
    Some(last_us.max(run.elapsed_us()))
}

fn to_seconds(us: f64) -> f64 {
    rounded(us / 1e6)
}

/// To the millisecond: a replay is no more exact, and sums differ in their last bits.
fn rounded(seconds: f64) -> f64 {
    // The sum of nothing is -0.
    (seconds * 1e3).round() / 1e3 + 0.0
}
