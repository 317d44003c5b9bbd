//! Table `lock_events`: one row per line of the lock manager.

use lioprof_model::{LockEvent, LockHappening, LockState, LockStep, RowSink, Symbol, Symbols};
use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{Extent, LockMode, Opcode, ResourceId, TargetName};

use super::meaning::{Meaning, Word};
use super::table;
use super::texts::{Text, Texts};
use super::view::{BadColumn, NodeRows, View};
use super::window::read_window;

table! {
    // Lock by lock: a dozen events of a lock differ in little but the time.
    /// Lock events as columns.
    LockEventColumns, LockEventView, "lock_events", by |rows, row| rows.cookie.stored()[row];

    push(seq: i64, event: &LockEvent, texts: &mut Texts, symbols: &Symbols) {
        let window = event.window.as_ref();
        let (mut lock, mut contention, mut callback, mut silent) = (None, None, None, None);
        let kind = match &event.happening {
            LockHappening::Lock(step, state) => {
                lock = Some(state);
                Event::Lock(*step)
            }
            LockHappening::EnqueueStart => Event::EnqueueStart,
            LockHappening::EnqueueEnd => Event::EnqueueEnd,
            &LockHappening::KernelContention { resource, added, window } => {
                contention = Some((resource, added, window));
                Event::KernelContention
            }
            &LockHappening::CallbackTimedOut { opcode, target } => {
                callback = Some((opcode, target));
                Event::CallbackTimedOut
            }
            &LockHappening::SilentEvicted { nid, target } => {
                silent = Some((nid, target));
                Event::SilentEvicted
            }
        };
        let target = lock.map(|it| it.target).or(callback.map(|it| it.1)).or(silent.and_then(|it| it.1));
        let nid = lock.and_then(|it| it.nid).or(silent.map(|it| it.0));
        let resource = lock.map(|it| it.resource).or(contention.map(|it| it.0)).map(|it| it.0);
        let (granted, requested) = (lock.and_then(|it| it.granted), lock.and_then(|it| it.requested));
    }

    seq: i64 = Split bounds => seq,
    time_us: i64 = Split bounds => event.time_us,
    event: Text<Event> = Dictionary => texts.fixed(kind.word()),
    pid: u32 = Dictionary => event.pid,
    window_nid: Option<Text<Symbol>> = Dictionary => window.map(|it| texts.symbol(it.nid, symbols)),
    window_client_uuid: Option<Text<Symbol>> = Dictionary => window.map(|it| texts.symbol(it.client_uuid, symbols)),
    window_xid: Option<u64> = Split => window.map(|it| it.xid.0),
    window_opcode: Option<u32> = Dictionary => window.map(|it| it.opcode.0),
    window_job: Option<Text<Symbol>> = Dictionary => window.and_then(|it| it.job).map(|job| texts.symbol(job, symbols)),
    target: Option<Text<TargetName>> = Dictionary bounds => target.map(|it| texts.target(it)),
    cookie: Option<u64> = Split => lock.map(|it| it.cookie),
    resource_0: Option<u64> = Dictionary => resource.map(|it| it[0]),
    resource_1: Option<u64> = Split => resource.map(|it| it[1]),
    resource_2: Option<u64> = Dictionary => resource.map(|it| it[2]),
    resource_3: Option<u64> = Dictionary => resource.map(|it| it[3]),
    lock_type: Option<Text<LockType>> = Dictionary => lock.and_then(|it| it.lock_type).map(|it| texts.fixed(it.as_str())),
    granted_mode: Option<Text<LockMode>> = Dictionary => lock.map(|it| texts.fixed(it.granted_mode.as_str())),
    requested_mode: Option<Text<LockMode>> = Dictionary => lock.map(|it| texts.fixed(it.requested_mode.as_str())),
    granted_start: Option<u64> = Split => granted.map(|it| it.start),
    granted_end: Option<u64> = Split => granted.map(|it| it.end),
    requested_start: Option<u64> = Split => requested.map(|it| it.start),
    requested_end: Option<u64> = Split => requested.map(|it| it.end),
    nid: Option<Text<Symbol>> = Dictionary => nid.map(|it| texts.symbol(it, symbols)),
    contention_added: Option<u32> = Dictionary => contention.map(|it| it.1),
    contention_window: Option<u32> = Dictionary => contention.map(|it| it.2),
    opcode: Option<u32> = Dictionary => callback.map(|it| it.0.0),
    ; derived:
    window_opcode_name: Option<Text<str>> = Dictionary => window.map(|it| texts.opcode(it.opcode)),
    opcode_name: Option<Text<str>> = Dictionary => callback.map(|it| texts.opcode(it.0)),
}

/// What the column `event` says.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    Lock(LockStep),
    EnqueueStart,
    EnqueueEnd,
    KernelContention,
    CallbackTimedOut,
    SilentEvicted,
}

impl Event {
    /// Those that are about no lock.
    const OTHERS: [Self; 5] =
        [Self::EnqueueStart, Self::EnqueueEnd, Self::KernelContention, Self::CallbackTimedOut, Self::SilentEvicted];

    fn word(self) -> &'static str {
        match self {
            Self::Lock(step) => step.word(),
            Self::EnqueueStart => "enqueue_start",
            Self::EnqueueEnd => "enqueue_end",
            Self::KernelContention => "kernel_contention",
            Self::CallbackTimedOut => "callback_timed_out",
            Self::SilentEvicted => "silent_evicted",
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
            Event::SilentEvicted => {
                self.nid.get(at).map(|nid| LockHappening::SilentEvicted { nid, target: self.target.get(at) })
            }
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
