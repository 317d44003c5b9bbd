//! Table `lock_events`: one row per line of the lock manager.

use lioprof_model::{LockEvent, LockHappening, LockState, LockStep, Symbol, Symbols};
use lustre_debuglog::vocab::LockType;
use lustre_debuglog::{Extent, LockMode, Opcode, ResourceId, TargetName};

use super::table;
use super::texts::{Text, Texts};
use super::view::{BadColumn, Meanings, OptionalMeanings};
use super::window::{Windows, push_window, windows};
use crate::text;
use crate::words::{CALLBACK_TIMED_OUT, ENQUEUE_END, ENQUEUE_START, KERNEL_CONTENTION, Word};

table! {
    // Lock by lock: a dozen events of a lock differ in little but the time.
    /// Lock events as columns.
    LockEventColumns, LockEventView, "lock_events", by |rows, row| rows.cookie.stored()[row];
    seq: i64 = Split bounds,
    time_us: i64 = Split bounds,
    event: Text = Dictionary,
    pid: u32 = Dictionary,
    window_nid: Option<Text> = Dictionary,
    window_client_uuid: Option<Text> = Dictionary,
    window_xid: Option<u64> = Split,
    window_opcode: Option<u32> = Dictionary,
    window_job: Option<Text> = Dictionary,
    target: Option<Text> = Dictionary bounds,
    cookie: Option<u64> = Split,
    resource_0: Option<u64> = Dictionary,
    resource_1: Option<u64> = Split,
    resource_2: Option<u64> = Dictionary,
    resource_3: Option<u64> = Dictionary,
    lock_type: Option<Text> = Dictionary,
    granted_mode: Option<Text> = Dictionary,
    requested_mode: Option<Text> = Dictionary,
    granted_start: Option<u64> = Split,
    granted_end: Option<u64> = Split,
    requested_start: Option<u64> = Split,
    requested_end: Option<u64> = Split,
    nid: Option<Text> = Dictionary,
    contention_added: Option<u32> = Dictionary,
    contention_window: Option<u32> = Dictionary,
    opcode: Option<u32> = Dictionary,
    ; derived:
    window_opcode_name: Option<Text> = Dictionary,
    opcode_name: Option<Text> = Dictionary,
}

