//! The operations of a thread, from its lines.
//!
//! A thread runs one operation at a time; what it does within one (a fault within a write) is part of that. An operation whose end is lost
//! is given up at the first line that cannot be part of it: it is counted, but has no duration.

use lioprof_model::{BeginEvidence, Evidence, FileName, NameHash, Symbol};
use lustre_debuglog::vocab::OperationKind;
use lustre_debuglog::{Fid, Opcode};

use super::walk::{MAY_EXEC, MAY_OPEN, MAY_OTHERS, REST_US, Walk, is_of_walk};

/// An operation with both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) kind: OperationKind,
    pub(super) fid: Option<Fid>,
    pub(super) begin_us: i64,
    pub(super) end_us: i64,
    pub(super) begin_evidence: BeginEvidence,
    pub(super) evidence: Evidence,
    pub(super) result: Option<i64>,
    /// The file's name, if names are kept.
    pub(super) name: Option<Symbol>,
}

impl Found {
    /// An operation of which there are lines, up to now.
    fn begun(
        kind: OperationKind,
        fid: Option<Fid>,
        (begin_us, begin_evidence): (i64, BeginEvidence),
        end_us: i64,
        name: Option<Symbol>,
    ) -> Self {
        Self { kind, fid, begin_us, end_us, begin_evidence, evidence: Evidence::Logged, result: None, name }
    }
}

/// Times in which an operation may have run of which only one end is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ghost {
    pub(super) kind: OperationKind,
    pub(super) from_us: i64,
    pub(super) to_us: i64,
}

/// What lines of a thread have given.
#[derive(Default, Debug)]
pub(super) struct FoundAll {
    pub(super) operations: Vec<Found>,
    pub(super) ghosts: Vec<Ghost>,
}

#[derive(Clone, Debug)]
struct Open {
    found: Found,
    /// It has no end line: it ends with the last reply or step before something else begins.
    is_endless: bool,
    replies: u32,
    /// Operations within it that have begun.
    inner: Vec<(OperationKind, Fid)>,
}

/// What a thread is doing.
#[derive(Default, Debug)]
pub(super) struct Thread {
    open: Option<Open>,
    walk: Option<Walk>,
    /// RPCs that it sent and waits for.
    in_flight: u32,
    last_us: i64,
    /// End of its last operation.
    last_end_us: i64,
}

impl Thread {
    /// Any line of the thread, before it is looked at.
    fn line(&mut self, time_us: i64, out: &mut FoundAll) {
        if self.in_flight == 0 && time_us - self.last_us > REST_US {
            self.walk = None;
            if self.open.as_ref().is_some_and(|open| open.is_endless) {
                self.close_endless(out);
            }
        }
        self.last_us = time_us;
    }

    pub(super) fn started(
        &mut self,
        (kind, fid): (OperationKind, Fid),
        name: Option<FileName>,
        time_us: i64,
        out: &mut FoundAll,
    ) {
        self.line(time_us, out);
        if let Some(open) = &mut self.open
            && !open.is_endless
            && is_within(open.found.kind, kind)
        {
            open.inner.push((kind, fid));
            return;
        }
        self.give_up(time_us, out);
        let walk = self.walk.take().filter(|walk| {
            let by_path = matches!(kind, OperationKind::Open | OperationKind::Stat | OperationKind::Setattr);
            by_path
                && (kind == OperationKind::Open || !walk.is_of_open)
                && name.is_some()
                && walk.last_name == name.map(|name| name.hash)
        });
        let (begin_us, begin_evidence) = match walk {
            Some(walk) => (walk.begin_us, BeginEvidence::PathWalk),
            None => (time_us, BeginEvidence::FirstLine),
        };
        let name = name.and_then(|name| name.text);
        let found = Found::begun(kind, Some(fid), (begin_us, begin_evidence), time_us, name);
        self.open = Some(Open { found, is_endless: false, replies: 0, inner: Vec::new() });
    }

