//! A dataset of any size, as the daemons of a site would have written it.
//!
//! Every node plays the rows of real captures, many at once: who did what to which object, in which order, with which locks
//! taken and called back, is what real servers logged. Clients, jobs, targets, objects, locks, xids and threads are others each
//! time; service and queue times are drawn within those of the capture. Nodes come in pairs, as the servers of the captures
//! did: what one of them sends, the other one handles.

mod options;
mod plan;
mod play;
mod script;
mod site;
mod threads;
mod truth;
mod write;

pub use options::{DatasetError, DatasetOptions};
pub use truth::{TargetTruth, Truth};
pub use write::write;
