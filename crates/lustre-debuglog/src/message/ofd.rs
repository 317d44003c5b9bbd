//! Messages of `ofd/ofd_dev.c` (older: `ost/ost_handler.c`) and `mdt/mdt_io.c`: target, object and extent
//! of an OST_READ or OST_WRITE.

//!
//! Wordings of `refresh rw locks`, text before the request description:
//!
//! * 2.3 to 2.5 (`ost_handler.c`): `refresh rw locks: RES0/RES1 (START->END)` and a line break
//! * 2.6 to 2.12 (`ofd_dev.c`): `refresh rw locks: [FID] (START->END)` and a line break
//! * 2.13 and later: `refresh rw locks for [FID] (START->END)`
//! * `mdt_io.c`, 2.11 and later: the same without the extent

use super::DebugReq;
use super::cursor::{Cursor, whole};
use super::debug_req::description;
use super::malformed::{Malformed, parsed};
use crate::vocab::byte_search;
use crate::{Extent, Fid, TargetName, Xid};

/// How a message names an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ObjectName {
    /// A FID (Lustre 2.6 and later).
    Fid(Fid),
    /// The first two words of the resource name, in decimal (to Lustre 2.5).
    Resource(u64, u64),
}

/// `TARGET THREAD: refresh rw locks for FID (START->END)` and the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshRwLocks<'a> {
    /// Target of the request.
    pub target: TargetName,
    /// Name of the logging thread, which is not always the one that handles the request.
    pub thread: &'a [u8],
    /// Object that the request reads or writes.
    pub object: ObjectName,
    /// From the first byte of the first niobuf to the last byte of the last one; gaps in between are not
    /// shown. `None` for Data-on-MDT, which prints no extent.
    pub extent: Option<Extent>,
    /// The request, in phase `New` if logged on arrival, `Complete` if logged again at the end;
    /// `None` if the line with the description is missing.
    pub req: Option<DebugReq<'a>>,
}

/// `Prolong locks for req P with xN ext(A->B)`, `Prolong DOM lock for req P with xN`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProlongLocks {
    /// Request pointer.
    pub req: u64,
    /// Transfer id.
    pub xid: Xid,
    /// Byte range (also of OST_PUNCH); `None` for Data-on-MDT.
    pub extent: Option<Extent>,
}

/// `TARGET: refreshed N locks timeout for req P` (mask dlmtrace).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshedLocks<'a> {
    /// Name of the target, as printed.
    pub target: &'a [u8],
    /// Number of locks.
    pub locks: u32,
    /// Request pointer.
    pub req: u64,
}

impl<'a> RefreshRwLocks<'a> {
    /// Parses the rest of `text` when its head is known already.
    pub(super) fn parse_behind(text: &'a [u8], head: RefreshHead<'a>) -> Result<Self, Malformed> {
        whole("refresh rw locks", text, |cursor| refresh::<false>(cursor, head))
            .or_else(|strict| Self::among_words(text, head).ok_or(strict))
    }

    #[cold]
    fn among_words(text: &'a [u8], head: RefreshHead<'a>) -> Option<Self> {
        whole("refresh rw locks", text, |cursor| refresh::<true>(cursor, head)).ok()
    }
}

parsed! {
    /// Parses `Prolong locks for req ...` and `Prolong DOM lock for req ...`.
    ProlongLocks = |text| whole("Prolong locks", text, prolong);
    /// Parses `TARGET: refreshed N locks timeout for req P`.
    RefreshedLocks<'a> = |text| whole("refreshed locks", text, refreshed);
}

/// `TARGET THREAD: refresh rw locks`, and what follows.
#[derive(Clone, Copy)]
pub(super) struct RefreshHead<'a> {
    target: &'a [u8],
    thread: &'a [u8],
    rest: &'a [u8],
}

/// Splits off the head of a text (without `@@@ `), which says whether it is a refresh at all.
#[inline]
pub(super) fn refresh_head(i: &[u8]) -> Option<RefreshHead<'_>> {
    let (target, rest) = i.split_at_checked(byte_search::find(i.get(..40).unwrap_or(i), [b' '])?)?;
    let rest = rest.get(1..)?;
    let (thread, rest) = rest.split_at_checked(byte_search::find(rest.get(..16).unwrap_or(rest), [b':'])?)?;
    Some(RefreshHead { target, thread, rest: rest.strip_prefix(b": refresh rw locks")? })
}

#[inline(always)]
fn refresh<'a, const WORDS: bool>(cursor: &mut Cursor<'a>, head: RefreshHead<'a>) -> Option<RefreshRwLocks<'a>> {
    let RefreshHead { target, thread, rest } = head;
    *cursor = Cursor::new(target);
    let target = TargetName::parse_bytes(target)?;
    *cursor = Cursor::new(rest);
    if !cursor.eat(b" for ") {
        cursor.tag(b": ")?;
    }
    let object = object(cursor)?;
    let extent = if cursor.eat(b" (") { Some(extent_and_bracket(cursor)?) } else { None };
    cursor.skip_space();
    if cursor.rest().is_empty() {
        return Some(RefreshRwLocks { target, thread, object, extent, req: None });
    }
    let req = description::<WORDS>(cursor)?;
    Some(RefreshRwLocks { target, thread, object, extent, req: Some(req) })
}

