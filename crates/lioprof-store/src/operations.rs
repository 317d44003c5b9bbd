//! Operations of clients as a Parquet file, the table `operations_client`.

use std::path::Path;

use arrow_schema::{Schema, SchemaRef};
use lioprof_model::{OperationRow, Operations, Part};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::plain_rows::{self, plain};

/// Name of the table.
pub const OPERATIONS_CLIENT: &str = "operations_client";

/// A row of the table. Parts are `None` where the logs cannot tell of them; the others add up to `duration_us`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationClient {
    /// Node on which the operation ran; the server for an RPC.
    pub node: String,
    /// Kernel pid of the thread.
    pub pid: u32,
    /// Kind of operation; of an RPC its operation code.
    pub operation: String,
    /// The file; for unlink and its like the directory. Names are not kept.
    pub fid: Option<String>,
    /// When it began, microseconds since the epoch on the node's own clock.
    pub begin_us: i64,
    /// How long it took.
    pub duration_us: u64,
    /// `first_line` or `path_walk`.
    pub begin_evidence: String,
    /// What it returned.
    pub result: Option<i64>,
    /// RPCs that it sent.
    pub rpcs: u32,
    /// Those of them whose server's log is there, too.
    pub joined_rpcs: u32,
    /// The client's own work.
    pub client_work_us: Option<u64>,
    /// Requests waited to be sent.
    pub client_queue_us: Option<u64>,
    /// To the server.
    pub network_out_us: Option<u64>,
    /// Requests waited for a service thread.
    pub server_queue_us: Option<u64>,
    /// Waits for locks.
    pub lock_wait_us: Option<u64>,
    /// The server's work.
    pub server_work_us: Option<u64>,
    /// The server's disk or page cache.
    pub disk_us: Option<u64>,
    /// To the client.
    pub network_back_us: Option<u64>,
    /// RPCs of other threads for the same file.
    pub other_us: Option<u64>,
    /// What the logs do not tell.
    pub unknown_us: Option<u64>,
    /// What it is known by: `logged`, else it was inferred.
    pub evidence: String,
}

plain!(OperationClient);

impl From<&OperationRow> for OperationClient {
    fn from(row: &OperationRow) -> Self {
        Self {
            node: row.node.to_string(),
            pid: row.pid,
            operation: row.asked.name(),
            fid: row.fid.map(|fid| fid.to_string()),
            begin_us: row.begin_us,
            duration_us: row.duration_us,
            begin_evidence: row.begin_evidence.name().to_owned(),
            result: row.result,
            rpcs: row.rpcs,
            joined_rpcs: row.joined_rpcs,
            client_work_us: row.part_us(Part::ClientWork),
            client_queue_us: row.part_us(Part::ClientQueue),
            network_out_us: row.part_us(Part::NetworkOut),
            server_queue_us: row.part_us(Part::ServerQueue),
            lock_wait_us: row.part_us(Part::LockWait),
            server_work_us: row.part_us(Part::ServerWork),
            disk_us: row.part_us(Part::Disk),
            network_back_us: row.part_us(Part::NetworkBack),
            other_us: row.part_us(Part::Other),
            unknown_us: row.part_us(Part::Unknown),
            evidence: row.evidence.name().to_owned(),
        }
    }
}

/// The table's columns.
#[must_use]
pub fn operations_schema() -> SchemaRef {
    Schema::new(plain_rows::fields::<OperationClient>()).into()
}

/// Writes all operations into one file, which replaces one of that name; how many there are.
///
/// # Errors
/// If the file cannot be written.
pub fn write_operations(path: &Path, operations: &Operations) -> Result<usize, StoreError> {
    let rows: Vec<OperationClient> = operations.rows.iter().map(OperationClient::from).collect();
    plain_rows::write(path, &rows)?;
    Ok(rows.len())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lioprof_model::{Asked, BeginEvidence, Evidence, Parts};
    use lustre_debuglog::Opcode;

    use super::*;

    #[test]
    fn rows_come_back() -> Result<(), StoreError> {
        let mut parts = Parts::default();
        parts.add(Part::Disk, 5);
        parts.add(Part::Unknown, 2);
        let row = OperationRow {
            node: Arc::from("oss1"),
            pid: 7,
            asked: Asked::Rpc(Opcode::OST_WRITE),
            fid: None,
            name: Some(Arc::from("secret")),
            begin_us: 1_700_000_000_000_000,
            duration_us: 7,
            begin_evidence: BeginEvidence::FirstLine,
            evidence: Evidence::Logged,
            result: None,
            rpcs: 1,
            joined_rpcs: 1,
            parts,
            stretches: Vec::new(),
            sent: Vec::new(),
            axis_us: 0,
        };
        let want = OperationClient::from(&row);
        assert_eq!((want.client_work_us, want.disk_us, want.unknown_us), (None, Some(5), Some(2)));
        let dir = tempfile::tempdir().map_err(StoreError::io("create", Path::new("temporary folder")))?;
        let path = dir.path().join("operations.parquet");
        for rows in [vec![row], Vec::new()] {
            let count = write_operations(&path, &Operations { rows, ..Operations::default() })?;
            let found: Vec<OperationClient> = plain_rows::read(&path)?;
            assert_eq!(found.len(), count);
            assert!(found.iter().all(|row| *row == want));
        }
        Ok(())
    }
}
