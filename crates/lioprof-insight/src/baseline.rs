//! The output of `obdfilter-survey`: what the OSTs deliver without clients and network.
//!
//! The script of the Lustre I/O kit writes one line per number of objects and threads, into `*.summary` and to its
//! standard output; sizes are KiB, bandwidths MiB/s (it divides KiB by 1024 times the elapsed seconds):
//!
//! ```text
//! Fri Sep 25 11:14:03 EDT 2015 Obdfilter-survey for case=disk from oss1
//! ost  2 sz 33554432K rsz 1024K obj    2 thr    2 write  982.73 [ 401.97, 512.91] rewrite 996.54 SHORT read ...
//! ```
//!
//! All figures are sums over the OSTs; in brackets are the slowest and the fastest moment of any one of them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lioprof_model::{Baseline, Ceiling, ObdfilterSurvey, WriteTest};

const MIB: f64 = 1_048_576.0;
const EXAMPLE: &str = "`ost  2 sz 33554432K rsz 1024K obj 2 thr 2 write 982.73 [ 401.97, 512.91] ...`";

/// An output of `obdfilter-survey` that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// Not readable.
    #[error("failed to read `{}`", path.display())]
    Read {
        /// File.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// Nothing in it is a result.
    #[error(
        "`{}` holds no result of obdfilter-survey, a line like {EXAMPLE}: give its `*.summary`, or what it printed", path.display()
    )]
    NoResults {
        /// File.
        path: PathBuf,
    },
    /// A line begins like a result and goes on like something else.
    #[error("`{}`, line {line}: expected {expected}, found `{found}`", path.display())]
    Line {
        /// File.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Runs over different numbers of OSTs cannot be told apart by OST.
    #[error("`{}`, line {line}: a run over {found} OSTs after one over {osts}: give runs of their own files", path.display())]
    Mixed {
        /// File.
        path: PathBuf,
        /// Line number.
        line: usize,
        /// OSTs of the lines before.
        osts: u64,
        /// OSTs of this one.
        found: u64,
    },
}

/// Reads the outputs of one or more surveys; of a directory, the newest `*.summary` of each server. `writes`: the test that writes are held against.
///
/// # Errors
/// If one cannot be read or holds something else.
pub fn read_baseline(paths: &[PathBuf], writes: WriteTest) -> Result<Baseline, BaselineError> {
    let mut surveys = Vec::new();
    for path in paths {
        let failed = |err| BaselineError::Read { path: path.clone(), err };
        let files = if path.is_dir() { newest(path).map_err(failed)? } else { vec![path.clone()] };
        for file in files {
            let bytes = fs::read(&file).map_err(|err| BaselineError::Read { path: file.clone(), err })?;
            surveys.push(parse(&String::from_utf8_lossy(&bytes), &file)?);
        }
    }
    Ok(Baseline { surveys, writes })
}

/// The newest `*.summary` of each server in a directory. Names end with `_SERVER.summary`, after the time, whoever made them.
fn newest(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in dir.read_dir()? {
        names.extend(entry?.file_name().into_string().ok().filter(|name| name.ends_with(".summary")));
    }
    names.sort_unstable();
    let of_server = |name: &String| name.rsplit_once('_').map_or_else(|| name.clone(), |(_, server)| server.to_owned());
    let newest: BTreeMap<String, String> = names.into_iter().map(|name| (of_server(&name), name)).collect();
    if newest.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "no `*.summary` in this directory"));
    }
    Ok(newest.into_values().map(|name| dir.join(name)).collect())
}

fn parse(text: &str, path: &Path) -> Result<ObdfilterSurvey, BaselineError> {
    let mut survey = ObdfilterSurvey { path: path.display().to_string(), ..ObdfilterSurvey::default() };
    for (index, line) in text.lines().enumerate() {
        if let Some((_, header)) = line.split_once("Obdfilter-survey for case=") {
            let mut words = header.split_whitespace();
            survey.case = words.next().map(str::to_owned);
            survey.host = words.nth(1).map(str::to_owned);
        } else if line.split_whitespace().next() == Some("ost") {
            result(&mut Words::new(path, index + 1, line), &mut survey)?;
        }
    }
    if survey.write.or(survey.rewrite).or(survey.read).is_none() {
        return Err(BaselineError::NoResults { path: path.to_owned() });
    }
    Ok(survey)
}

