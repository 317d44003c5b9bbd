//! A dataset opened for SQL.

use std::io::Write;
use std::sync::Arc;

use datafusion::arrow::array::{AsArray, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::{ParamValues, TableReference};
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::FunctionRegistry as _;
use datafusion::execution::context::{SQLOptions, SessionContext};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::prelude::SessionConfig;
use datafusion::sql::parser::{DFParserBuilder, Statement};
use futures::StreamExt;

use crate::bind::Bound;
use crate::dataset::Dataset;
use crate::engine::Engine;
use crate::error::QueryError;
use crate::files;
use crate::output::{self, Format, Written};
use crate::sums;
use crate::tables::{self, CATALOG};
use crate::views::VIEWS;

/// Schema of the views.
pub(crate) const VIEW_SCHEMA: &str = "public";

/// Engine and resources of a session.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The engine that runs the queries.
    pub engine: Engine,
    /// Number of partitions for each step of a query on a cluster; `None`: by the number of executors.
    pub partitions: Option<usize>,
    /// Number of partitions that the embedded engine works on at a time; `None`: the number of cores.
    pub threads: Option<usize>,
    /// Memory in bytes of the embedded engine for sorting, joining and grouping, beyond which they use temporary files; `None`:
    /// no limit.
    pub memory_bytes: Option<usize>,
}

/// A dataset whose tables and views can be queried; cheap to clone.
#[derive(Clone)]
pub struct Session {
    context: SessionContext,
    dataset: Dataset,
}

impl Session {
    /// Registers tables and views without reading a file.
    ///
    /// # Errors
    /// If the engine cannot be set up.
    pub async fn open(dataset: Dataset, options: &Options) -> Result<Self, QueryError> {
        // A daemon may be writing: each query lists the folders anew.
        let mut runtime = RuntimeEnvBuilder::new().with_object_list_cache_limit(0);
        if let Some(bytes) = options.memory_bytes {
            runtime = runtime.with_memory_limit(bytes, 1.0);
        }
        let state = SessionStateBuilder::new_with_default_features()
            .with_config(config(options))
            .with_runtime_env(runtime.build_arc()?)
            .build();
        let mut state = match &options.engine {
            Engine::Embedded => state,
            #[cfg(feature = "cluster")]
            Engine::Ballista(scheduler) => crate::cluster::session_state(state, scheduler, options.partitions).await?,
        };
        // Ballista's sessions begin with functions of their own.
        state.register_udf(sums::function())?;
        let context = SessionContext::new_with_state(state);
        tables::register(&context, &dataset)?;
        for view in VIEWS.iter() {
            context.sql(&view.sql).await?;
        }
        Ok(Self { context, dataset })
    }

    /// The engine.
    #[must_use]
    pub fn context(&self) -> &SessionContext {
        &self.context
    }

    /// The dataset.
    #[must_use]
    pub fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Tables and views, sorted by the names that they have in SQL.
    pub async fn tables(&self) -> Vec<(String, Arc<dyn TableProvider>)> {
        let mut tables = Vec::new();
        let catalog = self.context.catalog(CATALOG).expect("the session was made with this catalog");
        for (schema, prefix) in [(VIEW_SCHEMA, ""), (tables::RAW, "raw."), (tables::ROLLUP, "rollup.")] {
            let Some(schema) = catalog.schema(schema) else { continue };
            for name in schema.table_names() {
                if let Ok(Some(table)) = schema.table(&name).await {
                    tables.push((format!("{prefix}{name}"), table));
                }
            }
        }
        tables.sort_by(|a, b| a.0.cmp(&b.0));
        tables
    }

    /// Names of the targets that RPCs were for, sorted.
    ///
    /// # Errors
    /// If the rows cannot be read.
    pub async fn targets(&self) -> Result<Vec<String>, QueryError> {
        let mut targets = Vec::new();
        let sql = "SELECT DISTINCT target FROM rpcs WHERE target IS NOT NULL ORDER BY target";
        let take = |batch: &RecordBatch| {
            targets.extend(column(batch, 0)?.iter().flatten().map(str::to_owned));
            Ok(())
        };
        self.each_batch(sql, take).await?;
        Ok(targets)
    }

    /// Splits SQL into statements.
    ///
    /// # Errors
    /// If the text is not valid SQL.
    pub fn statements(&self, sql: &str) -> Result<Vec<Statement>, QueryError> {
        let mut parser = DFParserBuilder::new(sql).build()?;
        Ok(parser.parse_statements()?.into())
    }

