//! What nodes do regularly.

/// Something regular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A mount asks an idle target whether it is there.
    Ping { mount: usize, target: usize, every_us: u64 },
    /// The MDT asks an OST for its free space.
    Statfs { mount: usize, target: usize, every_us: u64 },
    /// A callback thread of a node finds nothing to do.
    Idle { node: usize, every_us: u64 },
}

impl Timer {
    pub(crate) fn every_us(self) -> u64 {
        match self {
            Self::Ping { every_us, .. } | Self::Statfs { every_us, .. } | Self::Idle { every_us, .. } => every_us,
        }
    }
}
