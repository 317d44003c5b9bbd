//! Figures that a `GROUP BY` over the rows gives.

use std::collections::{BTreeSet, HashMap};

use lioprof_analysis::limits::TOP_OBJECTS;
use lioprof_model::parts::Bucket;
use lioprof_model::parts::of_rows::{Object, OfRows, SentTimes};
use lioprof_model::parts::rollup::NodeFacts;
use lioprof_model::parts::sums::ObjectsSums;
use lioprof_model::traffic::sql;
use serde::Deserialize;

use super::{each, fill, keyed, quoted, rows};
use crate::error::QueryError;
use crate::session::Session;

/// What names an object.
const OBJECT: &str = "target, fid_seq, fid_oid, fid_ver, resource_0, resource_1";
/// Reads and writes of objects.
const OF_OBJECTS: &str = "opcode IN (3, 4) AND target IS NOT NULL AND (fid_seq IS NOT NULL OR resource_0 IS NOT NULL)";

macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("sql/of_rows/", $name, ".sql"))
    };
}

/// Asks for all of them.
pub(super) async fn query(session: &Session, facts: &[NodeFacts]) -> Result<OfRows, QueryError> {
    let servers = servers(facts);
    let top = TOP_OBJECTS.to_string();
    let [read, write, read_or_write] = ["opcode = 3", "opcode = 4", "opcode IN (3, 4)"].map(io_sums);
    let (log2_bytes, bucket) = (log2_ceiling("bytes"), bucket("us"));
    let values = [
        ("servers", servers.as_str()),
        ("mdt", sql::ON_MDT),
        ("service", sql::SERVICE),
        ("log2_bytes", log2_bytes.as_str()),
        ("bucket", bucket.as_str()),
        ("objects", top.as_str()),
        ("object", OBJECT),
        ("of_objects", OF_OBJECTS),
        ("read", read.as_str()),
        ("write", write.as_str()),
        ("read_or_write", read_or_write.as_str()),
    ];
    let statement = |sql: &str| fill(sql, &values);
    let mut faults = keyed(session, &statement(sql!("faults"))).await?;
    faults.extend(keyed(session, &statement(sql!("evictions"))).await?);
    Ok(OfRows {
        combinations: keyed(session, &statement(sql!("combinations"))).await?,
        evidence: rows(session, &statement(sql!("evidence"))).await?,
        target_times: rows(session, &statement(sql!("target_times"))).await?,
        target_sizes: rows(session, &statement(sql!("target_sizes"))).await?,
        part_times: rows(session, &statement(sql!("part_times"))).await?,
        operations: rows(session, &statement(sql!("operations"))).await?,
        operation_times: rows(session, &statement(sql!("operation_times"))).await?,
        objects: objects(session, &statement(sql!("busiest_objects")), &statement(sql!("objects"))).await?,
        all_objects: rows::<ObjectsSums>(session, &statement(sql!("all_objects"))).await?.pop().unwrap_or_default(),
        sent: rows(session, &statement(sql!("sent"))).await?,
        sent_times: sent_times(session, &statement(sql!("sent_times"))).await?,
        throttles: keyed(session, &statement(sql!("throttles"))).await?,
        failures: keyed(session, &statement(sql!("failures"))).await?,
        faults,
    })
}

