//! Ready-made queries for the usual questions.
//!
//! Each is a file of SQL whose head says what it answers, its parameters and its columns:
//!
//! ```text
//! -- Which clients read and wrote the most?
//! --
//! -- param from time: from this moment on
//! -- param limit number 10: rows
//! -- column nid: client
//! ```

use std::sync::LazyLock;

use crate::error::QueryError;

/// Kind of values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// A point in time; in SQL, microseconds since the epoch.
    Time,
    /// An operation, by its name in either case or its number; in SQL, the name as rows have it.
    Opcode,
}

/// A parameter of a ready query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name, without the `$` that it has in the SQL.
    pub name: String,
    /// Kind of values that it takes.
    pub kind: Kind,
    /// Value if it is not set; if `None`, it is null, which the query treats as "any".
    pub default: Option<String>,
    /// Meaning.
    pub what: String,
}

/// A column of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, including the unit.
    pub name: String,
    /// Meaning.
    pub what: String,
}

/// A ready query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Name.
    pub name: String,
    /// Question that it answers.
    pub question: String,
    /// Parameters that can be set.
    pub parameters: Vec<Parameter>,
    /// Columns of the result.
    pub columns: Vec<Column>,
    /// SQL: the whole file, with its head.
    pub sql: &'static str,
}

macro_rules! files {
    ($($name:literal)+) => { &[$(($name, include_str!(concat!("ready/", $name, ".sql")))),+] };
}

const FILES: &[(&str, &str)] = files! {
    "bandwidth-per-second"
    "busiest-clients"
    "busiest-jobs"
    "bytes-per-target"
    "callback-answers"
    "errors-by-client"
    "evictions"
    "hottest-objects"
    "jobs-by-lock-wait"
    "lock-fights"
    "p99-per-minute"
    "slowest-rpcs"
    "small-writes-by-job"
    "who-took-time"
    "who-used-target"
};

static READY: LazyLock<Vec<Ready>> = LazyLock::new(|| {
    let parsed = FILES.iter().map(|(name, sql)| Ready::parse(name, sql));
    parsed.collect::<Result<_, _>>().expect("a test parses all files")
});

/// All ready queries, by name.
#[must_use]
pub fn all() -> &'static [Ready] {
    &READY
}

/// The ready query with this name.
///
/// # Errors
/// If there is no such query.
pub fn find(name: &str) -> Result<&'static Ready, QueryError> {
    all().iter().find(|ready| ready.name == name).ok_or_else(|| {
        let words: Vec<&str> = name.split(['-', '_', ' ']).filter(|word| word.len() > 2).collect();
        let similar = all().iter().filter(|ready| words.iter().any(|word| ready.name.contains(word)));
        QueryError::UnknownReady(name.to_owned(), similar.map(|it| it.name.clone()).take(3).collect())
    })
}

impl Ready {
    fn parse(name: &str, sql: &'static str) -> Result<Self, String> {
        let mut ready =
            Self { name: name.to_owned(), question: String::new(), parameters: Vec::new(), columns: Vec::new(), sql };
        for line in sql.lines().map_while(|line| line.strip_prefix("--")).map(str::trim) {
            let (head, what) = line.split_once(": ").unwrap_or((line, ""));
            let words: Vec<&str> = head.split(' ').collect();
            match words[..] {
                ["param", name, kind, ref default @ ..] => ready.parameters.push(Parameter {
                    name: name.to_owned(),
                    kind: match kind {
                        "text" => Kind::Text,
                        "number" => Kind::Number,
                        "time" => Kind::Time,
                        "opcode" => Kind::Opcode,
                        _ => return Err(format!("{}: no kind of parameter: {line}", ready.name)),
                    },
                    default: default.first().map(|&it| it.to_owned()),
                    what: what.to_owned(),
                }),
                ["column", name] => ready.columns.push(Column { name: name.to_owned(), what: what.to_owned() }),
                _ if line.is_empty() => {}
                _ if ready.question.is_empty() => ready.question = line.to_owned(),
                _ => return Err(format!("{}: neither a parameter nor a column: {line}", ready.name)),
            }
        }
        Ok(ready)
    }
}
