//! The lock description that ends most lock manager lines (`ldlm_lock.c`, `_ldlm_lock_debug`).
//!
//! `ns: NS lock: PTR/COOKIE lrc: R/r,w mode: GRANTED/REQUESTED res: [n0:n1:n2].n3`, then by type:
//!
//! * EXT ` rrc: R type: EXT [s->e] (req s->e)`, ` gid G` since 2.13.57
//! * IBT ` bits B/TRY rrc: R type: IBT` (to 2.10.50 ` bits B`), ` gid G` since 2.14
//! * FLK ` rrc: R type: FLK pid: P [s->e]`
//! * PLN ` rrc: R type: PLN`
//! * no resource: `res: ?? rrc=?? type: ???`
//!
//! then ` flags: F nid: N remote: H expref: E pid: P timeout: T lvb_type: L` (flock: no lvb_type) and since
//! 2.17.51 ` lru_score: S lru_type: T`; server-local inode-bit locks since 2.15.57 instead
//! ` flags: F pid: P initiator: MDTn`.

use nom::Parser;

use super::super::number::{
    Res, dec, dec_u32, extent, field, hex, hex_long, int, int_i32, optional, pointer, resource, stop, tag, until, word,
};
use crate::vocab::LockType;
use crate::{Extent, LockCookie, LockMode, ResourceId};

/// A lock description (`LDLM_DEBUG`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockDesc<'a> {
    /// Namespace, `filter-lustre-OST0003_UUID`; `??` without a resource.
    pub namespace: &'a [u8],
    /// Handle of the lock on this node: the primary key.
    pub cookie: LockCookie,
    /// Granted mode: [`LockMode::None`] while blocked, and after cancel.
    pub granted_mode: LockMode,
    /// Mode that was requested.
    pub requested_mode: LockMode,
    /// Resource that is locked; `None` if printed as `??`.
    pub resource: Option<ResourceId>,
    /// Lock type; `None` for a type this crate does not know.
    pub lock_type: Option<LockType>,
    /// Granted extent (extent and flock locks), possibly expanded beyond the requested one.
    pub granted_extent: Option<Extent>,
    /// Requested extent; `None` for other than extent locks.
    pub requested_extent: Option<Extent>,
    /// Inode bits and try-bits; `None` for other than inode-bit locks.
    pub inode_bits: Option<(u64, u64)>,
    /// Group id of a group lock; `None` before 2.14.
    pub gid: Option<u64>,
    /// `LDLM_FL_*` flags.
    pub flags: u64,
    /// Fields after the flags.
    pub tail: LockTail<'a>,
}

/// The last part of a lock description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockTail<'a> {
    /// The common form.
    Export {
        /// NID of the lock's client; `local` if the lock has no client.
        nid: &'a [u8],
        /// The client's own handle of the lock.
        remote: u64,
        /// Pid of the task that created the lock: on a server, the service thread of the enqueue.
        pid: u32,
        /// Callback deadline on the kernel's own clock; 0 if no callback was sent.
        timeout: i64,
    },
    /// Server-local inode-bit locks since 2.15.57: `pid: N initiator: MDTn`.
    Initiator {
        /// Pid of the task that created the lock.
        pid: u32,
        /// Index of the MDT.
        mdt: i32,
    },
}

/// Reads a description from `ns: ` on.
pub(super) fn lock(i: &[u8]) -> Res<'_, LockDesc<'_>> {
    let (i, namespace) = field(i, b"ns: ", word, b" lock: ")?;
    let (i, _pointer) = field(i, b"", pointer, b"/")?;
    let (i, cookie) = hex_long(i)?;
    let (i, ()) = counts(i)?;
    let (i, granted_mode) = field(i, b"", mode, b"/")?;
    let (i, requested_mode) = field(i, b"", mode, b" res: ")?;
    let (i, resource) = resource_or_none(i)?;
    let (i, inode_bits) = inode_bits(i)?;
    let (i, ()) = resource_count(i)?;
    let (i, type_name) = field(i, b" type: ", word, b"")?;
    let lock_type = LockType::parse_bytes(type_name);
    let (i, (granted_extent, requested_extent)) = extents(i, lock_type)?;
    let (i, gid) = optional(i, b" gid ", dec)?;
    let (i, flags) = field(i, b" flags: ", hex, b"")?;
    let (i, tail) = tail(i)?;
    let lock = LockDesc {
        namespace,
        cookie: LockCookie(cookie),
        granted_mode,
        requested_mode,
        resource,
        lock_type,
        granted_extent,
        requested_extent,
        inode_bits,
        gid,
        flags,
        tail,
    };
    Ok((i, lock))
}

