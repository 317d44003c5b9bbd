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
    seq: i64 = Split bounds,
    end_us: i64 = Split bounds,
    service_us: Option<u64> = Split,
    total_us: Option<u64> = Split,
    opcode: u32 = Dictionary,
    nid: Text<Symbol> = Dictionary,
    client_uuid: Text<Symbol> = Dictionary,
    job: Option<Text<Symbol>> = Dictionary,
    xid: u64 = Split,
    thread: Text<Symbol> = Dictionary,
    pid: u32 = Dictionary,
    rc: i32 = Dictionary,
    reply_rc: i32 = Dictionary,
    transno: Option<u64> = Split,
    target: Option<Text<TargetName>> = Dictionary bounds,
    target_evidence: Text<TargetEvidence> = Dictionary,
    fid_seq: Option<u64> = Dictionary,
    fid_oid: Option<u32> = Split,
    fid_ver: Option<u32> = Dictionary,
    resource_0: Option<u64> = Dictionary,
    resource_1: Option<u64> = Dictionary,
    extent_start: Option<u64> = Split,
    extent_end: Option<u64> = Split,
    bytes: Option<u64> = Split,
    bytes_min: Option<u64> = Split,
    bytes_max: Option<u64> = Split,
    bytes_exact: bool = Dictionary,
    size_evidence: Text<SizeEvidence> = Dictionary,
    before_bulk_us: Option<u64> = Split,
    bulk_us: Option<u64> = Split,
    dropped: bool = Dictionary,
    resent: bool = Dictionary,
    replay: bool = Dictionary,
    uid: Option<u32> = Dictionary,
    gid: Option<u32> = Dictionary,
    projid: Option<u32> = Dictionary,
    ; derived:
    queue_bucket: Option<u16> = Split,
    service_bucket: Option<u16> = Split,
    total_bucket: Option<u16> = Split,
    opcode_name: Text<str> = Dictionary,
}

impl RpcColumns {
    /// Adds an RPC.
    pub(crate) fn push(&mut self, seq: i64, row: &RpcRow, texts: &mut Texts, symbols: &Symbols) {
        self.seq.push(seq);
        self.end_us.push(row.end_us);
        self.service_us.push(row.service_us);
        self.total_us.push(row.total_us);
        self.queue_bucket.push(row.queue_us().map(latency_bucket));
        self.service_bucket.push(row.service_us.map(latency_bucket));
        self.total_bucket.push(row.total_us.map(latency_bucket));
        self.opcode.push(row.opcode.0);
        self.opcode_name.push(texts.opcode(row.opcode));
        self.nid.push(texts.symbol(row.nid, symbols));
        self.client_uuid.push(texts.symbol(row.client_uuid, symbols));
        self.job.push(row.job.map(|job| texts.symbol(job, symbols)));
        self.xid.push(row.xid.0);
        self.thread.push(texts.symbol(row.thread, symbols));
        self.pid.push(row.pid);
        self.rc.push(row.rc);
        self.reply_rc.push(row.reply_rc);
        self.transno.push(Some(row.transno).filter(|transno| *transno != 0));
        self.target.push(row.target.map(|target| texts.target(target)));
        self.target_evidence.push(texts.word(row.target_evidence));
        self.push_object(row.object);
        self.extent_start.push(row.extent.map(|extent| extent.start));
        self.extent_end.push(row.extent.map(|extent| extent.end));
        let (bytes, min, max) = match row.size {
            RpcSize::Exact(bytes) => (Some(bytes), Some(bytes), Some(bytes)),
            RpcSize::Bounded { best, min, max } => (Some(best), Some(min), Some(max)),
            RpcSize::Unknown => (None, None, None),
        };
        self.bytes.push(bytes);
        self.bytes_min.push(min);
        self.bytes_max.push(max);
        self.bytes_exact.push(matches!(row.size, RpcSize::Exact(_)));
        self.size_evidence.push(texts.word(row.size_evidence));
        self.before_bulk_us.push(row.bulk.map(|bulk| bulk.before_us));
        self.bulk_us.push(row.bulk.map(|bulk| bulk.transfer_us));
        self.dropped.push(row.dropped);
        self.resent.push(row.resent);
        self.replay.push(row.replay);
        self.uid.push(row.uid);
        self.gid.push(row.gid);
        self.projid.push(row.projid);
    }

    fn push_object(&mut self, object: Option<ObjectName>) {
        let (fid, resource) = match object {
            Some(ObjectName::Fid(fid)) => (Some(fid), None),
            Some(ObjectName::Resource(id, seq)) => (None, Some((id, seq))),
            None => (None, None),
        };
        self.fid_seq.push(fid.map(|fid| fid.seq));
        self.fid_oid.push(fid.map(|fid| fid.oid));
        self.fid_ver.push(fid.map(|fid| fid.ver));
        self.resource_0.push(resource.map(|it| it.0));
        self.resource_1.push(resource.map(|it| it.1));
    }
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
