//! Who waited for what: a raster for all, for each client and each job.

use lioprof_model::traffic::OperationClass;
use lioprof_model::{Direction, RpcRow, SpentOn, Symbol};
use lustre_debuglog::TargetKind;
use rustc_hash::FxHashMap;

use super::super::cells::TargetKey;
use super::super::series::clipped;
use super::raster::{Raster, Spent};

/// Bins of all clients together.
const MOST_BINS: usize = 256;
/// Bins of one client or job,
const MOST_BINS_OF_ONE: usize = 64;
/// and of all of them: with more clients each has fewer.
const MOST_BINS_OF_ALL: usize = 1 << 18;

/// What time is spent on, and where. Where queues are concerned, the target is that of the server: it has no name.
pub(super) type Spending = (SpentOn, TargetKey);

/// Whose time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Whose {
    /// All clients together.
    All,
    Client(Symbol),
    Job(Symbol),
}

/// The time of all, of clients and of jobs.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccountSums {
    /// What numbers in rasters mean.
    pub(super) spendings: Vec<Spending>,
    numbers: FxHashMap<Spending, Spent>,
    pub(super) rasters: FxHashMap<Whose, Raster>,
}

impl AccountSums {
    /// Adds an RPC of a client. Pings keep connections alive, and nobody waits for them.
    pub(crate) fn row(&mut self, row: &RpcRow, key: TargetKey, direction: Option<Direction>) {
        if OperationClass::of(row.opcode) == OperationClass::Ping {
            return;
        }
        let end_us = row.end_us;
        let handled = match (direction, key.kind) {
            _ if row.service_us.is_none() => SpentOn::Unknown,
            (Some(_), _) => SpentOn::Bulk,
            (None, TargetKind::Mdt) => SpentOn::Metadata,
            (None, _) => SpentOn::Other,
        };
        let start_us = clipped(row.start_us().unwrap_or(end_us), end_us);
        let arrival_us = clipped(row.arrival_us().unwrap_or(start_us), start_us);
        let queue = (SpentOn::Queue, TargetKey { name: None, ..key });
        // One look-up for each stretch, not for each whose time it is.
        let stretches = [(queue, arrival_us, start_us), ((handled, key), start_us, end_us)];
        for (spending, from_us, to_us) in stretches {
            if from_us < to_us || spending != queue {
                self.spend(row.nid, row.job, spending, from_us, to_us);
            }
        }
    }

    /// Adds a client's wait for a lock of a target.
    pub(crate) fn lock_wait(
        &mut self,
        (client, job): (Symbol, Option<Symbol>),
        target: TargetKey,
        from_us: i64,
        to_us: i64,
    ) {
        self.spend(client, job, (SpentOn::LockWait, target), clipped(from_us, to_us), to_us);
    }

    fn spend(&mut self, client: Symbol, job: Option<Symbol>, spending: Spending, from_us: i64, to_us: i64) {
        let spent = self.number(spending);
        self.of(Whose::All).add(spent, from_us, to_us, MOST_BINS);
        let most = self.most_bins_of_one();
        for whose in [Some(Whose::Client(client)), job.map(Whose::Job)].into_iter().flatten() {
            self.of(whose).add(spent, from_us, to_us, most);
        }
    }

    fn of(&mut self, whose: Whose) -> &mut Raster {
        self.rasters.entry(whose).or_default()
    }

    /// The number of something, a new one if it has none.
    pub(super) fn number(&mut self, spending: Spending) -> Spent {
        *self.numbers.entry(spending).or_insert_with(|| {
            self.spendings.push(spending);
            Spent::try_from(self.spendings.len() - 1).expect("targets are few")
        })
    }

    fn most_bins_of_one(&self) -> usize {
        (MOST_BINS_OF_ALL / self.rasters.len().max(1).next_power_of_two()).clamp(2, MOST_BINS_OF_ONE)
    }

    fn most_bins_of(&self, whose: Whose) -> usize {
        if whose == Whose::All { MOST_BINS } else { self.most_bins_of_one() }
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
        for (whose, raster) in other.rasters {
            self.put(whose, raster, &numbers);
        }
    }

    /// Adds a raster whose numbers mean these.
    pub(super) fn put(&mut self, whose: Whose, raster: Raster, numbers: &[Spent]) {
        let most = self.most_bins_of(whose);
        self.of(whose).merge(raster, |spent| numbers[spent as usize], most);
    }

    /// With more clients than before, each has fewer bins.
    pub(crate) fn limit(&mut self) {
        let (most, most_of_one) = (MOST_BINS, self.most_bins_of_one());
        for (whose, raster) in &mut self.rasters {
            raster.limit(if *whose == Whose::All { most } else { most_of_one });
        }
    }
}
