//! `lioprof report`.

use std::fs::File;
use std::io::{self, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use lioprof_model::{Analysis, COMPARISON_SCHEMA, Comparison, SCHEMA};

use crate::args::ReportArgs;
use crate::exit_code::Code;
use crate::messages::{self, Verbosity};
use crate::{output_dir, saved};

pub(crate) fn run(args: &ReportArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let input = saved_in(&args.input)?;
    let saved = read(&input, verbosity)?;
    match output(args, &input, &saved) {
        Some(path) => {
            if args.output.is_none() && path.exists() && !output_dir::says_lioprof(&path) {
                bail!("`{}` is not a page that lioprof wrote: name the file to write with -o", path.display());
            }
            output_dir::create(&path, |out| Ok(saved.write(out)?))?;
            messages::note(verbosity, &format!("wrote `{}`", path.display()));
        }
        None => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            saved.write(&mut out).and_then(|()| out.flush()).context("failed to write to stdout")?;
        }
    }
    Ok(Code::Success)
}

/// A saved file that can be turned into a page.
enum Saved {
    Analysis(Box<Analysis>),
    Comparison(Box<Comparison>),
}

impl Saved {
    fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Analysis(analysis) => lioprof_report::write(analysis, out),
            Self::Comparison(comparison) => lioprof_report::write_comparison(comparison, out),
        }
    }

    /// File name of its page, as `-o DIR` names it.
    fn page(&self) -> &'static str {
        match self {
            Self::Analysis(_) => "report.html",
            Self::Comparison(_) => "comparison.html",
        }
    }
}

/// The file to read: of a folder that `-o DIR` wrote, the JSON in it.
fn saved_in(input: &Path) -> anyhow::Result<PathBuf> {
    if !input.is_dir() {
        return Ok(input.to_owned());
    }
    let dir = input.display();
    let there =
        ["analysis.json", "comparison.json"].map(|name| input.join(name)).into_iter().filter(|path| path.exists());
    match there.collect::<Vec<_>>().as_slice() {
        [one] => Ok(one.clone()),
        [] => {
            bail!("`{dir}` has no analysis.json or comparison.json; logs are for `lioprof analyze {dir} -o OTHER-DIR`")
        }
        _ => bail!("`{dir}` has an analysis.json and a comparison.json: name one of them"),
    }
}

/// The file to write; `None` for standard output.
fn output(args: &ReportArgs, input: &Path, saved: &Saved) -> Option<PathBuf> {
    match &args.output {
        Some(path) if path == Path::new("-") => None,
        Some(path) => Some(path.clone()),
        None if input == Path::new("-") => Some(PathBuf::from(saved.page())),
        None => Some(input.with_file_name(saved.page())),
    }
}

fn read(path: &Path, verbosity: Verbosity) -> anyhow::Result<Saved> {
    let name = path.display();
    let mut json = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut json).context("failed to read stdin")?;
    } else {
        let file = File::open(path).with_context(|| format!("failed to open `{name}`"))?;
        BufReader::new(file).read_to_end(&mut json).with_context(|| format!("failed to read `{name}`"))?;
    }
    let not = || {
        format!(
            "`{name}` is not an analysis.json or comparison.json of this version of lioprof; logs are for \
             `lioprof analyze -o DIR` and `lioprof compare -o DIR`"
        )
    };
    let schema = saved::schema(&json).with_context(not)?;
    if schema == COMPARISON_SCHEMA {
        return Ok(Saved::Comparison(serde_json::from_slice(&json).with_context(not)?));
    }
    if schema != SCHEMA {
        bail!(
            "`{name}` has the schema `{schema}`, expected `{SCHEMA}` or `{COMPARISON_SCHEMA}`: write it again with this version \
             (pages of operations are written by `lioprof operations -o DIR`)"
        );
    }
    let mut analysis: Box<Analysis> = serde_json::from_slice(&json).with_context(not)?;
    saved::complete(&mut analysis, path, verbosity)?;
    // Saved before there were findings: they follow from the figures alone.
    if analysis.checks.is_empty() {
        lioprof_insight::find(&mut analysis, &lioprof_insight::Limits::default());
    } else if analysis.verdict.text.is_empty() {
        // Saved before it held a verdict.
        analysis.verdict = lioprof_insight::verdict(&analysis);
    }
    Ok(Saved::Analysis(analysis))
}
