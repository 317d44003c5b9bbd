//! Table `lock_events`: one row per line of the lock manager.

use lioprof_model::{LockEvent, LockHappening, LockState, LockStep, RowSink, Symbol, Symbols};
use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{Extent, LockMode, Opcode, ResourceId, TargetName};

use super::meaning::{Meaning, Word};
use super::table;
use super::texts::{Text, Texts};
use super::view::{BadColumn, NodeRows, View};
use super::window::{push_window, read_window};

table! {
    // Lock by lock: a dozen events of a lock differ in little but the time.
    /// Lock events as columns.
    LockEventColumns, LockEventView, "lock_events", by |rows, row| rows.cookie.stored()[row];
    seq: i64 = Split bounds,
    time_us: i64 = Split bounds,
    event: Text<Event> = Dictionary,
    pid: u32 = Dictionary,
    window_nid: Option<Text<Symbol>> = Dictionary,
    window_client_uuid: Option<Text<Symbol>> = Dictionary,
    window_xid: Option<u64> = Split,
    window_opcode: Option<u32> = Dictionary,
    window_job: Option<Text<Symbol>> = Dictionary,
    target: Option<Text<TargetName>> = Dictionary bounds,
    cookie: Option<u64> = Split,
    resource_0: Option<u64> = Dictionary,
    resource_1: Option<u64> = Split,
    resource_2: Option<u64> = Dictionary,
    resource_3: Option<u64> = Dictionary,
    lock_type: Option<Text<LockType>> = Dictionary,
    granted_mode: Option<Text<LockMode>> = Dictionary,
    requested_mode: Option<Text<LockMode>> = Dictionary,
    granted_start: Option<u64> = Split,
    granted_end: Option<u64> = Split,
    requested_start: Option<u64> = Split,
    requested_end: Option<u64> = Split,
    nid: Option<Text<Symbol>> = Dictionary,
    contention_added: Option<u32> = Dictionary,
    contention_window: Option<u32> = Dictionary,
    opcode: Option<u32> = Dictionary,
    ; derived:
    window_opcode_name: Option<Text<str>> = Dictionary,
    opcode_name: Option<Text<str>> = Dictionary,
}

impl LockEventColumns {
    /// Adds an event.
    pub(crate) fn push(&mut self, seq: i64, event: &LockEvent, texts: &mut Texts, symbols: &Symbols) {
        self.seq.push(seq);
        self.time_us.push(event.time_us);
        self.pid.push(event.pid);
        push_window!(self, event.window.as_ref(), texts, symbols);

        let (mut lock, mut contention, mut callback) = (None, None, None);
        let kind = match event.happening {
            LockHappening::Lock(step, state) => {
                lock = Some(state);
                Event::Lock(step)
            }
            LockHappening::EnqueueStart => Event::EnqueueStart,
            LockHappening::EnqueueEnd => Event::EnqueueEnd,
            LockHappening::KernelContention { resource, added, window } => {
                contention = Some((resource, added, window));
                Event::KernelContention
            }
            LockHappening::CallbackTimedOut { opcode, target } => {
                callback = Some((opcode, target));
                Event::CallbackTimedOut
            }
        };
        self.event.push(texts.fixed(kind.word()));
        self.push_lock(lock.as_ref(), texts, symbols);
        let target = lock.map(|it| it.target).or(callback.map(|it| it.1));
        self.target.push(target.map(|it| texts.target(it)));
        let resource = lock.map(|it| it.resource).or(contention.map(|it| it.0)).map(|it| it.0);
        self.resource_0.push(resource.map(|it| it[0]));
        self.resource_1.push(resource.map(|it| it[1]));
        self.resource_2.push(resource.map(|it| it[2]));
        self.resource_3.push(resource.map(|it| it[3]));
        self.contention_added.push(contention.map(|it| it.1));
        self.contention_window.push(contention.map(|it| it.2));
        self.opcode.push(callback.map(|it| it.0.0));
        self.opcode_name.push(callback.map(|it| texts.opcode(it.0)));
    }

