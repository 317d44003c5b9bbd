//! Something is the bottleneck.

use super::base::{BaseCluster, Hardware, MIB, base, program, stream, usual};
use super::options::Options;
use crate::cluster::{Access, ClientConfig, Cluster, DiskConfig, Op, Policy, ServerConfig, Service, Threads, opcode};

/// Two I/O threads for many clients, and a disk that takes its time but has room for more.
///
/// To find: the queue is much longer than the service.
pub(super) fn thread_starved(options: &Options) -> Cluster {
    let server = ServerConfig { threads: Threads { ost_io: 1, ..Threads::default() }, ..ServerConfig::default() };
    let disk = DiskConfig { latency_us: 3_000, ..DiskConfig::default() };
    base(options, Hardware { server, disk, ..Hardware::default() }).write_everywhere(16 * MIB * options.size)
}

/// A disk of 100 MB/s under all clients, and threads for all requests.
///
/// To find: the service takes long, the queue is short.
pub(super) fn disk_bound(options: &Options) -> Cluster {
    let server = ServerConfig { threads: Threads { ost_io: 256, ..Threads::default() }, ..ServerConfig::default() };
    let disk = DiskConfig { bytes_per_s: 100_000_000, ..DiskConfig::default() };
    base(options, Hardware { server, disk, ..Hardware::default() }).write_everywhere(16 * MIB * options.size)
}

/// Clients with one request in flight and a long way to the servers, which have threads for all.
///
/// To find: servers that are idle most of the time; neither queue nor service is long.
pub(super) fn client_bound(options: &Options) -> Cluster {
    let client = ClientConfig { max_in_flight: 1, rtt_us: 8_000, ..ClientConfig::default() };
    let server = ServerConfig { threads: Threads { ost_io: 256, ..Threads::default() }, ..ServerConfig::default() };
    base(options, Hardware { client, server, ..Hardware::default() }).write_everywhere(8 * MIB * options.size)
}

/// One request in two hundred takes a hundred times as long.
///
/// To find: a median as usual and a 99.9th percentile far away.
pub(super) fn heavy_tail(options: &Options) -> Cluster {
    let disk = DiskConfig { tail_ppm: 5_000, tail_factor: 100, ..DiskConfig::default() };
    base(options, Hardware { disk, ..Hardware::default() }).write_everywhere(128 * MIB * options.size)
}

/// Processes of each client that keep a service busy.
const MANY: usize = 16;

/// One thread of this service, as many as usual of the others.
fn one_thread(service: Service) -> ServerConfig {
    let threads = Threads { single: Some(service), ..Threads::default() };
    ServerConfig { threads, cpts: 1, ..ServerConfig::default() }
}

/// Many processes of each client repeat these steps; `steps` gets the number of the process.
fn repeated<I>(mut base: BaseCluster, job: &str, steps: impl Fn(&mut BaseCluster, usize) -> I) -> Cluster
where
    I: Iterator<Item = Op> + Send + 'static,
{
    for client in base.clients.clone() {
        for number in 0..MANY {
            let steps = steps(&mut base, number);
            base.cluster.process(client, job, program(steps));
        }
    }
    base.cluster
}

/// One thread for attributes and locks of OSTs, and many clients that set attributes.
///
/// To find: requests queue in service ost while its thread is always at work.
pub(super) fn ost_starved(options: &Options) -> Cluster {
    let base = base(options, Hardware { server: one_thread(Service::Ost), ..Hardware::default() });
    let (targets, calls) = (base.osts.clone(), 20 * options.size);
    repeated(base, "chown.0", |_, number| {
        let target = targets[number % targets.len()];
        (0..calls).map(move |_| Op::Plain { opcode: opcode::OST_SETATTR, target })
    })
}

/// One thread that takes locks back, and clients that write small files and give their locks back at once.
///
/// To find: requests queue in service ldlm_canceld while its thread is always at work.
pub(super) fn cancel_starved(options: &Options) -> Cluster {
    let base = base(options, Hardware { server: one_thread(Service::Cancel), ..Hardware::default() });
    let calls = 20 * options.size;
    repeated(base, "untar.1000", |base, number| {
        let file = base.file_on(number);
        (0..calls).flat_map(move |_| [Op::Io(Access::write(file, 0, 4096)), Op::DropLocks(file)])
    })
}

/// An MDT on a server of its own with one thread for what is no file that is closed.
///
/// To find: requests queue in service mdt while its thread is always at work.
pub(super) fn mdt_starved(options: &Options) -> Cluster {
    let mut base = usual(options);
    let server = base.cluster.server(one_thread(Service::Mdt));
    let target = base.cluster.mdt(server);
    let calls = 20 * options.size;
    repeated(base, "mdtest.1000", |_, _| (0..calls).map(move |_| Op::Plain { opcode: opcode::MDS_REINT, target }))
}

/// One job goes through a directory tree with many processes on one client; others make a file now and then and write it. The MDT is on
/// the first server, and has one thread for most of its work.
///
/// To find: requests queue for the MDT's thread, nearly all of them of one client and job.
pub(super) fn metadata_hog(options: &Options) -> Cluster {
    let mut base = base(options, Hardware { server: one_thread(Service::Mdt), ..Hardware::default() });
    let target = base.cluster.mdt(0);
    let hog = base.cluster.client(ClientConfig::default());
    for _ in 0..32 {
        let steps = (0..100 * options.size).map(move |_| Op::Plain { opcode: opcode::LDLM_ENQUEUE, target });
        base.cluster.process(hog, "find.0", program(steps));
    }
    base.on_clients_with_file("ior.1000", |_, file| {
        (0..10 * options.size).flat_map(move |step| {
            let create = Op::Plain { opcode: opcode::MDS_REINT, target };
            [create, Op::Io(Access::write(file, step * MIB, MIB)), Op::Sleep(10_000)]
        })
    })
}

/// A rule of 20 requests a second for one of two jobs that do the same.
///
/// To find: its requests wait in the queue although threads have nothing to do; those of the other job do not.
pub(super) fn tbf(options: &Options) -> Cluster {
    let policy = Policy::Tbf { job: "bulk.1001", rate: 20 };
    let server = ServerConfig { scheduler: Some((Service::OstIo, policy)), ..ServerConfig::default() };
    let mut base = base(options, Hardware { server, ..Hardware::default() });
    for (number, &client) in base.clients.iter().enumerate() {
        let file = base.cluster.file(MIB, &[base.osts[number % base.osts.len()]]);
        let (job, writes) = if number % 2 == 0 { ("bulk.1001", 60) } else { ("ior.1000", 600) };
        let steps = stream(Access::write(file, 0, 0), writes * options.size * MIB, MIB).chain([Op::Drain]);
        base.cluster.process(client, job, program(steps));
    }
    base.cluster
}

/// Every request to the MDT waits for 20 to 60 ms before a thread may have it.
///
/// To find: requests queue in service mdt although its threads have nothing to do.
pub(super) fn nrs_delay(options: &Options) -> Cluster {
    let mut base = usual(options);
    let policy = Policy::Delay { min_us: 20_000, max_us: 60_000 };
    let scheduler = Some((Service::Mdt, policy));
    let server = base.cluster.server(ServerConfig { scheduler, ..ServerConfig::default() });
    let target = base.cluster.mdt(server);
    base.on_clients("mdtest.1000", |_| {
        (0..60 * options.size).map(move |_| Op::Plain { opcode: opcode::MDS_REINT, target })
    })
}
