//! Folders of rows among the inputs.

use std::path::Path;

use lioprof_analysis::RowStores;
use lioprof_model::RowSource;

/// Parquet, if it is built in.
pub(crate) struct Stores;

#[cfg(feature = "parquet")]
impl RowStores for Stores {
    fn is_store(&self, dir: &Path) -> bool {
        lioprof_store::is_dataset(dir)
    }

    fn open(&self, dir: &Path) -> Result<Vec<Box<dyn RowSource>>, String> {
        let dataset = lioprof_store::Dataset::open(dir).map_err(|err| err.chain())?;
        Ok(dataset.node_sources())
    }
}

#[cfg(not(feature = "parquet"))]
impl RowStores for Stores {
    fn is_store(&self, _: &Path) -> bool {
        false
    }

    fn open(&self, _: &Path) -> Result<Vec<Box<dyn RowSource>>, String> {
        Ok(Vec::new())
    }
}
