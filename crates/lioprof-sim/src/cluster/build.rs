//! From the description of a cluster to its parts, and the start of its processes.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::config::{Cluster, MDS, Threads, server_nid};
use super::rng::uuid;
use super::world::{Export, Host, Mount, Node, Object, Queue, ServicePart, ServiceThread, StripedFile, Target};
use super::{
    Account, ClientConfig, Disk, Event, Events, Link, Log, Pause, Process, Regular, Rng, Service, Simulation, Timer,
    World,
};
use crate::wording::Fid;

/// Name of the file system.
const FSNAME: &str = "lustre";

impl Cluster {
    /// Builds the cluster and starts its processes.
    pub fn start(self) -> Simulation {
        let mut rng = Rng::new(self.seed);
        let mut world = World { wording: self.wording, jobs: vec![String::new()], ..World::default() };
        self.build_servers(&mut world, &mut rng);
        self.build_targets(&mut world);
        self.build_clients(&mut world, &mut rng);
        self.build_files(&mut world);
        let timers = self.timers();
        let mut events = Events::default();
        for (index, timer) in timers.iter().enumerate() {
            events.at(self.start_us + rng.below(timer.every_us), Event::Timer(index));
        }
        let mut simulation = Simulation {
            account: Account::new(world.targets.len()),
            world,
            events,
            log: Log::new(self.follow, self.interest, self.clocks.clone(), self.start_us),
            rng,
            timers,
            now_us: self.start_us,
            start_us: self.start_us,
            lock_timeout_s: self.lock_timeout_s,
            resend_us: self.resend_us,
            running: 0,
            follow: self.follow,
            operations: Vec::new(),
            servers: self.servers.len(),
        };
        self.build_processes(&mut simulation);
        simulation
    }

    fn first_xid(&self, rng: &mut Rng) -> u64 {
        // Seeded with the second in which the modules were loaded.
        let loaded_s = (self.start_us / 1_000_000).saturating_sub(600 + rng.below(600));
        (loaded_s << 20) & !0xfff
    }

    fn build_servers(&self, world: &mut World, rng: &mut Rng) {
        for (index, server) in self.servers.iter().enumerate() {
            world.nodes.push(Node {
                nid: server_nid(index),
                cpus: server.cpus,
                cpts: server.cpts.max(1),
                lnd_pids: (0..4).map(|driver| 352 + driver).collect(),
                bl_pids: (0..3).map(|worker| 2192 + worker).collect(),
                next_xid: self.first_xid(rng),
                next_cookie: rng.bits() | (1 << 62),
                link: Link::new(server.link),
            });
            let per_cpt = (server.cpus / server.cpts.max(1)).max(1);
            let mut pid = 2200;
            for service in Service::ALL {
                world.part_of.insert((index, service), world.parts.len());
                for cpt in 0..server.cpts.max(1) {
                    let Threads { ost_io, other, single } = server.threads;
                    let count = match service {
                        _ if single == Some(service) => 1,
                        Service::OstIo => ost_io.max(1),
                        _ => other.max(1),
                    };
                    let threads = (0..count).map(|id| {
                        pid += 1;
                        let mut name = format!("{}{cpt:02}_{id:03}", service.thread());
                        name.truncate(15);
                        ServiceThread { pid, name, cpu: cpt * per_cpt }
                    });
                    world.parts.push(ServicePart {
                        node: index,
                        service,
                        threads: threads.collect(),
                        idle: (0..count).collect::<VecDeque<_>>(),
                        incoming: VecDeque::new(),
                        regular: Queue { next_sequence: 100 + rng.below(1000), ..Queue::default() },
                        urgent: Queue { next_sequence: rng.below(100), ..Queue::default() },
                        policy: server.scheduler.filter(|it| it.0 == service).map(|it| it.1),
                        classes: FxHashMap::default(),
                    });
                }
            }
        }
    }

    fn build_targets(&self, world: &mut World) {
        let (mut osts, mut mdts) = (0, 0);
        for target in &self.targets {
            let (kind, index) = if target.mdt { ("MDT", &mut mdts) } else { ("OST", &mut osts) };
            let name = format!("{FSNAME}-{kind}{index:04x}");
            world.targets.push(Target {
                uuid: format!("{name}_UUID"),
                name,
                node: target.node,
                index: *index,
                mdt: target.mdt,
                disk: Disk::new(target.disk),
                next_transno: 4_294_967_296,
                next_object: 2,
            });
            *index += 1;
        }
    }

