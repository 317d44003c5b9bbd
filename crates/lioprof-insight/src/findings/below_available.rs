//! `below-available`: fewer bytes per second than `obdfilter-survey` got from the same OSTs.

use lioprof_model::units::percent;
use lioprof_model::{Analysis, Available, Confidence, Direction, Finding, Severity, SpentOn};
use lioprof_stats::{Rate, Stands};

use super::rule::{Case, Look, Nothing, Question, Rule, limit, real};

pub(super) const RULE: Rule = Rule {
    id: "below-available",
    question: Question::Time,
    explains: &[SpentOn::Bulk],
    meaning: "reads or writes reach far less than obdfilter-survey (`--baseline`) got from the same OSTs",
    limits: &[
        limit("share", 0.7, "share of what is available below which it is worth a note"),
        limit("warning_share", 0.4, "share below which it is a warning"),
    ],
    plots: &["bandwidth-per-ost"],
    note: false,
    look,
};

fn look(case: &Case<'_>) -> Look {
    Nothing::not_applicable_if(
        case.analysis.baseline.is_none(),
        "no output of obdfilter-survey was given with `--baseline`",
    )?;
    let both = Direction::ALL.map(|direction| case.analysis.available(direction));
    let known: Vec<&Available> = both.iter().flatten().collect();
    Nothing::cannot_tell_if(known.is_empty(), "no reads or writes of known OSTs, or the survey did not measure them")?;
    let mut below = Vec::new();
    for available in known {
        // So many requests may have moved their bytes in so little time, or so much, by chance.
        let rpcs = Rate::factor(real(case.analysis.totals.io(available.direction).rpcs));
        match rpcs.times(available.share()).against(case.limit("share")) {
            Stands::Below => below.push(finding(case, available)),
            Stands::Undecided if available.share() < case.limit("share") => {
                return Err(Nothing::cannot_tell(format!(
                    "{} of what is available was reached, but requests are too few to say that it stays so",
                    percent(available.share(), 0)
                )));
            }
            Stands::Undecided | Stands::Above => {}
        }
    }
    Ok(below)
}

/// The direction that gets most of what is available to it.
pub(super) fn best(analysis: &Analysis) -> Option<Available> {
    let both = Direction::ALL.map(|direction| analysis.available(direction));
    both.into_iter().flatten().max_by(|a, b| a.share().total_cmp(&b.share()))
}

fn finding(case: &Case<'_>, available: &Available) -> Finding {
    let (what, title) = (available.direction.requests(), available.direction.pick("Read", "Write"));
    let warning = available.share() < case.limit("warning_share");
    let severity = if warning { Severity::Warning } else { Severity::Info };
    let mib = |bytes: f64| bytes / 1_048_576.0;
    case.finding(severity, Confidence::Medium, format!("{title}s reached {} of what is available", percent(available.share(), 0)))
        .explain(format!(
            "{:.0} MiB/s over {:.1} s with {what}, of {:.0} MiB/s that the test `{}` of obdfilter-survey got from the {} OSTs in \
             use. The survey knows no network, no clients and no locks: reaching all of it is rare.",
            mib(available.bytes_per_s),
            available.seconds,
            mib(available.ceiling_bytes_per_s),
            available.test,
            available.osts,
        ))
        .evidence("share_of_available", available.share())
        .evidence(&format!("{what}_bytes_per_s"), available.bytes_per_s)
        .evidence(&format!("available_{what}_bytes_per_s"), available.ceiling_bytes_per_s)
        .evidence("osts", real(available.osts))
        .remedy("The other findings say where the rest goes; without any, look at clients and network (`lnet-selftest`).")
        .done()
}