    pub(super) fn completed(
        &mut self,
        (kind, fid): (OperationKind, Fid),
        result: Option<i64>,
        time_us: i64,
        out: &mut FoundAll,
    ) {
        self.line(time_us, out);
        let Some(open) = &mut self.open else {
            out.ghosts.push(Ghost { kind, from_us: self.last_end_us, to_us: time_us });
            self.end(time_us);
            return;
        };
        if let Some(at) = open.inner.iter().rposition(|inner| *inner == (kind, fid)) {
            open.inner.truncate(at);
        } else if !open.is_endless && open.found.kind == kind && open.found.fid == Some(fid) {
            out.operations.push(Found { end_us: time_us, result, ..open.found });
            self.end(time_us);
        } else {
            out.ghosts.push(Ghost { kind, from_us: self.last_end_us, to_us: time_us });
        }
    }

    /// `VFS Op` of an operation without an end line.
    pub(super) fn called(
        &mut self,
        (kind, fid): (OperationKind, Option<Fid>),
        name: Option<FileName>,
        time_us: i64,
        out: &mut FoundAll,
    ) {
        self.line(time_us, out);
        self.give_up(time_us, out);
        let walk = self.walk.take();
        let (begin_us, begin_evidence) = match walk {
            Some(walk) => (walk.begin_us, BeginEvidence::PathWalk),
            None => (time_us, BeginEvidence::FirstLine),
        };
        let name = name.and_then(|name| name.text);
        let found = Found::begun(kind, fid, (begin_us, begin_evidence), time_us, name);
        self.open = Some(Open { found, is_endless: true, replies: 0, inner: Vec::new() });
    }

    pub(super) fn walked(
        &mut self,
        fid: Option<Fid>,
        (name, is_root): (Option<NameHash>, bool),
        access: Option<u32>,
        time_us: i64,
        out: &mut FoundAll,
    ) {
        self.line(time_us, out);
        if access.is_some_and(|access| access & MAY_OPEN != 0) {
            if let Some(walk) = self.walk.as_mut().filter(|_| self.open.is_none()) {
                walk.is_of_open = true;
            }
            return;
        }
        if let Some(open) = &self.open {
            if !open.is_endless && access != Some(MAY_EXEC) {
                return;
            }
            // No operation enters a directory between its first line and its last: another one has begun.
            self.give_up(time_us, out);
        }
        if access.is_some_and(|access| access & MAY_OTHERS != 0) {
            self.walk = None;
            return;
        }
        let walk = self.walk.get_or_insert_with(|| Walk::begun(time_us));
        walk.step(fid, (name, is_root), access, time_us);
    }

    /// The first line of a call that has no last one. One of an unknown kind may be part of what the thread does.
    pub(super) fn entered(&mut self, kind: Option<OperationKind>, time_us: i64, out: &mut FoundAll) {
        if kind.is_none() {
            return self.went_on(time_us, out);
        }
        self.line(time_us, out);
        if self.open.as_ref().is_some_and(|open| open.is_endless) {
            self.close_endless(out);
        }
        self.walk = None;
    }

    /// A line that is part of whatever the thread does.
    pub(super) fn went_on(&mut self, time_us: i64, out: &mut FoundAll) {
        self.line(time_us, out);
        if let Some(open) = self.open.as_mut().filter(|open| open.is_endless) {
            open.found.end_us = time_us;
        }
    }

    pub(super) fn sent(&mut self, opcode: Opcode, time_us: i64, out: &mut FoundAll) {
        self.line(time_us, out);
        if self.open.is_none() && !is_of_walk(opcode) {
            // The walk has led to an operation whose lines are lost.
            self.walk = None;
        }
        self.in_flight += 1;
    }

    pub(super) fn replied(&mut self, time_us: i64, out: &mut FoundAll) {
        self.line(time_us, out);
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(open) = self.open.as_mut().filter(|open| open.is_endless) {
            open.replies += 1;
            open.found.end_us = time_us;
        }
    }

    /// The log has ended.
    pub(super) fn finish(&mut self, out: &mut FoundAll) {
        self.give_up(self.last_us, out);
    }

    /// What was going on is over.
    fn give_up(&mut self, time_us: i64, out: &mut FoundAll) {
        match &self.open {
            None => {}
            Some(open) if open.is_endless => self.close_endless(out),
            Some(Open { found, .. }) => {
                out.ghosts.push(Ghost { kind: found.kind, from_us: found.begin_us, to_us: time_us });
                self.end(time_us);
            }
        }
    }

