//! Analyzes a dataset as `lioprof analyze` does: the sums of each node are made by whoever runs the queries, a node at a time, and merged
//! here. Sums that `lioprof rollup` has made of the same rows are taken as they are.

use std::collections::BTreeMap;
use std::path::Path;

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::error::DataFusionError;
use lioprof_analysis::{ClockFacts, Config, NodeSums, Outcome, Question, SUMS_SCHEMA, analyze_sums, stale_clocks};
use lioprof_insight::{Limits, find_and_predict};
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_store::{ROLLUPS, SUMS, SumsFile};

use crate::error::QueryError;
use crate::session::Session;
use crate::sums::{self, Wanted};

/// Analyzes the dataset of a session.
///
/// # Errors
/// If a node's rows or sums cannot be read.
pub async fn analyze(session: &Session, config: &Config) -> Result<Outcome, QueryError> {
    let mut nodes = kept(session).await?;
    let all = session.dataset().nodes().await?;
    let wanted = |node: &String, clock: Option<ClockLine>| Wanted { node: node.clone(), clock };
    let lacking: Vec<Wanted> =
        all.iter().filter(|node| !nodes.contains_key(*node)).map(|it| wanted(it, None)).collect();
    nodes.extend(made(session, &lacking).await?);
    // Clocks are compared once all nodes have said what they know.
    let facts = nodes.values().map(ClockFacts::from).collect();
    let stale: Vec<Wanted> =
        stale_clocks(facts, &BTreeMap::new()).into_iter().map(|(node, clock)| Wanted { node, clock }).collect();
    for (node, mut again) in made(session, &stale).await? {
        if let Some(before) = nodes.remove(&node) {
            again = again.compared_as(before);
        }
        nodes.insert(node, again);
    }
    let sums = nodes.into_values().collect();
    let mut outcome = analyze_sums(sums, Path::new(session.dataset().name()), config);
    find_and_predict(&mut outcome.analysis, &Limits::default(), &mut outcome.replay);
    Ok(outcome)
}

/// The sums that are kept beside the rows and are of exactly these, by node.
async fn kept(session: &Session) -> Result<BTreeMap<String, NodeSums>, QueryError> {
    let dataset = session.dataset();
    let parts = dataset.parts().await?;
    let mut nodes = BTreeMap::new();
    for file in dataset.files(&format!("{ROLLUPS}/{SUMS}"), "sums").await? {
        // What cannot be read was made by another program, or is damaged: the rows say the same.
        let Ok(SumsFile { header, sums }) = SumsFile::from_bytes(&dataset.read(&file).await?) else { continue };
        let is_current = header.schema == SUMS_SCHEMA && parts.get(&header.node) == Some(&header.parts);
        let sums = is_current.then(|| NodeSums::from_bytes(&sums).ok()).flatten();
        if let Some(sums) = sums.filter(|sums| sums.answers(&header.node, &Question::default())) {
            nodes.insert(header.node, sums);
        }
    }
    Ok(nodes)
}

/// Has sums made of nodes' rows.
async fn made(session: &Session, wanted: &[Wanted]) -> Result<BTreeMap<String, NodeSums>, QueryError> {
    let mut nodes = BTreeMap::new();
    if wanted.is_empty() {
        return Ok(nodes);
    }
    let sql = sums::sql(session.dataset().name(), wanted);
    let take = |batch: &RecordBatch| {
        let column = |at: usize, kind: &DataType| cast(batch.column(at), kind).map_err(DataFusionError::from);
        let (names, sums) = (column(0, &DataType::Utf8)?, column(1, &DataType::LargeBinary)?);
        let (names, sums) = (names.as_string::<i32>(), sums.as_binary::<i64>());
        for (node, bytes) in names.iter().flatten().zip(sums.iter().flatten()) {
            let sums = NodeSums::from_bytes(bytes).map_err(|why| QueryError::Sums(node.to_owned(), why))?;
            nodes.insert(node.to_owned(), sums);
        }
        Ok(())
    };
    session.each_batch(&sql, take).await?;
    Ok(nodes)
}
