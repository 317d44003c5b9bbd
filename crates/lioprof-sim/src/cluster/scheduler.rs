//! The request scheduler: what may keep a request in the queue although a thread has nothing to do.

use super::{Event, Pen, Policy, Request, Simulation, World, opcode, say};
use crate::wording::{TBF_DEPTH, TbfClass, TbfStep};

impl Simulation {
    /// Decides when a thread may have a request that is queued now.
    pub(super) fn schedule(&mut self, part: usize, thread: usize, request: usize) {
        let now_us = self.now_us;
        let ready_us = match self.policy(request) {
            None => now_us,
            Some(Policy::Delay { min_us, max_us }) => now_us + min_us + self.rng.below((max_us - min_us).max(1)),
            Some(Policy::Tbf { .. }) => {
                let mut pen = self.thread_pen(part, thread);
                say!(
                    self,
                    &mut pen,
                    tbf_enqueues(self.world.tbf_class(request, TbfStep::Enqueues, now_us - self.start_us))
                );
                self.take_token(request)
            }
        };
        self.world.requests[request].ready_us = ready_us;
        if ready_us > now_us {
            self.events.at(ready_us, Event::Ready(part));
        }
    }

    /// The policy that a request falls under: urgent ones are always in a queue of `fifo`.
    fn policy(&self, request: usize) -> Option<Policy> {
        let Request { part, urgent, .. } = self.world.requests[request];
        self.world.parts[part].policy.filter(|_| !urgent)
    }

    /// Takes a token of a request's class; when it is there.
    fn take_token(&mut self, request: usize) -> u64 {
        let Request { part, job, mount, opcode, .. } = self.world.requests[request];
        let every_us = 1_000_000 / u64::from(self.world.tbf_rate(request).max(1));
        let now_us = self.now_us;
        let full_us = self.world.parts[part].classes.entry((job, mount, opcode)).or_default();
        *full_us = (*full_us).max(now_us) + every_us;
        let empty_us = *full_us - TBF_DEPTH * every_us;
        self.world.requests[request].tokens = now_us.saturating_sub(empty_us) / every_us.max(1);
        empty_us.max(now_us)
    }

    /// A thread takes a request out of its queue.
    pub(super) fn say_taken(&mut self, request: usize, pen: &mut Pen) {
        let Request { mount, sequence, .. } = self.world.requests[request];
        match self.policy(request) {
            None => say!(self, pen, nrs_start(self.world.nid(mount), sequence)),
            Some(Policy::Tbf { .. }) => {
                let uptime_us = self.now_us - self.start_us;
                say!(self, pen, tbf_dequeues(self.world.tbf_class(request, TbfStep::Dequeues, uptime_us)));
            }
            Some(Policy::Delay { .. }) => {}
        }
    }

    /// A request is done.
    pub(super) fn say_done(&mut self, request: usize, pen: &mut Pen) {
        let Request { mount, sequence, ready_us, arrival_us, .. } = self.world.requests[request];
        match self.policy(request) {
            None => say!(self, pen, nrs_stop(self.world.nid(mount), sequence)),
            Some(Policy::Tbf { .. }) => say!(self, pen, tbf_stop(self.world.nid(mount), sequence)),
            Some(Policy::Delay { .. }) => {
                let waited_s = (ready_us / 1_000_000).saturating_sub(arrival_us / 1_000_000);
                let done = self.world.received(request, "Complete:", true);
                say!(self, pen, delay_stop(self.world.nid(mount), waited_s, done));
            }
        }
    }
}

impl World {
    /// Requests a second that the rule of a request allows.
    fn tbf_rate(&self, request: usize) -> u32 {
        let Request { part, job, .. } = self.requests[request];
        match self.parts[part].policy {
            Some(Policy::Tbf { job: limited, rate }) if self.jobs[job] == limited => rate,
            _ => Policy::DEFAULT_RATE,
        }
    }

    /// A request's class as lines show it.
    fn tbf_class(&self, request: usize, step: TbfStep, uptime_us: u64) -> TbfClass<'_> {
        let rate = self.tbf_rate(request);
        let state = &self.requests[request];
        let part = &self.parts[state.part];
        let class = self.export(state.mount, state.target).pointer ^ u32::from(state.opcode);
        let now_ns = uptime_us * 1000;
        TbfClass {
            wording: self.wording,
            step,
            part: (part.service.name(), self.mounts[state.mount].host % usize::from(self.nodes[part.node].cpts)),
            pointers: (class, rate.wrapping_mul(0x9e37_79b9)),
            job: &self.jobs[state.job],
            nid: self.nid(state.mount),
            operation: if state.opcode == opcode::OST_WRITE { "ost_write" } else { "ost_read" },
            owner: state.owner,
            rate,
            tokens: state.tokens,
            times_ns: (now_ns + 1_000_000_000 / u64::from(rate.max(1)), now_ns),
        }
    }
}