/// `START->END)`.
#[inline(always)]
fn extent_and_bracket(cursor: &mut Cursor<'_>) -> Option<Extent> {
    let extent = cursor.extent()?;
    cursor.tag(b")")?;
    Some(extent)
}

/// `[0xSEQ:0xOID:0xVER]`, to 2.5 `%llu/%llu`.
#[inline(always)]
fn object(cursor: &mut Cursor<'_>) -> Option<ObjectName> {
    if cursor.rest().first() == Some(&b'[') {
        return cursor.fid().map(ObjectName::Fid);
    }
    let first = cursor.dec_long()?;
    cursor.tag(b"/")?;
    Some(ObjectName::Resource(first, cursor.dec_long()?))
}

/// `Prolong locks for req %p with x%llu ext(%llu->%llu)` (2.8.56 and later), `Prolong DOM lock for req
/// %p with x%llu` (2.10.59 and later).
fn prolong(cursor: &mut Cursor<'_>) -> Option<ProlongLocks> {
    if !cursor.eat(b"Prolong locks for req ") {
        cursor.tag(b"Prolong DOM lock for req ")?;
    }
    let req = cursor.pointer()?;
    cursor.tag(b" with x")?;
    let xid = cursor.xid()?;
    let extent = if cursor.eat(b" ext(") { Some(extent_and_bracket(cursor)?) } else { None };
    Some(ProlongLocks { req, xid, extent })
}

