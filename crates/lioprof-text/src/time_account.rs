//! Where the time went, as a short table under the verdict.

use std::io::{self, Write};

use lioprof_model::Analysis;
use lioprof_model::units::{percent, real, share};

use crate::number_table::NumberTable;

/// Rows: the rest is summed up in one more.
const SHOWN: usize = 8;
/// What takes less is part of the rest.
const LEAST_SHARE: f64 = 0.005;

pub(crate) fn write(analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let Some(all) = &analysis.time_account.all else { return Ok(()) };
    if all.span_us == 0 {
        return Ok(());
    }
    let mut table = NumberTable::new(&["where the time went", "share", "s", "beyond peers"]);
    let matters = |us: u64| share(us, all.span_us) >= LEAST_SHARE;
    let shown = all.spent.iter().take(SHOWN).filter(|spent| matters(spent.us));
    let mut rest_us = all.span_us;
    for spent in shown {
        rest_us -= spent.us;
        let excess_s = spent.excess_us.filter(|&us| matters(us)).map_or_else(String::new, seconds);
        table.row([spent.description(), percent(share(spent.us, all.span_us), 1), seconds(spent.us), excess_s]);
    }
    if rest_us > 0 {
        table.row(["the rest".to_owned(), percent(share(rest_us, all.span_us), 1), seconds(rest_us), String::new()]);
    }
    let title =
        format!("Time of all clients: {} s from the first request to the end of the last", seconds(all.span_us));
    table.print(&title, 0, out)
}

fn seconds(us: u64) -> String {
    format!("{:.3}", real(us) / 1e6)
}
