//! The Lustre debug log as a format.
//!
//! Lustre logs what its kernel modules do into a per-CPU ring. `lctl dk`, `lctl debug_file` and the
//! debug daemon bring that ring into user space: as text (one line per record) or as the binary
//! records themselves. This crate reads both, and turns the texts that describe RPCs and locks into
//! typed values.
//!
//! Three layers, each usable alone:
//!
//! 1. [`frame`]: bytes to [`Record`]s. Finds record boundaries, survives damage, accounts for every byte.
//! 2. [`message`]: a record's text to a [`Message`], all wordings from Lustre 2.5 to master (2.17.57).
//! 3. [`vocab`]: the nouns of that world: [`Opcode`], [`Fid`], [`TargetName`], [`Nid`], ...
//!
//! # Design constraints
//!
//! * No I/O and no threads: callers own files and buffers; everything borrows from their bytes.
//! * No allocation while framing or parsing; a full bulk RPC is about eleven records, 2.5 kB of text,
//!   and a server writes up to 100,000 of them a second.
//! * All text is bytes. Job ids and file names need not be UTF-8.
//! * Unknown text is not an error ([`Message::Other`]); a known text that does not parse is
//!   [`Message::Malformed`], so that a new Lustre version shows up as a count, never as silence.
//! * `nom` is an implementation detail and not part of the public API.
//!
//! # Example
//!
//! Which RPCs does a log in text form hold, and how long did they take?
//!
//! ```
//! use lustre_debuglog::frame::text::{TextItem, TextRecords};
//! use lustre_debuglog::{Message, Opcode};
//!
//! let log = b"00000100:00100000:0.0:1795250691.452761:0:2193:0:(service.c:2592:ptlrpc_server_handle_request()) \
//!     Handled RPC req@00000000955d2189 pname:cluuid+ref:pid:xid:nid:opc:job \
//!     ll_ost00_002:f795f7df-71b6-4f54-84da-3386afad5ab1+6:5437:x1882455968755840:12345-10.10.0.12@tcp:4:dd.0 \
//!     Request processed in 2152us (2879us total) trans 0 rc 0/0\n";
//! let mut times = Vec::new();
//! for item in TextRecords::new(log) {
//!     let TextItem::Record(record, _offset) = item else { continue };
//!     if let Message::Handled(handled) = Message::parse(&record) {
//!         times.push((handled.rpc.opcode, handled.rpc.nid, handled.outcome.total_us));
//!     }
//! }
//! assert_eq!(times, [(Opcode::OST_WRITE, &b"10.10.0.12@tcp"[..], 2879)]);
//! ```
#![forbid(unsafe_code)]

pub mod frame;
pub mod kernel_log;
pub mod message;
pub mod record;
pub mod vocab;

pub use message::Message;
pub use record::Record;
pub use vocab::{
    Errno, Extent, Fid, JobId, LockCookie, LockMode, Nid, Opcode, ResourceId, TargetKind, TargetName, Xid,
};
