//! Kinds of targets.

use serde::{Deserialize, Serialize};

/// Kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TargetKindName {
    /// Object storage target.
    Ost,
    /// Metadata target.
    Mdt,
    /// Management service.
    Mgs,
}