/// The words of a line; brackets and commas are no part of one.
struct Words<'a> {
    path: &'a Path,
    /// Number of the line, from 1.
    line: usize,
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Words<'a> {
    fn new(path: &'a Path, line: usize, text: &'a str) -> Self {
        // What stands in brackets may or may not be apart from them: `[  64.00,  82.00]`, `[1160.92,3450.85]`.
        let words = text.split(|c: char| c.is_whitespace() || matches!(c, '[' | ',' | ']')).filter(|w| !w.is_empty());
        Self { path, line, words: words.collect(), at: 0 }
    }

    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn wrong(&self, expected: &str) -> BaselineError {
        let found = self.words[self.at.min(self.words.len())..].iter().take(3).copied().collect::<Vec<_>>().join(" ");
        let found = if found.is_empty() { "the end of the line".to_owned() } else { found };
        BaselineError::Line { path: self.path.to_owned(), line: self.line, expected: expected.to_owned(), found }
    }

    fn word(&mut self, word: &str) -> Result<(), BaselineError> {
        if self.peek() == Some(word) {
            self.at += 1;
            return Ok(());
        }
        Err(self.wrong(&format!("`{word}`")))
    }

    /// A number, with the unit that some versions print behind it.
    fn whole(&mut self, what: &str, unit: &str) -> Result<u64, BaselineError> {
        let number = self.peek().and_then(|word| word.strip_suffix(unit).unwrap_or(word).parse().ok());
        let number = number.ok_or_else(|| self.wrong(what))?;
        self.at += 1;
        Ok(number)
    }

    fn decimal(&mut self) -> Option<f64> {
        let number = self.peek()?.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)?;
        self.at += 1;
        Some(number)
    }
}

