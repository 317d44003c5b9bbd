//! "Others on the same OSTs", for a report that is about one job or some clients.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Config, Selection, analyze_with_stores};
use lioprof_model::Analysis;
use lioprof_model::units::{human_bytes, plural};
use lioprof_record::{Others, Use, others, targets_of};

use crate::messages::Verbosity;
use crate::stores::Stores;
use crate::{output_dir, reading};

/// Rows that are printed of a table; the files have all.
const TOP: usize = 10;
/// Columns of the files behind the names.
const COLUMNS: [&str; 4] = ["reads", "read_bytes", "writes", "write_bytes"];

/// Reads the rows once more, for all that happened on the OSTs of `own`. Writes the tables, and returns what to print.
pub(super) fn of_rows(
    rows: &[PathBuf],
    config: &Config,
    own: &Analysis,
    dir: &Path,
    verbosity: Verbosity,
) -> anyhow::Result<String> {
    let names = targets_of(own);
    let targets = names.iter().filter_map(|name| name.parse().ok()).collect();
    let config = Config { selection: Selection { targets, ..Selection::default() }, locks: false, ..config.clone() };
    let read = reading::read(&config, verbosity, |config| analyze_with_stores(rows, &Stores, config, None))?;
    let found = read.map(|all| others(own, &all.analysis)).unwrap_or_default();
    let by_client = found.clients.iter().map(|((target, nid), of)| ([target.as_str(), nid], of));
    output_dir::create(&dir.join("others-by-client.csv"), |out| Ok(table(out, ["target", "nid"], by_client)?))?;
    let by_job = found.jobs.iter().map(|(job, of)| ([job.as_str()], of));
    output_dir::create(&dir.join("others-by-job.csv"), |out| Ok(table(out, ["job"], by_job)?))?;
    Ok(text(&found, names.len()))
}

/// Writes a table as CSV.
fn table<'a, const N: usize>(
    out: &mut dyn io::Write,
    names: [&str; N],
    rows: impl Iterator<Item = ([&'a str; N], &'a Use)>,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(names.iter().chain(&COLUMNS))?;
    for (names, of) in rows {
        let figures = [of.reads, of.read_bytes, of.writes, of.write_bytes].map(|figure| figure.to_string());
        csv.write_record(names.into_iter().chain(figures.iter().map(String::as_str)))?;
    }
    csv.flush()
}

fn text(found: &Others, osts: usize) -> String {
    let osts = plural(osts as u64, "OST");
    if found.clients.is_empty() {
        return format!("\nOthers on the same {osts}: nobody read or wrote there meanwhile\n");
    }
    let mut out = format!("\nOthers on the same {osts}, by job{}\n", top(found.jobs.len()));
    for (job, of) in found.jobs.iter().take(TOP) {
        line(&mut out, if job.is_empty() { "(without a job id)" } else { job }, of);
    }
    // Writing to a String cannot fail.
    let _infallible = writeln!(out, "\nOthers on the same {osts}, by OST and client{}", top(found.clients.len()));
    for ((target, nid), of) in found.clients.iter().take(TOP) {
        line(&mut out, &format!("{target} {nid}"), of);
    }
    out
}

fn top(all: usize) -> String {
    if all > TOP { format!(" (top {TOP} of {all})") } else { String::new() }
}

fn line(out: &mut String, name: &str, of: &Use) {
    let [read, written] = [of.read_bytes, of.write_bytes].map(human_bytes);
    let _infallible = writeln!(out, "  {name:<40} {read:>10} read {written:>10} written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_say_how_much_of_them_is_shown() {
        let of = Use { writes: 1, write_bytes: 1 << 20, ..Use::default() };
        let clients = (0..12).map(|number| (("OST0".to_owned(), format!("{number}@tcp")), of)).collect();
        let text = text(&Others { clients, jobs: vec![(String::new(), of)] }, 2);
        assert!(text.contains("Others on the same 2 OSTs, by job\n  (without a job id)"), "{text}");
        assert!(text.contains("by OST and client (top 10 of 12)") && text.contains("1.00 MiB written"), "{text}");
        assert!(super::text(&Others::default(), 1).contains("1 OST: nobody"));
    }

    #[test]
    fn a_job_id_may_have_commas() {
        let mut out = Vec::new();
        table(&mut out, ["job"], [(["a,\"b\""], &Use::default())].into_iter()).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "job,reads,read_bytes,writes,write_bytes\n\"a,\"\"b\"\"\",0,0,0,0\n");
    }
}
