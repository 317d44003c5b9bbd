//! The interactive prompt.

use std::io::{self, Write};
use std::time::Instant;

use datafusion::arrow::datatypes::DataType;
use lioprof_query::ready::Ready;
use lioprof_query::{Bound, Format, QueryError, Session};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use tokio::runtime::{Builder, Runtime};

use super::command::{Command, HELP};
use super::complete::{Assistant, KnownNames};
use super::history;
use crate::args::PromptArgs;
use crate::{ask, messages};

pub(super) const TABLES: &str = "SELECT table_schema AS schema, table_name AS name, table_type AS type FROM information_schema.tables \
                      WHERE table_schema <> 'information_schema' ORDER BY schema, name";

/// What was opened, and what the user has chosen.
pub(super) struct Conversation<'a> {
    pub(super) session: Session,
    pub(super) runtime: &'a Runtime,
    /// Notices Ctrl-C while all threads of the other one compute.
    pub(super) watch: Runtime,
    pub(super) format: Format,
    pub(super) max_rows: usize,
    pub(super) timing: bool,
}

pub(crate) fn run(args: &PromptArgs, runtime: &Runtime) -> anyhow::Result<()> {
    let mut conversation = Conversation {
        session: runtime.block_on(ask::open(&args.dataset, &args.engine))?,
        runtime,
        watch: Builder::new_current_thread().enable_io().build()?,
        format: args.format,
        max_rows: args.max_rows,
        timing: false,
    };
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(conversation.assistant()));
    let history = history::file();
    if let Some(history) = &history {
        // There is none the first time.
        let _read_or_new = editor.load_history(history);
    }
    let dataset = conversation.session.dataset().name();
    messages::note(&format!("{dataset}; end SQL with `;`, \\? for help, Tab completes, Ctrl-D ends"));
    loop {
        match editor.readline("lioprof> ") {
            Ok(line) => match Command::parse(&line) {
                Ok(None) => {}
                Ok(Some(Command::Quit)) => break,
                Ok(Some(command)) => {
                    // Errors end an answer, not the conversation.
                    if let Err(error) = conversation.obey(command) {
                        messages::error(&error);
                    }
                    // A statement may have made a view.
                    editor.set_helper(Some(conversation.assistant()));
                }
                Err(problem) => messages::note(&problem),
            },
            // Ctrl-C throws away what was typed.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(err) => return Err(err.into()),
        }
    }
    if let Some(history) = &history
        && let Err(err) = history::save(&mut editor, history)
    {
        messages::note(&format!("the history was not kept: failed to write `{}`: {err}", history.display()));
    }
    Ok(())
}

impl Conversation<'_> {
    pub(super) fn assistant(&self) -> Assistant {
        Assistant::new(self.runtime.block_on(KnownNames::of(&self.session)))
    }

    pub(super) fn obey(&mut self, command: Command) -> anyhow::Result<()> {
        match command {
            Command::Quit => {}
            Command::Help => io::stdout().write_all(HELP.as_bytes())?,
            Command::Sql(sql) => self.answer(&sql, &Bound::default())?,
            Command::Tables => self.answer(TABLES, &Bound::default())?,
            Command::Columns(table) => self.columns(&table)?,
            Command::ReadyList => ask::write_list(&mut io::stdout())?,
            Command::Ready(query, set) => self.ready(query, &set)?,
            Command::ShowReady(query) => io::stdout().write_all(query.sql.as_bytes())?,
            Command::Format(format) => self.format = format,
            Command::Timing => {
                self.timing = !self.timing;
                messages::note(if self.timing { "times are shown" } else { "times are not shown" });
            }
        }
        Ok(())
    }

    pub(super) fn columns(&self, table: &str) -> anyhow::Result<()> {
        let table = self.runtime.block_on(self.session.context().table_provider(table)).map_err(QueryError::from)?;
        let schema = table.schema();
        let width = schema.fields().iter().map(|field| field.name().len()).max().unwrap_or(0);
        let mut out = io::stdout().lock();
        for field in schema.fields() {
            let null = if field.is_nullable() { " ?" } else { "" };
            writeln!(out, "{:width$}  {}{null}", field.name(), kind(field.data_type()))?;
        }
        Ok(())
    }

    pub(super) fn ready(&self, query: &Ready, set: &[(String, String)]) -> anyhow::Result<()> {
        let days = self.runtime.block_on(self.session.dataset().dates())?;
        self.answer(query.sql, &Bound::new(query, set, &days)?)
    }

    /// Runs statements and prints their rows, unless Ctrl-C ends it.
    pub(super) fn answer(&self, sql: &str, values: &Bound) -> anyhow::Result<()> {
        for statement in self.session.statements(sql)? {
            let start = Instant::now();
            let (session, values) = (self.session.clone(), values.clone());
            let (format, limit) = (self.format, ask::limit(self.max_rows));
            let mut work = self.runtime.spawn(async move {
                let frame = session.plan(statement, values).await?;
                if frame.schema().fields().is_empty() {
                    return Ok(None);
                }
                session.write(frame, format, limit, &mut io::stdout()).await.map(Some)
            });
            let written = self.watch.block_on(async {
                tokio::select! {
                    written = &mut work => Some(written),
                    _ = tokio::signal::ctrl_c() => None,
                }
            });
            let Some(written) = written else {
                work.abort();
                messages::note("stopped");
                return Ok(());
            };
            if let Some(written) = written?? {
                ask::note_rest(written);
                let rows = if written.rows == 1 { "1 row".to_owned() } else { format!("{} rows", written.rows) };
                let time =
                    if self.timing { format!(", {:.3} s", start.elapsed().as_secs_f64()) } else { String::new() };
                messages::note(&format!("{rows}{time}"));
            }
        }
        Ok(())
    }
}

/// A type by the name that docs/queries.md uses.
pub(super) fn kind(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::Utf8View => "text".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Timestamp(..) => "timestamp".to_owned(),
        DataType::Date32 => "date".to_owned(),
        other => other.to_string().to_lowercase(),
    }
}
