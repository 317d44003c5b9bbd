//! Requests of other sizes: small ones put together, or left out.

use std::collections::BTreeMap;

use super::model::Lean;
use super::order::{quantile, sorted};
use super::plan::{Plan, Step, TRANSFER};
use super::rests::Rests;
use super::run::Kind;

/// Size of a request that is large enough.
pub(super) const FULL_BYTES: f64 = 1_048_576.0;
/// Largest of the requests that are small between large ones,
pub(super) const SMALL_BYTES: f64 = 65_536.0;
/// and smallest of the large ones.
pub(super) const LARGE_BYTES: f64 = 524_288.0;
/// How much a client reads ahead of a program that reads a file in order: the usual `llite.*.max_read_ahead_per_file_mb`.
const READ_AHEAD_BYTES: f64 = 67_108_864.0;
/// From this ratio of sizes on, what a byte takes follows from requests of different sizes.
const DIFFERENT_SIZES: f64 = 8.0;

/// Puts requests of a client that follow on each other in an object together, up to [`FULL_BYTES`], with all that goes with each (locks,
/// sync). Nothing is kept back while the program rests.
pub(super) fn full_size(plan: &mut Plan, lean: Lean) {
    let is_small = |step: &Step| step.kind.is_bulk() && step.bytes > 0.0 && 2.0 * step.bytes <= FULL_BYTES;
    let per_byte: BTreeMap<Kind, [f64; 2]> =
        [Kind::Read, Kind::Write].into_iter().map(|kind| (kind, per_byte_us(plan, kind, lean))).collect();
    // The request that takes the bytes of those after it, and how often the client had rested before.
    let mut leaders: BTreeMap<(usize, usize, Kind, u32), (usize, u32)> = BTreeMap::new();
    let rests = Rests::of(plan);
    // How often each client has rested.
    let mut rested = vec![0; plan.streams];
    let mut any = false;
    for number in 0..plan.steps.len() {
        let step = &plan.steps[number];
        rested[step.client] += u32::from(rests.are_before(step));
        if !is_small(step) {
            continue;
        }
        let (kind, bytes, client) = (step.kind, step.bytes, step.client);
        let (leader, led_after) =
            *leaders.entry((client, step.place, kind, step.object)).or_insert((number, rested[client]));
        if leader == number {
            continue;
        }
        if plan.steps[leader].bytes + bytes > FULL_BYTES || led_after < rested[client] {
            leaders.insert((client, step.place, kind, step.object), (number, rested[client]));
            continue;
        }
        any = true;
        plan.steps[number].gone = true;
        let [disk_us, transfer_us] = per_byte[&kind].map(|us| us * bytes);
        let leader = &mut plan.steps[leader];
        leader.bytes += bytes;
        let disk_part = leader.disk_part();
        leader.work_us[disk_part] += disk_us;
        leader.work_us[TRANSFER] += transfer_us;
    }
    if any {
        leave_out_companions(plan, is_small);
        rests.keep(plan);
    }
}

/// What goes with a request that is gone is gone: other requests of the client until its next small one.
fn leave_out_companions(plan: &mut Plan, is_small: impl Fn(&Step) -> bool) {
    let mut last_small: Vec<Option<usize>> = vec![None; plan.streams];
    // After its last one comes what goes with all of them.
    let mut lasts: Vec<Option<usize>> = vec![None; plan.streams];
    for (number, step) in plan.steps.iter().enumerate().filter(|(_, step)| is_small(step) || step.gone) {
        lasts[step.client] = Some(number);
    }
    for number in 0..plan.steps.len() {
        let step = &plan.steps[number];
        if is_small(step) || step.gone {
            last_small[step.client] = Some(number);
        } else if !step.kind.is_bulk()
            && let Some(small) = last_small[step.client].filter(|&small| lasts[step.client] != Some(small))
        {
            plan.steps[number].gone = plan.steps[small].gone;
        }
    }
}

