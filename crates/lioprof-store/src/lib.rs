//! RPC rows and lock events as Parquet files, and back.
#![forbid(unsafe_code)]
