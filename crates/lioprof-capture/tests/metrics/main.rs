//! The metrics over HTTP.

#[cfg(test)]
mod http;
#[cfg(test)]
mod prometheus;
#[cfg(test)]
mod scrape;
