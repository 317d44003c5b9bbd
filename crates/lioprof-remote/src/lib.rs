//! Commands on many hosts at once, by the system's own OpenSSH.
//!
//! * [`HostList`]: `oss[01-40],mds1`, as ClusterShell and Slurm write it.
//! * [`Ssh`]: how to call ssh; the user's configuration, keys, agent and known hosts apply.
//! * [`RemoteCommand`]: a program and its arguments, which no shell on the way changes, as root if need be.
//! * [`on_all`]: the same errand on all hosts, a bounded number at a time.
//!
//! ```
//! use lioprof_remote::HostList;
//!
//! let hosts: HostList = "oss[08-10],mds1".parse()?;
//! assert_eq!(hosts.names(), ["oss08", "oss09", "oss10", "mds1"]);
//! assert_eq!(hosts.to_string(), "oss[08-10],mds1");
//! # Ok::<(), lioprof_remote::HostListError>(())
//! ```
#![forbid(unsafe_code)]

mod command;
mod error;
mod hosts;
mod many;
mod ssh;

pub use command::RemoteCommand;
pub use error::{RemoteError, SshOptionError};
pub use hosts::{HostList, HostListError};
pub use many::on_all;
pub use ssh::{Output, Session, Ssh};
