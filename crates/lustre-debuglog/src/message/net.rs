//! Messages of mask `net` from `ptlrpc/niobuf.c` and `ptlrpc/events.c`: which data were really moved, and when.

use nom::Parser;
use nom::branch::alt;

use super::malformed::parsed;
use super::number::{Res, complete, dec_long, dec_u32, field, hex, int_i32, nid, pointer, tag, xid};
use crate::Xid;

/// `Transferring N pages M bytes via portal P id ID mbits A-B` (`ptlrpc_start_bulk_transfer`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transferring<'a> {
    /// Number of pages to transfer.
    pub pages: u32,
    /// Exact number of bytes to transfer. Requests with inline data ("short I/O") print no such line.
    pub bytes: u64,
    /// Number of the bulk portal, 8 for OST I/O.
    pub portal: u32,
    /// NID that the peer used.
    pub nid: &'a [u8],
    /// First and last match bits. On a first send the first is the request's xid.
    pub match_bits: (u64, u64),
}

/// `Sending N bytes to portal P, xid X, offset O` (`ptl_send_buf`): a request or reply leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendingBytes {
    /// Length of the message, bytes.
    pub bytes: u32,
    /// Number of the portal.
    pub portal: u32,
    /// Transfer id of the RPC.
    pub xid: Xid,
    /// Offset in the reply buffer, bytes.
    pub offset: u32,
}

/// `event type T, status S, desc P`: an event of a memory descriptor of a bulk transfer. `server_bulk_callback` logs it for transfers that
/// this node serves, `client_bulk_callback`, in the same words, for those that it requested: the record's function tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkEvent {
    /// Kind of event.
    pub kind: LnetEvent,
    /// Status of the event; a negative one is an `errno`.
    pub status: i32,
    /// Pointer to the transfer's descriptor (`struct ptlrpc_bulk_desc`), which is reused once the request is handled.
    pub desc: u64,
}

/// `enum lnet_event_kind` (`lnet-types.h`): the same numbers from 2.5 to 2.17.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LnetEvent {
    /// The data that a GET requested have come: for a write, the client's data.
    Reply,
    /// The data of a PUT have arrived: for a read, they are at the client.
    Ack,
    /// The message was sent: a GET, or a PUT with the data.
    Send,
    /// The descriptor was unlinked before its transfer was complete.
    Unlink,
    /// Any other number.
    Other(u32),
}

impl From<u32> for LnetEvent {
    fn from(number: u32) -> Self {
        match number {
            3 => Self::Reply,
            4 => Self::Ack,
            5 => Self::Send,
            6 => Self::Unlink,
            other => Self::Other(other),
        }
    }
}

parsed! {
    /// Parses `event type ...`.
    BulkEvent = |text| complete("bulk event", text, bulk_event(text));
    /// Parses `Transferring ...`.
    Transferring<'a> = |text| complete("Transferring", text, transferring(text));
    /// Parses `Sending N bytes to portal ...`.
    SendingBytes = |text| complete("Sending bytes", text, sending_bytes(text));
}

/// `Transferring %u pages %u bytes via portal %d id %s mbits %#llx-%#llx`; to 2.7.55 `xid` for `mbits`.
fn transferring(i: &[u8]) -> Res<'_, Transferring<'_>> {
    let (i, pages) = field(i, b"Transferring ", dec_u32, b" pages ")?;
    let (i, bytes) = field(i, b"", dec_long, b" bytes via portal ")?;
    let (i, portal) = field(i, b"", dec_u32, b" id ")?;
    let (i, nid) = nid(i)?;
    let (i, ()) = alt((tag(b" mbits "), tag(b" xid "))).parse(i)?;
    let (i, first) = field(i, b"", hex, b"-")?;
    let (i, last) = hex(i)?;
    Ok((i, Transferring { pages, bytes, portal, nid, match_bits: (first, last) }))
}

