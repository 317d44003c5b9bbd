//! Lines about operations of a client as steps of them: what they are about, their C function says.

use std::hash::Hasher;

use lioprof_model::{ClientStep, FileName, NameHash, WalkOf};
use lustre_debuglog::message::{LdlmEvent, LockDesc, OperationEdge, OperationLine, VfsLine};
use lustre_debuglog::record::subsystem;
use lustre_debuglog::vocab::OperationKind;
use lustre_debuglog::{LockCookie, Record};
use memchr::memmem;
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
        // 2.12.
        | b"ll_revalidate_nd"
        | b"ll_lookup_nd"
        | b"ll_lookup_it"
        | b"ll_atomic_open" => ClientStep::Walked {
            fid: line.fid,
            name: line.name.map(hash),
            is_root: line.name == Some(b"/"),
            access: line.access,
            of: match function {
                b"ll_inode_revalidate" => WalkOf::Getattr,
                _ if line.is_open => WalkOf::Open,
                _ => WalkOf::AnyCall,
            },
        },
        // Steps within a call.
        b"ll_create_it" | b"ll_create_nd" | b"ll_read_inode2" | b"ll_clear_inode" | b"ll_follow_link" | b"ll_get_link" => {
            ClientStep::WentOn
        }
        _ => ClientStep::Entered { kind: OperationKind::of_entry_function(function), fid: line.fid },
    }
}

/// The begin or end of a request for a lock.
pub(super) fn enqueue(event: LdlmEvent<'_>, lock: &LockDesc<'_>, text: &[u8]) -> Option<ClientStep> {
    let LockCookie(cookie) = lock.cookie;
    match event {
        LdlmEvent::ClientEnqueueStart => {
            let is_glimpse = memmem::find(lock.namespace, b"-OST").is_some() && has_intent(text);
            Some(ClientStep::EnqueueStarted { cookie, is_glimpse })
        }
        LdlmEvent::ClientEnqueueEnd => Some(ClientStep::EnqueueEnded { cookie }),
        _ => None,
    }
}

/// Whether the flags of `### client-side enqueue START, flags 0xN ns: ..` have `LDLM_FL_HAS_INTENT`; not all versions print them.
fn has_intent(text: &[u8]) -> bool {
    const LDLM_FL_HAS_INTENT: u64 = 0x1000;
    let flags = text.strip_prefix(b"### client-side enqueue START, flags 0x");
    let digits = flags.and_then(|flags| flags.split(|byte| *byte == b' ').next());
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).is_some_and(|flags| flags & LDLM_FL_HAS_INTENT != 0)
}

/// A line of a read or write that is neither its first nor its last one.
pub(super) fn is_of_data(record: &Record<'_>) -> bool {
    record.subsystem == subsystem::LLITE && record.function == b"ll_file_io_generic"
}

/// Whether a thread of this name is one of the kernel's own: it sends requests for whoever needs them, or for nobody.
pub(super) fn is_kernel_thread(name: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 5] = [b"ptlrpcd", b"ldlm_", b"ll_", b"kworker", b"kswapd"];
    BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

/// The same on every machine.
pub(super) fn hash(name: &[u8]) -> NameHash {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    NameHash(hasher.finish())
}
