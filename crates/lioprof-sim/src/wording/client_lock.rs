//! Locks as a client's lines show them.

use std::fmt;

use super::Wording;
use super::notation::{Extent, Fid};

/// What of a lock depends on its kind.
#[derive(Clone, Copy, Debug)]
pub enum ClientLockKind {
    /// On bytes of an OST's object: what it covers, and what was asked for.
    Extent(Extent, Extent),
    /// On bits of an inode of the MDT.
    Bits(u64),
}

/// A lock of a client as `LDLM_DEBUG` prints it there.
#[derive(Clone, Copy, Debug)]
pub struct ClientLock<'a> {
    /// The release that prints it.
    pub wording: &'a Wording,
    /// Name of the target.
    pub target: &'a str,
    /// Hashed pointer.
    pub pointer: u32,
    /// Handle on the client.
    pub cookie: u64,
    /// `--` until it is granted.
    pub granted: &'a str,
    /// Mode asked for.
    pub mode: &'a str,
    /// Name of the resource.
    pub resource: Fid,
    /// What it is on.
    pub kind: ClientLockKind,
    /// Handle on the server; 0 as long as it is not known.
    pub remote: u64,
    /// Thread that asked for it.
    pub pid: u32,
}

impl fmt::Display for ClientLock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wording, target, pointer, cookie, granted, mode, resource, kind, remote, pid } = self;
        let device = if matches!(kind, ClientLockKind::Bits(_)) { "mdc" } else { "osc" };
        write!(f, "ns: {target}-{device}-ffff88807fd49800 lock: {pointer:016x}/{cookie:#x} lrc: 3/1,0")?;
        write!(f, " mode: {granted}/{mode} res: {resource}.0x0 ")?;
        match kind {
            ClientLockKind::Extent(extent, request) => write!(f, "rrc: 2 type: EXT [{extent}] (req {request})")?,
            ClientLockKind::Bits(bits) => write!(f, "bits {bits:#x}/0x0 rrc: 2 type: IBT")?,
        }
        // Since 2.15.64 a lock of the MDT that the server has not named yet shows who began it instead.
        if wording.has_owner && matches!(kind, ClientLockKind::Bits(_)) && *remote == 0 {
            write!(f, " flags: 0x0 pid: {pid} initiator: MDT0")?;
        } else {
            write!(
                f,
                " gid 0 flags: 0x0 nid: local remote: {remote:#x} expref: -99 pid: {pid} timeout: 0 lvb_type: 0"
            )?;
        }
        if wording.has_lru { f.write_str(" lru_score: 0 lru_type: 0") } else { Ok(()) }
    }
}
