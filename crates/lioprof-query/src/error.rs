//! Errors of queries.

use std::io;

use datafusion::error::DataFusionError;

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The dataset of this name does not exist, or it cannot be listed.
    #[error("failed to list `{0}`{hint}", hint = store_hint(.0))]
    List(String, #[source] object_store::Error),
    /// The folder of this name contains nothing that lioprof wrote.
    #[error(
        "`{0}` is not a dataset: neither it nor a folder below has `manifests/fs=...`; expected a folder that \
         `lioprof daemon` or `lioprof export --parquet` wrote, or s3://BUCKET/PREFIX"
    )]
    NoDataset(String),
    /// The location of the dataset is invalid, and why.
    #[error("`{0}` is not a valid dataset location: {1}; expected a folder, or s3://BUCKET/PREFIX")]
    Place(String, String),
    /// The object store of the dataset of this name cannot be used.
    #[error("failed to reach `{0}`; credentials, region and endpoint come from AWS_... variables")]
    Store(String, #[source] object_store::Error),
    /// The SQL cannot be parsed or run.
    #[error("{}", sql_problem(.0))]
    Sql(Box<DataFusionError>),
    /// A statement would drop this table or view of the dataset.
    #[error("`{0}` belongs to the dataset, which SQL can only read; DROP is for views that the session has created")]
    Drop(String),
    /// The cluster cannot be used.
    #[cfg(feature = "cluster")]
    #[error(transparent)]
    Cluster(#[from] crate::cluster::ClusterError),
    /// Files that the query needed are damaged, each with its problem.
    #[error(
        "{}; SQL needs every file, `lioprof analyze` skips damaged ones and says so, `lioprof rollup --force` rebuilds rollups",
        damaged_files(.0)
    )]
    Damaged(Vec<(String, String)>),
    /// A file of the dataset of this name is damaged inside, and what the engine says of it.
    #[error("a file of `{0}` is damaged: {1}; `lioprof analyze` reads every file in full and names the damaged one")]
    DamagedInside(String, String),
    /// No ready query has this name; others have similar ones.
    #[error("there is no ready query `{0}`{hint}; `lioprof-query ready` lists them", hint = did_you_mean(.1))]
    UnknownReady(String, Vec<String>),
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
    /// The sums of this node are none; what was expected and what was found.
    #[error("the sums of {0}: {1}; is the program on the other hosts of the same version?")]
    Sums(String, String),
    /// A file, or `the output`, could not be written.
    #[error("failed to write {0}")]
    Output(String, #[source] io::Error),
}

impl From<DataFusionError> for QueryError {
    fn from(err: DataFusionError) -> Self {
        Self::Sql(Box::new(err))
    }
}

impl QueryError {
    pub(crate) fn output(to: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let to = to.into();
        move |err| Self::Output(to, err)
    }

    /// Wraps the error of an encoder.
    pub(crate) fn encode(err: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Output("the output".to_owned(), io::Error::other(err))
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
    if let DataFusionError::ResourcesExhausted(problem) = err.find_root() {
        return memory_problem(problem);
    }
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

/// That memory is short, in terms of the options that change it.
fn memory_problem(problem: &str) -> String {
    // What comes before names settings of the engine, what comes after its operators.
    let wanted = problem.split("Failed to allocate ").nth(1).and_then(|rest| rest.split(" for ").next());
    let wanted = wanted.map_or_else(|| problem.replace('\n', " "), |wanted| format!("it wanted {wanted}"));
    format!(
        "the query needs more memory than --memory-mib allows ({wanted}): allow more, at least 10 MiB for each thread that sorts, \
         or fewer --threads"
    )
}

fn store_hint(dataset: &str) -> &'static str {
    if dataset.starts_with("s3") { " (credentials, region and endpoint come from AWS_... variables)" } else { "" }
}

fn damaged_files(files: &[(String, String)]) -> String {
    let list: Vec<String> = files.iter().map(|(file, problem)| format!("`{file}` is damaged: {problem}")).collect();
    list.join("; ")
}

fn did_you_mean(similar: &[String]) -> String {
    if similar.is_empty() { String::new() } else { format!(" (did you mean {}?)", list_or_none(similar)) }
}

fn list_or_none(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
    }
}
