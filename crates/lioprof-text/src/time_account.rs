//! Where the time went, as a short table under the verdict.

use std::io::{self, Write};

use lioprof_model::units::{percent, real, share, three_digits};
use lioprof_model::{Analysis, TimeSpent};

use crate::number_table::NumberTable;
use crate::style::{Style, paragraph};

/// Rows: the rest is summed up in one more.
const SHOWN: usize = 8;
/// What takes less is part of the rest.
const LEAST_SHARE: f64 = 0.005;

/// The table; with `-v` the reasons below it.
pub(crate) fn write(analysis: &Analysis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(all) = &analysis.time_account.all else { return Ok(()) };
    if all.span_us == 0 {
        return Ok(());
    }
    let mut table = NumberTable::new(&["where the time went", "share", "s", "s above peers", "judged"]);
    let matters = |us: u64| share(us, all.span_us) >= LEAST_SHARE;
    let shown = all.spent.iter().take(SHOWN).filter(|spent| matters(spent.us));
    let mut rest_us = all.span_us;
    for spent in shown {
        rest_us -= spent.us;
        let excess_s = spent.excess_us.filter(|&us| matters(us)).map_or_else(String::new, seconds);
        let of_all = percent(share(spent.us, all.span_us), 1);
        table.row([spent.description(), of_all, seconds(spent.us), excess_s, judged(spent)]);
    }
    if rest_us > 0 {
        let of_all = percent(share(rest_us, all.span_us), 1);
        table.row(["the rest".to_owned(), of_all, seconds(rest_us), String::new(), String::new()]);
    }
    let title = format!("What the clients waited for ({} s, first request to last reply)", seconds(all.span_us));
    table.print(&title, 0, out)?;
    for spent in all.spent.iter().filter(|_| style.all) {
        if let (Some(state), Some(reason)) = (spent.state, &spent.reason) {
            paragraph(&format!("{}: {}: {reason}.", spent.description(), state.label()), "  ", "    ", out)?;
        }
    }
    Ok(())
}

/// The finding that is the cause, or the state.
fn judged(spent: &TimeSpent) -> String {
    spent.finding.clone().or_else(|| spent.state.map(|state| state.label().to_owned())).unwrap_or_default()
}

fn seconds(us: u64) -> String {
    three_digits(real(us) / 1e6)
}
