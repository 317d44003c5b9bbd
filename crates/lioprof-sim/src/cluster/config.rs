//! What a cluster consists of, before it runs.

use super::disk::DiskConfig;
use super::program::Program;
use super::{ClientConfig, Clock, LinkConfig, Policy, Service};
use crate::wording::{V2_17, Wording};

lioprof_model::with_defaults! {
    /// Threads of each service on each CPU partition.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Threads {
        /// `ll_ost_io`.
        pub ost_io: usize = 16,
        /// All others.
        pub other: usize = 8,
        /// A service that has one only.
        pub single: Option<Service> = None,
    }

    /// A server's hardware.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ServerConfig {
        /// CPUs.
        pub cpus: u16 = 8,
        /// CPU partitions.
        pub cpts: u16 = 2,
        /// Threads.
        pub threads: Threads = Threads::default(),
        /// Its network link.
        pub link: LinkConfig = LinkConfig::default(),
        /// What hands requests of a service to threads; that of all others is `fifo`.
        pub scheduler: Option<(Service, Policy)> = None,
    }
}

pub(super) struct TargetConfig {
    pub(super) node: usize,
    pub(super) mdt: bool,
    pub(super) disk: DiskConfig,
}

#[derive(Default)]
pub(super) struct MountConfig {
    pub(super) host: usize,
    pub(super) server: bool,
    pub(super) config: ClientConfig,
    /// Server whose device it is, and whose log shows what it sends.
    pub(super) on_server: Option<usize>,
    /// Light-weight connection of this target to the first MDT.
    pub(super) light_weight_of: Option<usize>,
    /// Its host logs what it sends.
    pub(super) logs: bool,
}

pub(super) struct ProcessConfig {
    pub(super) mount: usize,
    pub(super) job: String,
    pub(super) program: Program,
}

/// A cluster in the making. Numbers that its methods return are positions in the order of the calls.
pub struct Cluster {
    /// Where all chance comes from.
    pub seed: u64,
    /// When the run begins, microseconds since the epoch.
    pub start_us: u64,
    /// The release that logs.
    pub wording: &'static Wording,
    /// Seconds between two pings of an idle connection; 0 for none.
    pub ping_s: u64,
    /// Seconds between two OST_STATFS of the MDT; 0 for none.
    pub statfs_s: u64,
    /// Seconds that a client has to give a lock back.
    pub lock_timeout_s: u64,
    /// Clients resend a request that is not answered within this many microseconds.
    pub resend_us: Option<u64>,
    /// Only this server's log, or all in one.
    pub follow: Option<usize>,
    /// Messages that the run produces at all: (masks, subsystems).
    pub interest: (u32, u32),
    pub(super) servers: Vec<ServerConfig>,
    pub(super) targets: Vec<TargetConfig>,
    pub(super) hosts: Vec<String>,
    pub(super) mounts: Vec<MountConfig>,
    pub(super) files: Vec<(u64, Vec<usize>)>,
    pub(super) processes: Vec<ProcessConfig>,
    /// By node; those without one are right.
    pub(super) clocks: Vec<Clock>,
}

/// The MDT as a client of the OSTs.
pub const MDS: usize = 0;

impl Cluster {
    /// A cluster without servers; its MDS exists, but nobody sees its log.
    pub fn new(seed: u64, start_us: u64) -> Self {
        Self {
            seed,
            start_us,
            wording: &V2_17,
            ping_s: 25,
            statfs_s: 5,
            lock_timeout_s: 100,
            resend_us: None,
            follow: None,
            interest: (u32::MAX, u32::MAX),
            servers: Vec::new(),
            targets: Vec::new(),
            hosts: vec!["10.10.0.1@tcp".to_owned()],
            mounts: vec![MountConfig { server: true, ..MountConfig::default() }],
            files: Vec::new(),
            processes: Vec::new(),
            clocks: Vec::new(),
        }
    }

    /// The MDT is on this server, which logs what it sends to OSTs. Otherwise nobody sees that log.
    pub fn mds_on(&mut self, server: usize, config: ClientConfig) {
        self.hosts[0] = server_nid(server);
        self.mounts[MDS] = MountConfig { server: true, config, on_server: Some(server), ..MountConfig::default() };
    }

    /// Adds the light-weight connection by which a target talks to the first MDT, and pings it.
    pub fn light_weight(&mut self, target: usize, config: ClientConfig) -> usize {
        let server = self.targets[target].node;
        self.hosts.push(server_nid(server));
        let (host, on_server, light_weight_of) = (self.hosts.len() - 1, Some(server), Some(target));
        self.mounts.push(MountConfig { host, server: true, config, on_server, light_weight_of, logs: false });
        self.mounts.len() - 1
    }

    /// The host of a mount logs what it sends. Returns the number under which its records come, after all servers.
    pub fn log_of(&mut self, mount: usize) -> usize {
        self.mounts[mount].logs = true;
        self.servers.len() + self.mounts[..mount].iter().filter(|mount| mount.logs).count()
    }

    /// All clients log; their records come after those of all servers, in the order of the clients.
    pub fn log_of_all_clients(&mut self) {
        self.mounts.iter_mut().filter(|mount| !mount.server).for_each(|mount| mount.logs = true);
    }

    /// Sets the clock of a node: a server, or a client that logs.
    pub fn clock(&mut self, node: usize, clock: Clock) {
        if self.clocks.len() <= node {
            self.clocks.resize(node + 1, Clock::default());
        }
        self.clocks[node] = clock;
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
        let host = self.hosts.len();
        let network = config.network;
        self.hosts.push(format!("10.10.{}.{}@{network}", 1 + (host - 1) / 250, 1 + (host - 1) % 250));
        self.mounts.push(MountConfig { host, config, ..MountConfig::default() });
        self.mounts.len() - 1
    }

    /// Adds a second mount on the machine of another.
    pub fn mount_beside(&mut self, mount: usize, config: ClientConfig) -> usize {
        let host = self.mounts[mount].host;
        self.mounts.push(MountConfig { host, config, ..MountConfig::default() });
        self.mounts.len() - 1
    }

    /// Adds a file striped over these targets; returns it.
    pub fn file(&mut self, stripe_bytes: u64, targets: &[usize]) -> usize {
        self.files.push((stripe_bytes, targets.to_vec()));
        self.files.len() - 1
    }

    /// Adds a process of a mount.
    pub fn process(&mut self, mount: usize, job: &str, program: Program) {
        self.processes.push(ProcessConfig { mount, job: job.to_owned(), program });
    }
}

pub(super) fn server_nid(server: usize) -> String {
    format!("10.10.0.{}@tcp", server + 2)
}
