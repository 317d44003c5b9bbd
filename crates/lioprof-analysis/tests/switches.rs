//! A service whose scheduling policy is changed while requests wait: complete logs have lost nothing, whatever the order of the changes.
//!
//! The queues number as Lustre's do (`ptlrpc/nrs.c`, `nrs_fifo.c`, `nrs_crr.c`, `nrs_orr.c`, `nrs_tbf.c`, `nrs_delay.c`), and the lines
//! have the forms of their format strings.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lioprof_analysis::{Analysis, Config, analyze};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Policy {
    Fifo,
    Crrn,
    Orr,
    Trr,
    Tbf,
    Delay,
}

use Policy::{Crrn, Delay, Fifo, Orr, Tbf, Trr};

const POLICIES: [Policy; 6] = [Fifo, Crrn, Orr, Trr, Tbf, Delay];

/// Numbers that are the same everywhere (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

#[derive(Clone, Debug)]
struct Request {
    xid: u64,
    client: u64,
    object: u64,
    ost: u64,
    policy: Policy,
    /// Number or round.
    number: u64,
    /// When it may go, for `delay`.
    ready_ms: u64,
}

/// A client, object or OST in the rounds of `crrn`, `orr` or `trr`.
#[derive(Clone, Debug, Default)]
struct Member {
    round: u64,
    quantum: u64,
    active: u64,
}

/// What a policy keeps from its start to its stop.
#[derive(Clone, Debug, Default)]
struct Head {
    next: u64,
    round: u64,
    members: BTreeMap<u64, Member>,
}

/// The regular or the high-priority queue of a service part.
#[derive(Default)]
struct Queue {
    waiting: Vec<Request>,
    /// `fifo` is never stopped.
    fifo_next: u64,
    heads: BTreeMap<Policy, Head>,
}

const QUANTUM: u64 = 4;

impl Queue {
    fn add(&mut self, primary: Policy, request: Request, now_ms: u64, random: &mut Random) {
        let policy = if primary == Delay && random.below(2) == 0 { Fifo } else { primary };
        let mut it = Request { policy, ..request };
        let head = self.heads.entry(policy).or_default();
        it.number = match policy {
            Fifo => {
                self.fifo_next += 1;
                self.fifo_next - 1
            }
            Tbf => {
                head.next += 1;
                head.next - 1
            }
            Delay => {
                it.ready_ms = now_ms + 20 + random.below(300);
                0
            }
            Crrn | Orr | Trr => {
                let now = head.round;
                let member = head.members.entry(key(&it)).or_default();
                if member.quantum == 0 || member.round < now || member.active == 0 {
                    member.round += u64::from(member.active == 0 && member.quantum > 0);
                    member.round = member.round.max(now);
                    member.quantum = QUANTUM;
                }
                let round = member.round;
                member.active += 1;
                member.quantum -= 1;
                member.round += u64::from(member.quantum == 0);
                round
            }
        };
        self.waiting.push(it);
    }

    /// The next request: of a policy that is being stopped as well.
    fn take(&mut self, now_ms: u64, random: &mut Random) -> Option<Request> {
        let at = match self.waiting.first()?.policy {
            // The order of classes depends on their tokens.
            Tbf => {
                let class = random.below(3);
                self.waiting.iter().position(|it| it.policy == Tbf && it.client == class).unwrap_or(0)
            }
            rounds @ (Crrn | Orr | Trr) => {
                let least = self.waiting.iter().enumerate().filter(|(_, it)| it.policy == rounds);
                least.min_by_key(|(_, it)| it.number).map_or(0, |(at, _)| at)
            }
            Fifo | Delay => self.waiting.iter().position(|it| it.ready_ms <= now_ms)?,
        };
        Some(self.remove(at))
    }

    fn remove(&mut self, at: usize) -> Request {
        let it = self.waiting.remove(at);
        if matches!(it.policy, Crrn | Orr | Trr) {
            let head = self.heads.get_mut(&it.policy).unwrap();
            head.members.get_mut(&key(&it)).unwrap().active -= 1;
            let next = self.waiting.iter().filter(|other| other.policy == it.policy).map(|other| other.number).min();
            head.round = next.map_or(head.round + 1, |next| head.round.max(next));
        }
        it
    }
}

fn key(it: &Request) -> u64 {
    match it.policy {
        Orr => it.object,
        Trr => it.ost,
        _ => it.client,
    }
}

/// A run: which policies in which order, whether they are set for the queue of high priority too, and what is not logged.
#[derive(Clone, Copy, Debug)]
struct Run<'a> {
    order: &'a [Policy],
    both_queues: bool,
    seed: u64,
    /// The log begins in the middle of the run.
    from_ms: u64,
    /// Times whose lines are lost.
    lost_ms: &'a [std::ops::Range<u64>],
}

const PHASE_MS: u64 = 1500;
const THREADS: usize = 4;

