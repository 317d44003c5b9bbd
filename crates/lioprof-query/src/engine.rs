//! The engine that runs the queries.

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "cluster")]
use crate::cluster::SchedulerAddress;

/// The engine that runs the queries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// DataFusion in this process.
    #[default]
    Embedded,
    /// The executors of a Ballista scheduler.
    #[cfg(feature = "cluster")]
    Ballista(SchedulerAddress),
}

/// A text that does not name an engine.
#[derive(Debug, thiserror::Error)]
#[error("expected `embedded` or ballista://HOST:PORT; found `{text}`{hint}")]
pub struct UnknownEngine {
    text: String,
    hint: &'static str,
}

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(text: &str) -> Result<Self, UnknownEngine> {
        let unknown = |hint| UnknownEngine { text: text.to_owned(), hint };
        match text {
            "embedded" => Ok(Self::Embedded),
            #[cfg(feature = "cluster")]
            _ if text.starts_with("ballista://") => text.parse().map(Self::Ballista).map_err(|_| unknown("")),
            #[cfg(not(feature = "cluster"))]
            _ if text.starts_with("ballista://") => {
                Err(unknown("; this build does not support clusters (feature `cluster`)"))
            }
            _ => Err(unknown("")),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("embedded"),
            #[cfg(feature = "cluster")]
            Self::Ballista(scheduler) => scheduler.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Engine;

    #[test]
    fn engines_read_back_what_they_show() {
        assert_eq!("embedded".parse::<Engine>().unwrap(), Engine::Embedded);
        #[cfg(feature = "cluster")]
        assert_eq!("ballista://head:50050".parse::<Engine>().unwrap().to_string(), "ballista://head:50050");
    }

    #[test]
    fn an_engine_that_is_not_there_is_told() {
        for text in ["duckdb", "ballista:head", "http://head:50050", "ballista://"] {
            let error = text.parse::<Engine>().unwrap_err().to_string();
            assert!(error.contains(&format!("found `{text}`")), "{error}");
        }
    }
}