/// Takes a line's best results into the survey.
fn result(words: &mut Words<'_>, survey: &mut ObdfilterSurvey) -> Result<(), BaselineError> {
    words.word("ost")?;
    let osts = words.whole("the number of OSTs", "")?;
    words.word("sz")?;
    words.whole("the size of all data in KiB", "K")?;
    words.word("rsz")?;
    let record_bytes = words.whole("the size of a record in KiB", "K")?.saturating_mul(1024);
    words.word("obj")?;
    let objects = words.whole("the number of objects", "")?;
    words.word("thr")?;
    let threads = words.whole("the number of threads", "")?;
    if survey.osts == 0 {
        survey.osts = osts;
    } else if survey.osts != osts {
        let (path, line) = (words.path.to_owned(), words.line);
        return Err(BaselineError::Mixed { path, line, osts: survey.osts, found: osts });
    }
    // A combination that the script did not try: "Too much buffer space".
    if words.peek() == Some("Too") {
        return Ok(());
    }
    while let Some(test) = words.peek() {
        if !test.contains("write") && !test.contains("read") {
            return Err(words.wrong("`write`, `rewrite` or `read`"));
        }
        words.at += 1;
        // The script prints the test's name before it runs: the last one may still have been running.
        if words.peek().is_none() {
            break;
        }
        let mib_per_s = words.decimal().ok_or_else(|| words.wrong("MiB per second"))?;
        let mut range = None;
        let mut failed = false;
        match words.peek() {
            Some("SHORT") => words.at += 1,
            Some("ERROR") => {
                words.at += 1;
                failed = true;
            }
            None => {}
            Some(_) => {
                let low = words.decimal().ok_or_else(|| words.wrong("`[lowest, highest]`, SHORT or ERROR"))?;
                let high = words.decimal().ok_or_else(|| words.wrong("the highest of `[lowest, highest]`"))?;
                range = Some((low * MIB, high * MIB));
            }
        }
        if !failed && osts > 0 {
            let ceiling = Ceiling {
                bytes_per_s: mib_per_s * MIB,
                ost_min_max_bytes_per_s: range,
                objects,
                threads,
                record_bytes,
            };
            let best = match test {
                test if test.starts_with("rewrite") => &mut survey.rewrite,
                test if test.contains("write") => &mut survey.write,
                _ => &mut survey.read,
            };
            if best.is_none_or(|best| ceiling.bytes_per_s > best.bytes_per_s) {
                *best = Some(ceiling);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use lioprof_model::Direction;

    use super::*;

    const NEW: &str = "\
Fri Sep 25 11:14:03 EDT 2015 Obdfilter-survey for case=disk from oss1.cluster
ost 10 sz 167772160K rsz 1024K obj   10 thr   10 write 10982.73 [ 601.97,2912.91] rewrite 15696.54 [1160.92,3450.85] read 12358.60 [ 938.96,2634.87]
ost 10 sz 167772160K rsz 1024K obj   10 thr   20 write 11000.00            SHORT rewrite 16000.00             ERROR read 12000.00 [ 938.96,2634.87]
ost 10 sz 167772160K rsz 1024K obj 5120 thr 5120 Too much buffer space
done!
";
    const OLD: &str = "ost  8 sz 67108864K rsz 1024 obj    8 thr    8 write  613.54 [  64.00,  82.00] \n";

    fn parsed(text: &str) -> Result<ObdfilterSurvey, String> {
        parse(text, Path::new("s.summary")).map_err(|error| error.to_string())
    }

    #[test]
    fn the_best_of_each_test_counts() {
        let survey = parsed(NEW).unwrap();
        assert_eq!(
            (survey.host.as_deref(), survey.case.as_deref(), survey.osts),
            (Some("oss1.cluster"), Some("disk"), 10)
        );
        let mib = |ceiling: Option<Ceiling>| ceiling.map(|ceiling| ceiling.bytes_per_s / MIB);
        assert_eq!(mib(survey.write), Some(11000.0));
        assert_eq!(mib(survey.rewrite), Some(15696.54), "a result with an error does not count");
        assert_eq!(mib(survey.read), Some(12358.60));
        assert_eq!(survey.write.unwrap().ost_min_max_bytes_per_s, None);
        assert_eq!(survey.read.unwrap().ost_min_max_bytes_per_s, Some((938.96 * MIB, 2634.87 * MIB)));
        let writes = |test| survey.bytes_per_s(Direction::Write, test).map(|bytes| bytes / MIB);
        assert_eq!((writes(WriteTest::Write), writes(WriteTest::Rewrite)), (Some(11000.0), Some(15696.54)));
        assert_eq!((survey.read.unwrap().threads, survey.read.unwrap().record_bytes), (10, 1 << 20));
    }

    /// What a server printed (Lustre 2.17.57): rewriting goes to the page cache.
    #[test]
    fn new_data_are_not_rewritten() {
        let real = "\
Mon Nov 23 04:56:19 UTC 2026 Obdfilter-survey for case=disk from server1
ost  2 sz  1228800K rsz 1024K obj    2 thr    2 write  222.60 [  69.36,  264.67] rewrite  921.98             SHORT read  935.45             SHORT 
ost  2 sz  1228800K rsz 1024K obj    2 thr    4 write  190.49 [  77.77,  129.31] rewrite  619.16             SHORT read  500.66             SHORT 
";
        let survey = parsed(real).unwrap();
        assert_eq!(survey.bytes_per_s(Direction::Write, WriteTest::Write), Some(222.60 * MIB));
        assert_eq!(survey.bytes_per_s(Direction::Read, WriteTest::Write), Some(935.45 * MIB));
    }

    #[test]
    fn old_versions_print_no_unit_and_the_last_line_may_be_unfinished() {
        let survey = parsed(&format!("{OLD}ost  8 sz 67108864K rsz 1024 obj    8 thr   16 write ")).unwrap();
        assert_eq!(survey.write.unwrap().record_bytes, 1 << 20);
        assert_eq!((survey.host, survey.read), (None, None));
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, part) in [
            ("hello\n", "holds no result"),
            ("=====> ost  1 sz 8K rsz 1024K obj 1 thr 1\n", "holds no result"),
            ("ost x sz", "line 1: expected the number of OSTs, found `x sz`"),
            ("\nost 1 sz 8K rsz 4K obj 1 thr\n", "line 2: expected the number of threads, found `the end of the line`"),
            ("ost 1 sz 8K rsz 4K obj 1 thr 1 write fast", "expected MiB per second, found `fast`"),
            ("ost 1 sz 8K rsz 4K obj 1 thr 1 write 1.0 [2.0]", "expected the highest"),
            ("ost 1 sz 8K rsz 4K obj 1 thr 1 sync 1.0", "expected `write`, `rewrite` or `read`"),
            (&format!("{NEW}{OLD}"), "line 6: a run over 8 OSTs after one over 10"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn of_a_directory_the_newest_of_each_server_counts() {
        let dir = tempfile::tempdir().unwrap();
        let line = |mib: u32| format!("ost 1 sz 1K rsz 1024K obj 1 thr 1 write {mib}.00 SHORT\n");
        let all = [
            ("2026-11-23T04-56-19Z_oss1", 5),
            ("2026-11-24T04-56-19Z_oss1", 7),
            ("obdfilter_survey_2026-11-23@04:56_oss2", 9),
        ];
        for (name, mib) in all {
            fs::write(dir.path().join(format!("{name}.summary")), line(mib)).unwrap();
        }
        fs::write(dir.path().join("2026-11-25T04-56-19Z_oss1.detail"), "").unwrap();
        let baseline = read_baseline(&[dir.path().to_owned()], WriteTest::Write).unwrap();
        let mib: Vec<f64> = baseline.surveys.iter().map(|survey| survey.write.unwrap().bytes_per_s / MIB).collect();
        assert_eq!(mib, [7.0, 9.0]);
        let empty = tempfile::tempdir().unwrap();
        let error = read_baseline(&[empty.path().to_owned()], WriteTest::Write).unwrap_err();
        assert!(lioprof_model::with_causes(&error).contains("no `*.summary`"), "{error}");
    }
}
