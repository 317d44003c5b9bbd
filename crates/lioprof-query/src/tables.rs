//! The tables of a dataset, as stored in its files.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::{MemorySchemaProvider, SchemaProvider};
use datafusion::common::DataFusionError;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::context::SessionContext;
use url::Url;

use crate::dataset::Dataset;

/// The catalog of a session.
pub(crate) const CATALOG: &str = "lioprof";

/// Schema of the tables as stored in the files; the unqualified names belong to the views.
pub(crate) const RAW: &str = "raw";

/// Schema of what `lioprof rollup` makes for dashboards.
pub(crate) const ROLLUP: &str = "rollup";

/// Registers the tables of a dataset.
pub(crate) fn register(context: &SessionContext, dataset: &Dataset) -> Result<(), DataFusionError> {
    let (url, store) = dataset.store();
    context.register_object_store(&url, store);
    // Ballista cannot send views of texts: a batch of a few rows takes the texts of all along.
    let views = context.copied_config().options().execution.parquet.schema_force_view_types;
    let text = if views { DataType::Utf8View } else { DataType::Utf8 };
    let raw = MemorySchemaProvider::new();
    for (name, schema) in lioprof_store::table_schemas() {
        let partitions = [("fs", text.clone()), ("node", text.clone()), ("date", DataType::Date32)];
        let table = listing(dataset.table_urls(name), &queried(&schema, &text), &partitions)?;
        raw.register_table(name.to_owned(), Arc::new(table))?;
    }
    let catalog = context.catalog(CATALOG).expect("the session was made with this catalog");
    catalog.register_schema(RAW, Arc::new(raw))?;
    let rollup = MemorySchemaProvider::new();
    let seconds = listing(dataset.table_urls(&seconds_folder()), &lioprof_store::seconds_schema(), &[])?;
    rollup.register_table(lioprof_store::SECONDS.to_owned(), Arc::new(seconds))?;
    catalog.register_schema(ROLLUP, Arc::new(rollup))?;
    Ok(())
}

/// The folder of the table of seconds in a dataset.
pub(crate) fn seconds_folder() -> String {
    format!("{}/{}", lioprof_store::ROLLUPS, lioprof_store::SECONDS)
}

fn listing(
    folders: Vec<Url>,
    schema: &Schema,
    partitions: &[(&str, DataType)],
) -> Result<ListingTable, DataFusionError> {
    let urls = folders.into_iter().map(|url| ListingTableUrl::try_new(url, None)).collect::<Result<Vec<_>, _>>()?;
    let partitions = partitions.iter().map(|(name, kind)| ((*name).to_owned(), kind.clone()));
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
        .with_file_extension(".parquet")
        .with_table_partition_cols(partitions.collect());
    let config = ListingTableConfig::new_with_multi_paths(urls)
        .with_listing_options(options)
        .with_schema(Arc::new(schema.clone()));
    ListingTable::try_new(config)
}

/// A schema with the type of texts for queries: plain, since grouping and joining would copy out of the files' dictionaries.
fn queried(schema: &Schema, text: &DataType) -> Schema {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Dictionary(..) => Arc::new(field.as_ref().clone().with_data_type(text.clone())),
        _ => Arc::clone(field),
    };
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}
