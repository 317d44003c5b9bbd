//! Something as fast as its peers.

use std::collections::BTreeMap;

use super::order::{quantile, sorted};
use super::plan::{Plan, Step, TRANSFER};
use super::run::Kind;

/// What is to be as fast as its peers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject {
    Place(usize),
    Node(usize),
    Client(usize),
}

impl Subject {
    fn is_of(self, step: &Step) -> bool {
        match self {
            Self::Place(place) => step.place == place,
            Self::Node(node) => step.node == node,
            Self::Client(client) => step.client == client,
        }
    }
}

/// Requests that can be compared.
type Alike = (Kind, u32);

/// Disk and transfer of a step.
#[derive(Clone, Copy)]
enum Aspect {
    Disk,
    Transfer,
}

impl Aspect {
    fn of(self, step: &Step) -> f64 {
        match self {
            Self::Disk => step.disk_us(),
            Self::Transfer => step.work_us[TRANSFER],
        }
    }

    fn set(self, step: &mut Step, work_us: f64) {
        match self {
            Self::Disk => step.set_disk_us(work_us),
            Self::Transfer => step.work_us[TRANSFER] = work_us,
        }
    }
}

/// Gives each of the subject's requests the work of the peers' request of the same rank among those of the same direction and size. If
/// peers have none of that size, those of all sizes are compared, byte for byte. `None` without peers.
pub(super) fn as_peers(plan: &mut Plan, subject: Subject) -> Option<()> {
    let mut own: BTreeMap<Alike, Vec<usize>> = BTreeMap::new();
    let mut peers: BTreeMap<Alike, Vec<usize>> = BTreeMap::new();
    // Disks of another kind are no measure of one.
    let disks = plan.steps.iter().find(|step| matches!(subject, Subject::Place(_)) && subject.is_of(step));
    let disks = disks.map(|step| step.apart);
    let is_alike = |step: &Step| step.kind.uses_disk() && disks.is_none_or(|apart| step.apart == apart);
    for (number, step) in plan.steps.iter().enumerate().filter(|(_, step)| is_alike(step)) {
        let side = if subject.is_of(step) { &mut own } else { &mut peers };
        side.entry((step.kind, step.log2_bytes)).or_default().push(number);
    }
    let mut has_peers = false;
    for (alike, numbers) in own {
        let same_size = peers.get(&alike).map(|peers| (peers.clone(), false));
        let same_kind = || {
            let all =
                peers.iter().filter(|((kind, _), _)| *kind == alike.0).flat_map(|(_, peers)| peers.iter().copied());
            (all.filter(|&peer| plan.steps[peer].bytes > 0.0).collect::<Vec<usize>>(), true)
        };
        let (of_peers, by_bytes) = same_size.unwrap_or_else(same_kind);
        if of_peers.is_empty() {
            continue;
        }
        has_peers |= alike.0.is_bulk();
        for aspect in [Aspect::Disk, Aspect::Transfer] {
            take_on(plan, &numbers, &of_peers, aspect, by_bytes);
        }
        let queue_us = quantile(&sorted(of_peers.iter().map(|&peer| plan.steps[peer].queue_us)), 50);
        for number in numbers {
            plan.steps[number].queue_us = plan.steps[number].queue_us.min(queue_us);
        }
    }
    raise_limits(plan, subject);
    pause_as_peers(plan, subject);
    has_peers.then_some(())
}

/// Shortens pauses after reads over a slow link to those after peers' reads, by rank.
///
/// A server is done with a read once its data are in its network's buffers; over a slow link the client has them, and goes on, later.
fn pause_as_peers(plan: &mut Plan, subject: Subject) {
    if matches!(subject, Subject::Place(_)) {
        return;
    }
    let after_read = |step: &Step| {
        let enabler = &plan.steps[step.link.enabler.filter(|_| step.link.barrier_us.is_none())?];
        (enabler.kind == Kind::Read).then(|| subject.is_of(enabler))
    };
    let mut own: Vec<usize> = (0..plan.steps.len()).filter(|&it| after_read(&plan.steps[it]) == Some(true)).collect();
    let peers = sorted(plan.steps.iter().filter(|step| after_read(step) == Some(false)).map(|step| step.think_us));
    if peers.is_empty() {
        return;
    }
    own.sort_by(|&a, &b| plan.steps[a].think_us.total_cmp(&plan.steps[b].think_us));
    for (rank, &number) in own.iter().enumerate() {
        let think_us = &mut plan.steps[number].think_us;
        *think_us = think_us.min(of_rank(&peers, rank, own.len()));
    }
}

/// What stands in the middle of a rank's share.
fn of_rank(sorted: &[f64], rank: usize, ranks: usize) -> f64 {
    sorted[(2 * rank + 1) * sorted.len() / (2 * ranks)]
}

/// Puts the peers' works in the place of own ones, by rank.
fn take_on(plan: &mut Plan, own: &[usize], peers: &[usize], aspect: Aspect, by_bytes: bool) {
    let work = |step: &Step| if by_bytes { aspect.of(step) / step.bytes.max(1.0) } else { aspect.of(step) };
    let theirs = sorted(peers.iter().map(|&peer| work(&plan.steps[peer])));
    let mut by_rank = own.to_vec();
    by_rank.sort_by(|&a, &b| work(&plan.steps[a]).total_cmp(&work(&plan.steps[b])));
    for (rank, &number) in by_rank.iter().enumerate() {
        let work_us = of_rank(&theirs, rank, by_rank.len());
        let step = &mut plan.steps[number];
        let bytes = if by_bytes { step.bytes } else { 1.0 };
        aspect.set(step, work_us * bytes);
    }
}

/// A link that is as fast as others may move as much as they were seen to move.
fn raise_limits(plan: &mut Plan, subject: Subject) {
    let (limits, number) = match subject {
        Subject::Place(_) => return,
        Subject::Node(node) => (&mut plan.most_of_node, node),
        Subject::Client(client) => (&mut plan.most_of_stream, client),
    };
    let most = limits.iter().copied().fold(0.0, f64::max);
    if let Some(limit) = limits.get_mut(number) {
        *limit = most;
    }
}

/// A target serves so many times as fast.
pub(super) fn faster(plan: &mut Plan, place: usize, factor: f64) -> Option<()> {
    let mut any = false;
    for step in plan.steps.iter_mut().filter(|step| step.place == place && step.kind.uses_disk()) {
        step.work_us.iter_mut().for_each(|work_us| *work_us /= factor);
        step.queue_us /= factor;
        any = true;
    }
    any.then_some(())
}