impl LockEventColumns {
    /// Adds an event.
    pub(crate) fn push(&mut self, seq: i64, event: &LockEvent, texts: &mut Texts, symbols: &Symbols) {
        self.seq.push(seq);
        self.time_us.push(event.time_us);
        self.pid.push(event.pid);
        push_window!(self, event.window.as_ref(), texts, symbols);

        let (mut lock, mut contention, mut callback) = (None, None, None);
        let word = match event.happening {
            LockHappening::Lock(step, state) => {
                lock = Some(state);
                texts.word(step)
            }
            LockHappening::EnqueueStart => texts.fixed(ENQUEUE_START),
            LockHappening::EnqueueEnd => texts.fixed(ENQUEUE_END),
            LockHappening::KernelContention { resource, added, window } => {
                contention = Some((resource, added, window));
                texts.fixed(KERNEL_CONTENTION)
            }
            LockHappening::CallbackTimedOut { opcode, target } => {
                callback = Some((opcode, target));
                texts.fixed(CALLBACK_TIMED_OUT)
            }
        };
        self.event.push(word);
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
        self.lock_type.push(lock.and_then(|it| it.lock_type).map(|it| texts.lock_type(it)));
        self.granted_mode.push(lock.map(|it| texts.mode(it.granted_mode)));
        self.requested_mode.push(lock.map(|it| texts.mode(it.requested_mode)));
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
enum Event {
    Lock(LockStep),
    EnqueueStart,
    EnqueueEnd,
    KernelContention,
    CallbackTimedOut,
}

impl Event {
    fn parse(text: &str) -> Option<Self> {
        match text {
            ENQUEUE_START => Some(Self::EnqueueStart),
            ENQUEUE_END => Some(Self::EnqueueEnd),
            KERNEL_CONTENTION => Some(Self::KernelContention),
            CALLBACK_TIMED_OUT => Some(Self::CallbackTimedOut),
            _ => LockStep::parse(text).map(Self::Lock),
        }
    }
}

/// Lock events of a row group.
pub(crate) struct LockEvents {
    node: Symbol,
    view: LockEventView,
    windows: Windows,
    event: Meanings<Event>,
    target: OptionalMeanings<TargetName>,
    lock_type: OptionalMeanings<LockType>,
    granted_mode: OptionalMeanings<LockMode>,
    requested_mode: OptionalMeanings<LockMode>,
    nid: OptionalMeanings<Symbol>,
}

impl LockEvents {
    pub(crate) fn new(view: LockEventView, node: Symbol, symbols: &mut Symbols) -> Result<Self, BadColumn> {
        const MODE: &str = "a lock mode such as PW or --";
        let windows = windows!(view, symbols);
        Ok(Self {
            node,
            windows,
            event: view.event.try_map("event", "an event of the lock manager", Event::parse)?,
            target: view.target.try_map("target", "a target such as lustre-OST0003", |text| text.parse().ok())?,
            lock_type: view.lock_type.try_map("lock_type", "EXT, IBT, FLK or PLN", |text| text.parse().ok())?,
            granted_mode: view.granted_mode.try_map("granted_mode", MODE, |text| text.parse().ok())?,
            requested_mode: view.requested_mode.try_map("requested_mode", MODE, |text| text.parse().ok())?,
            nid: view.nid.map(|text| symbols.intern(&text::decode(text))),
            view,
        })
    }

    pub(crate) fn seqs(&self) -> &[i64] {
        self.view.seq.values()
    }

    /// The event of a row; a sentence if columns that belong together are not all there.
    pub(crate) fn row(&self, at: usize) -> Result<LockEvent, BadColumn> {
        let happening = match self.event.get(at) {
            Event::Lock(step) => self.lock(at).map(|state| LockHappening::Lock(step, state)),
            Event::EnqueueStart => Some(LockHappening::EnqueueStart),
            Event::EnqueueEnd => Some(LockHappening::EnqueueEnd),
            Event::KernelContention => self.contention(at),
            Event::CallbackTimedOut => self.callback(at),
        };
        let happening = happening.ok_or_else(|| BadColumn {
            column: "event".to_owned(),
            expected: "the columns of this event".to_owned(),
            found: format!("nulls in some of those of `{}`", self.view.event.get(at)),
        })?;
        Ok(LockEvent {
            node: self.node,
            time_us: self.view.time_us.get(at),
            pid: self.view.pid.get(at),
            window: self.windows.get(at),
            happening,
        })
    }

    fn lock(&self, at: usize) -> Option<LockState> {
        let view = &self.view;
        let extent = |start: Option<u64>, end: Option<u64>| Some(Extent { start: start?, end: end? });
        Some(LockState {
            cookie: view.cookie.get(at)?,
            target: self.target.get(at)?,
            resource: self.resource(at)?,
            lock_type: self.lock_type.get(at),
            granted_mode: self.granted_mode.get(at)?,
            requested_mode: self.requested_mode.get(at)?,
            granted: extent(view.granted_start.get(at), view.granted_end.get(at)),
            requested: extent(view.requested_start.get(at), view.requested_end.get(at)),
            nid: self.nid.get(at),
        })
    }

    fn resource(&self, at: usize) -> Option<ResourceId> {
        let view = &self.view;
        Some(ResourceId([
            view.resource_0.get(at)?,
            view.resource_1.get(at)?,
            view.resource_2.get(at)?,
            view.resource_3.get(at)?,
        ]))
    }

    fn contention(&self, at: usize) -> Option<LockHappening> {
        Some(LockHappening::KernelContention {
            resource: self.resource(at)?,
            added: self.view.contention_added.get(at)?,
            window: self.view.contention_window.get(at)?,
        })
    }

    fn callback(&self, at: usize) -> Option<LockHappening> {
        let opcode = Opcode(self.view.opcode.get(at)?);
        Some(LockHappening::CallbackTimedOut { opcode, target: self.target.get(at)? })
    }
}