/// The log, the requests that were handled from its start on, and those of which the end is lost.
fn log(run: &Run<'_>) -> (String, u64, u64) {
    let mut random = Random(run.seed);
    let (mut regular, mut urgent) = (Queue::default(), Queue::default());
    // A service that has run for a while.
    (regular.fifo_next, urgent.fifo_next) = (random.below(5000), random.below(300));
    let mut threads: Vec<Option<(Request, u64)>> = vec![None; THREADS];
    let (mut out, mut handled, mut lost, mut xid) = (String::new(), 0, 0, 0x1_0000);
    let mut primary = Fifo;
    // The first record of a CPU buffer has the flag F.
    let mut flagged = [false; 2];
    let end_ms = PHASE_MS * run.order.len() as u64;
    for now_ms in 0..end_ms + 3000 {
        let logged = now_ms >= run.from_ms && !run.lost_ms.iter().any(|it| it.contains(&now_ms));
        let wanted = run.order[((now_ms / PHASE_MS) as usize).min(run.order.len() - 1)];
        // A policy that still has requests cannot be started again.
        if wanted != primary
            && ![&regular, &urgent].iter().any(|it| it.waiting.iter().any(|it| it.policy == wanted))
            && !threads.iter().flatten().any(|(it, _)| it.policy == wanted)
        {
            primary = wanted;
            for queue in [&mut regular, &mut urgent] {
                queue.heads.insert(wanted, Head::default());
            }
        }
        // More than the threads can do, now and then.
        let arrivals = if now_ms >= end_ms { 0 } else { random.below(if now_ms % 500 < 200 { 4 } else { 2 }) };
        for _ in 0..arrivals {
            xid += 64;
            let (client, object) = (random.below(3), random.below(5));
            let it = Request { xid, client, object, ost: object % 2, policy: Fifo, number: 0, ready_ms: 0 };
            if random.below(20) == 0 {
                urgent.add(if run.both_queues { primary } else { Fifo }, it, now_ms, &mut random);
            } else {
                regular.add(primary, it, now_ms, &mut random);
            }
        }
        // A lock that is called back moves a request that waits for it.
        if random.below(60) == 0 && !regular.waiting.is_empty() {
            let at = usize::try_from(random.below(regular.waiting.len() as u64)).unwrap();
            let it = Request { ready_ms: 0, ..regular.remove(at) };
            urgent.add(if run.both_queues { primary } else { Fifo }, it, now_ms, &mut random);
        }
        for (thread, slot) in threads.iter_mut().enumerate() {
            let mut say = |place: &str, text: &str| {
                if logged {
                    let flag = if std::mem::replace(&mut flagged[thread % 2], true) { "" } else { "F" };
                    writeln!(
                        out,
                        "00000100:00100000:{}.0{flag}:{}.{:06}:0:{}:0:({place}) {text}",
                        thread % 2,
                        1_795_251_346 + now_ms / 1000,
                        now_ms % 1000 * 1000 + 10 * thread as u64,
                        4000 + thread
                    )
                    .unwrap();
                }
            };
            if let Some((it, ends_ms)) = slot.take() {
                if ends_ms > now_ms {
                    *slot = Some((it, ends_ms));
                    continue;
                }
                let done =
                    format!("Handled {} Request processed in 3000us (4000us total) trans 0 rc 0/0", rpc(&it, thread));
                say("service.c:2592:ptlrpc_server_handle_request()", &done);
                stop(&it, &mut say);
                if now_ms >= run.from_ms {
                    handled += 1;
                    lost += u64::from(!logged);
                }
            }
            if let Some(it) = urgent.take(now_ms, &mut random).or_else(|| regular.take(now_ms, &mut random)) {
                start(&it, &mut say);
                say("service.c:2543:ptlrpc_server_handle_request()", &format!("Handling {}", rpc(&it, thread)));
                *slot = Some((it, now_ms + 2 + random.below(5)));
            }
        }
    }
    (out, handled, lost)
}

fn nid(it: &Request) -> String {
    format!("12345-10.10.0.{}@tcp", 11 + it.client)
}

fn rpc(it: &Request, thread: usize) -> String {
    let uuid = "d2c1e5a0-1d5b-4a5e-8d3c-0123456789ab";
    format!(
        "RPC req@00000000{:08x} pname:cluuid+ref:pid:xid:nid:opc:job ll_ost_io00_{thread:03}:{uuid}+5:319:x{}:{}:4:dd.0",
        it.xid,
        it.xid,
        nid(it)
    )
}

fn fid(it: &Request) -> String {
    format!("[0x240000400:{:#x}:0x0]", 2 + it.object)
}

