//! The table, and what must hold in it.

use std::fmt::Write as _;

use lioprof_model::{Loss, LossEvidence};

use crate::overloads::{OVERLOADS, Overload, Policy};
use crate::real::{self, Real};
use crate::run::{Judged, run};
use lioprof_testkit::blessed_table;

/// The seed of the table.
const SHOWN: u64 = 1;
/// Counters are exact, but for requests under way at the ends.
const EXACT: f64 = 0.0005;
/// How far the best estimate may be off, as a share of all RPCs.
const NEAR: f64 = 0.03;
/// A range that is wider says little. The widest are those of rounds: a missing one may have had one request or several.
const WIDE: f64 = 0.16;

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "?".to_owned(), |share| format!("{:.2} %", 100.0 * share))
}

fn row(out: &mut String, name: &str, truth: f64, with: Option<&Loss>, without: Option<&Loss>) {
    let with = with.map_or_else(|| "-".to_owned(), |loss| percent(loss.estimated_lost_fraction));
    let without = without.map_or_else(
        || "- | -".to_owned(),
        |loss| {
            let range = format!("{} to {}", percent(loss.lost_fraction_min), percent(loss.lost_fraction_max));
            format!("{} | {range}", percent(loss.estimated_lost_fraction))
        },
    );
    writeln!(out, "| {name} | {:.2} % | {with} | {without} |", 100.0 * truth).unwrap();
}

/// The three shares are the truth.
#[track_caller]
fn is_exact(name: &str, loss: &Loss, truth: f64) {
    assert_eq!(loss.decided_by, LossEvidence::Counters, "{name}");
    let best = loss.estimated_lost_fraction.unwrap();
    assert!((best - truth).abs() < EXACT, "{name}: {best} is not {truth}: {loss:#?}");
    assert_eq!((loss.lost_fraction_min, loss.lost_fraction_max), (Some(best), Some(best)), "{name}");
}

/// The truth is in the range, the estimate is near, little more than that is possible.
#[track_caller]
fn holds(name: &str, loss: &Loss, truth: f64) {
    let (min, best) = (loss.lost_fraction_min.unwrap(), loss.estimated_lost_fraction.unwrap());
    let max = loss.lost_fraction_max.unwrap();
    assert!(min <= truth && truth <= max, "{name}: {truth} is not in {min} to {max}: {loss:#?}");
    assert!(min <= best && best <= max, "{name}: {best} is not in {min} to {max}");
    assert!((best - truth).abs() < NEAR, "{name}: {best} is far from {truth}");
    assert!(max - best < WIDE, "{name}: {best} to {max} says little");
}

/// Nor little less: what numbers of fifo tell. Those of other policies also jump where nothing is lost.
#[track_caller]
fn proves(name: &str, loss: &Loss) {
    let (min, max) = (loss.lost_fraction_min.unwrap(), loss.lost_fraction_max.unwrap());
    assert!(max - min < WIDE, "{name}: {min} to {max} says little");
}

#[track_caller]
fn check(overload: &Overload, judged: &Judged) {
    let (name, truth) = (overload.name, judged.truth());
    if overload.stalls.iter().all(|stalls| stalls.is_empty()) {
        assert_eq!(judged.lost, 0, "{name}");
    } else {
        assert!(truth > 0.05, "{name}: hardly an overload: {truth}");
    }
    is_exact(name, &judged.with.loss, truth);
    holds(name, &judged.without.loss, truth);
    if matches!(overload.policy, Policy::Fifo) {
        proves(name, &judged.without.loss);
    }
}

/// The rules were made with the overloads of one seed; what they say must hold for others, too.
#[test]
fn it_does_not_depend_on_chance() {
    for seed in SHOWN + 1..=SHOWN + 2 {
        for overload in OVERLOADS {
            let judged = run(overload, seed);
            let loss = &judged.without.loss;
            let range = (loss.lost_fraction_min, loss.estimated_lost_fraction, loss.lost_fraction_max);
            println!("seed {seed}, {}: {:.4}, without counters {range:.4?}", overload.name, judged.truth());
            check(overload, &judged);
        }
    }
}

#[test]
fn loss_is_told_as_it_is() {
    let mut out =
        "\n\n| overload | lost | with counters | without: best estimate | range |\n|---|---|---|---|---|\n".to_owned();
    let judged: Vec<Judged> = OVERLOADS.iter().map(|overload| run(overload, SHOWN)).collect();
    for (overload, judged) in OVERLOADS.iter().zip(&judged) {
        row(&mut out, overload.name, judged.truth(), Some(&judged.with.loss), Some(&judged.without.loss));
    }
    let real = real::captures();
    for Real { name, truth, with, without } in &real {
        row(&mut out, name, *truth, with.as_ref(), without.as_ref());
    }
    out.push('\n');
    println!("{out}");
    OVERLOADS.iter().zip(&judged).for_each(|(overload, judged)| check(overload, judged));
    for Real { name, truth, with, without } in &real {
        with.iter().for_each(|loss| is_exact(name, loss, *truth));
        without.iter().for_each(|loss| {
            holds(name, loss, *truth);
            proves(name, loss);
        });
    }
    blessed_table("docs/numbers.md", ("<!-- loss: begin -->", "<!-- loss: end -->"), &out);
}
