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

use crate::cursor::{Cursor, fields};
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
pub(super) fn lock<'a>(cursor: &mut Cursor<'a>) -> Option<LockDesc<'a>> {
    // `lrc` counts references, readers, writers.
    fields!(cursor:
        b"ns: " namespace = word,
        b" lock: " _pointer = pointer,
        b"/" cookie = hex_long,
        b" lrc: " _references = int,
        b"/" _readers = int,
        b"," _writers = int,
        b" mode: ",
    );
    let granted_mode = mode(cursor)?;
    cursor.tag(b"/")?;
    let requested_mode = mode(cursor)?;
    cursor.tag(b" res: ")?;
    let resource = if cursor.eat(b"??") { None } else { Some(cursor.resource()?) };
    // Before try-bits existed, one number.
    let inode_bits = cursor.optional(b" bits ", |cursor| {
        let bits = cursor.hex()?;
        Some((bits, cursor.optional(b"/", Cursor::hex)?.unwrap_or(0)))
    })?;
    if cursor.optional(b" rrc: ", Cursor::int)?.is_none() {
        cursor.tag(b" rrc=??")?;
    }
    fields!(cursor: b" type: " type_name = word);
    let lock_type = LockType::parse_bytes(type_name);
    let (granted_extent, requested_extent) = extents(cursor, lock_type)?;
    let gid = cursor.optional(b" gid ", Cursor::dec)?;
    fields!(cursor: b" flags: " flags = hex);
    let tail = tail(cursor)?;
    Some(LockDesc {
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
    })
}

#[inline]
fn mode(cursor: &mut Cursor<'_>) -> Option<LockMode> {
    let len = cursor.rest().iter().take_while(|byte| byte.is_ascii_uppercase() || **byte == b'-').count();
    let mode = LockMode::parse_bytes(cursor.rest().get(..len)?)?;
    cursor.take(len)?;
    Some(mode)
}

/// Extent locks: ` [s->e] (req s->e)`; flocks: ` pid: %d [s->e]`, the pid that owns it on the client.
#[inline]
fn extents(cursor: &mut Cursor<'_>, lock_type: Option<LockType>) -> Option<(Option<Extent>, Option<Extent>)> {
    match lock_type {
        Some(LockType::Extent) => {
            fields!(cursor: b" [" granted = extent, b"] (req " requested = extent, b")");
            Some((Some(granted), Some(requested)))
        }
        Some(LockType::Flock) => {
            fields!(cursor: b" pid: " _owner = int, b" [" granted = extent, b"]");
            Some((Some(granted), None))
        }
        _ => Some((None, None)),
    }
}

/// Everything behind the flags.
#[inline]
fn tail<'a>(cursor: &mut Cursor<'a>) -> Option<LockTail<'a>> {
    let tail = if cursor.eat(b" nid: ") {
        fields!(cursor:
            b"" nid = until::<b' ', b'\n'>,
            b" remote: " remote = hex_long,
            b" expref: " _export_refs = int,
            b" pid: " pid = dec_u32,
            b" timeout: " timeout = int,
        );
        cursor.optional(b" lvb_type: ", Cursor::int)?;
        LockTail::Export { nid, remote, pid, timeout }
    } else {
        fields!(cursor: b" pid: " pid = dec_u32, b" initiator: MDT" mdt = int_i32);
        LockTail::Initiator { pid, mdt }
    };
    if cursor.eat(b" lru_score: ") {
        fields!(cursor: b"" _score = int, b" lru_type: " _type = int);
    }
    Some(tail)
}

#[cfg(test)]
mod tests {
    use super::super::LdlmMessage;
    use super::*;
    use crate::message::malformed::Parse;

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
