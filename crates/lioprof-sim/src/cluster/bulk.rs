//! Reads and writes.

use super::disk::take;
use super::{Event, Io, Request, Simulation, Stage, say};
use crate::cluster::log::Pen;

/// Kinds of events of a bulk transfer.
const SENT: u32 = 5;
const ACKNOWLEDGED: u32 = 4;
const ARRIVED: u32 = 3;

/// `-EDQUOT`, `-ENOSPC`.
const OVER_QUOTA: i64 = -122;
const NO_SPACE: i64 = -28;

/// What a MiB takes between a server and a client.
const NETWORK_BYTES_PER_S: u64 = 8_000_000_000;

impl Simulation {
    /// Begins a read or write: the thread is busy until the disk and the network are done.
    pub(super) fn start_io(&mut self, request: usize, mut pen: Pen) {
        let Some(io) = self.world.requests[request].io else { return };
        let target = self.world.requests[request].target;
        if io.write
            && let Some(rc) = self.refused(request, io.bytes)
        {
            self.world.requests[request].rc = (rc, rc);
            pen.now_us += self.rng.about(40);
            self.finish(request, pen);
            return;
        }
        if io.direct {
            pen.now_us += self.rng.about(20);
            self.take_local_lock(request, &io, &mut pen);
        }
        pen.now_us += self.rng.about(40);
        if io.write {
            let there_us = self.transfer(request, &io, &mut pen);
            let (mount, node) = (self.world.requests[request].mount, self.world.targets[target].node);
            if self.world.mounts[mount].link.is_limit() || self.world.nodes[node].link.is_limit() {
                // What comes over a slow link keeps no disk waiting.
                self.world.requests[request].stage = Stage::Moving;
                self.events.at(there_us, Event::Step(request));
                return;
            }
            self.store(request, io.bytes, there_us.max(pen.now_us));
        } else {
            pen.now_us = self.world.targets[target].disk.done_us(pen.now_us, io.bytes, &mut self.rng);
            let done_us = self.transfer(request, &io, &mut pen);
            self.world.requests[request].stage = Stage::Ending;
            self.events.at(done_us.max(pen.now_us), Event::Step(request));
        }
    }

    /// Why a write cannot be stored.
    fn refused(&mut self, request: usize, bytes: u64) -> Option<i64> {
        let Request { mount, target, .. } = self.world.requests[request];
        if !take(&mut self.world.mounts[mount].config.quota_bytes, bytes) {
            return Some(OVER_QUOTA);
        }
        (!self.world.targets[target].disk.takes(bytes)).then_some(NO_SPACE)
    }

    /// Data go to disk; those of one that hangs are under way for good.
    fn store(&mut self, request: usize, bytes: u64, now_us: u64) {
        let target = self.world.requests[request].target;
        self.world.requests[request].stage = Stage::Ending;
        if let Some(done_us) = self.world.targets[target].disk.written_us(now_us, bytes, &mut self.rng) {
            self.events.at(done_us, Event::Step(request));
        }
    }

    /// The data of a write are there: they go to disk.
    pub(super) fn write_io(&mut self, request: usize) {
        let Some(io) = self.world.requests[request].io else { return };
        self.store(request, io.bytes, self.now_us);
    }

    /// Moves the data; when the last byte is there.
    fn transfer(&mut self, request: usize, io: &Io, pen: &mut Pen) -> u64 {
        if io.is_short() {
            return pen.now_us;
        }
        let state = &self.world.requests[request];
        let (mount, xid, node) = (state.mount, state.xid, self.world.targets[state.target].node);
        let pieces = io.descriptors();
        // Each piece begins inside a page of its own.
        let pages = io.bytes.div_ceil(4096).max(io.pieces);
        let begin_us = pen.now_us;
        say!(self, pen, transfer(pages, io.bytes, self.world.nid(mount), xid, xid + pieces - 1));
        let descriptor = self.rng.pointer();
        let mut driver = self.driver(node, mount);
        let piece_us = (io.bytes / pieces).saturating_mul(1_000_000) / NETWORK_BYTES_PER_S;
        let way_us = self.world.mounts[mount].config.rtt_us / 2;
        driver.now_us = pen.now_us + 2;
        for _ in 0..pieces {
            say!(self, &mut driver, bulk_event(SENT, descriptor));
        }
        let through_us = self.world.mounts[mount].link.done_us(driver.now_us, io.bytes);
        let through_us = through_us.max(self.world.nodes[node].link.done_us(driver.now_us, io.bytes));
        driver.now_us = through_us + way_us;
        let mut end_us = driver.now_us;
        for _ in 0..pieces {
            driver.now_us += piece_us;
            end_us = driver.now_us;
            let event = if io.write { ARRIVED } else { ACKNOWLEDGED };
            say!(self, &mut driver, bulk_event(event, descriptor));
        }
        self.world.requests[request].transfer_us = Some((begin_us, end_us));
        driver.now_us
    }

    /// The data are where they belong.
    pub(super) fn end_io(&mut self, request: usize) {
        let mut pen = self.handler_pen(request);
        let Some(io) = self.world.requests[request].io else { return };
        if io.write {
            let object = &mut self.world.objects[io.object];
            object.size_bytes = object.size_bytes.max(io.extent.last + 1);
            object.mtime_s = self.now_us / 1_000_000;
            self.new_transaction(request);
        } else {
            let bytes = i64::try_from(io.bytes).unwrap_or(i64::MAX);
            self.world.requests[request].rc = (bytes, bytes);
        }
        if io.direct {
            self.drop_local_lock(request, &io, &mut pen);
        }
        self.finish(request, pen);
    }
}
