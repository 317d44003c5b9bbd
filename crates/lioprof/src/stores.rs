//! Folders of rows among the inputs: Parquet, if it is built in.

#[cfg(not(feature = "parquet"))]
pub(crate) use lioprof_analysis::NoStores as Stores;
#[cfg(feature = "parquet")]
pub(crate) use lioprof_store::Datasets as Stores;
