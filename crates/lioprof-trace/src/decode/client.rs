//! Lines about operations of a client as steps of them: what they are about, their C function says.

use std::hash::Hasher;

use lioprof_model::{ClientStep, FileName, NameHash};
use lustre_debuglog::LockCookie;
use lustre_debuglog::message::{LdlmEvent, OperationEdge, OperationLine, VfsLine};
use lustre_debuglog::vocab::OperationKind;
use rustc_hash::FxHasher;

/// The begin or end of an operation; `None` if the function is one of an unknown operation.
pub(super) fn operation(line: &OperationLine<'_>, name: Option<FileName>, function: &[u8]) -> Option<ClientStep> {
    let kind = OperationKind::of_traced_function(function)?;
    let fid = line.fid;
    Some(match line.edge {
        OperationEdge::Start => ClientStep::Started { kind, fid, name },
        OperationEdge::Completed => ClientStep::Completed { kind, fid, rc: line.rc },
    })
}

/// A step between, or of an operation that has no lines of its own.
pub(super) fn step(line: &VfsLine<'_>, function: &[u8]) -> ClientStep {
    match function {
        b"ll_inode_revalidate"
        | b"ll_inode_permission"
        | b"ll_revalidate_dentry"
        | b"ll_lookup_nd"
        | b"ll_lookup_it"
        | b"ll_atomic_open" => ClientStep::Walked {
            fid: line.fid,
            name: line.name.map(hash),
            is_root: line.name == Some(b"/"),
            access: line.access,
        },
        _ => ClientStep::WentOn,
    }
}

/// The begin or end of a request for a lock.
pub(super) fn enqueue(event: LdlmEvent<'_>, LockCookie(cookie): LockCookie) -> Option<ClientStep> {
    match event {
        LdlmEvent::ClientEnqueueStart => Some(ClientStep::EnqueueStarted { cookie }),
        LdlmEvent::ClientEnqueueEnd => Some(ClientStep::EnqueueEnded { cookie }),
        _ => None,
    }
}

/// The same on every machine.
pub(super) fn hash(name: &[u8]) -> NameHash {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    NameHash(hasher.finish())
}
