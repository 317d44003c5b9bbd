//! Which files of a dataset are damaged: an engine's message does not always say.

use std::slice;
use std::sync::Arc;

use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use futures::{StreamExt, TryStreamExt, stream};
use object_store::{ObjectMeta, ObjectStore};

use crate::dataset::Dataset;
use crate::error::QueryError;
use crate::tables::seconds_folder;

/// Files that are looked at together: an object store answers each after a while.
const TOGETHER: usize = 16;

/// The error, or, if it came from reading files, which ones are at fault.
pub(crate) async fn explain(err: QueryError, dataset: &Dataset, state: &SessionState) -> QueryError {
    let QueryError::Sql(cause) = &err else { return err };
    let problem = match cause.find_root() {
        DataFusionError::ParquetError(problem) => problem.to_string(),
        DataFusionError::ArrowError(problem, _) if matches!(**problem, ArrowError::ParquetError(_)) => {
            problem.to_string()
        }
        // A column that no file may lack is read as null where it is not there.
        DataFusionError::ArrowError(problem, _) if matches!(**problem, ArrowError::InvalidArgumentError(_)) => {
            let files = damaged(dataset, state).await;
            return if files.is_empty() { err } else { QueryError::Damaged(files) };
        }
        _ => return err,
    };
    let files = damaged(dataset, state).await;
    if files.is_empty() {
        return QueryError::DamagedInside(dataset.name().to_owned(), problem);
    }
    QueryError::Damaged(files)
}

/// Files whose footer cannot be read or lacks a column, each with what is wrong; sorted.
async fn damaged(dataset: &Dataset, state: &SessionState) -> Vec<(String, String)> {
    let (_, store) = dataset.store();
    let mut found = Vec::new();
    let rows = lioprof_store::table_schemas().into_iter().map(|(table, schema)| (table.to_owned(), schema));
    for (table, schema) in rows.chain([(seconds_folder(), lioprof_store::seconds_schema())]) {
        for folder in dataset.table_folders(&table) {
            let files = store.list(Some(&folder)).try_filter(|file| {
                let parquet = file.location.extension() == Some("parquet");
                async move { parquet }
            });
            let files: Vec<ObjectMeta> = files.filter_map(|file| async move { file.ok() }).collect().await;
            let looks = stream::iter(files).map(|file| look(state, &store, file, &schema)).buffered(TOGETHER);
            found.extend(looks.filter_map(|it| async move { it }).collect::<Vec<_>>().await);
        }
    }
    found
}

async fn look(
    state: &SessionState,
    store: &Arc<dyn ObjectStore>,
    file: ObjectMeta,
    expected: &Schema,
) -> Option<(String, String)> {
    let problem = match ParquetFormat::default().infer_schema(state, store, slice::from_ref(&file)).await {
        Ok(schema) => {
            let is_missing =
                |field: &&FieldRef| !field.is_nullable() && schema.column_with_name(field.name()).is_none();
            let missing = expected.fields().iter().find(is_missing)?;
            format!("it has no column `{}`", missing.name())
        }
        Err(err) => match err.find_root() {
            DataFusionError::ParquetError(problem) => problem.to_string(),
            other => other.strip_backtrace(),
        },
    };
    Some((format!("/{}", file.location), problem))
}
