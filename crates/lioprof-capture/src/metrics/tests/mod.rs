//! The metrics over HTTP.

mod http;
mod prometheus;
mod scrape;