/// `%s: refreshed %u locks timeout for req %p`.
fn refreshed<'a>(cursor: &mut Cursor<'a>) -> Option<RefreshedLocks<'a>> {
    let target = cursor.until::<b':', b' '>()?;
    cursor.tag(b": refreshed ")?;
    let locks = cursor.dec_u32()?;
    cursor.tag(b" locks timeout for req ")?;
    let req = cursor.pointer()?;
    Some(RefreshedLocks { target, locks, req })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Opcode;

    /// Parses `TARGET THREAD: refresh rw locks ...`, with or without the leading `@@@ `.
    fn parse_refresh(text: &[u8]) -> Result<RefreshRwLocks<'_>, Malformed> {
        let i = text.strip_prefix(b"@@@ ").unwrap_or(text);
        match refresh_head(i) {
            Some(head) => RefreshRwLocks::parse_behind(text, head),
            None => whole("refresh rw locks", text, |cursor| {
                *cursor = Cursor::new(i);
                None
            }),
        }
    }

    fn fid_of(text: &str) -> ObjectName {
        ObjectName::Fid(text.parse().unwrap())
    }

    #[test]
    fn refresh_2_17_on_arrival() {
        let text = b"@@@ lustre-OST0001 ll_ost_io00_002: refresh rw locks for [0x280000400:0x4:0x0] (0->1048575)  \
            req@00000000d5e09f76 x1882455793623808/t0(0) o4->b2df25ce-5f2c-45c8-8c82-6364f185437c@10.10.0.11@tcp:298/0 \
            lens 488/0 e 0 to 0 dl 1795250623 ref 1 fl New:/600/ffffffff rc 0/-1 job:'python3.0' uid:0 gid:0 projid:0";
        let refresh = parse_refresh(text).unwrap();
        assert_eq!(refresh.target, "lustre-OST0001".parse().unwrap());
        assert_eq!(refresh.thread, b"ll_ost_io00_002");
        assert_eq!(refresh.object, fid_of("[0x280000400:0x4:0x0]"));
        assert_eq!(refresh.extent, Some(Extent { start: 0, end: 1_048_575 }));
        let req = refresh.req.unwrap();
        assert_eq!((req.req, req.xid, req.opcode), (0xd5e0_9f76, Xid(1_882_455_793_623_808), Some(Opcode::OST_WRITE)));
        assert_eq!((req.phase, req.job, req.projid), (&b"New"[..], Some(&b"python3.0"[..]), Some(0)));
    }

    #[test]
    fn refresh_2_12_has_its_request_on_a_second_line() {
        let text = b"@@@ lustre-OST0001 ll_ost_io00_002: refresh rw locks: [0x100010000:0x2:0x0] (4096->8191)\n \
            req@ffff88003c5e6450 x1600000000000016/t0(0) o3->9c0a5b5e-93b2-1b0b-6ee8-1a7a0c2f6a55@10.1.2.3@o2ib:219/0 \
            lens 488/0 e 0 to 0 dl 1500000000 ref 2 fl New:/0/ffffffff rc 0/-1";
        let refresh = parse_refresh(text).unwrap();
        assert_eq!(refresh.object, fid_of("[0x100010000:0x2:0x0]"));
        assert_eq!(refresh.extent, Some(Extent { start: 4096, end: 8191 }));
        let req = refresh.req.unwrap();
        assert_eq!((req.xid, req.nid, req.job), (Xid(1_600_000_000_000_016), &b"10.1.2.3@o2ib"[..], None));
    }

    #[test]
    fn refresh_2_12_without_its_second_line() {
        let text =
            b"@@@ lustre-OST0001 ll_ost_io00_002: refresh rw locks: [0x100010000:0x2:0x0] (0->18446744073709551615)\n";
        let refresh = parse_refresh(text).unwrap();
        assert_eq!(refresh.extent, Some(Extent { start: 0, end: Extent::EOF }));
        assert_eq!(refresh.req, None);
    }

    #[test]
    fn refresh_2_5_names_the_resource_in_decimal() {
        let text = b"@@@ fs-OST000a ll_ost_io00_002: refresh rw locks: 1234/0 (0->4095)\n  \
            req@ffff88003c5e6450 x1500000000000004/t0(0) o4->u@10.1.2.3@o2ib:0/0 \
            lens 488/0 e 0 to 0 dl 1400000000 ref 1 fl New:/0/ffffffff rc 0/-1";
        let refresh = parse_refresh(text).unwrap();
        assert_eq!(refresh.target, "fs-OST000a".parse().unwrap());
        assert_eq!(refresh.object, ObjectName::Resource(1234, 0));
        assert_eq!(refresh.extent, Some(Extent { start: 0, end: 4095 }));
        assert_eq!(refresh.req.unwrap().xid, Xid(1_500_000_000_000_004));
    }

    #[test]
    fn refresh_of_data_on_mdt_has_no_extent() {
        let suffix = "req@00000000d5e09f76 x12/t0(0) o3->u@10.10.0.11@tcp:298/0 \
            lens 488/0 e 0 to 0 dl 1795250623 ref 1 fl New:/0/ffffffff rc 0/-1";
        for middle in [": [0x200000401:0xd:0x0]\n ", " for [0x200000401:0xd:0x0] "] {
            let text = format!("@@@ lustre-MDT0000 mdt_io00_001: refresh rw locks{middle} {suffix}");
            let refresh = parse_refresh(text.as_bytes()).unwrap();
            assert_eq!(refresh.target, "lustre-MDT0000".parse().unwrap());
            assert_eq!(refresh.object, fid_of("[0x200000401:0xd:0x0]"));
            assert_eq!((refresh.extent, refresh.req.unwrap().xid), (None, Xid(12)));
        }
    }

    #[test]
    fn refresh_near_misses() {
        for text in [
            "lustre-OST0001 t: refresh rw locks for ",
            "lustre-OST0001 t: refresh rw locks for [0x1:0x2:0x0] (0->",
            "lustre-OST0001 t: refresh rw locks for [0x1:0x2:0x0] (0-1)",
            "lustre-OST0001 t: refresh rw locks for [0x1:0x2:0x0] (0->1)  req@1 x",
            "lustre-OST0001 t: refresh rw locks of [0x1:0x2:0x0] (0->1)",
            "lustre-OST1 t: refresh rw locks for [0x1:0x2:0x0] (0->1)",
            "t: refresh rw locks for [0x1:0x2:0x0] (0->1)",
        ] {
            assert_eq!(parse_refresh(text.as_bytes()).unwrap_err().kind, "refresh rw locks", "{text}");
        }
    }

    #[test]
    fn prolong_2_9_and_later() {
        let text = b"Prolong locks for req 00000000d5e09f76 with x1882455793623808 ext(0->1048575)";
        let want = ProlongLocks {
            req: 0xd5e0_9f76,
            xid: Xid(1_882_455_793_623_808),
            extent: Some(Extent { start: 0, end: 1_048_575 }),
        };
        assert_eq!(ProlongLocks::parse(text), Ok(want));
    }

    #[test]
    fn prolong_of_data_on_mdt_2_11_and_later() {
        let text = b"Prolong DOM lock for req ffff88003c5e6450 with x17";
        assert_eq!(
            ProlongLocks::parse(text),
            Ok(ProlongLocks { req: 0xffff_8800_3c5e_6450, xid: Xid(17), extent: None })
        );
    }

    #[test]
    fn prolong_near_misses() {
        for text in [
            "Prolong locks for req 1 with 17",
            "Prolong locks for req 1 with x17 ext(0->1",
            "Prolong locks for req 1 with x17 for(0->1)",
            "Prolong locks for req x with x17",
        ] {
            assert_eq!(ProlongLocks::parse(text.as_bytes()).unwrap_err().kind, "Prolong locks", "{text}");
        }
    }

    #[test]
    fn refreshed_locks() {
        let text = b"lustre-OST0001: refreshed 3 locks timeout for req 00000000d5e09f76";
        let want = RefreshedLocks { target: b"lustre-OST0001", locks: 3, req: 0xd5e0_9f76 };
        assert_eq!(RefreshedLocks::parse(text), Ok(want));
        assert!(RefreshedLocks::parse(b"lustre-OST0001: refreshed 3 locks timeout").is_err());
    }
}