    fn close_endless(&mut self, out: &mut FoundAll) {
        let Some(Open { found, replies, .. }) = self.open.take() else { return };
        if replies > 0 && self.in_flight == 0 {
            out.operations.push(found);
        } else {
            out.ghosts.push(Ghost { kind: found.kind, from_us: found.begin_us, to_us: found.end_us });
        }
        self.in_flight = 0;
        self.last_end_us = found.end_us;
    }

    fn end(&mut self, time_us: i64) {
        self.open = None;
        self.walk = None;
        self.in_flight = 0;
        self.last_end_us = time_us;
    }
}

/// Whether an operation may run within another one.
fn is_within(outer: OperationKind, inner: OperationKind) -> bool {
    use OperationKind::{Fault, Fsync, Mkwrite, Open, Read, Setattr, Stat, Write};
    match outer {
        Open => matches!(inner, Setattr | Stat),
        Read => matches!(inner, Fault | Mkwrite),
        Write => matches!(inner, Fault | Mkwrite | Setattr | Stat | Fsync),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use lioprof_model::NameHash;

    use super::super::walk::MAY_WRITE;
    use super::*;

    const ROOT: Fid = Fid { seq: 7, oid: 1, ver: 0 };
    const FILE: Fid = Fid { seq: 9, oid: 5, ver: 0 };
    const NAME: Option<FileName> = Some(FileName { hash: NameHash(1), text: None });
    const OTHER: Option<FileName> = Some(FileName { hash: NameHash(2), text: None });

    /// A walk from the root to a name, 3 us long.
    fn walk(thread: &mut Thread, name: Option<FileName>, at_us: i64, out: &mut FoundAll) {
        let name = name.map(|name| name.hash);
        thread.walked(Some(ROOT), (Some(NameHash(0)), true), None, at_us, out);
        thread.walked(Some(ROOT), (None, false), Some(MAY_EXEC), at_us + 1, out);
        thread.walked(None, (name, false), None, at_us + 2, out);
    }

    fn spans(out: &FoundAll) -> Vec<(OperationKind, i64, i64)> {
        out.operations.iter().map(|found| (found.kind, found.begin_us, found.end_us)).collect()
    }

    #[test]
    fn calls_by_path_begin_with_their_own_walk() {
        let (mut thread, mut out) = (Thread::default(), FoundAll::default());
        let stat = (OperationKind::Stat, FILE);
        // A name that is not there, and at once the one that is.
        walk(&mut thread, OTHER, 100, &mut out);
        walk(&mut thread, NAME, 110, &mut out);
        thread.started(stat, NAME, 115, &mut out);
        thread.completed(stat, None, 120, &mut out);
        // A name that is not there, and a call by descriptor.
        walk(&mut thread, OTHER, 130, &mut out);
        thread.started(stat, NAME, 135, &mut out);
        thread.completed(stat, None, 140, &mut out);
        // The same name, long before.
        walk(&mut thread, NAME, 150, &mut out);
        thread.started(stat, NAME, 150 + 10 * REST_US, &mut out);
        thread.completed(stat, None, 151 + 10 * REST_US, &mut out);
        let late = 150 + 10 * REST_US;
        let want = [(110, 120), (135, 140), (late, late + 1)].map(|(begin, end)| (OperationKind::Stat, begin, end));
        assert_eq!(spans(&out), want);
    }

    #[test]
    fn a_stat_by_descriptor_does_not_take_the_walk_of_an_open() {
        let (mut thread, mut out) = (Thread::default(), FoundAll::default());
        walk(&mut thread, NAME, 100, &mut out);
        thread.walked(Some(FILE), (None, false), Some(MAY_OPEN | 6), 105, &mut out);
        // Both lines of the open are lost.
        thread.started((OperationKind::Stat, FILE), NAME, 150, &mut out);
        thread.completed((OperationKind::Stat, FILE), None, 160, &mut out);
        assert_eq!(spans(&out), [(OperationKind::Stat, 150, 160)]);
    }

    #[test]
    fn the_outer_operation_counts() {
        let (mut thread, mut out) = (Thread::default(), FoundAll::default());
        let (write, fault) = ((OperationKind::Write, FILE), (OperationKind::Fault, ROOT));
        thread.started(write, NAME, 10, &mut out);
        thread.started(fault, None, 20, &mut out);
        thread.completed(fault, None, 30, &mut out);
        thread.completed(write, Some(5), 40, &mut out);
        assert_eq!(spans(&out), [(OperationKind::Write, 10, 40)]);
        assert_eq!(out.operations[0].result, Some(5));
        assert!(out.ghosts.is_empty());
    }

    #[test]
    fn an_operation_without_its_end_is_given_up() {
        let (mut thread, mut out) = (Thread::default(), FoundAll::default());
        let (read, close) = ((OperationKind::Read, FILE), (OperationKind::Close, FILE));
        thread.started(read, NAME, 10, &mut out);
        thread.started(close, NAME, 20, &mut out);
        thread.completed(close, None, 30, &mut out);
        // And one without its begin.
        thread.completed(read, None, 40, &mut out);
        assert_eq!(spans(&out), [(OperationKind::Close, 20, 30)]);
        let ghosts: Vec<_> = out.ghosts.iter().map(|ghost| (ghost.kind, ghost.from_us, ghost.to_us)).collect();
        assert_eq!(ghosts, [(OperationKind::Read, 10, 20), (OperationKind::Read, 30, 40)]);
    }

    #[test]
    fn an_unlink_ends_with_its_last_reply() {
        let (mut thread, mut out) = (Thread::default(), FoundAll::default());
        walk(&mut thread, NAME, 100, &mut out);
        thread.called((OperationKind::Unlink, Some(ROOT)), NAME, 105, &mut out);
        thread.sent(Opcode::MDS_REINT, 110, &mut out);
        thread.replied(REST_US + 110, &mut out);
        walk(&mut thread, NAME, REST_US + 120, &mut out);
        // Without a reply there is no end.
        thread.called((OperationKind::Mkdir, Some(ROOT)), NAME, REST_US + 130, &mut out);
        thread.sent(Opcode::MDS_REINT, REST_US + 140, &mut out);
        thread.finish(&mut out);
        assert_eq!(spans(&out), [(OperationKind::Unlink, 100, REST_US + 110)]);
        assert_eq!(out.ghosts.len(), 1);
    }

    #[test]
    fn a_walk_whose_operation_is_lost_is_not_that_of_the_next_one() {
        let dirs = [ROOT, Fid { oid: 2, ..ROOT }, Fid { oid: 3, ..ROOT }];
        // An unlink and an open, each with a walk through three directories. One line or two are lost: the unlink's own, and another.
        for lost in [None, Some(0), Some(1), Some(2)] {
            let (mut thread, mut out) = (Thread::default(), FoundAll::default());
            let path = |thread: &mut Thread, at_us: i64, lost: Option<usize>, out: &mut FoundAll| {
                if lost != Some(0) {
                    thread.walked(Some(ROOT), (Some(NameHash(0)), true), None, at_us, out);
                }
                for (n, dir) in (1..).zip(dirs) {
                    let at_us = at_us + i64::try_from(2 * n).unwrap();
                    if lost != Some(n) {
                        thread.walked(Some(dir), (None, false), Some(MAY_EXEC), at_us, out);
                    }
                    thread.walked(None, (NAME.map(|name| name.hash), false), None, at_us + 1, out);
                }
            };
            path(&mut thread, 100, None, &mut out);
            thread.walked(Some(dirs[2]), (None, false), Some(MAY_EXEC | MAY_WRITE), 110, &mut out);
            thread.sent(Opcode::MDS_REINT, 120, &mut out);
            thread.replied(130, &mut out);
            path(&mut thread, 200, lost, &mut out);
            thread.started((OperationKind::Open, FILE), NAME, 220, &mut out);
            thread.completed((OperationKind::Open, FILE), Some(0), 230, &mut out);
            let begin_us = out.operations.first().map(|found| found.begin_us);
            assert!(begin_us.is_some_and(|begin_us| begin_us >= 200), "{lost:?}: {out:?}");
        }
    }
}
