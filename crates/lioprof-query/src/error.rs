//! What can go wrong with a query.

use std::io;

use datafusion::error::DataFusionError;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// There is no such folder, or it cannot be listed.
    #[error("failed to list `{dataset}`{}", store_hint(dataset))]
    List {
        /// Dataset as the user named it.
        dataset: String,
        /// Cause.
        #[source]
        source: object_store::Error,
    },
    /// Nothing that lioprof wrote is there.
    #[error(
        "`{dataset}` is not a dataset: neither it nor a folder below has `manifests/fs=...`; expected a folder that \
         `lioprof daemon` or `lioprof export --parquet` wrote, or s3://BUCKET/PREFIX"
    )]
    NoDataset {
        /// Dataset as the user named it.
        dataset: String,
    },
    /// The name of the dataset cannot be understood.
    #[error("`{dataset}` is no place of a dataset: {problem}; expected a folder, or s3://BUCKET/PREFIX")]
    Place {
        /// Dataset as the user named it.
        dataset: String,
        /// What is wrong.
        problem: String,
    },
    /// The object store cannot be used.
    #[error("failed to reach `{dataset}`; credentials, region and endpoint come from AWS_... variables")]
    Store {
        /// Dataset as the user named it.
        dataset: String,
        /// Cause.
        #[source]
        source: object_store::Error,
    },
    /// The SQL cannot be understood, or not be run.
    #[error("{}", sql_problem(.0))]
    Sql(Box<DataFusionError>),
    /// The cluster cannot be used.
    #[cfg(feature = "cluster")]
    #[error(transparent)]
    Cluster(#[from] crate::cluster::ClusterError),
    /// Files that the query needed are damaged.
    #[error(
        "{}; SQL reads every file, `lioprof analyze` says what it leaves out, `lioprof rollup --force` makes rollups anew",
        damaged_files(files)
    )]
    Damaged {
        /// Files, each with what is wrong.
        files: Vec<(String, String)>,
    },
    /// A file that the query needed is damaged inside.
    #[error(
        "a file of `{dataset}` is damaged: {problem}; `lioprof analyze` reads all of each file and says which one it is"
    )]
    DamagedInside {
        /// Dataset as the user named it.
        dataset: String,
        /// What the engine said.
        problem: String,
    },
    /// There is no such ready query.
    #[error("there is no ready query `{name}`{}; `lioprof-query ready` lists them", did_you_mean(near))]
    UnknownReady {
        /// Name that was asked for.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// A parameter that a ready query does not have.
    #[error("ready query `{query}` has no parameter `{name}`; it has {}", list_or_none(known))]
    UnknownParameter {
        /// Ready query.
        query: String,
        /// Parameter that was set.
        name: String,
        /// Parameters that it has.
        known: Vec<String>,
    },
    /// A parameter's value is not of its kind.
    #[error("parameter `{name}`: expected {expected}, found `{found}`")]
    Value {
        /// Parameter.
        name: String,
        /// What it takes.
        expected: String,
        /// What was given.
        found: String,
    },
    /// The rollups do not fit the rows, or cannot be understood.
    #[error("{problem}")]
    Rollup {
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A file could not be written.
    #[error("failed to write {to}")]
    Output {
        /// File, or `the output`.
        to: String,
        /// Cause.
        #[source]
        source: io::Error,
    },
}

impl From<DataFusionError> for QueryError {
    fn from(err: DataFusionError) -> Self {
        Self::Sql(Box::new(err))
    }
}

impl QueryError {
    pub(crate) fn output(to: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let to = to.into();
        move |source| Self::Output { to, source }
    }

    /// An encoder's error.
    pub(crate) fn encode(err: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Output { to: "the output".to_owned(), source: io::Error::other(err) }
    }
}

/// What DataFusion puts before a message: where it comes from, which is of use to its developers.
const KINDS: [&str; 6] = [
    "Error during planning: ",
    "SQL error: ",
    "Schema error: ",
    "External error: ",
    "Execution error: ",
    "Arrow error: ",
];

/// DataFusion's message without what is only of use to its developers.
fn sql_problem(err: &DataFusionError) -> String {
    let text = err.strip_backtrace();
    let mut text = text.as_str();
    for kind in KINDS {
        text = text.strip_prefix(kind).unwrap_or(text);
    }
    for kind in ["ParserError(\"", "TokenizerError(\""] {
        if let Some(inner) = text.strip_prefix(kind).and_then(|rest| rest.strip_suffix("\")")) {
            return format!("the SQL cannot be parsed: {inner}");
        }
    }
    if let Some(what) = text.strip_prefix("DML not supported: ") {
        return format!("SQL can only read a dataset, {what} is not possible; -o FILE writes an answer");
    }
    // After a guess, the list of all columns says no more.
    let text = match text.split_once("\nValid fields are ") {
        Some((problem, _)) if problem.contains("Did you mean") => problem.to_owned(),
        Some((problem, fields)) => format!("{problem} Valid fields are {fields}"),
        None => text.to_owned(),
    };
    text.replace('\n', " ")
}

fn store_hint(dataset: &str) -> &'static str {
    if dataset.starts_with("s3") { " (credentials, region and endpoint come from AWS_... variables)" } else { "" }
}

fn damaged_files(files: &[(String, String)]) -> String {
    let list: Vec<String> = files.iter().map(|(file, problem)| format!("`{file}` is damaged: {problem}")).collect();
    list.join("; ")
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", list_or_none(near)) }
}

fn list_or_none(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
    }
}
