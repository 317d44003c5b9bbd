//! What nodes do regularly.

/// Something regular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timer {
    pub(crate) every_us: u64,
    pub(crate) does: Regular,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regular {
    /// A mount asks an idle target whether it is there.
    Ping { mount: usize, target: usize },
    /// The MDT asks an OST for its free space.
    Statfs { mount: usize, target: usize },
    /// A callback thread of a node finds nothing to do.
    Idle { node: usize },
}
