//! "Others on the same OSTs", for a report that is about one job or some clients.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use lioprof_analysis::{Config, Others, Selection, User, analyze_with_stores, targets_of};
use lioprof_model::Analysis;
use lioprof_model::ReadWrite;
use lioprof_model::units::{human_bytes, plural};

use crate::messages::Verbosity;
use crate::stores::Stores;
use crate::{output_dir, reading};

/// Rows that are printed of a table; the file has all.
const TOP: usize = 10;

/// Reads the rows once more, for all that happened on the OSTs of `own`. Writes the table, and returns what to print.
pub(super) fn of_rows(
    rows: &[PathBuf],
    config: &Config,
    own: &Analysis,
    dir: &Path,
    verbosity: Verbosity,
) -> anyhow::Result<String> {
    let targets = targets_of(own);
    let osts = targets.len();
    let selection = Selection { targets: targets.into_iter().map(Into::into).collect(), ..Selection::default() };
    let all = Config { selection, locks: false, ..config.clone() };
    let mut others = Others::than(&config.selection);
    // What cannot be read was said when the run's own rows were read.
    reading::read(&all, verbosity, |config| analyze_with_stores(rows, &Stores, config, Some(&mut others)))?;
    output_dir::create(&dir.join("others.csv"), |out| Ok(table(out, &others.users())?))?;
    Ok(text(&others, osts))
}

/// Writes the table as CSV.
fn table(out: &mut dyn io::Write, users: &[(User, ReadWrite)]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["target", "job", "nid", "reads", "read_bytes", "writes", "write_bytes"])?;
    for (User { target, job, nid }, of) in users {
        let ReadWrite { read, write } = of;
        csv.serialize((target, job, nid, read.rpcs, read.bytes, write.rpcs, write.bytes))?;
    }
    csv.flush()
}

fn text(others: &Others<'_>, osts: usize) -> String {
    let osts = plural(osts as u64, "OST");
    let by_job = others.by(|user| (user.target.clone(), user.job.clone()));
    if by_job.is_empty() {
        return format!("\nOthers on the same {osts}: nobody read or wrote there meanwhile\n");
    }
    let mut out = String::new();
    lines(&mut out, &format!("Others on the same {osts}, by OST and job"), &by_job);
    lines(&mut out, "By OST and client", &others.by(|user| (user.target.clone(), user.nid.clone())));
    out
}

fn lines(out: &mut String, title: &str, rows: &[((String, String), ReadWrite)]) {
    let top = if rows.len() > TOP { format!(" (top {TOP} of {})", rows.len()) } else { String::new() };
    // Writing to a String cannot fail.
    let _infallible = writeln!(out, "\n{title}{top}");
    for ((target, name), of) in rows.iter().take(TOP) {
        let name = if name.is_empty() { "(without a job id)" } else { name };
        let [read, written] = [of.read.bytes, of.write.bytes].map(human_bytes);
        let _infallible = writeln!(out, "  {target:<16} {name:<32} {read:>10} read {written:>10} written");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_say_how_much_of_them_is_shown() {
        let mut of: ReadWrite = ReadWrite::default();
        of.write.bytes = 1 << 20;
        let rows: Vec<_> = (0..12).map(|number| (("OST0".to_owned(), format!("{number}@tcp")), of.clone())).collect();
        let mut text = String::new();
        lines(&mut text, "By OST and client", &rows);
        assert!(
            text.contains("By OST and client (top 10 of 12)\n  OST0 ") && text.contains("1.00 MiB written"),
            "{text}"
        );
        assert!(super::text(&Others::than(&Selection::default()), 1).contains("1 OST: nobody"));
    }

    #[test]
    fn a_job_id_may_have_commas() {
        let user = User { target: "OST0".to_owned(), job: "a,\"b\"".to_owned(), nid: "1@tcp".to_owned() };
        let mut out = Vec::new();
        table(&mut out, &[(user, ReadWrite::default())]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "target,job,nid,reads,read_bytes,writes,write_bytes\nOST0,\"a,\"\"b\"\"\",1@tcp,0,0,0,0\n");
    }
}
