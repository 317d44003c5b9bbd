//! A Lustre cluster as a deterministic simulation: clients run programs, servers handle their requests and log it.
//!
//! Time is a list of events. What happens at an event changes the state and writes lines, each with its time, into
//! the log; the log gives them out in order. All chance comes from one seed.

mod account;
mod build;
mod bulk;
mod callback;
mod cancel;
mod client;
mod client_config;
mod clock;
mod config;
mod disk;
mod enqueue;
mod events;
mod evict;
mod finish;
mod layout;
mod link;
mod local;
mod lock;
mod log;
pub mod opcode;
mod operation;
mod policy;
mod process;
mod program;
mod request;
mod rng;
mod running;
mod say;
mod scheduler;
mod sent;
mod server;
mod simulation;
mod slab;
mod timer;
mod timers;
mod truth;
mod view;
mod world;
mod world_locks;
mod world_requests;

pub use client_config::{ClientConfig, ClientFaults};
pub use clock::Clock;
pub use config::{Cluster, MDS, ServerConfig, Threads};
pub use disk::DiskConfig;
pub use link::LinkConfig;
pub use opcode::Service;
pub use policy::Policy;
pub use program::{Access, Op, Program};
pub use simulation::Simulation;
pub use truth::{Call, TrueLock, TrueOperation, TrueRpc};

pub(crate) use account::{Account, Effect, LockEffect};
pub(crate) use disk::Disk;
pub(crate) use events::{Event, Events};
pub(crate) use link::Link;
pub(crate) use lock::{Lock, Look};
pub(crate) use log::{Log, Pen};
pub(crate) use program::{Pause, Process};
pub(crate) use request::{Callback, Io, Purpose, Request, Stage};
pub(crate) use rng::Rng;
pub(crate) use running::Running;
pub(crate) use say::say;
pub(crate) use timer::{Regular, Timer};
pub(crate) use world::World;
