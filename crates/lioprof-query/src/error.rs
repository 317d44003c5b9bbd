//! Errors of queries.

use std::io;

use datafusion::error::DataFusionError;

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The folder does not exist, or it cannot be listed.
    #[error("failed to list `{dataset}`{}", store_hint(dataset))]
    List {
        /// Dataset as the user named it.
        dataset: String,
        /// Cause.
        #[source]
        source: object_store::Error,
    },
    /// The folder contains nothing that lioprof wrote.
    #[error(
        "`{dataset}` is not a dataset: neither it nor a folder below has `manifests/fs=...`; expected a folder that \
         `lioprof daemon` or `lioprof export --parquet` wrote, or s3://BUCKET/PREFIX"
    )]
    NoDataset {
        /// Dataset as the user named it.
        dataset: String,
    },
    /// The location of the dataset is invalid.
    #[error("`{dataset}` is not a valid dataset location: {problem}; expected a folder, or s3://BUCKET/PREFIX")]
    Place {
        /// Dataset as the user named it.
        dataset: String,
        /// Why the location is invalid.
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
    /// The SQL cannot be parsed or run.
    #[error("{}", sql_problem(.0))]
    Sql(Box<DataFusionError>),
    /// The cluster cannot be used.
    #[cfg(feature = "cluster")]
    #[error(transparent)]
    Cluster(#[from] crate::cluster::ClusterError),
    /// Files that the query needed are damaged.
    #[error(
        "{}; SQL needs every file, `lioprof analyze` skips damaged ones and says so, `lioprof rollup --force` rebuilds rollups",
        damaged_files(files)
    )]
    Damaged {
        /// Damaged files, each with its problem.
        files: Vec<(String, String)>,
    },
    /// A file that the query needed is damaged inside.
    #[error(
        "a file of `{dataset}` is damaged: {problem}; `lioprof analyze` reads every file in full and names the damaged one"
    )]
    DamagedInside {
        /// Dataset as the user named it.
        dataset: String,
        /// Message of the engine.
        problem: String,
    },
    /// No ready query has this name.
    #[error("there is no ready query `{name}`{}; `lioprof-query ready` lists them", did_you_mean(near))]
    UnknownReady {
        /// Name that was asked for.
        name: String,
        /// Similar names.
        near: Vec<String>,
    },
    /// The ready query does not have this parameter.
    #[error("ready query `{query}` has no parameter `{name}`; it has {}", list_or_none(known))]
    UnknownParameter {
        /// Ready query.
        query: String,
        /// Name of the parameter that was set.
        name: String,
        /// Parameters that the ready query has.
        known: Vec<String>,
    },
    /// The value of a parameter is not of the parameter's kind.
    #[error("parameter `{name}`: expected {expected}, found `{found}`")]
    Value {
        /// Name of the parameter.
        name: String,
        /// Values that the parameter takes.
        expected: String,
        /// Value that was given.
        found: String,
    },
    /// The rollups do not match the rows, or cannot be read.
    #[error("{problem}")]
    Rollup {
        /// The problem, and what to do about it.
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

    /// Wraps the error of an encoder.
    pub(crate) fn encode(err: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Output { to: "the output".to_owned(), source: io::Error::other(err) }
    }
}

/// Prefixes of DataFusion's messages that only help its developers.
const KINDS: [&str; 6] = [
    "Error during planning: ",
    "SQL error: ",
    "Schema error: ",
    "External error: ",
    "Execution error: ",
    "Arrow error: ",
];

/// DataFusion's message without the details that only help its developers.
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
        return format!("SQL can only read a dataset, {what} is not possible; -o FILE writes a result to a file");
    }
    // After a suggestion, the list of all columns adds nothing.
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
