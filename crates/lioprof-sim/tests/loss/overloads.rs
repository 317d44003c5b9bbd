//! Servers whose kernel cannot write its debug buffer in time.

use lioprof_sim::SimRecord;

/// One kind of overload.
pub(crate) struct Overload {
    pub(crate) name: &'static str,
    /// Scenario that the servers run.
    pub(crate) scenario: &'static str,
    /// RPCs per second of all clients, for scenarios of a steady rate.
    pub(crate) rate: u64,
    pub(crate) servers: usize,
    /// Times at which the kernel's thread does not write, seconds from the first record, for each server.
    pub(crate) stalls: &'static [&'static [(f64, f64)]],
    /// What the scheduler of the I/O service is, instead of `fifo`.
    pub(crate) policy: Policy,
}

/// A policy of the request scheduler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Fifo,
    Crrn,
    Tbf,
}

const LONG: &[&[(f64, f64)]] = &[&[(2.0, 9.0)]];

pub(crate) const OVERLOADS: &[Overload] = &[
    Overload { name: "no overload", scenario: "busy", rate: 400, servers: 1, stalls: &[&[]], policy: Policy::Fifo },
    Overload {
        name: "bursts",
        scenario: "busy",
        rate: 600,
        servers: 1,
        stalls: &[&[(1.0, 4.0), (5.0, 8.0), (8.5, 11.0)]],
        policy: Policy::Fifo,
    },
    Overload { name: "a long stall", scenario: "steady", rate: 400, servers: 1, stalls: LONG, policy: Policy::Fifo },
    Overload { name: "several services", scenario: "busy", rate: 400, servers: 1, stalls: LONG, policy: Policy::Fifo },
    Overload {
        name: "high-priority queue",
        scenario: "lock-pingpong",
        rate: 0,
        servers: 1,
        stalls: &[&[(0.5, 5.0)]],
        policy: Policy::Fifo,
    },
    Overload { name: "policy crrn", scenario: "busy", rate: 400, servers: 1, stalls: LONG, policy: Policy::Crrn },
    Overload { name: "policy tbf", scenario: "busy", rate: 400, servers: 1, stalls: LONG, policy: Policy::Tbf },
    Overload {
        name: "two OSSs",
        scenario: "busy",
        rate: 500,
        servers: 2,
        stalls: &[&[(3.0, 8.0)], &[(6.0, 11.0)]],
        policy: Policy::Fifo,
    },
    Overload {
        name: "stalled again and again",
        scenario: "steady",
        rate: 800,
        servers: 1,
        stalls: &[&[(0.5, 3.0), (3.5, 6.0), (6.2, 8.5), (9.0, 11.5)]],
        policy: Policy::Fifo,
    },
];

/// Rewrites what the scheduler of the I/O service says as another policy would say it.
pub(crate) fn under_policy(policy: Policy, records: &mut [SimRecord]) {
    if policy == Policy::Fifo {
        return;
    }
    // A line of the scheduler is about the next `Handling RPC` or the last `Handled RPC` of its thread.
    let is_io = |record: &SimRecord| find(&record.text, b" ll_ost_io").is_some();
    let starts: Vec<usize> = (0..records.len())
        .filter(|&at| records[at].text.starts_with(b"NRS st"))
        .filter(|&at| {
            let forward = records[at].text.starts_with(b"NRS start");
            let same = |other: &&SimRecord| other.pid == records[at].pid && other.text.starts_with(b"Handl");
            let rpc = if forward { records[at..].iter().find(same) } else { records[..at].iter().rev().find(same) };
            rpc.is_some_and(is_io)
        })
        .collect();
    for at in starts {
        let text = String::from_utf8(records[at].text.clone()).unwrap();
        let (head, number) = text.trim_end().rsplit_once(", seq: ").unwrap();
        let number: u64 = number.parse().unwrap();
        let from = head.rsplit_once(' ').unwrap().1;
        let start = head.starts_with("NRS start");
        records[at].text = match (policy, start) {
            // Requests of a client that come together share a round.
            (Policy::Crrn, true) => {
                format!("NRS: starting to handle crrn request from {from}, with round {}\n", number / 2)
            }
            (Policy::Crrn, false) => {
                format!("NRS: finished handling crrn request from {from}, with round {}\n", number / 2)
            }
            (_, true) => format!(
                "TBF dequeues: class@00000000e78d9c90 rate 100 gen 0 token 2, rule@00000000e78d9c91 rate 100 {number}\n"
            ),
            (_, false) => format!("NRS stop tbf request from {from}, seq: {number}\n"),
        }
        .into_bytes();
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
