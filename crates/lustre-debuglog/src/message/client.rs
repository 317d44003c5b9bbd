//! Messages of `ptlrpc/client.c`: RPCs that this node sends.
//!
//! Wordings of `Sending RPC` and `Completed RPC`:
//!
//! * to 2.12.x: `Sending RPC pname:cluuid:pid:xid:nid:opc THREAD:UUID:PID:XID:NID:OPC`
//! * 2.13 and later: `req@PTR ` in front of `pname`, `:job` behind `opc` and its value at the end

use super::cursor::{Cursor, whole};
use super::malformed::Malformed;
use super::ptlrpc::{behind_thread, job, job_column, request_pointer};
use crate::{Opcode, Xid};

/// `Sending RPC` / `Completed RPC`: an RPC of which this node is the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientRpc<'a> {
    /// `req@` pointer; `None` before Lustre 2.13.
    pub req: Option<u64>,
    /// Name of the local sending thread.
    pub thread: &'a [u8],
    /// Uuid of the sending device. For lock callbacks: the *target's*, `lustre-OST0001_UUID`.
    pub device_uuid: &'a [u8],
    /// Pid of the local sending thread.
    pub pid: i32,
    /// Transfer id, counted by this node.
    pub xid: Xid,
    /// Destination NID.
    pub nid: &'a [u8],
    /// Opcode: 104, 105, 106 are blocking, completion and glimpse callbacks.
    pub opcode: Opcode,
    /// Job id; `None` before Lustre 2.13, empty for callbacks.
    pub job: Option<&'a [u8]>,
}

impl<'a> ClientRpc<'a> {
    /// Parses `Sending RPC ...`.
    ///
    /// # Errors
    /// When the text is not of that form: where it stopped being so.
    pub fn parse_sending(text: &'a [u8]) -> Result<Self, Malformed> {
        whole("Sending RPC", text, |cursor| {
            cursor.tag(b"Sending RPC ")?;
            client_rpc(cursor)
        })
    }

    /// Parses `Completed RPC ...`, which has the same fields.
    ///
    /// # Errors
    /// When the text is not of that form: where it stopped being so.
    pub fn parse_completed(text: &'a [u8]) -> Result<Self, Malformed> {
        whole("Completed RPC", text, |cursor| {
            cursor.tag(b"Completed RPC ")?;
            client_rpc(cursor)
        })
    }
}

/// Reads the text after `Sending RPC ` or `Completed RPC `; the job is all the rest.
#[inline(always)]
fn client_rpc<'a>(cursor: &mut Cursor<'a>) -> Option<ClientRpc<'a>> {
    let req = request_pointer(cursor)?;
    cursor.tag(b"pname:cluuid:pid:xid:nid:opc")?;
    let has_job = job_column(cursor)?;
    let (thread, (device_uuid, pid, xid)) = behind_thread(cursor, device)?;
    cursor.tag(b":")?;
    let nid = cursor.nid()?;
    cursor.tag(b":")?;
    let opcode = cursor.opcode()?;
    let job = if has_job { Some(job(cursor)?) } else { None };
    Some(ClientRpc { req, thread, device_uuid, pid, xid, nid, opcode, job })
}

/// `UUID:PID:XID`; Lustre 1.8 printed an `x` before the xid.
#[inline(always)]
fn device<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a [u8], i32, Xid)> {
    let uuid = cursor.until::<b':', b':'>()?;
    cursor.tag(b":")?;
    let pid = cursor.int_i32()?;
    cursor.tag(b":")?;
    cursor.eat(b"x");
    let xid = cursor.xid()?;
    Some((uuid, pid, xid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_2_17_callback_names_the_target() {
        let text = b"Sending RPC req@00000000cf20c915 pname:cluuid:pid:xid:nid:opc:job \
            ll_ost00_003:lustre-OST0001_UUID:2313:1882455779965568:10.10.0.11@tcp:104:";
        let want = ClientRpc {
            req: Some(0xcf20_c915),
            thread: b"ll_ost00_003",
            device_uuid: b"lustre-OST0001_UUID",
            pid: 2313,
            xid: Xid(1_882_455_779_965_568),
            nid: b"10.10.0.11@tcp",
            opcode: Opcode::LDLM_BL_CALLBACK,
            job: Some(b""),
        };
        assert_eq!(ClientRpc::parse_sending(text), Ok(want));
    }

    #[test]
    fn completed_2_12_has_no_job() {
        let text = b"Completed RPC pname:cluuid:pid:xid:nid:opc \
            ptlrpcd_00_01:lustre-MDT0000-mdtlov_UUID:1871:1600000000000032:10.1.2.3@o2ib:1000";
        let want = ClientRpc {
            req: None,
            thread: b"ptlrpcd_00_01",
            device_uuid: b"lustre-MDT0000-mdtlov_UUID",
            pid: 1871,
            xid: Xid(1_600_000_000_000_032),
            nid: b"10.1.2.3@o2ib",
            opcode: Opcode::OUT_UPDATE,
            job: None,
        };
        assert_eq!(ClientRpc::parse_completed(text), Ok(want));
    }

    #[test]
    fn sending_1_8_has_an_x_and_worker_names_have_colons() {
        let text = b"Sending RPC pname:cluuid:pid:xid:nid:opc kworker/u4:2:lustre-OST0001_UUID:7:x12:10.0.0.1@tcp:105";
        let sending = ClientRpc::parse_sending(text).unwrap();
        assert_eq!((sending.thread, sending.pid, sending.xid), (&b"kworker/u4:2"[..], 7, Xid(12)));
    }

    #[test]
    fn sending_near_misses() {
        for text in [
            "Sending RPC pname:cluuid:pid:xid:nid:opc t:u:1:2:10.0.0.1@tcp:104:job",
            "Sending RPC pname:cluuid:pid:xid:nid:opc t:u:1:2:10.0.0.1@tcp",
            "Sending RPC pname:cluuid:pid:xid:nid:opc t:u:1:y2:10.0.0.1@tcp:104",
        ] {
            assert!(ClientRpc::parse_sending(text.as_bytes()).is_err(), "{text}");
            assert!(ClientRpc::parse_completed(text.as_bytes()).is_err(), "{text}");
        }
    }
}