/// ` lrc: %d/%d,%d mode: `: references, readers, writers.
#[inline]
fn counts(i: &[u8]) -> Res<'_, ()> {
    let (i, _) = field(i, b" lrc: ", int, b"/")?;
    let (i, _) = field(i, b"", int, b",")?;
    let (i, _) = field(i, b"", int, b" mode: ")?;
    Ok((i, ()))
}

#[inline]
fn mode(i: &[u8]) -> Res<'_, LockMode> {
    let len = i.iter().take_while(|byte| byte.is_ascii_uppercase() || **byte == b'-').count();
    let (word, rest) = i.split_at(len);
    LockMode::parse_bytes(word).map_or_else(|| stop(i), |mode| Ok((rest, mode)))
}

/// `[n0:n1:n2].n3` or `??`.
#[inline]
fn resource_or_none(i: &[u8]) -> Res<'_, Option<ResourceId>> {
    match i {
        [b'?', b'?', rest @ ..] => Ok((rest, None)),
        _ => resource(i).map(|(rest, resource)| (rest, Some(resource))),
    }
}

/// ` bits %#llx/%#llx`; before try-bits existed, one number.
#[inline]
fn inode_bits(i: &[u8]) -> Res<'_, Option<(u64, u64)>> {
    optional(i, b" bits ", |i| {
        let (i, bits) = hex(i)?;
        let (i, try_bits) = optional(i, b"/", hex)?;
        Ok((i, (bits, try_bits.unwrap_or(0))))
    })
}

/// ` rrc: %d`, without a resource ` rrc=??`.
#[inline]
fn resource_count(i: &[u8]) -> Res<'_, ()> {
    match tag(b" rrc: ").parse(i) {
        Ok((rest, ())) => int(rest).map(|(rest, _)| (rest, ())),
        Err(_) => tag(b" rrc=??").parse(i),
    }
}

/// Extent locks: ` [s->e] (req s->e)`; flocks: ` pid: %d [s->e]`, the pid that owns it on the client.
#[inline]
fn extents(i: &[u8], lock_type: Option<LockType>) -> Res<'_, (Option<Extent>, Option<Extent>)> {
    match lock_type {
        Some(LockType::Extent) => {
            let (i, granted) = field(i, b" [", extent, b"]")?;
            let (i, requested) = field(i, b" (req ", extent, b")")?;
            Ok((i, (Some(granted), Some(requested))))
        }
        Some(LockType::Flock) => {
            let (i, _owner) = field(i, b" pid: ", int, b"")?;
            let (i, granted) = field(i, b" [", extent, b"]")?;
            Ok((i, (Some(granted), None)))
        }
        _ => Ok((i, (None, None))),
    }
}

/// Everything behind the flags.
#[inline]
fn tail(i: &[u8]) -> Res<'_, LockTail<'_>> {
    let (i, tail) = match tag(b" nid: ").parse(i) {
        Ok((i, ())) => {
            let (i, nid) = field(i, b"", until::<b' ', b'\n'>, b" remote: ")?;
            let (i, remote) = field(i, b"", hex_long, b" expref: ")?;
            let (i, _export_refs) = field(i, b"", int, b" pid: ")?;
            let (i, pid) = field(i, b"", dec_u32, b" timeout: ")?;
            let (i, timeout) = int(i)?;
            let (i, _) = optional(i, b" lvb_type: ", int)?;
            (i, LockTail::Export { nid, remote, pid, timeout })
        }
        Err(_) => {
            let (i, pid) = field(i, b" pid: ", dec_u32, b" initiator: MDT")?;
            let (i, mdt) = int_i32(i)?;
            (i, LockTail::Initiator { pid, mdt })
        }
    };
    let (i, _lru) = optional(i, b" lru_score: ", |i| {
        let (i, _score) = field(i, b"", int, b" lru_type: ")?;
        int(i)
    })?;
    Ok((i, tail))
}

#[cfg(test)]
mod tests {
    use super::super::LdlmMessage;
    use super::*;

