//! Disks, file systems below Lustre, and the network.

use super::event::ConsoleEvent;
use super::reason::Reason;
use super::words::{any_nid, device, has};
use crate::vocab::EventKind::{HungThread, LnetError, NoSpace, TargetFailed};

/// Sentences of Lustre and LNet.
pub(super) fn parse(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    // `failed to start transaction due to ENOSPC` (`osd-ldiskfs/osd_handler.c`, 2.5 to 2.17)
    // `wanted to write %u but wrote %d`: the debug daemon's own file (`libcfs/tracefile.c`, 1.8 to 2.17)
    let no_space =
        has(text, b"due to ENOSPC") || (text.starts_with(b"wanted to write ") && text.ends_with(b"wrote -28"));
    // `*** setting obd %s device '%s' read-only ***` (1.8), `%s: *** setting device %s read-only ***` (2.5 to 2.17)
    let read_only = has(text, b"*** setting ") && has(text, b" read-only ***");
    // `A connection with %s (%s) timed out; the network or node may be down.` (`socklnd_cb.c`, 1.8 to 2.17), as `LNet:` in the kernel log;
    // `Connection to %s at host %s .. was unreachable|took too long|was refused|was reset` (`acceptor.c`)
    let network = has(text, b"timed out; the network or node may be down")
        || (text.starts_with(b"Connection to ") && has(text, b" at host "))
        || text.starts_with(b"Timed out tx for ")
        || text.starts_with(b"Timed out RDMA with ");
    let kind = match (no_space, read_only, network) {
        (true, ..) => NoSpace,
        (_, true, _) => TargetFailed,
        (.., true) => LnetError,
        _ => return None,
    };
    let peer = if kind == LnetError { any_nid(text) } else { None };
    Some(ConsoleEvent::new(kind, device(text), peer, Reason::Text(text)))
}

/// Sentences of the block layer, ext4 and ldiskfs, jbd2, md, ZFS (`spa`: `Pool '%s' has encountered an uncorrectable I/O failure and has been
/// suspended`) and of the kernel's own watch over tasks (`INFO: task %s:%d blocked for more than %ld seconds.`).
pub(super) fn parse_of_kernel(text: &[u8]) -> Option<ConsoleEvent<'_>> {
    let hung = text.starts_with(b"INFO: task ") && has(text, b" blocked for more than ");
    let failed = [
        &b"LDISKFS-fs error"[..],
        b"LDISKFS-fs: error",
        b"I/O error, dev ",
        b"Buffer I/O error",
        b"Remounting filesystem read-only",
        b"Aborting journal",
        b"and has been suspended",
    ]
    .iter()
    .any(|words| has(text, words));
    let disk = text.starts_with(b"md/") && has(text, b"Disk failure");
    let kind = match (hung, failed || disk) {
        (true, _) => HungThread,
        (_, true) => TargetFailed,
        _ => return None,
    };
    Some(ConsoleEvent::new(kind, None, None, Reason::Text(text)))
}
