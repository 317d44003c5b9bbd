//! The clock: requests go out, wait for a thread, and take their share of disks and links.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::instant::Instant;
use super::model::Sharing;
use super::order::{before, sorted};
use super::plan::{Plan, Step, TRANSFER};
use super::sharing::{resource, resources};

/// How long the plan takes, from the first arrival to the end of the last request that counts, µs.
pub(super) fn replay(plan: &Plan, transfer: Sharing) -> f64 {
    let mut clock = Clock::new(plan, transfer);
    clock.run();
    clock.last_us
}

/// Recomputes each step's `after` once steps were removed or moved to another stream.
pub(super) fn count_links(plan: &mut Plan) {
    let kept = |step: &&Step| !step.gone && step.kind.is_waited_for();
    let all_ends = sorted(plan.steps.iter().filter(kept).map(|step| step.end_us));
    let mut ends: Vec<Vec<f64>> = vec![Vec::new(); plan.streams];
    for step in plan.steps.iter().filter(kept) {
        ends[step.stream].push(step.end_us);
    }
    let ends: Vec<Vec<f64>> = ends.into_iter().map(sorted).collect();
    let mut first_us: Vec<f64> = vec![f64::INFINITY; plan.streams];
    for step in &plan.steps {
        first_us[step.client] = first_us[step.client].min(step.arrival_us);
    }
    for step in &mut plan.steps {
        match step.link.barrier_us {
            // All that were over at that moment, the last one as well.
            Some(quiet_us) => step.after = all_ends.partition_point(|&end_us| end_us <= quiet_us),
            None => {
                step.after = before(&ends[step.stream], step.arrival_us);
                if step.after == 0 && step.link.enabler.is_some() {
                    // All that it waited for are gone: it is the first one now.
                    step.think_us += first_us[step.client];
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives(u32),
    /// Its wait for a thread is over.
    Starts(u32),
    /// A part that shares nothing is over.
    IsOver(u32),
    /// A request that takes no time is over.
    Ends(u32),
    /// A resource is through with a part, if nothing has come or gone since.
    Finishes {
        resource: u32,
        version: u32,
    },
}

/// Something that is shared.
#[derive(Default)]
struct Resource {
    /// What each that was there from the beginning would have got.
    progress_us: f64,
    at_us: f64,
    /// The progress at which each is over, and its step.
    members: BinaryHeap<Reverse<(Instant, u32)>>,
    version: u32,
    /// It serves one after the other: the first gets all of it.
    takes_turns: bool,
    /// The progress at which the last one is over, if it takes turns.
    busy_until_us: f64,
}

impl Resource {
    fn advance(&mut self, now_us: f64) {
        if !self.members.is_empty() {
            self.progress_us += (now_us - self.at_us) / self.sharing();
        }
        self.at_us = now_us;
    }

    /// How many share it.
    fn sharing(&self) -> f64 {
        if self.takes_turns { 1.0 } else { f64::from(u32::try_from(self.members.len()).unwrap_or(u32::MAX)) }
    }

    /// The progress at which a part that comes now is over.
    fn over_us(&mut self, work_us: f64) -> f64 {
        if !self.takes_turns {
            return self.progress_us + work_us;
        }
        self.busy_until_us = self.busy_until_us.max(self.progress_us) + work_us;
        self.busy_until_us
    }

    /// When the next one is over, if nothing comes.
    fn next_us(&self) -> Option<f64> {
        let Reverse((over, _)) = self.members.peek()?;
        Some(self.at_us + (over.us() - self.progress_us).max(0.0) * self.sharing())
    }
}

/// Where a step is.
#[derive(Clone, Copy, Default)]
struct State {
    started: bool,
    part: u8,
    /// Resources that are not through with the part.
    open: u8,
}

/// Steps of a stream that have not gone out, by how many must be over.
#[derive(Default)]
struct Pending {
    steps: Vec<u32>,
    next: usize,
    over: usize,
}

struct Clock<'a> {
    plan: &'a Plan,
    transfer: Sharing,
    events: BinaryHeap<Reverse<(Instant, Event)>>,
    order: u64,
    resources: Vec<Resource>,
    states: Vec<State>,
    /// Those of each stream, then those that wait for all.
    pending: Vec<Pending>,
    in_service: Vec<usize>,
    /// Requests of each server that wait for a thread.
    waiting: Vec<VecDeque<u32>>,
    last_us: f64,
}

impl<'a> Clock<'a> {
    fn new(plan: &'a Plan, transfer: Sharing) -> Self {
        let mut pending: Vec<Pending> = Vec::new();
        pending.resize_with(plan.streams + 1, Pending::default);
        for (number, step) in (0u32..).zip(&plan.steps).filter(|(_, step)| !step.gone) {
            let queue = if step.link.barrier_us.is_some() { plan.streams } else { step.stream };
            pending[queue].steps.push(number);
        }
        for pending in &mut pending {
            pending.steps.sort_by_key(|&number| plan.steps[number as usize].after);
        }
        let mut shared: Vec<Resource> = Vec::new();
        // Links that are as fast as they were seen to be come after all others.
        shared.resize_with(resources(plan) + plan.nodes + plan.streams + 1, Resource::default);
        // Disks come first.
        for (disk, takes_turns) in shared.iter_mut().zip(&plan.takes_turns) {
            disk.takes_turns = *takes_turns;
        }
        Self {
            plan,
            transfer,
            events: BinaryHeap::new(),
            order: 0,
            resources: shared,
            states: vec![State::default(); plan.steps.len()],
            pending,
            in_service: vec![0; plan.nodes],
            waiting: vec![VecDeque::new(); plan.nodes],
            last_us: 0.0,
        }
    }

    fn run(&mut self) {
        for queue in 0..self.pending.len() {
            self.release(queue, 0.0);
        }
        while let Some(Reverse((at, event))) = self.events.pop() {
            let at_us = at.us();
            match event {
                Event::Arrives(number) => self.arrive(number, at_us),
                Event::Starts(number) => self.start(number, at_us),
                Event::IsOver(number) => self.part_over(number, at_us),
                Event::Ends(number) => self.step_over(number, at_us),
                Event::Finishes { resource, version } => self.finish(resource as usize, version, at_us),
            }
        }
    }

    fn at(&mut self, at_us: f64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((Instant::new(at_us, self.order), event)));
    }

    /// Lets those go out for which enough are over.
    fn release(&mut self, queue: usize, now_us: f64) {
        loop {
            let Pending { steps, next, over } = &mut self.pending[queue];
            let Some(&number) = steps.get(*next) else { return };
            let step = &self.plan.steps[number as usize];
            if step.after > *over {
                return;
            }
            *next += 1;
            self.at(now_us + step.think_us, Event::Arrives(number));
        }
    }

    fn arrive(&mut self, number: u32, now_us: f64) {
        let step = &self.plan.steps[number as usize];
        if step.queue_us <= 0.0 {
            return self.start(number, now_us);
        }
        self.at(now_us + step.queue_us, Event::Starts(number));
        if step.seats.is_some() {
            self.waiting[step.node].push_back(number);
            self.seat(step.node, now_us);
        }
    }

    /// Starts those that wait for a thread if no more are in service than when they started.
    fn seat(&mut self, node: usize, now_us: f64) {
        while let Some(&number) = self.waiting[node].front() {
            let is_free = self.plan.steps[number as usize].seats.is_some_and(|seats| self.in_service[node] <= seats);
            if !self.states[number as usize].started && !is_free {
                return;
            }
            self.waiting[node].pop_front();
            self.start(number, now_us);
        }
    }

    fn start(&mut self, number: u32, now_us: f64) {
        let state = &mut self.states[number as usize];
        if state.started {
            return;
        }
        state.started = true;
        let step = &self.plan.steps[number as usize];
        if step.kind.is_bulk() {
            self.in_service[step.node] += 1;
        }
        if !self.begin_part(number, now_us) {
            // Not at once: many that take no time may wait for each other's threads.
            self.at(now_us, Event::Ends(number));
        }
    }

    /// Begins the part at which a step is, or the next one that takes any time; false if there is none.
    fn begin_part(&mut self, number: u32, now_us: f64) -> bool {
        let step = &self.plan.steps[number as usize];
        let mut part = usize::from(self.states[number as usize].part);
        while part < step.work_us.len() && step.work_us[part] <= 0.0 {
            part += 1;
        }
        self.states[number as usize].part = u8::try_from(part).unwrap_or(u8::MAX);
        let Some(&work_us) = step.work_us.get(part) else { return false };
        match resource(self.plan, step, part, self.transfer) {
            Some(resource) => self.join(resource, number, work_us, now_us),
            None => {
                self.states[number as usize].open += 1;
                self.at(now_us + work_us, Event::IsOver(number));
            }
        }
        if part == TRANSFER && !self.plan.most_of_node.is_empty() {
            let links = resources(self.plan);
            let node = (links + step.node, self.plan.most_of_node[step.node]);
            let stream = (links + self.plan.nodes + step.stream, self.plan.most_of_stream[step.stream]);
            let all = (links + self.plan.nodes + self.plan.streams, self.plan.most_of_all.unwrap_or(0.0));
            for (resource, most) in [node, stream, all].into_iter().filter(|&(_, most)| most > 0.0) {
                self.join(resource, number, step.bytes / most, now_us);
            }
        }
        true
    }

    fn join(&mut self, resource: usize, number: u32, work_us: f64, now_us: f64) {
        self.states[number as usize].open += 1;
        let shared = &mut self.resources[resource];
        shared.advance(now_us);
        let over_us = shared.over_us(work_us);
        self.order += 1;
        shared.members.push(Reverse((Instant::new(over_us, self.order), number)));
        self.schedule(resource);
    }

    fn schedule(&mut self, resource: usize) {
        let shared = &mut self.resources[resource];
        shared.version = shared.version.wrapping_add(1);
        let version = shared.version;
        if let Some(next_us) = shared.next_us() {
            let resource = u32::try_from(resource).unwrap_or(u32::MAX);
            self.at(next_us, Event::Finishes { resource, version });
        }
    }

    fn finish(&mut self, resource: usize, version: u32, now_us: f64) {
        let shared = &mut self.resources[resource];
        if shared.version != version {
            return;
        }
        shared.advance(now_us);
        if let Some(Reverse((_, step))) = shared.members.pop() {
            self.schedule(resource);
            self.part_over(step, now_us);
        }
    }

    fn part_over(&mut self, number: u32, now_us: f64) {
        let state = &mut self.states[number as usize];
        state.open -= 1;
        if state.open == 0 {
            state.part += 1;
            if !self.begin_part(number, now_us) {
                self.step_over(number, now_us);
            }
        }
    }

    fn step_over(&mut self, number: u32, now_us: f64) {
        let step = &self.plan.steps[number as usize];
        if step.kind.is_bulk() {
            self.in_service[step.node] -= 1;
            self.seat(step.node, now_us);
        }
        if step.kind.is_waited_for() {
            if step.kind.counts(self.plan.moves_data) {
                self.last_us = self.last_us.max(now_us);
            }
            for queue in [step.stream, self.plan.streams] {
                self.pending[queue].over += 1;
                self.release(queue, now_us);
            }
        }
    }
}
