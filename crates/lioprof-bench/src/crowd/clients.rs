//! A made-up crowd of clients, and the log that its servers would write.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use super::lines::{Lines, Release, scatter};
use super::say::{Say, Transfer};
use crate::log_writer::LogWriter;
use crate::random::Random;

/// Who reads and writes how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub struct CrowdOptions {
    /// Clients; each has an address of its own and belongs to one job
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub clients: u32,

    /// OSTs; each client uses four of them
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub osts: u32,

    /// Jobs, at most one per client
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: u32,

    /// Reads and writes of 1 MiB, all clients together
    #[arg(long, value_name = "N", default_value = "10000")]
    pub rpcs: u64,

    /// How many of them arrive per second
    #[arg(long, value_name = "N", default_value = "10000", value_parser = clap::value_parser!(u64).range(1..=20_000))]
    pub rate: u64,

    /// Clients come one after the other with all their requests, instead of by chance
    #[arg(long)]
    pub in_turn: bool,

    /// Wording of the log
    #[arg(long, value_enum, default_value_t)]
    pub release: Release,
}

impl CrowdOptions {
    /// Neighbours belong to one job.
    pub(super) fn job_of(&self, client: u32) -> u32 {
        let jobs = u64::from(self.jobs.min(self.clients));
        u32::try_from(u64::from(client) * jobs / u64::from(self.clients)).unwrap_or(0)
    }
}

pub(super) const START_US: i64 = 1_795_250_600_000_000;

pub(super) const MIB: u64 = 1 << 20;

/// OSTs that a client uses, an object on each.
pub(super) const STRIPES: u32 = 4;

/// CPU partitions, each with a part of the I/O service.
pub(super) const PARTS: u32 = 2;

/// Threads of a part: twice as many as the largest rate keeps busy.
pub(super) const THREADS: u32 = 64;

pub(super) const CPUS_PER_PART: u32 = 8;

/// Longest time in which a request waits and is handled.
pub(super) const QUEUE_US: u64 = 400;

pub(super) const SERVICE_US: u64 = 4_000;

/// A service thread, by when it is idle again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Thread {
    pub(super) idle_us: i64,
    pub(super) id: u32,
}

/// A part of the I/O service.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) threads: BinaryHeap<Reverse<Thread>>,
    /// Last number that the scheduler gave.
    pub(super) sequence: u64,
}

/// One of the clients, as far as it changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client {
    pub(super) xid: u64,
    pub(super) requests: u32,
}

/// Writes the log; returns the number of RPCs of each kind, (reads, writes).
///
/// # Errors
/// Those of the writer.
pub fn write<W: Write>(crowd: &CrowdOptions, out: &mut LogWriter<W>) -> io::Result<(u64, u64)> {
    let mut random = Random(0);
    let mut clients: Vec<Client> = (0..crowd.clients)
        .map(|_| {
            // Seeded with the second in which the client's modules were loaded, within the last weeks.
            let loaded_s = START_US.unsigned_abs() / 1_000_000 - random.below(2_000_000);
            Client { xid: loaded_s << 20, requests: 0 }
        })
        .collect();
    let mut parts: Vec<Part> = (0..PARTS)
        .map(|part| Part {
            threads: (0..THREADS).map(|id| Reverse(Thread { idle_us: START_US, id })).collect(),
            sequence: 1_000 * u64::from(part + 1),
        })
        .collect();
    let mut lines = Lines::default();
    let (mut reads, mut writes) = (0, 0);
    for n in 0..crowd.rpcs {
        let due_us = START_US + i64::try_from(u128::from(n) * 1_000_000 / u128::from(crowd.rate)).unwrap_or(i64::MAX);
        lines.write_before(due_us, out)?;
        let all = u64::from(crowd.clients);
        let number = if crowd.in_turn { n * all / crowd.rpcs } else { random.below(all) };
        let number = u32::try_from(number).unwrap_or(0);
        let client = &mut clients[number as usize];
        client.requests += 1;
        client.xid += XID_STEP;
        let part = number % PARTS;
        let service = &mut parts[part as usize];
        let Some(Reverse(thread)) = service.threads.pop() else { unreachable!("there are threads, and all come back") };
        let arrival_us = due_us.max(thread.idle_us);
        let start_us = arrival_us + about(&mut random, QUEUE_US);
        let end_us = start_us + about(&mut random, SERVICE_US);
        service.sequence += 1;
        let object = u64::from(number) * u64::from(STRIPES) + u64::from(client.requests % STRIPES) + 2;
        let rpc = Transfer {
            number: n,
            client: number,
            job: crowd.job_of(number),
            xid: client.xid,
            // Half of the jobs read, the other half write.
            write: number % 2 == 0,
            ost: scatter(object) % crowd.osts,
            object,
            first: u64::from(client.requests / STRIPES) * MIB,
            bytes: MIB,
            part,
            thread: thread.id,
            cpu: part * CPUS_PER_PART + thread.id % CPUS_PER_PART,
            sequence: service.sequence,
            arrival_us,
            start_us,
            end_us,
        };
        if rpc.write {
            writes += 1;
        } else {
            reads += 1;
        }
        let idle_us = Say { release: crowd.release, lines: &mut lines }.all(&rpc);
        service.threads.push(Reverse(Thread { idle_us, id: thread.id }));
    }
    lines.write_before(i64::MAX, out)?;
    Ok((reads, writes))
}

/// Distance of a client's xids.
pub(super) const XID_STEP: u64 = 128;

/// From a tenth of it to all of it, microseconds.
pub(super) fn about(random: &mut Random, us: u64) -> i64 {
    i64::try_from(us / 10 + random.below(us - us / 10)).unwrap_or(0)
}
