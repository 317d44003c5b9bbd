//! Any rows: every variant, and the edges of every number.

#![expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "any bits will do")]

use lioprof_model::{
    BulkSpan, LockEvent, LockHappening, LockState, LockStep, Mark, RpcRow, RpcSize, RpcWindow, SentRpc, SizeEvidence,
    Symbol, Symbols, TargetEvidence,
};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{Extent, Fid, LockMode, Opcode, ResourceId, TargetKind, TargetName, Xid};

use super::recorder::Call;

/// Numbers that look random and are the same on every run (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A place in a list of so many.
    pub(crate) fn place(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.place(values.len())]
    }

    pub(crate) fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    /// Small, large, or at an edge.
    fn u64(&mut self) -> u64 {
        match self.below(6) {
            0 => 0,
            1 => u64::MAX - self.below(3),
            2 => (1 << 63) - 1 + self.below(3),
            3 => self.next(),
            _ => self.below(1000),
        }
    }

    fn u32(&mut self) -> u32 {
        self.u64() as u32
    }

    fn i32(&mut self) -> i32 {
        self.u64() as i32
    }

    fn time(&mut self) -> i64 {
        match self.below(8) {
            0 => self.u64() as i64,
            _ => 1_795_251_082_000_000 + self.below(1_000_000_000) as i64,
        }
    }

    fn option<T>(&mut self, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.chance(3) { None } else { Some(some(self)) }
    }

    fn symbol(&mut self, symbols: &mut Symbols) -> Symbol {
        let bytes: &[u8] = match self.below(8) {
            0 => b"",
            1 => b"\xff\xfe",
            2 => b"job\\x41",
            3 => "dä\u{0}\n".as_bytes(),
            _ => &self.below(20).to_string().into_bytes(),
        };
        symbols.intern(bytes)
    }

    fn target(&mut self) -> TargetName {
        let kind = self.one_of(&[TargetKind::Ost, TargetKind::Ost, TargetKind::Mdt, TargetKind::Mgs]);
        TargetName::new(self.one_of(&["lustre", "a", "my-fs_01"]), kind, self.next() as u16).expect("a name")
    }

    fn extent(&mut self) -> Extent {
        Extent { start: self.u64(), end: self.u64() }
    }

    fn resource(&mut self) -> ResourceId {
        ResourceId([self.u64(), self.u64(), self.u64(), self.u64()])
    }

    fn opcode(&mut self) -> Opcode {
        match self.below(3) {
            0 => Opcode(self.u32()),
            _ => self.one_of(Opcode::ALL),
        }
    }

    fn window(&mut self, symbols: &mut Symbols) -> RpcWindow {
        RpcWindow {
            nid: self.symbol(symbols),
            client_uuid: self.symbol(symbols),
            xid: Xid(self.u64()),
            opcode: self.opcode(),
            job: self.option(|it| it.symbol(symbols)),
        }
    }

    pub(crate) fn rpc(&mut self, node: Symbol, symbols: &mut Symbols) -> RpcRow {
        use SizeEvidence as S;
        use TargetEvidence as T;
        RpcRow {
            node,
            opcode: self.opcode(),
            nid: self.symbol(symbols),
            client_uuid: self.symbol(symbols),
            xid: Xid(self.u64()),
            job: self.option(|it| it.symbol(symbols)),
            thread: self.symbol(symbols),
            pid: self.u32(),
            end_us: self.time(),
            service_us: self.option(Self::u64),
            total_us: self.option(Self::u64),
            rc: self.i32(),
            reply_rc: self.i32(),
            transno: self.u64(),
            target: self.option(Self::target),
            target_evidence: self.one_of(&[T::RefreshLine, T::LocalLock, T::Nrs, T::OnlyTarget, T::None]),
            object: self.option(|it| match it.below(2) {
                0 => ObjectName::Fid(Fid { seq: it.u64(), oid: it.u32(), ver: it.u32() }),
                _ => ObjectName::Resource(it.u64(), it.u64()),
            }),
            extent: self.option(Self::extent),
            size: match self.below(3) {
                0 => RpcSize::Exact(self.u64()),
                1 => RpcSize::Bounded { best: self.u64(), min: self.u64(), max: self.u64() },
                _ => RpcSize::Unknown,
            },
            size_evidence: self.one_of(&[
                S::Failed,
                S::ReadStatus,
                S::Bulk,
                S::Inline,
                S::Extent,
                S::Niobufs,
                S::LockExtent,
                S::None,
            ]),
            bulk: self.option(|it| BulkSpan { before_us: it.u64(), transfer_us: it.u64() }),
            dropped: self.chance(2),
            resent: self.chance(2),
            replay: self.chance(2),
            uid: self.option(Self::u32),
            gid: self.option(Self::u32),
            projid: self.option(Self::u32),
            tbf_rate: self.option(Self::u32),
        }
    }

    fn lock_step(&mut self) -> LockStep {
        use LockStep as L;
        self.one_of(&[
            L::Created,
            L::LocalCreated,
            L::Incompatible,
            L::Queued,
            L::Reply,
            L::BlockingAst,
            L::Granted,
            L::Released,
            L::Evicted,
            L::Freed,
        ])
    }

    fn mode(&mut self) -> LockMode {
        use LockMode as M;
        self.one_of(&[M::None, M::Ex, M::Pw, M::Pr, M::Cw, M::Cr, M::Nl, M::Group, M::Cos, M::Txn])
    }

    fn lock(&mut self, symbols: &mut Symbols) -> LockState {
        use LockType as T;
        LockState {
            cookie: self.u64(),
            target: self.target(),
            resource: self.resource(),
            lock_type: self.option(|it| it.one_of(&[T::Extent, T::InodeBits, T::Flock, T::Plain])),
            granted_mode: self.mode(),
            requested_mode: self.mode(),
            granted: self.option(Self::extent),
            requested: self.option(Self::extent),
            nid: self.option(|it| it.symbol(symbols)),
        }
    }

    pub(crate) fn lock_event(&mut self, node: Symbol, symbols: &mut Symbols) -> LockEvent {
        LockEvent {
            node,
            time_us: self.time(),
            pid: self.u32(),
            window: self.option(|it| it.window(symbols)),
            happening: match self.below(8) {
                0 => LockHappening::EnqueueStart,
                1 => LockHappening::EnqueueEnd,
                2 => {
                    LockHappening::KernelContention { resource: self.resource(), added: self.u32(), window: self.u32() }
                }
                3 => LockHappening::CallbackTimedOut { opcode: self.opcode(), target: self.target() },
                4 => LockHappening::SilentEvicted { nid: self.symbol(symbols), target: self.option(Self::target) },
                _ => LockHappening::Lock(self.lock_step(), self.lock(symbols)),
            },
        }
    }

    pub(crate) fn sent_rpc(&mut self, node: Symbol, symbols: &mut Symbols) -> SentRpc {
        SentRpc {
            node,
            time_us: self.time(),
            pid: self.u32(),
            opcode: self.opcode(),
            device: self.symbol(symbols),
            nid: self.symbol(symbols),
            xid: Xid(self.u64()),
            window: self.option(|it| it.window(symbols)),
            round_trip_us: self.option(Self::u64),
        }
    }

    pub(crate) fn mark(&mut self, node: Symbol, symbols: &mut Symbols) -> Mark {
        Mark { node, time_us: self.time(), text: self.symbol(symbols) }
    }

    /// Any item.
    pub(crate) fn call(&mut self, node: Symbol, symbols: &mut Symbols) -> Call {
        match self.below(7) {
            0..3 => Call::Rpc(self.rpc(node, symbols)),
            3..5 => Call::LockEvent(self.lock_event(node, symbols)),
            5 => Call::SentRpc(self.sent_rpc(node, symbols)),
            _ => Call::Mark(self.mark(node, symbols)),
        }
    }
}
