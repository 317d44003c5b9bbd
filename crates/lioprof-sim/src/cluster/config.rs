//! What a cluster consists of, before it runs.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

use super::disk::{Disk, DiskConfig};
use super::lock::Lock;
use super::opcode::Service;
use super::process::{Pause, Process, Program};
use super::request::{Callback, Request};
use super::rng::{Rng, uuid};
use super::slab::Slab;
use super::timers::Timer;
use super::world::{ClientFaults, Export, File, Host, Mount, Node, Object, Part, Target, Thread, World};
use super::{Event, Simulation};
use crate::wording::{V2_17, Wording};

/// Threads of each service on each CPU partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threads {
    /// `ll_ost_io`.
    pub ost_io: usize,
    /// All others.
    pub other: usize,
}

impl Default for Threads {
    fn default() -> Self {
        Self { ost_io: 16, other: 8 }
    }
}

/// A server's hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// CPUs.
    pub cpus: u16,
    /// CPU partitions.
    pub cpts: u16,
    /// Threads.
    pub threads: Threads,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { cpus: 8, cpts: 2, threads: Threads::default() }
    }
}

/// A client's mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// I/O RPCs to one target at a time.
    pub max_in_flight: usize,
    /// Bytes of the largest I/O RPC.
    pub max_rpc_bytes: u64,
    /// There and back, microseconds.
    pub rtt_us: u64,
    /// What is wrong with it.
    pub faults: ClientFaults,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self { max_in_flight: 8, max_rpc_bytes: 4 << 20, rtt_us: 60, faults: ClientFaults::default() }
    }
}

struct TargetConfig {
    node: usize,
    mdt: bool,
    disk: DiskConfig,
}

struct MountConfig {
    host: usize,
    server: bool,
    config: ClientConfig,
}

struct ProcessConfig {
    mount: usize,
    job: String,
    owner: (u32, u32, u32),
    program: Program,
}

/// A cluster in the making. Numbers that its methods return are positions in the order of the calls.
pub struct Cluster {
    /// Where all chance comes from.
    pub seed: u64,
    /// When the run begins, microseconds since the epoch.
    pub start_us: u64,
    /// The release that logs.
    pub wording: &'static Wording,
    /// Name of the file system.
    pub fsname: String,
    /// Seconds between two pings of an idle connection; 0 for none.
    pub ping_s: u64,
    /// Seconds between two OST_STATFS of the MDT; 0 for none.
    pub statfs_s: u64,
    /// Seconds that a client has to give a lock back.
    pub lock_timeout_s: u64,
    /// Clients send a request again that is not answered in so many microseconds.
    pub resend_us: Option<u64>,
    /// Only this server's log, or all in one.
    pub follow: Option<usize>,
    /// Messages that the run produces at all: (masks, subsystems).
    pub interest: (u32, u32),
    servers: Vec<ServerConfig>,
    targets: Vec<TargetConfig>,
    hosts: Vec<String>,
    mounts: Vec<MountConfig>,
    files: Vec<(u64, Vec<usize>)>,
    processes: Vec<ProcessConfig>,
}

/// The MDT as a client of the OSTs.
pub const MDS: usize = 0;

impl Cluster {
    /// A cluster without servers; its MDS exists, but nobody sees its log.
    pub fn new(seed: u64, start_us: u64) -> Self {
        let config = ClientConfig::default();
        Self {
            seed,
            start_us,
            wording: &V2_17,
            fsname: "lustre".to_owned(),
            ping_s: 25,
            statfs_s: 5,
            lock_timeout_s: 100,
            resend_us: None,
            follow: None,
            interest: (u32::MAX, u32::MAX),
            servers: Vec::new(),
            targets: Vec::new(),
            hosts: vec!["10.10.0.1@tcp".to_owned()],
            mounts: vec![MountConfig { host: 0, server: true, config }],
            files: Vec::new(),
            processes: Vec::new(),
        }
    }

