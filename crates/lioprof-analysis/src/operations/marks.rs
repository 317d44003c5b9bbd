//! What a thread's lines say that may tell of calls which its version of Lustre does not log: kept until the log has ended.

use std::collections::BTreeSet;

use lioprof_model::{NameHash, WalkOf};
use lustre_debuglog::Fid;
use lustre_debuglog::vocab::OperationKind;
use rustc_hash::{FxHashMap, FxHashSet};

/// A line of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) time_us: i64,
    pub(super) what: What,
}

/// What it is about. Numbers are those of the client's RPCs and lock requests.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A step of a walk along a path.
    Walked { fid: Option<Fid>, name: Option<NameHash>, is_root: bool, access: Option<u32>, of: WalkOf },
    /// A call begins; `None`: of a kind without a name.
    Entered { kind: Option<OperationKind>, fid: Option<Fid> },
    /// A step of a call.
    WentOn,
    /// A line of an operation that has lines of its own, or of a read or write.
    Other,
    /// A lock is asked for.
    Locking(usize),
    /// A bulk RPC is put together.
    Built,
    /// An RPC is sent.
    Sent(usize),
    /// Its reply has come.
    Replied(usize),
}

/// The marks of a client's threads, and which kinds of lines its log has at all.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) by_thread: FxHashMap<u32, Vec<Mark>>,
    /// Threads of the kernel's own.
    pub(super) kernel: FxHashSet<u32>,
    /// Kinds with first and last lines.
    pub(super) logged: BTreeSet<OperationKind>,
    /// Kinds with a first line only.
    pub(super) entered: BTreeSet<OperationKind>,
    /// Kinds whose first line is known to be followed by their RPCs (unlink and its like).
    pub(super) called: BTreeSet<OperationKind>,
    /// Mask vfstrace was on.
    pub(super) has_steps: bool,
    /// Answers of the MDT to intents are logged.
    pub(super) has_intents: bool,
    /// Reads and writes have lines.
    pub(super) has_data: bool,
}

impl Marks {
    pub(super) fn add(&mut self, pid: u32, time_us: i64, what: What) {
        match what {
            What::Walked { .. } => self.has_steps = true,
            // ioctl's line has another mask, too.
            What::Entered { kind: Some(kind), .. } => {
                self.has_steps = true;
                self.entered.insert(kind);
            }
            _ => {}
        }
        self.by_thread.entry(pid).or_default().push(Mark { time_us, what });
    }

    /// Whether there are lines of `llite`. Without, nothing tells where a call begins, and of which call a request is seldom certain: what
    /// the servers tell is more.
    pub(super) fn tell_of_calls(&self) -> bool {
        self.has_steps || !self.logged.is_empty() || !self.called.is_empty()
    }
}
