//! Who waited for what: all together, each client and each job.

use lioprof_model::traffic::OperationClass;
use lioprof_model::{Direction, RpcRow, SpentOn, Symbol};
use lustre_debuglog::{Opcode, TargetKind};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::super::entries::TargetKey;
use super::super::series::clipped;
use super::raster::{Raster, Spent, Stretch};
use super::under_way::UnderWay;
use crate::renumber::{Renumber, renumber_keys};

/// Bins of all clients together.
const MOST_BINS: usize = 256;
/// Bins of one client or job,
const MOST_BINS_OF_ONE: usize = 64;
/// and of all of them: with more clients each has fewer.
const MOST_BINS_OF_ALL: usize = 1 << 18;

/// Recent lock waits kept per client. A client notified by a completion callback has no request to match.
const MOST_WAITS: usize = 8;
/// A wait may seem to begin so much before the request itself.
const CLOSE_US: i64 = 1_000;

/// What time is spent on, and where. Where queues are concerned, the target is that of the server: it has no name.
pub(super) type Spending = (SpentOn, TargetKey);

/// Whose time it is, if not that of all clients together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Whose {
    Client(Symbol),
    Job(Symbol),
}

impl Renumber for Whose {
    fn renumber(&mut self, to: &[Symbol]) {
        match self {
            Self::Client(whose) | Self::Job(whose) => whose.renumber(to),
        }
    }
}

/// The time of all, of clients and of jobs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AccountSums {
    /// What numbers in rasters mean.
    pub(super) spendings: Vec<Spending>,
    numbers: FxHashMap<Spending, Spent>,
    pub(super) all: Raster,
    pub(super) each: FxHashMap<Whose, UnderWay>,
    /// Waits for locks whose lock requests may still come, by client: from and to.
    #[serde(skip)]
    waits: FxHashMap<Symbol, SmallVec<[(i64, i64); 2]>>,
    /// Where the time that was chosen begins: what was under way then counts from there on.
    #[serde(skip)]
    begin_us: Option<i64>,
}

impl Renumber for AccountSums {
    fn renumber(&mut self, to: &[Symbol]) {
        // Of a node that has ended no waits are left.
        let Self { spendings, numbers, all: _, each, waits: _, begin_us: _ } = self;
        spendings.iter_mut().for_each(|(_, target)| target.renumber(to));
        *numbers = (0..).zip(&*spendings).map(|(number, &spending)| (spending, number)).collect();
        renumber_keys(each, to);
    }
}

impl AccountSums {
    /// Whether the numbers in rasters mean something.
    pub(crate) fn check(&self) -> Result<(), String> {
        let known = 0..self.spendings.len() as u64;
        let is_known = |spent: Spent| known.contains(&u64::from(spent));
        let is_sound = |raster: &Raster| raster.is_empty() && raster.bins.is_empty() || raster.is_sound();
        let all = |raster: &Raster| {
            is_sound(raster) && raster.bins().all(|(_, cell)| cell.us.iter().all(|it| is_known(it.0)))
        };
        let each = |under_way: &UnderWay| match under_way {
            UnderWay::Few(alone) => alone.iter().all(|alone| is_known(alone.spent())),
            UnderWay::Many(raster) => all(raster),
        };
        let is_whole = all(&self.all) && self.each.values().all(each);
        is_whole
            .then_some(())
            .ok_or_else(|| "expected times of what is in the list of what time was spent on".to_owned())
    }

    /// Leaves out what lies before a time of rows and waits that are added from now on.
    pub(crate) fn begin(&mut self, us: Option<i64>) {
        self.begin_us = us;
    }

    /// Adds an RPC of a client. Pings keep connections alive, and nobody waits for them.
    pub(crate) fn row(&mut self, row: &RpcRow, key: TargetKey, direction: Option<Direction>) {
        if OperationClass::of(row.opcode) == OperationClass::Ping {
            return;
        }
        let end_us = row.end_us;
        let handled = match (direction, key.kind) {
            _ if row.service_us.is_none() => SpentOn::Unknown,
            (Some(_), _) => SpentOn::Bulk,
            (None, TargetKind::Ost) if row.opcode == Opcode::OST_SYNC => SpentOn::Sync,
            (None, TargetKind::Mdt) => SpentOn::Metadata,
            (None, _) => SpentOn::Other,
        };
        let start_us = clipped(row.start_us().unwrap_or(end_us), end_us);
        let arrival_us = clipped(row.arrival_us().unwrap_or(start_us), start_us);
        let spent = self.number((handled, key));
        // A thread that handles a lock request may wait for the lock, too: that is the client's one wait.
        let is_enqueue = row.opcode == Opcode::LDLM_ENQUEUE;
        let wait = if is_enqueue { self.wait_within(row.nid, arrival_us, end_us) } else { None };
        let handled = Stretch { spent, to_us: wait.map_or(end_us, |(from_us, _)| from_us.max(start_us)) };
        if arrival_us < start_us {
            let queue = self.number((SpentOn::Queue, TargetKey { name: None, ..key }));
            self.spend(row.nid, row.job, arrival_us, &[Stretch { spent: queue, to_us: start_us }, handled]);
        } else {
            self.spend(row.nid, row.job, start_us, &[handled]);
        }
        if let Some((_, to_us)) = wait {
            self.spend(row.nid, row.job, to_us.max(start_us), &[Stretch { spent, to_us: end_us }]);
        }
    }

