//! Classes of sizes, and what tells streams of requests apart.

use lioprof_model::{Direction, Symbol};
use serde::{Deserialize, Serialize};

use super::super::objects::ObjectKey;

/// RPCs of so many bytes at most are small.
pub(super) const SMALL_BYTES: u64 = 64 << 10;

/// RPCs of so many bytes at least are large.
pub(super) const LARGE_BYTES: u64 = 512 << 10;

/// Streams of fewer RPCs are short: there is one step at most, and an order takes two.
pub(super) const SHORT_RPCS: u64 = 3;

/// A client's reads or writes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StreamKey {
    pub(super) object: ObjectKey,
    pub(super) nid: Symbol,
    pub(super) direction: Direction,
}

/// Bytes of an RPC: small, large, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Class {
    Small,
    Large,
}

impl Class {
    pub(super) fn of(bytes: u64) -> Option<Self> {
        match bytes {
            0 => None,
            1..=SMALL_BYTES => Some(Self::Small),
            LARGE_BYTES.. => Some(Self::Large),
            _ => None,
        }
    }
}
