//! Predictions as text: tables of 80 columns, JSON.

use std::io::{self, Write};

use lioprof_model::units::{number, percent, thousands};
use lioprof_model::{Change, Prediction, WhatIf};

use crate::number_table::NumberTable;
use crate::style::paragraph;

/// Below this share of the requests it is said that not all were replayed.
const NEARLY_ALL: f64 = 0.995;

/// How to print predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum WhatIfFormat {
    /// Tables for people, 80 columns.
    Summary,
    /// `what_if` of the analysis as JSON.
    Json,
}

/// Writes predictions: those `asked` for, then the others.
///
/// # Errors
/// Those of `out`.
pub fn write(what_if: &WhatIf, asked: &[Change], format: WhatIfFormat, out: &mut dyn Write) -> io::Result<()> {
    match format {
        WhatIfFormat::Summary => summary(what_if, asked, out),
        WhatIfFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, what_if)?;
            writeln!(out)
        }
    }
}

fn summary(what_if: &WhatIf, asked: &[Change], out: &mut dyn Write) -> io::Result<()> {
    let Some(elapsed_s) = what_if.elapsed_s else {
        return writeln!(out, "No requests of clients in these logs: there is nothing to replay.");
    };
    paragraph(&heading(what_if, elapsed_s), "", "", out)?;
    let (mine, mut others): (Vec<&Prediction>, Vec<&Prediction>) =
        what_if.predictions.iter().partition(|prediction| prediction.changes == asked);
    others.retain(|prediction| prediction.saves_s > 0.0);
    others.sort_by(|a, b| b.saves_s.total_cmp(&a.saves_s));
    if !asked.is_empty() && mine.is_empty() {
        writeln!(out)?;
        paragraph(&unknown(what_if, asked), "", "", out)?;
    }
    table("What you asked for", &mine, out)?;
    table("What may be worth it", &others, out)?;
    if asked.is_empty() && others.is_empty() {
        writeln!(out)?;
        paragraph("Nothing stands out that a change could make faster. --help shows what can be asked.", "", "", out)?;
    }
    Ok(())
}

fn heading(what_if: &WhatIf, elapsed_s: f64) -> String {
    let mut heading = format!(
        "{} s from the first request to the last reply that counts; {} requests replayed",
        number(elapsed_s),
        thousands(what_if.requests)
    );
    if let Some(share) = what_if.covered_share.filter(|share| *share < NEARLY_ALL) {
        heading.push_str(&format!(" ({} of all; the others are taken to be like them)", percent(share, 1)));
    }
    heading.push('.');
    heading
}

/// Why there is no answer.
fn unknown(what_if: &WhatIf, asked: &[Change]) -> String {
    match what_if.fidelity {
        Some(fidelity) if what_if.predictions.is_empty() && (fidelity - 1.0).abs() > 0.05 => format!(
            "Nothing honest can be said: without any change, the replay takes {} times as long as the log says. Are the logs of all \
             servers there, with all their requests?",
            number(fidelity)
        ),
        _ => {
            let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
            format!(
                "Nothing can be said of {}: these logs have no peers to compare with, nobody who waits, or nothing that would be otherwise.",
                asked.join(" and ")
            )
        }
    }
}

fn table(title: &str, predictions: &[&Prediction], out: &mut dyn Write) -> io::Result<()> {
    let mut table = NumberTable::new(&["", "elapsed s", "saves s", "at least", "at most"]);
    for prediction in predictions {
        let changes: Vec<String> = prediction.changes.iter().map(ToString::to_string).collect();
        let Prediction { elapsed_s, saves_s, saves_s_min, saves_s_max, .. } = prediction;
        let [elapsed, saves, min, max] = [elapsed_s, saves_s, saves_s_min, saves_s_max].map(|s| format!("{s:.2}"));
        table.row([changes.join(", "), elapsed, saves, min, max]);
    }
    table.print(title, 0, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(what_if: &WhatIf, asked: &[Change]) -> String {
        let mut out = Vec::new();
        write(what_if, asked, WhatIfFormat::Summary, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_was_asked_comes_first_and_silence_is_explained() {
        let prediction = |change: Change| Prediction {
            changes: vec![change],
            elapsed_s: 9.2,
            saves_s: 28.8,
            saves_s_min: 24.5,
            saves_s_max: 33.2,
        };
        let mut what_if =
            WhatIf { elapsed_s: Some(38.0), requests: 106, covered_share: Some(1.0), ..WhatIf::default() };
        assert!(text(&what_if, &[]).contains("Nothing stands out"));
        assert!(text(&what_if, &[Change::NoLockWaits]).contains("Nothing can be said of no waiting for locks"));
        what_if.predictions = vec![prediction(Change::NoLockWaits), prediction(Change::SpreadEvenly)];
        let both = text(&what_if, &[Change::NoLockWaits]);
        let place = |what: &str| both.find(what).unwrap_or_else(|| panic!("no `{what}` in {both}"));
        assert!(place("What you asked for") < place("no waiting for locks"));
        assert!(place("no waiting for locks") < place("the same requests evenly"));
        assert!(both.contains("28.80"), "{both}");
    }
}