    fn push_lock(&mut self, lock: Option<&LockState>, texts: &mut Texts, symbols: &Symbols) {
        self.cookie.push(lock.map(|it| it.cookie));
        self.lock_type.push(lock.and_then(|it| it.lock_type).map(|it| texts.fixed(it.as_str())));
        self.granted_mode.push(lock.map(|it| texts.fixed(it.granted_mode.as_str())));
        self.requested_mode.push(lock.map(|it| texts.fixed(it.requested_mode.as_str())));
        let granted = lock.and_then(|it| it.granted);
        self.granted_start.push(granted.map(|it| it.start));
        self.granted_end.push(granted.map(|it| it.end));
        let requested = lock.and_then(|it| it.requested);
        self.requested_start.push(requested.map(|it| it.start));
        self.requested_end.push(requested.map(|it| it.end));
        self.nid.push(lock.and_then(|it| it.nid).map(|it| texts.symbol(it, symbols)));
    }
}

/// What the column `event` says.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    Lock(LockStep),
    EnqueueStart,
    EnqueueEnd,
    KernelContention,
    CallbackTimedOut,
}

impl Event {
    /// Those that are about no lock.
    const OTHERS: [Self; 4] = [Self::EnqueueStart, Self::EnqueueEnd, Self::KernelContention, Self::CallbackTimedOut];

    fn word(self) -> &'static str {
        match self {
            Self::Lock(step) => step.word(),
            Self::EnqueueStart => "enqueue_start",
            Self::EnqueueEnd => "enqueue_end",
            Self::KernelContention => "kernel_contention",
            Self::CallbackTimedOut => "callback_timed_out",
        }
    }
}

impl Meaning for Event {
    const EXPECTED: &'static str = "an event of the lock manager";

    fn read(text: &str, symbols: &mut Symbols) -> Option<Self> {
        let other = Self::OTHERS.into_iter().find(|event| event.word() == text);
        other.or_else(|| LockStep::read(text, symbols).map(Self::Lock))
    }
}

impl NodeRows for LockEventView {
    /// Fails if columns that belong together are not all there.
    fn give(&self, at: usize, node: Symbol, symbols: &Symbols, sink: &mut dyn RowSink) -> Result<(), BadColumn> {
        let event = self.event.get(at);
        let happening = match event {
            Event::Lock(step) => self.lock(at).map(|state| LockHappening::Lock(step, state)),
            Event::EnqueueStart => Some(LockHappening::EnqueueStart),
            Event::EnqueueEnd => Some(LockHappening::EnqueueEnd),
            Event::KernelContention => self.contention(at),
            Event::CallbackTimedOut => self.callback(at),
        };
        let happening = happening.ok_or_else(|| BadColumn {
            column: "event".to_owned(),
            expected: "the columns of this event".to_owned(),
            found: format!("nulls in some of those of `{}`", event.word()),
        })?;
        let (time_us, pid) = (self.time_us.get(at), self.pid.get(at));
        sink.lock_event(&LockEvent { node, time_us, pid, window: read_window!(self, at), happening }, symbols);
        Ok(())
    }
}

impl LockEventView {
    fn lock(&self, at: usize) -> Option<LockState> {
        let extent = |start: Option<u64>, end: Option<u64>| Some(Extent { start: start?, end: end? });
        Some(LockState {
            cookie: self.cookie.get(at)?,
            target: self.target.get(at)?,
            resource: self.resource(at)?,
            lock_type: self.lock_type.get(at),
            granted_mode: self.granted_mode.get(at)?,
            requested_mode: self.requested_mode.get(at)?,
            granted: extent(self.granted_start.get(at), self.granted_end.get(at)),
            requested: extent(self.requested_start.get(at), self.requested_end.get(at)),
            nid: self.nid.get(at),
        })
    }

    fn resource(&self, at: usize) -> Option<ResourceId> {
        Some(ResourceId([
            self.resource_0.get(at)?,
            self.resource_1.get(at)?,
            self.resource_2.get(at)?,
            self.resource_3.get(at)?,
        ]))
    }

    fn contention(&self, at: usize) -> Option<LockHappening> {
        Some(LockHappening::KernelContention {
            resource: self.resource(at)?,
            added: self.contention_added.get(at)?,
            window: self.contention_window.get(at)?,
        })
    }

    fn callback(&self, at: usize) -> Option<LockHappening> {
        let opcode = Opcode(self.opcode.get(at)?);
        Some(LockHappening::CallbackTimedOut { opcode, target: self.target.get(at)? })
    }
}
