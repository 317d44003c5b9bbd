//! The commands.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};
use lioprof_analysis::Config;
use lioprof_model::units::few;
use lioprof_query::ready::{self, Ready};
use lioprof_query::{Bound, Format, Session, VIEWS};
use lioprof_text::{Color, Style};
use tokio::runtime::Runtime;

use crate::args::{AnalyzeArgs, Args, Command, Explain, ReadyArgs, SqlArgs};
use crate::ask::{limit, note_rest, open, write_list};
use crate::destination::{Destination, Output};
#[cfg(feature = "cluster")]
use crate::serve;
use crate::{generate, messages, prompt};

pub(crate) fn command(args: &Args, runtime: &Runtime) -> anyhow::Result<()> {
    match &args.command {
        Command::Sql(args) => interruptible(runtime, sql(args)),
        Command::Prompt(args) => prompt::run(args, runtime),
        Command::Ready(args) => interruptible(runtime, ready(args)),
        Command::Analyze(args) => interruptible(runtime, analyze(args)),
        Command::Views => views(),
        #[cfg(feature = "cluster")]
        Command::Scheduler(args) => serve::scheduler(args),
        #[cfg(feature = "cluster")]
        Command::Executor(args) => serve::executor(args),
        Command::Generate(share) => generate::generate(share),
    }
}

/// The error of a command that Ctrl-C ended.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(crate) struct Interrupted;

/// Runs until the work is done or Ctrl-C is pressed, which drops unfinished work: a partial file is deleted, the cluster's job
/// is cancelled.
fn interruptible(runtime: &Runtime, work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    runtime.block_on(async {
        tokio::select! {
            done = work => return done,
            _ = tokio::signal::ctrl_c() => {}
        }
        #[cfg(feature = "cluster")]
        lioprof_query::cluster::all_told().await;
        bail!(Interrupted)
    })
}

async fn sql(args: &SqlArgs) -> anyhow::Result<()> {
    let text = match (&args.sql, &args.file) {
        (Some(sql), _) => sql.clone(),
        (None, Some(file)) => read(file)?,
        (None, None) => bail!("expected SQL, or a file with SQL (-f)"),
    };
    let destination = Destination::new(&args.output)?;
    let session = open(&args.dataset, &args.engine).await?;
    let statements = session.statements(&text)?;
    if statements.is_empty() {
        bail!("expected SQL, found none");
    }
    let mut output = destination.open()?;
    let mut results = 0;
    for statement in statements {
        let frame = session.plan(statement, Bound::default()).await?;
        // A statement that creates a view or changes a setting has no rows.
        if frame.schema().fields().is_empty() {
            continue;
        }
        results += 1;
        if let Some(explain) = args.explain {
            write!(output.writer, "{}", session.explain(frame, explain == Explain::Run).await?)?;
            continue;
        }
        if results > 1 && !matches!(destination.format, Format::Table | Format::Json) {
            bail!("more than one statement returns rows; {} can hold only one result", destination.format);
        }
        if results > 1 && destination.format == Format::Table {
            writeln!(output.writer)?;
        }
        let written = session.write(frame, destination.format, limit(args.output.max_rows), &mut output.writer).await?;
        note_rest(written);
    }
    output.finish()
}

async fn ready(args: &ReadyArgs) -> anyhow::Result<()> {
    let Some(name) = &args.name else { return list() };
    let query = ready::find(name)?;
    let Some(dataset) = &args.dataset else { return show(query) };
    let destination = Destination::new(&args.output)?;
    let session = open(dataset, &args.engine).await?;
    let values = Bound::new(query, &args.set, &session.dataset().dates().await?)?;
    let mut output = destination.open()?;
    for statement in session.statements(query.sql)? {
        let frame = session.plan(statement, values.clone()).await?;
        let written = session.write(frame, destination.format, limit(args.output.max_rows), &mut output.writer).await?;
        note_rest(written);
        if written.rows == 0 {
            messages::note(&no_rows(&session, &values).await?);
        }
    }
    output.finish()
}

/// Why a ready query may have no rows.
async fn no_rows(session: &Session, values: &Bound) -> anyhow::Result<String> {
    if let Some(target) = values.text("target") {
        let known = session.targets().await?;
        let is_meant = |it: &String| it == target || it.strip_suffix(target).is_some_and(|head| head.ends_with('-'));
        if !known.iter().any(is_meant) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let there = if known.is_empty() { "names no target".to_owned() } else { format!("has {}", few(&known)) };
            return Ok(format!("no rows: `{}` has no target `{target}`; it {there}", session.dataset().name()));
        }
    }
    Ok("no rows".to_owned())
}

async fn analyze(args: &AnalyzeArgs) -> anyhow::Result<()> {
    let session = open(&args.dataset, &args.engine).await?;
    let outcome = lioprof_query::analyze(&session, &Config::default()).await?;
    for problem in &outcome.problems {
        messages::note(&problem.message);
    }
    let analysis = &outcome.analysis;
    if let Some(dir) = &args.output {
        fs::create_dir_all(dir).with_context(|| format!("failed to create directory `{}`", dir.display()))?;
        let bounded = analysis.bounded();
        Output::file(&dir.join("analysis.json"))?.write(|out| lioprof_text::write_json(&bounded, out))?;
        lioprof_store::write_analysis_tables(analysis, &bounded, dir)
            .with_context(|| format!("failed to write tables into `{}`", dir.display()))?;
        drop(bounded);
        for table in lioprof_text::tables::ALL {
            Output::file(&dir.join(format!("{}.csv", table.name)))?.write(|out| (table.write)(analysis, out))?;
        }
        Output::file(&dir.join("report.html"))?.write(|out| lioprof_report::write(analysis, out))?;
        messages::note(&format!("wrote analysis.json, tables and report.html into `{}`", dir.display()));
    }
    let more = if args.tables { "" } else { "--tables for all figures" };
    let style = Style { color: Color::of_stdout(), all: false, tables: args.tables, more };
    Output::stdout().write(|out| lioprof_text::write(analysis, args.format, style, out))
}

fn list() -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    write_list(&mut out)?;
    writeln!(out, "\n`lioprof-query ready NAME` shows the parameters, columns and SQL of a query.")?;
    Ok(())
}

fn show(query: &Ready) -> anyhow::Result<()> {
    io::stdout().lock().write_all(query.sql.as_bytes())?;
    Ok(())
}

fn views() -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    for (at, view) in VIEWS.iter().enumerate() {
        writeln!(out, "{}{}", if at == 0 { "" } else { "\n" }, view.sql.trim_end())?;
    }
    Ok(())
}

fn read(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).context("failed to read SQL from stdin")?;
        return Ok(text);
    }
    fs::read_to_string(file).with_context(|| format!("failed to read SQL from `{}`", file.display()))
}
