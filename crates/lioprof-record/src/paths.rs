//! Paths that came over the network.

use std::path::{Component, Path};

/// Whether a path leads to something below the folder that it is of. What a server says is not believed.
pub(crate) fn is_inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}