    /// Adds a server.
    pub fn server(&mut self, config: ServerConfig) -> usize {
        self.servers.push(config);
        self.servers.len() - 1
    }

    /// Adds an OST; returns its target.
    pub fn ost(&mut self, server: usize, disk: DiskConfig) -> usize {
        self.targets.push(TargetConfig { node: server, mdt: false, disk });
        self.targets.len() - 1
    }

    /// Adds an MDT; returns its target.
    pub fn mdt(&mut self, server: usize) -> usize {
        self.targets.push(TargetConfig { node: server, mdt: true, disk: DiskConfig::default() });
        self.targets.len() - 1
    }

    /// Adds a client on a machine of its own; returns its mount.
    pub fn client(&mut self, config: ClientConfig) -> usize {
        let number = self.hosts.len();
        self.hosts.push(format!("10.10.{}.{}@tcp", 1 + number / 250, 1 + number % 250));
        self.mounts.push(MountConfig { host: number, server: false, config });
        self.mounts.len() - 1
    }

    /// Adds a second mount on the machine of another.
    pub fn mount_beside(&mut self, mount: usize, config: ClientConfig) -> usize {
        let host = self.mounts[mount].host;
        self.mounts.push(MountConfig { host, server: false, config });
        self.mounts.len() - 1
    }

    /// Adds a file striped over these targets; returns it.
    pub fn file(&mut self, stripe_bytes: u64, targets: &[usize]) -> usize {
        self.files.push((stripe_bytes, targets.to_vec()));
        self.files.len() - 1
    }

    /// Adds a process of a mount.
    pub fn process(&mut self, mount: usize, job: &str, program: Program) {
        let owner = if self.mounts[mount].server { (0, 0, u32::MAX) } else { (1000, 1000, 0) };
        self.processes.push(ProcessConfig { mount, job: job.to_owned(), owner, program });
    }