    /// Parses a line with this description; nothing may be left over.
    fn parsed(desc: &str) -> Option<LockDesc<'static>> {
        let text: &'static str = format!("### removed {desc}").leak();
        LdlmMessage::parse(text.as_bytes()).ok()?.lock
    }

    fn extent_2_17<'a>() -> LockDesc<'a> {
        LockDesc {
            namespace: b"filter-lustre-OST0001_UUID",
            cookie: LockCookie(0xb335_d27b_2acb_533e),
            granted_mode: LockMode::Pw,
            requested_mode: LockMode::Pw,
            resource: Some(ResourceId([0x2_8000_0400, 4, 0, 0])),
            lock_type: Some(LockType::Extent),
            granted_extent: Some(Extent { start: 0, end: Extent::EOF }),
            requested_extent: Some(Extent { start: 1_048_576, end: 2_097_151 }),
            inode_bits: None,
            gid: Some(0),
            flags: 0x70_0004_0000_0020,
            tail: LockTail::Export { nid: b"10.10.0.11@tcp", remote: 0xa292_a688_9315_95e6, pid: 2313, timeout: 1073 },
        }
    }

    #[test]
    fn extent_2_17_51_has_lru_fields() {
        let desc = "ns: filter-lustre-OST0001_UUID lock: 00000000052d0627/0xb335d27b2acb533e lrc: 4/0,0 mode: PW/PW \
            res: [0x280000400:0x4:0x0].0x0 rrc: 3 type: EXT [0->18446744073709551615] (req 1048576->2097151) gid 0 \
            flags: 0x70000400000020 nid: 10.10.0.11@tcp remote: 0xa292a688931595e6 expref: 5 pid: 2313 timeout: 1073 \
            lvb_type: 0 lru_score: 0 lru_type: 0";
        assert_eq!(parsed(desc), Some(extent_2_17()));
    }

    #[test]
    fn extent_2_14_has_a_group_id() {
        let desc = "ns: filter-lustre-OST0001_UUID lock: 00000000052d0627/0xb335d27b2acb533e lrc: 4/0,0 mode: --/GROUP \
            res: [0x2:0x0:0x0].0x0 rrc: 3 type: EXT [0->0] (req 0->0) gid 77 \
            flags: 0x0 nid: local remote: 0x0 expref: -99 pid: 1 timeout: 0 lvb_type: 0";
        let want = LockDesc {
            granted_mode: LockMode::None,
            requested_mode: LockMode::Group,
            resource: Some(ResourceId([2, 0, 0, 0])),
            granted_extent: Some(Extent { start: 0, end: 0 }),
            requested_extent: Some(Extent { start: 0, end: 0 }),
            gid: Some(77),
            flags: 0,
            tail: LockTail::Export { nid: b"local", remote: 0, pid: 1, timeout: 0 },
            ..extent_2_17()
        };
        assert_eq!(parsed(desc), Some(want));
    }

    #[test]
    fn extent_2_5_has_no_group_and_a_bare_last_word() {
        let desc = "ns: filter-lustre-OST0001_UUID lock: ffff88003c5e6450/0xb335d27b2acb533e lrc: 4/0,0 mode: PW/PW \
            res: [0x280000400:0x4:0x0].0 rrc: 3 type: EXT [0->18446744073709551615] (req 1048576->2097151) \
            flags: 0x70000400000020 nid: 2001:db8::1@o2ib1 remote: 0x1 expref: 5 pid: 2313 timeout: 4295391673 lvb_type: 0";
        let want = LockDesc {
            gid: None,
            tail: LockTail::Export { nid: b"2001:db8::1@o2ib1", remote: 1, pid: 2313, timeout: 4_295_391_673 },
            ..extent_2_17()
        };
        assert_eq!(parsed(desc), Some(want));
    }

    fn inode_bits<'a>() -> LockDesc<'a> {
        LockDesc {
            namespace: b"mdt-lustre-MDT0000_UUID",
            cookie: LockCookie(0x12),
            granted_mode: LockMode::Cr,
            requested_mode: LockMode::Cr,
            resource: Some(ResourceId([0x2_0000_0007, 1, 0, 0xcfd9_2ed6])),
            lock_type: Some(LockType::InodeBits),
            granted_extent: None,
            requested_extent: None,
            inode_bits: Some((0x13, 0x2)),
            gid: None,
            flags: 0x20,
            tail: LockTail::Export { nid: b"0@lo", remote: 0x99, pid: 5, timeout: 0 },
        }
    }

    #[test]
    fn inode_bits_2_10_51_to_master() {
        let desc = "ns: mdt-lustre-MDT0000_UUID lock: ffff88003c5e6450/0x12 lrc: 3/1,0 mode: CR/CR \
            res: [0x200000007:0x1:0x0].0xcfd92ed6 bits 0x13/0x2 rrc: 3 type: IBT GID \
            flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 3";
        assert_eq!(parsed(&desc.replace(" GID", "")), Some(inode_bits()));
        assert_eq!(parsed(&desc.replace("GID", "gid 0")), Some(LockDesc { gid: Some(0), ..inode_bits() }));
        let lru = format!("{} lru_score: -1 lru_type: 1", desc.replace("GID", "gid 0"));
        assert_eq!(parsed(&lru), Some(LockDesc { gid: Some(0), ..inode_bits() }));
    }

    #[test]
    fn inode_bits_2_10_50_has_no_try_bits() {
        let desc = "ns: mdt-lustre-MDT0000_UUID lock: ffff88003c5e6450/0x12 lrc: 3/1,0 mode: CR/CR \
            res: [0x200000007:0x1:0x0].cfd92ed6 bits 0x13 rrc: 3 type: IBT \
            flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 0";
        assert_eq!(parsed(desc), Some(LockDesc { inode_bits: Some((0x13, 0)), ..inode_bits() }));
    }

    #[test]
    fn inode_bits_2_15_57_server_local_has_an_initiator() {
        let desc = "ns: mdt-lustre-MDT0000_UUID lock: 0000000012ad5f9b/0x12 lrc: 3/1,0 mode: CR/CR \
            res: [0x200000007:0x1:0x0].0xcfd92ed6 bits 0x13/0x2 rrc: 3 type: IBT flags: 0x20 pid: 6383 initiator: MDT1";
        let want = LockDesc { tail: LockTail::Initiator { pid: 6383, mdt: 1 }, ..inode_bits() };
        assert_eq!(parsed(desc), Some(want));
        assert_eq!(parsed(&format!("{desc} lru_score: 0 lru_type: 0 \n")), Some(want));
    }

    #[test]
    fn flock_all_versions_has_two_pids() {
        let desc = "ns: mdt-lustre-MDT0000_UUID lock: ffff88003c5e6450/0x12 lrc: 3/1,0 mode: PW/PW \
            res: [0x200000007:0x1:0x0].0xcfd92ed6 rrc: 3 type: FLK pid: 4711 [0->99] \
            flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0";
        let want = LockDesc {
            granted_mode: LockMode::Pw,
            requested_mode: LockMode::Pw,
            lock_type: Some(LockType::Flock),
            granted_extent: Some(Extent { start: 0, end: 99 }),
            inode_bits: None,
            ..inode_bits()
        };
        assert_eq!(parsed(desc), Some(want));
    }

    #[test]
    fn plain_all_versions() {
        let desc = "ns: MGS lock: ffff88003c5e6450/0x12 lrc: 3/0,0 mode: EX/EX res: [0x7473756c:0x0:0x0].0x0 rrc: 3 \
            type: PLN flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 0";
        let want = LockDesc {
            namespace: b"MGS",
            granted_mode: LockMode::Ex,
            requested_mode: LockMode::Ex,
            resource: Some(ResourceId([0x7473_756c, 0, 0, 0])),
            lock_type: Some(LockType::Plain),
            inode_bits: None,
            ..inode_bits()
        };
        assert_eq!(parsed(desc), Some(want));
        assert_eq!(parsed(&format!("{desc} lru_score: 3 lru_type: 2")), Some(want));
    }

    #[test]
    fn without_resource_all_versions() {
        let desc = "ns: ?? lock: ffff88003c5e6450/0x12 lrc: 3/0,0 mode: --/NL res: ?? rrc=?? type: ??? \
            flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 0";
        let want = LockDesc {
            namespace: b"??",
            granted_mode: LockMode::None,
            requested_mode: LockMode::Nl,
            resource: None,
            lock_type: None,
            inode_bits: None,
            ..inode_bits()
        };
        assert_eq!(parsed(desc), Some(want));
    }

    #[test]
    fn near_misses() {
        let desc = "ns: MGS lock: ffff88003c5e6450/0x12 lrc: 3/0,0 mode: EX/EX res: [0x1:0x0:0x0].0x0 bits 0x1/0x2 rrc: 3 \
            type: EXT [0->1] (req 0->1) gid 0 flags: 0x20 nid: 0@lo remote: 0x99 expref: 7 pid: 5 timeout: 0 lvb_type: 0";
        assert!(parsed(desc).is_some());
        for (from, to) in [
            ("/0x12", ""),
            ("lrc: 3/0,0", "lrc: 3/0"),
            ("EX/EX", "EX"),
            ("EX/EX", "EX/XX"),
            ("[0x1:0x0:0x0].0x0", "1/0"),
            ("bits 0x1/0x2", "bits 0x1/"),
            ("rrc: 3", "rrc: "),
            (" (req 0->1)", ""),
            ("[0->1]", "[0-1]"),
            ("gid 0", "gid x"),
            ("flags: 0x20", ""),
            (" nid: 0@lo", ""),
            ("timeout: 0", "timeout:"),
            ("lvb_type: 0", "lvb_type: x"),
            ("lvb_type: 0", "new_field: 0"),
            ("lvb_type: 0", "lvb_type: 0 lru_score: 0"),
        ] {
            assert_eq!(parsed(&desc.replace(from, to)), None, "{from} {to}");
        }
    }
}