    /// No more rows of the node will come.
    pub(crate) fn keep_little(&mut self) {
        self.waits = FxHashMap::default();
    }

    /// Takes a wait of the client that lies within these times. Times of a request are known to some microseconds.
    fn wait_within(&mut self, client: Symbol, from_us: i64, to_us: i64) -> Option<(i64, i64)> {
        let waits = self.waits.get_mut(&client)?;
        let at = waits.iter().position(|wait| from_us - CLOSE_US <= wait.0 && wait.1 <= to_us)?;
        Some(waits.remove(at))
    }

    /// Adds a client's wait for a lock of a target.
    pub(crate) fn lock_wait(
        &mut self,
        (client, job): (Symbol, Option<Symbol>),
        target: TargetKey,
        from_us: i64,
        to_us: i64,
    ) {
        let spent = self.number((SpentOn::LockWait, target));
        let from_us = clipped(from_us, to_us);
        self.spend(client, job, from_us, &[Stretch { spent, to_us }]);
        let waits = self.waits.entry(client).or_default();
        if waits.len() >= MOST_WAITS {
            waits.remove(0);
        }
        waits.push((from_us, to_us));
    }

    /// Adds stretches of time to all, to the client and to its job.
    fn spend(&mut self, client: Symbol, job: Option<Symbol>, from_us: i64, stretches: &[Stretch]) {
        let from_us = from_us.max(self.begin_us.unwrap_or(i64::MIN));
        if stretches.last().is_none_or(|last| last.to_us < from_us) {
            return;
        }
        self.all.add(from_us, stretches, MOST_BINS);
        let most = self.most_bins_of_one();
        for whose in [Some(Whose::Client(client)), job.map(Whose::Job)].into_iter().flatten() {
            self.each.entry(whose).or_default().add(from_us, stretches, most);
        }
    }

    /// The number of something, a new one if it has none.
    pub(super) fn number(&mut self, spending: Spending) -> Spent {
        *self.numbers.entry(spending).or_insert_with(|| {
            self.spendings.push(spending);
            Spent::try_from(self.spendings.len() - 1).expect("targets are few")
        })
    }

    pub(super) fn most_bins_of_one(&self) -> usize {
        (MOST_BINS_OF_ALL / (self.each.len() + 1).next_power_of_two()).clamp(2, MOST_BINS_OF_ONE)
    }

    /// What was spent on one target belongs to another.
    pub(crate) fn rename(&mut self, from: TargetKey, to: TargetKey) {
        let theirs = std::mem::take(self);
        let renamed =
            |(on, target): Spending| if on != SpentOn::Queue && target == from { (on, to) } else { (on, target) };
        self.take(theirs, renamed);
    }

    /// Adds another node's.
    pub(crate) fn merge(&mut self, other: Self) {
        self.take(other, |spending| spending);
    }

    fn take(&mut self, other: Self, renamed: impl Fn(Spending) -> Spending) {
        let numbers: Vec<Spent> = other.spendings.iter().map(|&spending| self.number(renamed(spending))).collect();
        self.put_all(other.all, &numbers);
        for (whose, under_way) in other.each {
            self.put(whose, under_way, &numbers);
        }
    }

    /// Adds a raster of all clients whose numbers mean these.
    pub(super) fn put_all(&mut self, raster: Raster, numbers: &[Spent]) {
        self.all.merge(raster, |spent| numbers[spent as usize], MOST_BINS);
    }

    /// Adds what was under way for a client or job.
    pub(super) fn put(&mut self, whose: Whose, under_way: UnderWay, numbers: &[Spent]) {
        let most = self.most_bins_of_one();
        self.each.entry(whose).or_default().merge(under_way, |spent| numbers[spent as usize], most);
    }

    /// The raster of all clients together, which now has no more bins than it may.
    pub(super) fn raster_of_all(&mut self) -> &Raster {
        self.all.limit(MOST_BINS);
        &self.all
    }
}
