//! `lioprof report`.

use std::fs::File;
use std::io::{self, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use lioprof_model::{Analysis, SCHEMA};

use crate::args::ReportArgs;
use crate::exit_code::Code;
use crate::files;
use crate::messages::{self, Verbosity};

pub(crate) fn run(args: &ReportArgs, verbosity: Verbosity) -> anyhow::Result<Code> {
    let mut analysis = read(&args.analysis)?;
    // Saved before there were findings: they follow from the figures alone.
    if analysis.checks.is_empty() {
        lioprof_analysis::find(&mut analysis, &lioprof_analysis::Limits::default());
    }
    match output(args) {
        Some(path) => {
            files::create(&path, |out| Ok(lioprof_report::write(&analysis, out)?))?;
            messages::note(verbosity, &format!("wrote `{}`", path.display()));
        }
        None => {
            let mut out = io::BufWriter::new(io::stdout().lock());
            lioprof_report::write(&analysis, &mut out)
                .and_then(|()| out.flush())
                .context("failed to write to stdout")?;
        }
    }
    Ok(Code::Success)
}

/// The file to write; none: standard output.
fn output(args: &ReportArgs) -> Option<PathBuf> {
    match &args.output {
        Some(path) if path == Path::new("-") => None,
        Some(path) => Some(path.clone()),
        None if args.analysis == Path::new("-") => Some(PathBuf::from("report.html")),
        None => Some(args.analysis.with_file_name("report.html")),
    }
}

fn read(path: &Path) -> anyhow::Result<Analysis> {
    let name = path.display();
    let mut json = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().read_to_end(&mut json).context("failed to read stdin")?;
    } else {
        let file = File::open(path).with_context(|| format!("failed to open `{name}`"))?;
        BufReader::new(file).read_to_end(&mut json).with_context(|| format!("failed to read `{name}`"))?;
    }
    let analysis: Analysis = serde_json::from_slice(&json).with_context(|| {
        format!("`{name}` is no analysis.json of this version of lioprof; logs are for `lioprof analyze -o DIR`")
    })?;
    if analysis.schema != SCHEMA {
        bail!("`{name}` has the schema `{}`, expected `{SCHEMA}`: analyze the log again", analysis.schema);
    }
    Ok(analysis)
}
