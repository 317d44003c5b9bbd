//! Figures that a `GROUP BY` over the rows gives.

use lioprof_analysis::limits::TOP_OBJECTS;
use lioprof_model::parts::of_rows::{Objects, OfRows};
use lioprof_model::parts::rollup::NodeFacts;

use super::{fill, quoted, rows};
use crate::error::QueryError;
use crate::session::Session;

/// Whether an RPC was one of a metadata target: the service's threads say it where no target is known.
const MDT: &str = "(starts_with(thread, 'mdt') OR coalesce(target LIKE '%-MDT%', FALSE))";
/// The service of a thread: `ll_ost_io00_002` is one of `ll_ost_io`.
const SERVICE: &str = "rtrim(regexp_replace(thread, '_[0-9]*$', ''), '0123456789')";

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("sql/of_rows/", $name, ".sql"))
    };
}

/// Asks for all of them.
pub(super) async fn query(session: &Session, facts: &[NodeFacts]) -> Result<OfRows, QueryError> {
    let servers = servers(facts);
    let objects = TOP_OBJECTS.to_string();
    let values = [("servers", servers.as_str()), ("mdt", MDT), ("service", SERVICE), ("objects", objects.as_str())];
    let statement = |sql: &str| fill(sql, &values);
    let mut faults = rows(session, &statement(sql!("faults"))).await?;
    faults.extend(rows(session, &statement(sql!("evictions"))).await?);
    Ok(OfRows {
        strands: rows(session, &statement(sql!("strands"))).await?,
        evidence: rows(session, &statement(sql!("evidence"))).await?,
        target_times: rows(session, &statement(sql!("target_times"))).await?,
        target_sizes: rows(session, &statement(sql!("target_sizes"))).await?,
        operations: rows(session, &statement(sql!("operations"))).await?,
        operation_times: rows(session, &statement(sql!("operation_times"))).await?,
        objects: rows(session, &statement(sql!("objects"))).await?,
        all_objects: rows::<Objects>(session, &statement(sql!("all_objects"))).await?.pop().unwrap_or_default(),
        sent: rows(session, &statement(sql!("sent"))).await?,
        sent_times: rows(session, &statement(sql!("sent_times"))).await?,
        faults,
    })
}

/// What a client handles are answers to callbacks, and its log is there for other figures.
fn servers(facts: &[NodeFacts]) -> String {
    let clients: Vec<String> = facts.iter().filter(|facts| facts.client).map(|facts| quoted(&facts.node)).collect();
    if clients.is_empty() { "TRUE".to_owned() } else { format!("node NOT IN ({})", clients.join(", ")) }
}