    /// Plans a statement, with `values` for its `$name`s. A statement that creates a view or changes a setting is run.
    ///
    /// # Errors
    /// If it names something that does not exist, or would write.
    pub async fn plan(&self, statement: Statement, values: Bound) -> Result<DataFrame, QueryError> {
        let plan = self.context.state().statement_to_plan(statement).await?;
        // Tables are folders of the dataset: an INSERT would add files to it.
        SQLOptions::new().with_allow_dml(false).verify_plan(&plan)?;
        if let Some(name) = dropped(&plan).filter(|name| is_ours(name)) {
            return Err(QueryError::Drop(name.to_string()));
        }
        let plan = plan.with_param_values(ParamValues::from(values))?;
        Ok(self.context.execute_logical_plan(plan).await?)
    }

    /// Plans SQL that is a single statement.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub async fn query(&self, sql: &str) -> Result<DataFrame, QueryError> {
        let plan = self.context.state().create_logical_plan(sql).await?;
        SQLOptions::new().with_allow_dml(false).verify_plan(&plan)?;
        Ok(self.context.execute_logical_plan(plan).await?)
    }

    /// Runs a plan and writes its rows; a table is cut off after `max_rows`.
    ///
    /// # Errors
    /// If the query or the output fails. The error names damaged files if they are the cause.
    pub async fn write(
        &self,
        frame: DataFrame,
        format: Format,
        max_rows: Option<usize>,
        out: &mut (dyn Write + Send),
    ) -> Result<Written, QueryError> {
        let written = async { output::write(frame.execute_stream().await?, format, max_rows, out).await };
        self.explained(written.await).await
    }

    /// Runs a single SQL statement and passes its rows to `take` as they arrive.
    ///
    /// # Errors
    /// As [`Self::query`]; also if the query or `take` fails. The error names damaged files if they are the cause.
    pub(crate) async fn each_batch(
        &self,
        sql: &str,
        mut take: impl FnMut(&RecordBatch) -> Result<(), QueryError>,
    ) -> Result<(), QueryError> {
        let handed_on = async {
            let mut batches = self.query(sql).await?.execute_stream().await?;
            while let Some(batch) = batches.next().await {
                take(&batch?)?;
            }
            Ok(())
        };
        self.explained(handed_on.await).await
    }

    /// Makes the error of a result name the damaged files, if these are the cause.
    async fn explained<T>(&self, result: Result<T, QueryError>) -> Result<T, QueryError> {
        match result {
            Ok(value) => Ok(value),
            Err(err) => Err(files::explain(err, &self.dataset, &self.context.state()).await),
        }
    }

    /// The plan as text; with `measure`, runs it and adds the rows and time of each step.
    ///
    /// # Errors
    /// If the plan cannot be run.
    pub async fn explain(&self, frame: DataFrame, measure: bool) -> Result<String, QueryError> {
        let batches = frame.explain(false, measure)?.collect().await?;
        let mut text = String::new();
        for batch in &batches {
            let columns = [column(batch, 0)?, column(batch, 1)?];
            for row in 0..batch.num_rows() {
                let [kind, plan] = [&columns[0], &columns[1]].map(|column| column.value(row));
                text.push_str(&format!("-- {kind}\n{}\n", plan.trim_end()));
            }
        }
        Ok(text)
    }
}

/// The table or view that a statement drops.
fn dropped(plan: &LogicalPlan) -> Option<&TableReference> {
    match plan {
        LogicalPlan::Ddl(DdlStatement::DropTable(drop)) => Some(&drop.name),
        LogicalPlan::Ddl(DdlStatement::DropView(drop)) => Some(&drop.name),
        _ => None,
    }
}

/// Whether a table or view is of the dataset, not made by a statement of the session.
fn is_ours(name: &TableReference) -> bool {
    match name.schema().unwrap_or(VIEW_SCHEMA) {
        VIEW_SCHEMA => VIEWS.iter().any(|view| view.name == name.table()),
        schema => schema == tables::RAW || schema == tables::ROLLUP,
    }
}

fn column(batch: &RecordBatch, at: usize) -> Result<StringArray, QueryError> {
    let column = cast(batch.column(at), &DataType::Utf8).map_err(DataFusionError::from)?;
    Ok(column.as_string().clone())
}

fn config(options: &Options) -> SessionConfig {
    let config = SessionConfig::new()
        .with_default_catalog_and_schema(CATALOG, VIEW_SCHEMA)
        .with_information_schema(true)
        // Only joins of sorted rows can go on in files when memory ends.
        .set_bool("datafusion.optimizer.prefer_hash_join", options.memory_bytes.is_none());
    match options.threads {
        Some(threads) => config.with_target_partitions(threads),
        None => config,
    }
}
