//! Reads inputs that are Parquet datasets, if that is built in.

#[cfg(not(feature = "parquet"))]
pub(crate) use lioprof_analysis::NoStores as Stores;
#[cfg(feature = "parquet")]
pub(crate) use lioprof_store::Datasets as Stores;
