//! Table `rpcs`: one row per RPC.

use lioprof_model::latency::latency_bucket;
use lioprof_model::{BulkSpan, RowSink, RpcRow, RpcSize, SizeEvidence, Symbol, Symbols, TargetEvidence};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Extent, Fid, Opcode, TargetName, Xid};

use super::table;
use super::texts::{Text, Texts};
use super::view::{BadColumn, NodeRows, View};

table! {
    // Client by client: xids, jobs, users, objects and offsets then hardly change from row to row. That saves more than the disorder
    // of `seq` and `end_us` costs.
    /// RPCs as columns.
    RpcColumns, RpcView, "rpcs", by |rows, row| u64::from(rows.nid.stored()[row].unsigned_abs());

    push(seq: i64, row: &RpcRow, texts: &mut Texts, symbols: &Symbols) {
        let (fid, resource) = match row.object {
            Some(ObjectName::Fid(fid)) => (Some(fid), None),
            Some(ObjectName::Resource(id, seq)) => (None, Some((id, seq))),
            None => (None, None),
        };
        let (bytes, min, max) = match row.size {
            RpcSize::Exact(bytes) => (Some(bytes), Some(bytes), Some(bytes)),
            RpcSize::Bounded { best, min, max } => (Some(best), Some(min), Some(max)),
            RpcSize::Unknown => (None, None, None),
        };
    }

    seq: i64 = Split bounds => seq,
    end_us: i64 = Split bounds => row.end_us,
    service_us: Option<u64> = Split => row.service_us,
    total_us: Option<u64> = Split => row.total_us,
    opcode: u32 = Dictionary => row.opcode.0,
    nid: Text<Symbol> = Dictionary => texts.symbol(row.nid, symbols),
    client_uuid: Text<Symbol> = Dictionary => texts.symbol(row.client_uuid, symbols),
    job: Option<Text<Symbol>> = Dictionary => row.job.map(|job| texts.symbol(job, symbols)),
    xid: u64 = Split => row.xid.0,
    thread: Text<Symbol> = Dictionary => texts.symbol(row.thread, symbols),
    pid: u32 = Dictionary => row.pid,
    rc: i32 = Dictionary => row.rc,
    reply_rc: i32 = Dictionary => row.reply_rc,
    transno: Option<u64> = Split => Some(row.transno).filter(|transno| *transno != 0),
    target: Option<Text<TargetName>> = Dictionary bounds => row.target.map(|target| texts.target(target)),
    target_evidence: Text<TargetEvidence> = Dictionary => texts.word(row.target_evidence),
    fid_seq: Option<u64> = Dictionary => fid.map(|fid| fid.seq),
    fid_oid: Option<u32> = Split => fid.map(|fid| fid.oid),
    fid_ver: Option<u32> = Dictionary => fid.map(|fid| fid.ver),
    resource_0: Option<u64> = Dictionary => resource.map(|it| it.0),
    resource_1: Option<u64> = Dictionary => resource.map(|it| it.1),
    extent_start: Option<u64> = Split => row.extent.map(|extent| extent.start),
    extent_end: Option<u64> = Split => row.extent.map(|extent| extent.end),
    bytes: Option<u64> = Split => bytes,
    bytes_min: Option<u64> = Split => min,
    bytes_max: Option<u64> = Split => max,
    bytes_exact: bool = Dictionary => matches!(row.size, RpcSize::Exact(_)),
    size_evidence: Text<SizeEvidence> = Dictionary => texts.word(row.size_evidence),
    before_bulk_us: Option<u64> = Split => row.bulk.map(|bulk| bulk.before_us),
    bulk_us: Option<u64> = Split => row.bulk.map(|bulk| bulk.transfer_us),
    dropped: bool = Dictionary => row.dropped,
    resent: bool = Dictionary => row.resent,
    replay: bool = Dictionary => row.replay,
    uid: Option<u32> = Dictionary => row.uid,
    gid: Option<u32> = Dictionary => row.gid,
    projid: Option<u32> = Dictionary => row.projid,
    tbf_rate: Option<u32> = Dictionary => row.tbf_rate,
    ; derived:
    queue_bucket: Option<u16> = Split => row.queue_us().map(latency_bucket),
    service_bucket: Option<u16> = Split => row.service_us.map(latency_bucket),
    total_bucket: Option<u16> = Split => row.total_us.map(latency_bucket),
    opcode_name: Text<str> = Dictionary => texts.opcode(row.opcode),
}

impl NodeRows for RpcView {
    fn give(&self, at: usize, node: Symbol, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), BadColumn> {
        let row = RpcRow {
            node,
            opcode: Opcode(self.opcode.get(at)),
            nid: self.nid.get(at),
            client_uuid: self.client_uuid.get(at),
            xid: Xid(self.xid.get(at)),
            job: self.job.get(at),
            thread: self.thread.get(at),
            pid: self.pid.get(at),
            end_us: self.end_us.get(at),
            service_us: self.service_us.get(at),
            total_us: self.total_us.get(at),
            rc: self.rc.get(at),
            reply_rc: self.reply_rc.get(at),
            transno: self.transno.get(at).unwrap_or(0),
            target: self.target.get(at),
            target_evidence: self.target_evidence.get(at),
            object: self.object(at),
            extent: self.extent_start.get(at).zip(self.extent_end.get(at)).map(|(start, end)| Extent { start, end }),
            size: self.size(at),
            size_evidence: self.size_evidence.get(at),
            bulk: self.bulk(at),
            dropped: self.dropped.get(at),
            resent: self.resent.get(at),
            replay: self.replay.get(at),
            uid: self.uid.get(at),
            gid: self.gid.get(at),
            projid: self.projid.get(at),
            tbf_rate: self.tbf_rate.get(at),
        };
        sink.rpc(&row, symbols);
        Ok(())
    }
}

impl RpcView {
    fn object(&self, at: usize) -> Option<ObjectName> {
        match (self.fid_seq.get(at), self.fid_oid.get(at), self.fid_ver.get(at)) {
            (Some(seq), Some(oid), Some(ver)) => Some(ObjectName::Fid(Fid { seq, oid, ver })),
            _ => Some(ObjectName::Resource(self.resource_0.get(at)?, self.resource_1.get(at)?)),
        }
    }

    fn bulk(&self, at: usize) -> Option<BulkSpan> {
        let (before_us, transfer_us) = self.before_bulk_us.get(at).zip(self.bulk_us.get(at))?;
        Some(BulkSpan { before_us, transfer_us })
    }

    fn size(&self, at: usize) -> RpcSize {
        match (self.bytes.get(at), self.bytes_min.get(at), self.bytes_max.get(at)) {
            (Some(bytes), _, _) if self.bytes_exact.get(at) => RpcSize::Exact(bytes),
            (Some(best), Some(min), Some(max)) => RpcSize::Bounded { best, min, max },
            _ => RpcSize::Unknown,
        }
    }
}
