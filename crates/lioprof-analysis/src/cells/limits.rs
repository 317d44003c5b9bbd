//! How much an analysis keeps. Whoever makes one from elsewhere keeps as much.

/// Objects listed.
pub const TOP_OBJECTS: usize = 100;
/// Uuids listed of a client, the first by name.
pub const TOP_UUIDS: usize = 16;
/// Objects whose access is followed. When there are twice as many, those with fewest RPCs are summed up as the others.
pub const ACCESS_OBJECTS: usize = 4096;
/// RPCs in the sample; when there are more, every other one is dropped.
pub const SAMPLE_RPCS: usize = 10_000;
