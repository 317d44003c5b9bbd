//! Analyzes a dataset with an SQL engine, with the same results as `lioprof analyze` of the same rows.
//!
//! * [`of_rows`]: figures from a `GROUP BY` over the rows;
//! * [`rollups`]: figures that need the order of events, from the per-node rollups of `lioprof rollup`;
//! * `lioprof-analysis` combines both, `lioprof-insight` derives findings.
//!
//! All statements are plain SQL, in files beside this one.

mod current;
mod of_rows;
mod rollups;

use std::collections::BTreeMap;
use std::path::Path;

use datafusion::arrow::array::RecordBatch;
use lioprof_analysis::{Config, Outcome, assemble};
use lioprof_insight::{Limits, find_and_predict};
use lioprof_model::parts::Keyed;
use lioprof_model::parts::of_rows::OfRows;
use lioprof_model::parts::rollup::{NodeFacts, Rollup};
use serde::de::DeserializeOwned;

use crate::error::QueryError;
use crate::session::Session;

/// Analyzes the dataset of a session.
///
/// # Errors
/// If a query fails, or a node has no up-to-date rollup.
pub async fn analyze(session: &Session, config: &Config) -> Result<Outcome, QueryError> {
    let nodes = rollups::nodes(session).await?;
    current::check(session.dataset(), &nodes).await?;
    let facts: Vec<NodeFacts> = nodes.iter().map(rollups::facts).collect::<Result<_, _>>()?;
    let rows = of_rows::query(session, &facts).await?;
    check_rows(&rows, &facts)?;
    let rollup: Rollup = rollups::query(session, facts).await?;
    let mut outcome = assemble(&rows, &rollup, Path::new(session.dataset().name()), config)
        .map_err(|err| QueryError::Rollup(err.to_string()))?;
    find_and_predict(&mut outcome.analysis, &Limits::default(), &mut outcome.replay);
    Ok(outcome)
}

/// Checks that rows and rollups are of the same nodes and have the same number of RPCs, which reveals duplicate and missing files.
fn check_rows(rows: &OfRows, facts: &[NodeFacts]) -> Result<(), QueryError> {
    const EVERY_FILE: &str =
        "SQL sees every file, also of parts without a manifest; delete those, or copy the dataset again";
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for combination in &rows.combinations {
        *found.entry(&combination.key.node).or_default() += combination.sums.rpcs;
    }
    for node in rows.sent.iter().map(|sent| &sent.node).chain(rows.faults.iter().map(|fault| &fault.key.node)) {
        found.entry(node).or_default();
    }
    for facts in facts.iter().filter(|facts| !facts.client) {
        let (node, expected) = (facts.node.as_str(), facts.sums.rpcs);
        let found = found.remove(node).unwrap_or(0);
        if found != expected {
            let problem =
                format!("node {node} has {found} RPCs in its files and {expected} in its rollup: {EVERY_FILE}");
            return Err(QueryError::Rollup(problem));
        }
    }
    // Every node with a manifest has a rollup: these have neither.
    if let Some((node, rpcs)) = found.into_iter().next() {
        let problem = format!(
            "node {node} has {rpcs} RPCs in its files, but neither a manifest nor a rollup, so `lioprof analyze` does not read them: \
             {EVERY_FILE}"
        );
        return Err(QueryError::Rollup(problem));
    }
    Ok(())
}

/// The rows of a query.
async fn rows<T: DeserializeOwned>(session: &Session, sql: &str) -> Result<Vec<T>, QueryError> {
    let mut rows = Vec::new();
    each(session, sql, |row| rows.push(row)).await?;
    Ok(rows)
}

/// The rows of a query that are keys and sums, whose columns stand side by side.
async fn keyed<K: DeserializeOwned, S: DeserializeOwned>(
    session: &Session,
    sql: &str,
) -> Result<Vec<Keyed<K, S>>, QueryError> {
    let mut rows = Vec::new();
    let read = |batch: &RecordBatch| {
        let (keys, sums) = (parsed(batch, sql)?, parsed(batch, sql)?);
        rows.extend(keys.into_iter().zip(sums).map(|(key, sums)| Keyed { key, sums }));
        Ok(())
    };
    session.each_batch(sql, read).await?;
    Ok(rows)
}

/// Passes the rows of a query to `take` as they arrive.
async fn each<T: DeserializeOwned>(session: &Session, sql: &str, mut take: impl FnMut(T)) -> Result<(), QueryError> {
    let read = |batch: &RecordBatch| {
        parsed(batch, sql)?.into_iter().for_each(&mut take);
        Ok(())
    };
    session.each_batch(sql, read).await
}

/// Rows made of the columns that are named as their fields.
fn parsed<T: DeserializeOwned>(batch: &RecordBatch, sql: &str) -> Result<Vec<T>, QueryError> {
    serde_arrow::from_record_batch(batch).map_err(|err| QueryError::Rollup(format!("{err} in the answer to\n{sql}")))
}

/// Columns that are added up.
fn sums(fields: &[&str]) -> String {
    let sums: Vec<String> = fields.iter().map(|field| format!("sum({field}) AS {field}")).collect();
    sums.join(",\n    ")
}

/// Fields of a column that are added up; of no row the sum is 0.
fn struct_of_sums(column: &str, fields: &[&str]) -> String {
    let sum = |field: &&str| format!("'{field}', coalesce(CAST(sum(get_field({column}, '{field}')) AS BIGINT), 0)");
    let sums: Vec<String> = fields.iter().map(sum).collect();
    format!("named_struct({}) AS {column}", sums.join(", "))
}

/// Puts values into a statement: only numbers and conditions from this module, never user input.
fn fill(sql: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(sql.to_owned(), |sql, (name, value)| sql.replace(&format!("{{{name}}}"), value))
}

/// A text as an SQL literal.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