/// `event type %d, status %d, desc %p`.
fn bulk_event(i: &[u8]) -> Res<'_, BulkEvent> {
    let (i, kind) = field(i, b"event type ", dec_u32, b", status ")?;
    let (i, status) = field(i, b"", int_i32, b", desc ")?;
    let (i, desc) = pointer(i)?;
    Ok((i, BulkEvent { kind: LnetEvent::from(kind), status, desc }))
}

/// `Sending %d bytes to portal %d, xid %lld, offset %u`.
fn sending_bytes(i: &[u8]) -> Res<'_, SendingBytes> {
    let (i, bytes) = field(i, b"Sending ", dec_u32, b" bytes to portal ")?;
    let (i, portal) = field(i, b"", dec_u32, b", xid ")?;
    let (i, xid) = field(i, b"", xid, b", offset ")?;
    let (i, offset) = dec_u32(i)?;
    Ok((i, SendingBytes { bytes, portal, xid, offset }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transferring_2_17_has_match_bits() {
        let text = b"Transferring 1024 pages 4194304 bytes via portal 8 id 12345-10.10.0.11@tcp mbits 0x6b01565037f80-0x6b01565037f83";
        let want = Transferring {
            pages: 1024,
            bytes: 4_194_304,
            portal: 8,
            nid: b"10.10.0.11@tcp",
            match_bits: (0x6_b015_6503_7f80, 0x6_b015_6503_7f83),
        };
        assert_eq!(Transferring::parse(text), Ok(want));
    }

    #[test]
    fn transferring_2_7_has_xids() {
        let text = b"Transferring 1 pages 4096 bytes via portal 8 id 12345-27@gni xid 0x55d0-0x55d0";
        let want = Transferring { pages: 1, bytes: 4096, portal: 8, nid: b"27@gni", match_bits: (0x55d0, 0x55d0) };
        assert_eq!(Transferring::parse(text), Ok(want));
    }

    #[test]
    fn transferring_near_misses() {
        for text in [
            "Transferring 1 pages 4096 bytes via portal 8 id 12345-27@gni xid 0x55d0",
            "Transferring 1 pages 4096 bytes via portal 8 id 12345-27 xid 0x55d0-0x55d0",
            "Transferring 1 pages -1 bytes via portal 8 id 12345-27@gni xid 0x55d0-0x55d0",
        ] {
            assert_eq!(Transferring::parse(text.as_bytes()).unwrap_err().kind, "Transferring", "{text}");
        }
    }

    #[test]
    fn bulk_events_all_versions() {
        let event = |text: &str| BulkEvent::parse(text.as_bytes());
        let sent = BulkEvent { kind: LnetEvent::Send, status: 0, desc: 0xa05d_bc64 };
        assert_eq!(event("event type 5, status 0, desc 00000000a05dbc64"), Ok(sent));
        // 2.7 on kernels that print pointers as they are.
        let came = BulkEvent { kind: LnetEvent::Reply, status: -110, desc: 0xffff_8801_b2df_2500 };
        assert_eq!(event("event type 3, status -110, desc ffff8801b2df2500"), Ok(came));
        for (number, kind) in [(4, LnetEvent::Ack), (6, LnetEvent::Unlink), (2, LnetEvent::Other(2))] {
            assert_eq!(event(&format!("event type {number}, status 0, desc 1")).map(|it| it.kind), Ok(kind));
        }
        assert!(event("event type x, status 0, desc 1").is_err());
        assert!(event("event type 5, status 0, desc ").is_err());
    }

    #[test]
    fn sending_bytes_all_versions() {
        let want = SendingBytes { bytes: 448, portal: 4, xid: Xid(1_882_455_780_295_424), offset: 192 };
        assert_eq!(SendingBytes::parse(b"Sending 448 bytes to portal 4, xid 1882455780295424, offset 192"), Ok(want));
        assert!(SendingBytes::parse(b"Sending 448 bytes to portal 4, xid x1, offset 192").is_err());
        assert!(SendingBytes::parse(b"Sending 448 bytes to portal 4, xid 1").is_err());
    }
}
