//! Kinds of targets.

use lustre_debuglog::TargetKind;
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

impl From<TargetKind> for TargetKindName {
    fn from(kind: TargetKind) -> Self {
        match kind {
            TargetKind::Ost => Self::Ost,
            TargetKind::Mdt => Self::Mdt,
            TargetKind::Mgs => Self::Mgs,
        }
    }
}