fn start(it: &Request, say: &mut impl FnMut(&str, &str)) {
    let (nid, number, ost) = (nid(it), it.number, it.ost);
    match it.policy {
        Fifo => say("nrs_fifo.c:150:nrs_fifo_req_get()", &format!("NRS start fifo request from {nid}, seq: {number}")),
        Crrn => say(
            "nrs_crr.c:366:nrs_crrn_req_get()",
            &format!("NRS: starting to handle crrn request from {nid}, with round {number}"),
        ),
        Orr => say(
            "nrs_orr.c:1001:nrs_orr_req_get()",
            &format!(
                "NRS: starting to handle orr request for object with FID {}, from OST with index 1073742848, with round {number}",
                fid(it)
            ),
        ),
        Trr => say(
            "nrs_orr.c:1009:nrs_orr_req_get()",
            &format!("NRS: starting to handle trr request from OST with index {ost}, with round {number}"),
        ),
        Tbf => {
            let key = format!("nid={{{}}}", nid.trim_start_matches("12345-"));
            for what in ["TBF dequeues", "TBF rule update, rule flags 0x0, head sequence 1", "Busy TBF class"] {
                let text = format!(
                    "ost_io.0 NRS: {what}: class@000000001e255a30 key {key} rule@0x00000000e78d9c90 gen 1 rate 100 depth 3 token 2 \
                     deadline 5 time 6 state 0x1 ref 1"
                );
                say("nrs_tbf.c:197:__nrs_tbf_cli_debug()", &text);
            }
        }
        // It says nothing when it hands over a request.
        Delay => {}
    }
}

fn stop(it: &Request, say: &mut impl FnMut(&str, &str)) {
    let (nid, number, ost) = (nid(it), it.number, it.ost);
    match it.policy {
        Fifo => say("nrs_fifo.c:209:nrs_fifo_req_stop()", &format!("NRS stop fifo request from {nid}, seq: {number}")),
        Crrn => say(
            "nrs_crr.c:535:nrs_crrn_req_stop()",
            &format!("NRS: finished handling crrn request from {nid}, with round {number}"),
        ),
        Orr => say(
            "nrs_orr.c:1183:nrs_orr_req_stop()",
            &format!(
                "NRS: finished handling ORR request for object with FID {}, from OST with index 1073742848, with round {number}",
                fid(it)
            ),
        ),
        Trr => say(
            "nrs_orr.c:1199:nrs_trr_req_stop()",
            &format!("NRS: finished handling TRR request from OST with index {ost}, with round {number}"),
        ),
        Tbf => say("nrs_tbf.c:2425:nrs_tbf_req_stop()", &format!("NRS stop tbf request from {nid}, seq: {number}")),
        Delay => say(
            "nrs_delay.c:275:nrs_delay_req_stop()",
            &format!(
                "@@@ NRS: finished delayed request from {nid} after 1s  req@00000000{:08x} x{}/t0(0) \
                 o4->d2c1e5a0-1d5b-4a5e-8d3c-0123456789ab@{}:0/0 lens 488/416 e 0 to 0 dl 1795251446 ref 1 fl \
                 Interpret:/0/0 rc 0/0 job:'dd.0' uid:0 gid:0 projid:0",
                it.xid,
                it.xid,
                nid.trim_start_matches("12345-")
            ),
        ),
    }
}

fn analyzed(text: &str) -> Analysis {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("rpc.txt"), text).unwrap();
    analyze(&[dir.path().to_owned()], &Config::default(), None).unwrap().analysis
}

/// A pair of policies after each other in every order, and both back again.
fn orders() -> Vec<Vec<Policy>> {
    let mut orders = vec![POLICIES.to_vec(), POLICIES.into_iter().rev().collect()];
    for first in POLICIES {
        for second in POLICIES.into_iter().filter(|it| *it != first) {
            orders.push(vec![first, second, first, second]);
        }
    }
    orders
}

#[test]
fn a_complete_log_has_lost_nothing_whatever_the_policies() {
    for (at, order) in orders().iter().enumerate() {
        for both_queues in [true, false] {
            // The log begins before the service does, within the first policy, or after a change.
            let from_ms = [0, 700, 2000][at % 3];
            let run = Run { order, both_queues, seed: at as u64, from_ms, lost_ms: &[] };
            let (text, handled, lost) = log(&run);
            let analysis = analyzed(&text);
            let loss = &analysis.loss;
            assert!(handled > 1000 && lost == 0, "{run:?}: {handled}");
            assert!(analysis.inputs.iter().all(|it| it.malformed.is_empty()), "{run:?}: {:?}", analysis.inputs);
            assert_eq!(analysis.totals.rpcs, handled, "{run:?}");
            assert_eq!(
                (loss.lost_fraction_min, loss.estimated_lost_fraction, loss.lost_fraction_max),
                (Some(0.0), Some(0.0), Some(0.0)),
                "{run:?}: {loss:?}"
            );
        }
    }
}

#[test]
fn what_is_really_lost_is_in_the_range() {
    for (at, order) in orders().iter().enumerate() {
        for both_queues in [true, false] {
            // Within a policy, and over a change.
            for lost_ms in [700..1100, 1300..1900] {
                let run = Run { order, both_queues, seed: 100 + at as u64, from_ms: 0, lost_ms: &[lost_ms] };
                let (text, handled, lost) = log(&run);
                let loss = analyzed(&text).loss;
                let truth = lost as f64 / handled as f64;
                assert!(truth > 0.02, "{run:?}: {truth}");
                let (min, max) = (loss.lost_fraction_min.unwrap_or(0.0), loss.lost_fraction_max.unwrap_or(1.0));
                assert!(min <= truth && truth <= max, "{run:?}: {truth} in {min} to {max}: {loss:?}");
                assert!(loss.estimated_lost_fraction.is_none_or(|it| it > 0.0), "{run:?}: {loss:?}");
            }
        }
    }
}
