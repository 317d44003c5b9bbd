//! The text of a record as a typed [`Message`].
//!
//! [`Message::parse`] chooses the kind by the text's first words, then runs that kind's parser. Each
//! submodule holds the messages of one part of Lustre, with the wordings of every version next to the
//! parser that reads them.
//!
//! All NIDs are returned in the plain form `ADDR@NET`: where Lustre prints a process id in front
//! (`12345-10.0.0.1@tcp`), it is stripped.

mod client;
mod client_io;
mod client_operation;
mod console;
mod cursor;
mod debug_req;
mod ldlm;
mod malformed;
mod net;
mod nrs;
mod number;
mod ofd;
mod other;
mod parse;
mod ptlrpc;
mod repeated;
mod req_event;

pub use client::ClientRpc;
pub use client_io::{BrwRpc, BulkBuilt};
pub use client_operation::{OperationEdge, OperationLine, VfsLine};
pub use console::{ConsoleEvent, Reason, Voice};
pub use debug_req::{DebugReq, ReqMessage};
pub use ldlm::{Contention, LdlmEvent, LdlmMessage, LockDesc, LockTail};
pub use malformed::Malformed;
pub use net::{BulkEvent, LnetEvent, SendingBytes, Transferring};
pub use nrs::{NrsAction, NrsMessage, NrsPolicy};
pub use ofd::{ObjectName, ProlongLocks, RefreshRwLocks, RefreshedLocks};
pub use other::{Connection, PingEviction};
pub use parse::Message;
pub use ptlrpc::{Handled, Handling, Outcome, Peer};
pub use repeated::Repeated;
pub use req_event::ReqEvent;
