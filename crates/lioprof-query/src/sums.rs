//! The function `lioprof_sums(DATASET, NODE, CLOCK)`: the sums of a node, made wherever the engine runs it.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, LargeBinaryArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::DataFusionError;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use lioprof_analysis::{Question, sum_up};
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_store::Dataset as Rows;

use crate::dataset::Dataset;

const NAME: &str = "lioprof_sums";

/// A node, and the clock that its times are to be put on.
pub(crate) struct Wanted {
    pub(crate) node: String,
    pub(crate) clock: Option<ClockLine>,
}

/// Asks for the sums of nodes, each of which may be made by another task.
pub(crate) fn sql(dataset: &str, wanted: &[Wanted]) -> String {
    let row = |Wanted { node, clock }: &Wanted| {
        let clock = serde_json::to_string(clock).expect("numbers");
        format!("({}, {})", quoted(node), quoted(&clock))
    };
    let rows: Vec<String> = wanted.iter().map(row).collect();
    // Grouped, so that rows go to different tasks.
    format!(
        "SELECT node, {NAME}({}, node, clock) AS sums FROM (SELECT node, clock FROM (VALUES {}) AS wanted (node, clock) GROUP BY node, \
         clock)",
        quoted(dataset),
        rows.join(", ")
    )
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The function, to be registered where queries are planned and where they run.
pub(crate) fn function() -> Arc<ScalarUDF> {
    let text = || DataType::Utf8;
    // Volatile: it must not be tried while a query is planned.
    let signature = Signature::exact(vec![text(), text(), text()], Volatility::Volatile);
    Arc::new(ScalarUDF::new_from_impl(Function { signature }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    signature: Signature,
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType, DataFusionError> {
        Ok(DataType::LargeBinary)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue, DataFusionError> {
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(args.args.len());
        for arg in &args.args {
            columns.push(cast(&arg.to_array(args.number_rows)?, &DataType::Utf8)?);
        }
        let [dataset, nodes, clocks] = &columns[..] else {
            return Err(DataFusionError::Internal(format!("{NAME} takes three texts")));
        };
        let column = |array: &ArrayRef| array.as_string::<i32>().clone();
        let (dataset, nodes, clocks) = (column(dataset), column(nodes), column(clocks));
        let mut all = Vec::with_capacity(args.number_rows);
        for at in 0..args.number_rows {
            let problem = |why: String| DataFusionError::Execution(format!("the rows of {}: {why}", nodes.value(at)));
            let clock = serde_json::from_str(clocks.value(at)).map_err(|err| problem(err.to_string()))?;
            all.push(sums(dataset.value(at), nodes.value(at), clock).map_err(problem)?);
        }
        let array: LargeBinaryArray = all.iter().map(|sums| Some(sums.as_slice())).collect();
        debug_assert_eq!(array.len(), args.number_rows);
        Ok(ColumnarValue::Array(Arc::new(array)))
    }
}

/// The sums of a node of a dataset that this process can read.
fn sums(dataset: &str, node: &str, clock: Option<ClockLine>) -> Result<Vec<u8>, String> {
    let place = here(dataset, node)?;
    let mut found = None;
    for folder in &place.folders {
        let rows = Rows::open(folder).map_err(|err| err.chain())?;
        if let Some(problem) = rows.problems().first() {
            return Err(problem.chain());
        }
        let Some(source) = rows.node_source(node) else { continue };
        if found.replace(source).is_some() {
            return Err(format!(
                "they are in several datasets below `{dataset}`, and clocks are compared within one: copy them into one"
            ));
        }
    }
    let mut source = found.ok_or("there are none")?;
    sum_up(source.as_mut(), &Question::default(), clock).map(|sums| sums.to_bytes())
}

/// Where a node's rows can be read as files.
struct Place {
    folders: Vec<PathBuf>,
    /// Of copies of files in an object store: they are there as long as this is.
    _copies: Option<tempfile::TempDir>,
}

fn here(dataset: &str, node: &str) -> Result<Place, String> {
    let (dataset, node) = (dataset.to_owned(), node.to_owned());
    // Whoever evaluates a function is a task of a runtime that must not wait.
    let found = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|err| err.to_string())?.block_on(find(&dataset, &node))
    });
    found.join().unwrap_or_else(|_| Err("their files could not be looked for".to_owned()))
}

async fn find(dataset: &str, node: &str) -> Result<Place, String> {
    let dataset = Dataset::open(dataset).await.map_err(|err| err.to_string())?;
    if let Some(folders) = dataset.local_folders() {
        return Ok(Place { folders, _copies: None });
    }
    let dir = tempfile::tempdir().map_err(|err| err.to_string())?;
    let folders = dataset.copy_node(node, dir.path()).await.map_err(|err| err.to_string())?;
    Ok(Place { folders, _copies: Some(dir) })
}
