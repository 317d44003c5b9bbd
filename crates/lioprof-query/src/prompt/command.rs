//! What a line says.

use lioprof_query::Format;
use lioprof_query::ready::{self, Ready};

use crate::args;

pub(super) const HELP: &str = "\
SELECT ...;                  run SQL; it may take several lines
\\d                           list tables and views
\\d NAME                      columns of a table or view
\\ready                       list the ready queries
\\ready NAME                  run one
\\ready NAME PARAM=VALUE ...  run one with parameters
\\show NAME                   parameters, columns and SQL of a ready query
\\format table|csv|json       how rows are printed
\\timing                      show or hide how long queries take
\\q                           quit (or Ctrl-D)
Ctrl-C stops a query. Up and Ctrl-R find what was typed before, Tab completes names.
";

/// What begins with a backslash, for completion.
pub(super) const NAMES: [&str; 8] = ["\\?", "\\d", "\\format", "\\q", "\\quit", "\\ready", "\\show", "\\timing"];

/// What the user wants.
pub(super) enum Command {
    /// Run SQL.
    Sql(String),
    Help,
    Tables,
    Columns(String),
    ReadyList,
    Ready(&'static Ready, Vec<(String, String)>),
    ShowReady(&'static Ready),
    Format(Format),
    Timing,
    Quit,
}

impl Command {
    /// Nothing for an empty line.
    pub(super) fn parse(line: &str) -> Result<Option<Self>, String> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(None);
        }
        if !line.starts_with('\\') {
            return Ok(Some(Self::Sql(line.to_owned())));
        }
        // Somebody used to SQL ends everything with a semicolon.
        let words: Vec<&str> = line.trim_end_matches(';').split_whitespace().collect();
        let command = match words[..] {
            ["\\q" | "\\quit"] => Self::Quit,
            ["\\?" | "\\h" | "\\help"] => Self::Help,
            ["\\d"] => Self::Tables,
            ["\\d", name] => Self::Columns(name.to_owned()),
            ["\\ready"] => Self::ReadyList,
            ["\\ready", name, ref set @ ..] => {
                let set = set.iter().map(|text| args::setting(text)).collect::<Result<_, _>>()?;
                Self::Ready(ready::find(name).map_err(|err| err.to_string())?, set)
            }
            ["\\show", name] => Self::ShowReady(ready::find(name).map_err(|err| err.to_string())?),
            ["\\format", name] => Self::Format(args::terminal_format(name)?),
            ["\\timing"] => Self::Timing,
            _ => return Err(format!("`{line}` is no command; \\? lists them")),
        };
        Ok(Some(command))
    }
}