    fn build_clients(&self, world: &mut World, rng: &mut Rng) {
        world.jobs.push("kworker.0".to_owned());
        world.jobs.push(self.wording.bl_job.to_owned());
        for nid in &self.hosts {
            let next_cookie = rng.bits() | (1 << 62);
            world.hosts.push(Host { nid: nid.clone(), next_xid: self.first_xid(rng), next_cookie });
        }
        for mount in &self.mounts {
            let pid = 380 + u32::try_from(rng.below(2000)).unwrap_or(0);
            let log_node = mount.on_server.or_else(|| {
                mount.logs.then(|| {
                    world.nodes.push(Node::of_client(self.hosts[mount.host].clone()));
                    world.nodes.len() - 1
                })
            });
            world.mounts.push(Mount {
                uuid: match (mount.server, mount.light_weight_of) {
                    (false, _) => uuid(rng),
                    (true, None) => format!("{FSNAME}-MDT0000-mdtlov_UUID"),
                    (true, Some(target)) => {
                        let name = world.targets[target].name.trim_start_matches(FSNAME);
                        format!("{FSNAME}-MDT0000-lwp{name}_UUID")
                    }
                },
                host: mount.host,
                server: mount.server,
                ptlrpcd_pids: [pid, pid + 1],
                bl_pid: pid + 40,
                ping_job: usize::from(!mount.server),
                bl_job: if mount.server { 0 } else { 2 },
                link: Link::new(mount.config.link),
                config: ClientConfig {
                    max_in_flight: mount.config.max_in_flight.max(1),
                    max_rpc_bytes: mount.config.max_rpc_bytes.max(4096),
                    ..mount.config
                },
                log_node,
                locks: FxHashMap::default(),
            });
            for _ in &self.targets {
                let (pointer, last_us) = (rng.pointer(), self.start_us);
                world.exports.push(Export { pointer, connected: true, last_us, ..Export::default() });
            }
        }
    }

    fn build_files(&self, world: &mut World) {
        for (number, (stripe_bytes, targets)) in self.files.iter().enumerate() {
            let mut objects = Vec::new();
            for &target in targets {
                objects.push(world.objects.len());
                let state = &mut world.targets[target];
                state.next_object += 1;
                let (index, id) = (u64::from(state.index), state.next_object);
                let (fid, resource) = if self.wording.has_fid_on_ost {
                    let fid = Fid(0x2_4000_0400 + index * 0x4000_0000, id);
                    (fid, fid)
                } else {
                    (Fid(0x1_0000_0000 | (index << 16), id), Fid(id, 0))
                };
                world.objects.push(Object { target, file: number, fid, resource, ..Object::default() });
            }
            world.files.push(StripedFile { stripe_bytes: (*stripe_bytes).max(4096), objects });
        }
    }

    fn timers(&self) -> Vec<Timer> {
        let mut timers = Vec::new();
        for node in 0..self.servers.len() {
            timers.push(Timer { every_us: 400_000, does: Regular::Idle { node } });
        }
        for (mount, config) in self.mounts.iter().enumerate() {
            for (target, at) in self.targets.iter().enumerate() {
                let pings = if config.light_weight_of.is_some() { at.mdt } else { !config.server };
                if pings && self.ping_s > 0 {
                    timers.push(Timer { every_us: self.ping_s * 1_000_000, does: Regular::Ping { mount, target } });
                } else if mount == MDS && !at.mdt && self.statfs_s > 0 {
                    timers.push(Timer { every_us: self.statfs_s * 1_000_000, does: Regular::Statfs { mount, target } });
                }
            }
        }
        timers
    }

    fn build_processes(self, simulation: &mut Simulation) {
        for process in self.processes {
            let world = &mut simulation.world;
            let job = world.jobs.iter().position(|job| *job == process.job).unwrap_or_else(|| {
                world.jobs.push(process.job.clone());
                world.jobs.len() - 1
            });
            let number = world.processes.len();
            world.processes.push(Process {
                mount: process.mount,
                pid: 5000 + u32::try_from(number).unwrap_or(0),
                job,
                owner: if world.mounts[process.mount].server { (0, 0, u32::MAX) } else { (1000, 1000, 0) },
                program: process.program,
                pending: None,
                open: 0,
                locks: 0,
                pause: Pause::None,
                operation: None,
                pen_us: 0,
            });
            let first_us = simulation.rng.below(200);
            simulation.resume(number, self.start_us + first_us);
            simulation.running += 1;
        }
    }
}