/// What a byte more takes on the disk and in the transfer, µs.
///
/// If sizes differ, it is the difference between the fastest requests of the smallest and of the largest. If not, it is not known: no
/// more than the fastest request takes for its bytes, no less than nothing.
fn per_byte_us(plan: &Plan, kind: Kind, lean: Lean) -> [f64; 2] {
    let mut by_size: BTreeMap<u32, Vec<&Step>> = BTreeMap::new();
    for step in plan.steps.iter().filter(|step| step.kind == kind && step.bytes > 0.0) {
        by_size.entry(step.log2_bytes).or_default().push(step);
    }
    let aspects: [fn(&Step) -> f64; 2] = [Step::disk_us, |step| step.work_us[TRANSFER]];
    aspects.map(|aspect| {
        let fastest = |steps: &[&Step]| {
            let bytes = quantile(&sorted(steps.iter().map(|step| step.bytes)), 50);
            (bytes, quantile(&sorted(steps.iter().map(|step| aspect(step))), 5))
        };
        let (small, large) = by_size
            .first_key_value()
            .zip(by_size.last_key_value())
            .map_or(((0.0, 0.0), (0.0, 0.0)), |(small, large)| (fastest(small.1), fastest(large.1)));
        if small.0 > 0.0 && large.0 >= DIFFERENT_SIZES * small.0 {
            return ((large.1 - small.1) / (large.0 - small.0)).max(0.0);
        }
        let all = by_size.values().flatten().map(|step| aspect(step) / step.bytes);
        quantile(&sorted(all), 1) * lean.share()
    })
}

/// Leaves out the small requests of clients that send large ones, too.
///
/// Without them, a client that reads in order reads ahead of its program, and at the end reads up to a window that nobody wants. And its large
/// reads are whole: what small ones had read already was left out, and each gap was one more I/O of the disk.
pub(super) fn no_small(plan: &mut Plan, lean: Lean) {
    let mut large_bytes = vec![0.0; plan.streams];
    let mut large_read_bytes = vec![0.0; plan.streams];
    for step in plan.steps.iter().filter(|step| step.kind.is_bulk() && step.bytes >= LARGE_BYTES) {
        large_bytes[step.client] += step.bytes;
        if step.kind == Kind::Read {
            large_read_bytes[step.client] += step.bytes;
        }
    }
    let mut any = vec![false; plan.streams];
    for step in &mut plan.steps {
        if step.kind.is_bulk() && step.bytes <= SMALL_BYTES && large_bytes[step.client] > 0.0 {
            step.gone = true;
            any[step.client] = true;
        }
    }
    Rests::of(plan).keep(plan);
    mend(plan, &any);
    for step in &mut plan.steps {
        let client = step.client;
        if step.kind == Kind::Read && !step.gone && any[client] && large_read_bytes[client] > 0.0 {
            // No more than twice as much: a window grows with what is read.
            let more = (READ_AHEAD_BYTES / large_read_bytes[client]).min(1.0);
            step.work_us.iter_mut().for_each(|work_us| *work_us *= 1.0 + more * lean.share());
        }
    }
}

/// Gives reads with gaps of these clients the disk's work of reads without, if that is less: the middle one of the large reads, or if all of
/// them have gaps, the least.
fn mend(plan: &mut Plan, clients: &[bool]) {
    let large = |gapped: bool| {
        let reads = plan.steps.iter().filter(move |step| step.kind == Kind::Read && step.bytes >= LARGE_BYTES);
        sorted(reads.filter(move |step| step.gapped == gapped).map(Step::disk_us))
    };
    let (whole, gapped) = (large(false), large(true));
    let disk_us = if whole.is_empty() { quantile(&gapped, 0) } else { quantile(&whole, 50) };
    for step in plan.steps.iter_mut().filter(|step| step.gapped && step.kind == Kind::Read && clients[step.client]) {
        if step.disk_us() > disk_us {
            step.set_disk_us(disk_us);
        }
    }
}
