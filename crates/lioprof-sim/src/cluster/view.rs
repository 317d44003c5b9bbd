//! What a server's control files show of a cluster at work.

use std::collections::BTreeMap;

use super::Simulation;
use crate::counters::{ServiceCounters, TargetCounters};

impl Simulation {
    /// When the run began, microseconds since the epoch.
    pub fn start_us(&self) -> i64 {
        self.start_us.cast_signed()
    }

    /// CPUs of a server.
    pub fn cpus_of(&self, node: usize) -> u16 {
        self.world.nodes.get(node).map_or(1, |node| node.cpus)
    }

    /// Names of a server's targets.
    pub fn targets_of(&self, node: usize) -> impl Iterator<Item = &str> {
        self.world.targets.iter().filter(move |target| target.node == node).map(|target| target.name.as_str())
    }

    /// NIDs of all that are connected to the targets, with the uuids of their mounts.
    pub fn clients(&self) -> BTreeMap<String, Vec<String>> {
        let mut clients: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (mount, state) in self.world.mounts.iter().enumerate() {
            clients.entry(self.world.nid(mount).to_owned()).or_default().push(state.uuid.clone());
        }
        clients
    }

    /// The truth so far about one target.
    pub fn target(&self, name: &str) -> Option<TargetCounters> {
        let target = self.world.targets.iter().position(|target| target.name == name)?;
        Some(self.account.target(&self.world, target))
    }

    /// The truth so far about the services of one server.
    pub fn services_of(&self, node: usize) -> BTreeMap<&'static str, &ServiceCounters> {
        self.account.services(node)
    }

    /// Locks of a target that are granted or wanted, and the objects that have any.
    pub fn lock_gauges(&self, name: &str) -> (usize, usize) {
        let objects = self.world.objects.iter().filter(|object| self.world.targets[object.target].name == name);
        let locks = objects.map(|object| object.granted.len() + object.waiting.len()).filter(|&locks| locks > 0);
        locks.fold((0, 0), |(all, objects), locks| (all + locks, objects + 1))
    }

    /// Target and job of those jobs that counted for the first time since the last call.
    pub fn take_new_jobs(&mut self) -> Vec<(String, String)> {
        let world = &self.world;
        let new = self.account.take_new_jobs().into_iter();
        new.map(|(target, job)| (world.targets[target].name.clone(), world.jobs[job].clone())).collect()
    }
}
