//! The services of the nodes.

use serde::{Deserialize, Serialize};

/// The threads of one service of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Name of the node.
    pub node: String,
    /// The thread name without CPT and number, `ll_ost_io`.
    pub service: String,
    /// Threads that handled an RPC in the log; there may be more that had nothing to do.
    pub threads: u64,
}