    /// Builds the cluster and starts its processes.
    pub fn start(self) -> Simulation {
        let mut rng = Rng::new(self.seed);
        let mut world = World {
            wording: self.wording,
            nodes: Vec::new(),
            targets: Vec::new(),
            hosts: Vec::new(),
            mounts: Vec::new(),
            jobs: vec![String::new()],
            objects: Vec::new(),
            files: Vec::new(),
            parts: Vec::new(),
            part_of: FxHashMap::default(),
            exports: Vec::new(),
            processes: Vec::new(),
            requests: Slab::<Request>::new(),
            callbacks: Slab::<Callback>::new(),
            locks: Slab::<Lock>::new(),
        };
        self.build_servers(&mut world, &mut rng);
        self.build_targets(&mut world);
        self.build_clients(&mut world, &mut rng);
        self.build_files(&mut world);
        let timers = self.timers();
        let mut simulation = Simulation::new(world, rng, self.start_us, self.lock_timeout_s, self.resend_us);
        simulation.open_log(self.follow, self.interest);
        for (index, timer) in timers.iter().enumerate() {
            let first_us = simulation.rng.below(timer.every_us());
            simulation.events.at(self.start_us + first_us, Event::Timer(index));
        }
        simulation.timers = timers;
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
                nid: format!("10.10.0.{}@tcp", index + 2),
                cpus: server.cpus,
                cpts: server.cpts.max(1),
                lnd_pids: (0..4).map(|driver| 352 + driver).collect(),
                bl_pids: (0..3).map(|worker| 2192 + worker).collect(),
                next_xid: self.first_xid(rng),
                next_cookie: rng.bits() | (1 << 62),
            });
            let per_cpt = (server.cpus / server.cpts.max(1)).max(1);
            let mut pid = 2200;
            for service in Service::ALL {
                world.part_of.insert((index, service), world.parts.len());
                for cpt in 0..server.cpts.max(1) {
                    let count =
                        if service == Service::OstIo { server.threads.ost_io } else { server.threads.other }.max(1);
                    let threads = (0..count).map(|id| {
                        pid += 1;
                        let mut name = format!("{}{cpt:02}_{id:03}", service.thread());
                        name.truncate(15);
                        Thread { pid, name, cpu: cpt * per_cpt }
                    });
                    world.parts.push(Part {
                        node: index,
                        service,
                        threads: threads.collect(),
                        idle: (0..count).collect::<VecDeque<_>>(),
                        incoming: VecDeque::new(),
                        queue: VecDeque::new(),
                        urgent: VecDeque::new(),
                        sequence: 100 + rng.below(1000),
                        urgent_sequence: rng.below(100),
                    });
                }
            }
        }
    }

    fn build_targets(&self, world: &mut World) {
        let (mut osts, mut mdts) = (0, 0);
        for target in &self.targets {
            let (kind, index) = if target.mdt { ("MDT", &mut mdts) } else { ("OST", &mut osts) };
            let name = format!("{}-{kind}{index:04x}", self.fsname);
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
            world.mounts.push(Mount {
                uuid: if mount.server { format!("{}-MDT0000-mdtlov_UUID", self.fsname) } else { uuid(rng) },
                host: mount.host,
                server: mount.server,
                ptlrpcd_pids: [pid, pid + 1],
                bl_pid: pid + 40,
                ping_job: usize::from(!mount.server),
                bl_job: if mount.server { 0 } else { 2 },
                max_in_flight: mount.config.max_in_flight.max(1),
                max_rpc_bytes: mount.config.max_rpc_bytes.max(4096),
                rtt_us: mount.config.rtt_us,
                faults: mount.config.faults,
                locks: FxHashMap::default(),
            });
            for _ in &self.targets {
                world.exports.push(Export {
                    pointer: rng.pointer(),
                    connected: true,
                    locks: 0,
                    requests: 0,
                    in_flight: 0,
                    queue: VecDeque::new(),
                    last_us: self.start_us,
                    sent: 0,
                });
            }
        }
    }

    fn build_files(&self, world: &mut World) {
        for (stripe_bytes, targets) in &self.files {
            let mut objects = Vec::new();
            for &target in targets {
                objects.push(world.objects.len());
                let state = &mut world.targets[target];
                state.next_object += 1;
                let (index, id) = (u64::from(state.index), state.next_object);
                let (fid, resource) = if self.wording.has_fid_on_ost {
                    let fid = (0x2_4000_0400 + index * 0x4000_0000, id);
                    (fid, fid)
                } else {
                    ((0x1_0000_0000 | (index << 16), id), (id, 0))
                };
                world.objects.push(Object {
                    target,
                    fid,
                    resource,
                    size_bytes: 0,
                    mtime_s: 0,
                    known: None,
                    granted: Vec::new(),
                    waiting: Vec::new(),
                    busy_us: 0,
                    contention: (0, 0),
                    contended_us: 0,
                });
            }
            world.files.push(File { stripe_bytes: (*stripe_bytes).max(4096), objects });
        }
    }

    fn timers(&self) -> Vec<Timer> {
        let mut timers = Vec::new();
        for node in 0..self.servers.len() {
            timers.push(Timer::Idle { node, every_us: 400_000 });
        }
        for (mount, config) in self.mounts.iter().enumerate() {
            for (target, at) in self.targets.iter().enumerate() {
                if !config.server && self.ping_s > 0 {
                    timers.push(Timer::Ping { mount, target, every_us: self.ping_s * 1_000_000 });
                } else if config.server && !at.mdt && self.statfs_s > 0 {
                    timers.push(Timer::Statfs { mount, target, every_us: self.statfs_s * 1_000_000 });
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
                owner: process.owner,
                program: process.program,
                pending: None,
                open: 0,
                locks: 0,
                pause: Pause::None,
            });
            let first_us = simulation.rng.below(200);
            simulation.events.at(self.start_us + first_us, Event::Process(number));
            simulation.running += 1;
        }
    }
}
