//! A lock request between its first line and the grant of its lock.

use lioprof_model::{LockStep, RpcRow, Symbol};
use lustre_debuglog::TargetName;

use super::sums::Split;

/// Whose lock a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum WaitFor {
    /// Another client's.
    Client,
    /// One of its own client, or of the server.
    Other,
}

/// When an RPC was under way, and whose it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Handled {
    pub(super) node: Symbol,
    pub(super) nid: Symbol,
    /// Within the time, and of the clients and jobs that are looked at.
    pub(super) counts: bool,
    /// Start and end of the handling, and the queue before it; `None` if the clock stepped meanwhile.
    span: Option<Span>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    queue_us: u64,
    start_us: i64,
    end_us: i64,
}

impl Handled {
    pub(super) fn new(row: &RpcRow, counts: bool) -> Self {
        let span = row.queue_us().zip(row.start_us());
        let span = span.map(|(queue_us, start_us)| Span { queue_us, start_us, end_us: row.end_us });
        Self { node: row.node, nid: row.nid, counts, span }
    }
}

/// A lock that the request's thread has worked on.
#[derive(Clone, Copy, Debug)]
struct Worked {
    cookie: u64,
    /// The request asked for it: its creation or its reply was seen.
    asked: bool,
    /// The thread itself put it on the granted or on the waiting list.
    queued: bool,
    freed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    cookie: u64,
    from_us: i64,
    until: Option<(i64, WaitFor)>,
}

/// A lock request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) target: Option<TargetName>,
    /// Time of the last line, for forgetting those whose end is lost.
    pub(super) last_us: i64,
    pub(super) handled: Option<Handled>,
    created: bool,
    replied: bool,
    /// A line says that another lock is in the way.
    conflict: bool,
    /// Whose lock was in the way since the last wait; another client's if there were several.
    in_the_way: Option<WaitFor>,
    doubtful: bool,
    locks: Vec<Worked>,
    waits: Vec<Wait>,
}

impl Request {
    pub(super) fn new(time_us: i64) -> Self {
        Self {
            target: None,
            last_us: time_us,
            handled: None,
            created: false,
            replied: false,
            conflict: false,
            in_the_way: None,
            doubtful: false,
            locks: Vec::new(),
            waits: Vec::new(),
        }
    }

    /// A line about a lock that the thread wrote while it handled the request; a queued one is granted.
    pub(super) fn line(&mut self, step: LockStep, cookie: u64, target: TargetName, in_the_way: Option<WaitFor>) {
        self.target.get_or_insert(target);
        if self.in_the_way != Some(WaitFor::Client) {
            self.in_the_way = in_the_way.or(self.in_the_way);
        }
        match step {
            LockStep::Created => {
                self.created = true;
                self.lock(cookie).asked = true;
            }
            LockStep::LocalCreated => self.lock(cookie).asked = true,
            LockStep::Reply => {
                self.replied = true;
                self.lock(cookie).asked = true;
            }
            LockStep::Queued => self.lock(cookie).queued = true,
            LockStep::Freed => self.lock(cookie).freed = true,
            LockStep::Incompatible | LockStep::BlockingAst => self.conflict = true,
            LockStep::Granted | LockStep::Released | LockStep::Evicted => {}
        }
    }

    fn lock(&mut self, cookie: u64) -> &mut Worked {
        let at = self.locks.iter().position(|lock| lock.cookie == cookie).unwrap_or_else(|| {
            self.locks.push(Worked { cookie, asked: false, queued: false, freed: false });
            self.locks.len() - 1
        });
        &mut self.locks[at]
    }

    /// The thread put the lock on the waiting list.
    pub(super) fn waits(&mut self, time_us: i64, cookie: u64) {
        self.lock(cookie).queued = true;
        self.waits.push(Wait { cookie, from_us: time_us, until: None });
    }

    /// A lock that it waited for was granted. If it did not meet the lock in its way, since that was called back already, `contended` says
    /// that the object is one that clients fight over.
    pub(super) fn granted(&mut self, time_us: i64, cookie: u64, contended: Option<WaitFor>) {
        let wait_for = self.in_the_way.take().or(contended);
        let wait = self.waits.iter_mut().rev().find(|wait| wait.cookie == cookie && wait.until.is_none());
        match wait.zip(wait_for) {
            Some((wait, wait_for)) => wait.until = Some((time_us, wait_for)),
            None => self.doubt(),
        }
    }

    /// Lines about it are missing.
    pub(super) fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Nothing more is to be expected.
    pub(super) fn is_over(&self) -> bool {
        self.handled.is_some() && (self.doubtful || self.waits.iter().all(|wait| wait.until.is_some()))
    }

    /// The parts of its time; `None` if a line may be missing.
    ///
    /// Each lock that it asked for has to be seen on a list, put there by the request's own thread, or gone again (a glimpse gets no
    /// lock, an intent another one: the reply says which); each wait needs its two ends; and where another lock was in the way there has to
    /// be a wait.
    pub(super) fn split(&self) -> Option<Split> {
        let Span { queue_us, start_us, end_us } = self.handled?.span?;
        let complete = self.created && !self.doubtful && (!self.conflict || !self.waits.is_empty());
        if !complete || self.locks.iter().any(|lock| lock.asked && !lock.queued && !(lock.freed && self.replied)) {
            return None;
        }
        let mut split = Split { queue_us, service_us: u64::try_from(end_us - start_us).ok()?, ..Split::default() };
        let mut free_from_us = start_us;
        for wait in &self.waits {
            let (until_us, wait_for) = wait.until?;
            if wait.from_us < free_from_us || wait.from_us > end_us {
                return None;
            }
            let wait_us = u64::try_from(until_us - wait.from_us).ok()?;
            let in_service_us = u64::try_from(until_us.min(end_us) - wait.from_us).ok()?;
            split.service_us = split.service_us.checked_sub(in_service_us)?;
            *match wait_for {
                WaitFor::Client => &mut split.lock_wait_us,
                WaitFor::Other => &mut split.other_wait_us,
            } += wait_us;
            free_from_us = until_us;
        }
        Some(split)
    }
}
