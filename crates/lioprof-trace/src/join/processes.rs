//! Which job a client's process has: what its kernel threads send for it counts for that.

use std::num::NonZeroU32;

use lioprof_model::Symbol;
use lustre_debuglog::Opcode;
use rustc_hash::FxHashMap;

use crate::decode::event::RpcIds;

/// Processes remembered. If there are more, all are forgotten: a thread that works for one sends soon after it.
const MAX_PROCESSES: usize = 1 << 14;

/// Jobs by the client's NID and the process.
#[derive(Debug, Default)]
pub(super) struct Processes(FxHashMap<(Symbol, NonZeroU32), Symbol>);

impl Processes {
    /// Notes whose request this is. Those for its data leave from threads of the client's kernel, under whose number they say nothing of it.
    #[inline]
    pub(super) fn note(&mut self, rpc: &RpcIds) {
        let (Some(process), Some(job), false) = (rpc.process, rpc.job, rpc.by_kernel) else { return };
        if matches!(rpc.opcode, Opcode::OST_READ | Opcode::OST_WRITE) {
            return;
        }
        if self.0.len() == MAX_PROCESSES {
            self.0.clear();
        }
        self.0.insert((rpc.nid, process), job);
    }

    /// Gives a request the job of the process that a kernel thread sent it for, if that is known.
    #[inline]
    pub(super) fn settle_job(&self, rpc: &mut RpcIds) {
        if rpc.by_kernel
            && let Some(&job) = rpc.process.and_then(|process| self.0.get(&(rpc.nid, process)))
        {
            rpc.job = Some(job);
        }
    }

    pub(super) fn symbols(&mut self, renamed: &mut impl FnMut(Symbol) -> Symbol) {
        self.0 = self.0.drain().map(|((nid, process), job)| ((renamed(nid), process), renamed(job))).collect();
    }
}
