//! Bulk RPCs that a client puts together (`osc/osc_request.c`).

use memchr::memmem;

use super::cursor::Cursor;
use crate::Fid;

/// `FID: N read|write pages, start A, end B, now Rr/Ww/Dd in flight` (`osc_build_rpc`; up to 2.15 without `/Dd`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkBuilt {
    /// The file, not the object.
    pub fid: Fid,
    /// Whether data are written.
    pub is_write: bool,
    /// Number of pages.
    pub pages: u32,
    /// First page in the object.
    pub start_page: u64,
    /// The page after the last one in the object.
    pub end_page: u64,
}

impl BulkBuilt {
    /// Parses the line; `None` if the text is another one.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (fid, rest) = Fid::take(text)?;
        let mut cursor = Cursor::new(rest);
        cursor.tag(b": ")?;
        let pages = cursor.dec_u32()?;
        let is_write = cursor.eat(b" write pages, start ");
        if !is_write {
            cursor.tag(b" read pages, start ")?;
        }
        let start_page = cursor.dec_long()?;
        cursor.tag(b", end ")?;
        let end_page = cursor.dec_long()?;
        cursor.tag(b", now ")?;
        Some(Self { fid, is_write, pages, start_page, end_page })
    }
}

/// `brw rpc PTR - object SEQ:OID offset A<>B` (`osc_brw_prep_request`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrwRpc {
    /// Pointer of the request, as in its `Sending RPC` line.
    pub req: u64,
    /// First byte in the object.
    pub start: u64,
    /// The byte after the last one in the object.
    pub end: u64,
}

impl BrwRpc {
    /// Parses the line; `None` if the text is another one.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(text);
        cursor.tag(b"brw rpc ")?;
        let req = cursor.pointer()?;
        cursor.tag(b" - object ")?;
        let rest = cursor.rest();
        let mut cursor = Cursor::new(rest.get(memmem::find(rest, b" offset ")?..)?);
        cursor.tag(b" offset ")?;
        let start = cursor.dec_long()?;
        cursor.tag(b"<>")?;
        let end = cursor.dec_long()?;
        Some(Self { req, start, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    #[test]
    fn bulk_rpcs() {
        let fid = Fid { seq: 0x2_0000_0bd1, oid: 0xa, ver: 0 };
        let want = BulkBuilt { fid, is_write: true, pages: 256, start_page: 0, end_page: 256 };
        for in_flight in ["0r/1w/0d", "0r/1w"] {
            let text = format!("[0x200000bd1:0xa:0x0]: 256 write pages, start 0, end 256, now {in_flight} in flight\n");
            assert_eq!(Message::parse_text(text.as_bytes()), Message::BulkBuilt(want));
        }
        let read = b"[0x200000bd1:0xa:0x0]: 1 read pages, start 7, end 8, now 1r/0w/0d in flight";
        let want = BulkBuilt { fid, is_write: false, pages: 1, start_page: 7, end_page: 8 };
        assert_eq!(Message::parse_text(read), Message::BulkBuilt(want));
        let brw = b"brw rpc 000000001d468499 - object 0x280000400:194 offset 0<>1048576\n";
        assert_eq!(Message::parse_text(brw), Message::BrwRpc(BrwRpc { req: 0x1d46_8499, start: 0, end: 1_048_576 }));
        for text in ["[0x200000bd1:0xa:0x0]: 256 pages", "brw rpc x", "brw rpc 1 - object 2:3"] {
            assert_eq!(Message::parse_text(text.as_bytes()), Message::Other, "{text}");
        }
    }
}