/// The busiest objects: which they are, then all about them.
async fn objects(session: &Session, which: &str, about: &str) -> Result<Vec<Object>, QueryError> {
    #[derive(Deserialize)]
    struct Name {
        target: String,
        fid_seq: Option<u64>,
        fid_oid: Option<u32>,
        fid_ver: Option<u32>,
        resource_0: Option<u64>,
        resource_1: Option<u64>,
    }
    let busiest: Vec<Name> = rows(session, which).await?;
    if busiest.is_empty() {
        return Ok(Vec::new());
    }
    let word = |word: Option<u64>| word.map_or_else(|| "-".to_owned(), |word| word.to_string());
    let name = |name: &Name| {
        let fid = [name.fid_seq, name.fid_oid.map(u64::from), name.fid_ver.map(u64::from)];
        let words = fid.into_iter().chain([name.resource_0, name.resource_1]).map(word);
        quoted(&format!("{} {}", name.target, words.collect::<Vec<_>>().join(" ")))
    };
    let targets: BTreeSet<String> = busiest.iter().map(|name| quoted(&name.target)).collect();
    let targets: Vec<String> = targets.into_iter().collect();
    let busiest: Vec<String> = busiest.iter().map(name).collect();
    rows(session, &fill(about, &[("targets", &targets.join(", ")), ("busiest", &busiest.join(", "))])).await
}

/// Round trips, whose rows are one for each bucket of each pair: all of them as they come would take ten times the memory.
async fn sent_times(session: &Session, sql: &str) -> Result<Vec<SentTimes>, QueryError> {
    #[derive(Deserialize)]
    struct Row {
        node: String,
        opcode: u32,
        device: String,
        nid: String,
        times: Bucket,
    }
    let mut sums: HashMap<(String, u32, String, String), Vec<Bucket>> = HashMap::new();
    each(session, sql, |Row { node, opcode, device, nid, times }: Row| {
        sums.entry((node, opcode, device, nid)).or_default().push(times);
    })
    .await?;
    let sum = |((node, opcode, device, nid), times)| SentTimes { node, opcode, device, nid, times };
    Ok(sums.into_iter().map(sum).collect())
}

/// The sums of `Io` over rows of these reads or writes.
fn io_sums(which: &str) -> String {
    let count = |rows: &str| format!("count(*) FILTER (WHERE {which}{rows})");
    let sum = |column: &str| format!("coalesce(CAST(sum({column}) FILTER (WHERE {which}) AS BIGINT), 0)");
    let fields = [
        ("rpcs", count("")),
        ("errors", count(" AND (rc < 0 OR dropped)")),
        ("bytes", sum("bytes")),
        ("bytes_min", sum("bytes_min")),
        ("bytes_max", sum("bytes_max")),
        ("exact_rpcs", count(" AND bytes_exact")),
        ("bounded_rpcs", count(" AND bytes IS NOT NULL AND NOT bytes_exact")),
        ("unsized_rpcs", count(" AND bytes IS NULL")),
    ];
    let fields = fields.map(|(name, value)| format!("'{name}', {value}"));
    format!("named_struct({})", fields.join(", "))
}

/// The exponent of the smallest power of two not below a number.
fn log2_ceiling(number: &str) -> String {
    format!("CASE WHEN {number} <= 1 THEN 0 ELSE {} + 1 END", log2_floor(&format!("CAST({number} AS BIGINT) - 1")))
}

/// The exponent of the largest power of two not above a number of at least 1. The length of a number in hexadecimal is a logarithm without
/// rounding.
fn log2_floor(number: &str) -> String {
    let hex = format!("to_hex({number})");
    let first = format!("CASE WHEN {hex} < '2' THEN 0 WHEN {hex} < '4' THEN 1 WHEN {hex} < '8' THEN 2 ELSE 3 END");
    format!("(4 * (character_length({hex}) - 1) + {first})")
}

/// [`lioprof_model::latency::latency_bucket`] of a time.
fn bucket(us: &str) -> String {
    let octave = log2_floor(&format!("greatest({us} / 128, 1)"));
    format!("({octave} * 128 + ({us} >> {octave}))")
}

/// Excludes clients' logs: what they handle are lock callbacks.
fn servers(facts: &[NodeFacts]) -> String {
    let clients: Vec<String> = facts.iter().filter(|facts| facts.client).map(|facts| quoted(&facts.node)).collect();
    if clients.is_empty() { "TRUE".to_owned() } else { format!("node NOT IN ({})", clients.join(", ")) }
}
