//! The tier with dlmtrace on a generated log with known answers.
//!
//! Each conflict is written as a server writes it (Lustre 2.17 wording): the holder's grant, the waiter's
//! enqueue, the callback, the cancel, the completion. The generator knows what was asked for and what was
//! granted; the analysis has to find out.

use std::fmt::Write;
use std::fs;

use lioprof_model::{Analysis, Locks};

use crate::{Config, analyze};

/// A small, fixed random sequence (xorshift): the corpus is the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// What the generator knows.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    overlap: u64,
    expansion: u64,
    write_write: u64,
    read_write: u64,
    wait_us: u64,
    flushed: u64,
}

struct Log {
    text: String,
    time_us: u64,
    cookie: u64,
    xid: u64,
}

/// A lock as it is printed.
#[derive(Clone, Copy)]
struct Lock {
    cookie: u64,
    client: u64,
    mode: &'static str,
    object: u64,
    requested: (u64, u64),
    granted: (u64, u64),
}

impl Log {
    fn new() -> Self {
        Self { text: String::new(), time_us: 1_700_000_000_000_000, cookie: 0x1000, xid: 1 << 40 }
    }

    fn line(&mut self, pid: u64, text: &str) {
        self.time_us += 7;
        let (s, us) = (self.time_us / 1_000_000, self.time_us % 1_000_000);
        writeln!(self.text, "00010000:00110000:0.0:{s}.{us:06}:0:{pid}:0:(ldlm.c:1:function()) {text}").unwrap();
    }

    fn ids(client: u64, xid: u64, opcode: u32) -> String {
        format!(
            "ll_ost00_001:b2df25ce-5f2c-45c8-8c82-00000000{client:04}+6:381:x{xid}:12345-10.0.0.{client}@tcp:{opcode}:dd.0"
        )
    }

    /// Everything `inside` happens while the server handles a request of this client.
    fn request(&mut self, pid: u64, client: u64, opcode: u32, inside: impl FnOnce(&mut Self)) {
        self.xid += 128;
        let ids = Self::ids(client, self.xid, opcode);
        let kind = "req@00000000cf20c915 pname:cluuid+ref:pid:xid:nid:opc:job";
        self.line(pid, &format!("Handling RPC {kind} {ids}"));
        let start = self.time_us;
        inside(self);
        let us = self.time_us + 7 - start;
        self.line(pid, &format!("Handled RPC {kind} {ids} Request processed in {us}us ({us}us total) trans 0 rc 0/0"));
    }

    fn lock(&mut self, pid: u64, event: &str, lock: &Lock, granted: bool, attached: bool) {
        let Lock { cookie, client, mode, object, requested, granted: extent } = *lock;
        let state = if granted { mode } else { "--" };
        let (extent, requested) = match (attached, granted) {
            (false, _) => ((0, 0), (0, 0)),
            (true, true) => (extent, requested),
            (true, false) => (requested, requested),
        };
        let nid = if attached { format!("10.0.0.{client}@tcp") } else { "local".to_owned() };
        self.line(
            pid,
            &format!(
                "### {event} ns: filter-lustre-OST0001_UUID lock: 00000000052d0627/{cookie:#x} lrc: 2/0,0 mode: \
                 {state}/{mode} res: [0x280000400:{object:#x}:0x0].0x0 rrc: 3 type: EXT [{}->{}] (req {}->{}) gid 0 flags: \
                 0x40000000000000 nid: {nid} remote: 0xa292a688931595e6 expref: 5 pid: {pid} timeout: 0 lvb_type: 0 \
                 lru_score: 0 lru_type: 0",
                extent.0, extent.1, requested.0, requested.1
            ),
        );
    }

    /// A conflict from the holder's grant to the waiter's.
    fn conflict(&mut self, holder: &Lock, waiter: &Lock, flush: Option<u64>) -> u64 {
        self.request(21, holder.client, 101, |log| {
            log.line(21, "### server-side enqueue handler START");
            log.lock(21, "server-side enqueue handler, new lock created", holder, false, false);
            log.lock(21, "About to add this lock", holder, true, true);
            log.lock(21, "server-side enqueue handler, sending reply (err=0, rc=0)", holder, true, true);
            log.line(21, "### server-side enqueue handler END (lock 00000000052d0627, rc 0)");
        });
        let mut blocked = 0;
        self.request(22, waiter.client, 101, |log| {
            log.line(22, "### server-side enqueue handler START");
            log.lock(22, "server-side enqueue handler, new lock created", waiter, false, false);
            log.lock(22, "lock incompatible; sending blocking AST.", holder, true, true);
            log.lock(22, "About to add this lock", waiter, false, true);
            blocked = log.time_us;
            log.lock(22, "server preparing blocking AST", holder, true, true);
            log.lock(22, "server-side enqueue handler, sending reply (err=0, rc=0)", waiter, false, true);
            log.line(22, "### server-side enqueue handler END (lock 00000000052d0627, rc 0)");
        });
        if let Some(bytes) = flush {
            self.flush(holder, bytes);
        }
        let mut waited = 0;
        self.request(23, holder.client, 103, |log| {
            log.line(23, "### server-side cancel handler START: 1 locks, starting at 0");
            log.lock(23, "server cancels blocked lock after 0s", holder, true, true);
            log.lock(23, "lock granted; sending completion AST.", waiter, true, true);
            waited = log.time_us - blocked;
            log.lock(23, "About to add this lock", waiter, true, true);
            log.lock(23, "final lock_put on destroyed lock, freeing it.", holder, false, true);
            log.line(23, "### server-side cancel handler END");
        });
        self.lock(24, "final lock_put on destroyed lock, freeing it.", waiter, false, true);
        waited
    }

    /// The holder writes back what it had cached.
    fn flush(&mut self, holder: &Lock, bytes: u64) {
        let (client, object, xid) = (holder.client, holder.object, self.xid + 128);
        let refresh = format!(
            "@@@ lustre-OST0001 ll_ost_io00_002: refresh rw locks for [0x280000400:{object:#x}:0x0] (0->{})  \
             req@00000000cf20c915 x{xid}/t0(0) o4->b2df25ce-5f2c-45c8-8c82-00000000{client:04}@10.0.0.{client}@tcp:298/0 \
             lens 488/0 e 0 to 0 dl 1700000011 ref 1 fl New:/600/ffffffff rc 0/-1 job:'dd.0' uid:0 gid:0 projid:0",
            bytes - 1
        );
        self.line(25, &refresh);
        self.request(25, client, 4, |_| {});
    }
}

fn corpus(conflicts: u64) -> (String, Answer) {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut log, mut answer) = (Log::new(), Answer::default());
    for object in 1..=conflicts {
        let extent = |random: &mut Random| {
            let start = random.below(64) * 4096;
            (start, start + (1 + random.below(32)) * 4096 - 1)
        };
        let (held, wanted) = (extent(&mut random), extent(&mut random));
        // The server expands a grant in both directions, so far that the other one is inside.
        let granted = (held.0.min(wanted.0), if random.below(2) == 0 { u64::MAX } else { held.1.max(wanted.1) });
        let holder_mode = if random.below(3) == 0 { "PR" } else { "PW" };
        let first = 1 + random.below(9);
        let holder = Lock { cookie: log.cookie, client: first, mode: holder_mode, object, requested: held, granted };
        let waiter = Lock {
            cookie: log.cookie + 1,
            client: 10 + random.below(9),
            mode: "PW",
            object,
            requested: wanted,
            granted: wanted,
        };
        log.cookie += 2;
        let flush = (random.below(4) == 0).then(|| (1 + random.below(16)) * 4096);
        answer.wait_us += log.conflict(&holder, &waiter, flush);
        answer.flushed += flush.unwrap_or(0);
        if held.0 <= wanted.1 && wanted.0 <= held.1 {
            answer.overlap += 1;
        } else {
            answer.expansion += 1;
        }
        if holder_mode == "PW" { answer.write_write += 1 } else { answer.read_write += 1 }
    }
    (log.text, answer)
}

fn analysis(text: &str) -> Analysis {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("oss1.txt");
    fs::write(&path, text).unwrap();
    analyze(&[path], &Config::default(), None).unwrap().analysis
}

fn locks(text: &str) -> Locks {
    analysis(text).locks.unwrap()
}

#[test]
fn ten_thousand_conflicts_are_told_apart() {
    const CONFLICTS: u64 = 10_000;
    let (text, want) = corpus(CONFLICTS);
    let locks = locks(&text);
    let totals = &locks.totals;
    assert!(want.overlap > 1000 && want.expansion > 1000, "the corpus has both kinds: {want:?}");
    assert_eq!(totals.conflicts, CONFLICTS);
    assert_eq!((totals.true_conflicts, totals.expansion_conflicts), (Some(want.overlap), Some(want.expansion)));
    assert_eq!(totals.unclassified_conflicts, Some(0));
    assert_eq!((totals.write_write, totals.read_write), (Some(want.write_write), Some(want.read_write)));
    assert_eq!((totals.enqueues, totals.granted_at_once), (Some(2 * CONFLICTS), Some(CONFLICTS)));
    assert_eq!((totals.blocked, totals.handovers, totals.open_waits), (CONFLICTS, CONFLICTS, 0));
    assert_eq!(format!("{:.0}", totals.wait_s * 1e6), want.wait_us.to_string());
    let target = &locks.targets[0];
    assert_eq!(target.flushed_bytes, Some(want.flushed));
    assert_eq!((target.wait_us.count, target.release_us.count), (CONFLICTS, CONFLICTS));
    // Waits of this corpus never overlap in time.
    assert!((target.contended_s - totals.wait_s).abs() < 1e-6);
    let pairs: u64 = locks.pairs.iter().map(|pair| pair.conflicts).sum();
    assert_eq!(pairs, CONFLICTS);
}

#[test]
fn a_conflict_with_an_own_lock_or_a_servers_is_no_contention() {
    let lock =
        |cookie, client| Lock { cookie, client, mode: "PW", object: 7, requested: (0, 4095), granted: (0, u64::MAX) };
    let mut log = Log::new();
    log.conflict(&lock(1, 3), &lock(2, 3), None);
    // Unlink: the MDT's destroy meets the lock of a client.
    let holder = lock(3, 3);
    log.lock(21, "About to add this lock", &holder, true, true);
    let server = "ll_ost00_001:lustre-MDT0000-mdtlov_UUID+6:381:x999:12345-0@lo:6:";
    log.line(26, &format!("Handling RPC req@00000000cf20c915 pname:cluuid+ref:pid:xid:nid:opc:job {server}"));
    log.lock(26, "lock incompatible; sending blocking AST.", &holder, true, true);
    log.line(
        26,
        &format!(
            "Handled RPC req@00000000cf20c915 pname:cluuid+ref:pid:xid:nid:opc:job {server} Request processed in 9us (9us \
             total) trans 0 rc 0/0"
        ),
    );
    let locks = locks(&log.text);
    assert_eq!((locks.totals.kinds.client, locks.totals.kinds.own, locks.totals.kinds.server), (0, 1, 1));
    assert_eq!((locks.totals.conflicts, locks.totals.blocked, locks.totals.open_waits), (0, 0, 0));
    assert!(locks.pairs.is_empty() && locks.objects.is_empty());
}

/// An MDT takes the lock itself to handle a request, here a setattr: no line says that it was created.
#[test]
fn a_lock_of_the_server_itself_waits_for_the_job_whose_request_needs_it() {
    let lock =
        |cookie, client| Lock { cookie, client, mode: "PR", object: 7, requested: (0, 4095), granted: (0, u64::MAX) };
    let (holder, own) = (lock(1, 3), Lock { mode: "CW", ..lock(2, 4) });
    let mut log = Log::new();
    log.request(21, holder.client, 101, |log| log.lock(21, "About to add this lock", &holder, true, true));
    log.request(22, own.client, 36, |log| {
        log.lock(22, "lock incompatible; sending blocking AST.", &holder, true, true);
        log.lock(22, "About to add this lock", &own, false, false);
        log.lock(22, "server preparing blocking AST", &holder, true, true);
        log.request(23, holder.client, 103, |log| {
            log.lock(23, "lock granted; sending completion AST.", &own, true, false)
        });
    });
    let jobs: Vec<_> = locks(&log.text).jobs.into_iter().map(|job| (job.job, job.blocked, job.wait_s > 0.0)).collect();
    assert_eq!(jobs, [(Some("dd.0".to_owned()), 1, true)]);
}

/// The callback's reply is lost: the server gives the lock up in another way, and frees it only after the callback has timed out.
#[test]
fn a_lock_is_over_when_another_is_granted_in_its_place() {
    let lock =
        |cookie, client| Lock { cookie, client, mode: "PW", object: 7, requested: (0, 4095), granted: (0, u64::MAX) };
    let mut log = Log::new();
    log.conflict(&lock(1, 3), &lock(2, 4), None);
    let text = log.text;
    let release = |text: &str| locks(text).targets[0].release_us;
    let usual = release(&text);
    let late: String = text
        .lines()
        .filter(|line| !line.contains("server cancels blocked lock"))
        .map(|line| format!("{line}\n"))
        .collect();
    let (usual, late) = (usual.max.unwrap(), release(&late).max.unwrap());
    // One line later, and not when it is freed.
    assert_eq!(late, usual + 7);
}

#[test]
fn a_lock_whose_birth_is_missing_still_has_an_owner_and_extents() {
    let (text, _) = corpus(1);
    // The log begins after the holder got its lock.
    let start = text.match_indices("server-side enqueue handler START").nth(1).unwrap().0;
    let start = text[..start].rfind("Handling RPC").unwrap();
    let start = text[..start].rfind('\n').unwrap() + 1;
    let locks = locks(&text[start..]);
    assert_eq!(locks.totals.conflicts, 1);
    assert_eq!(locks.totals.unclassified_conflicts, Some(0));
    assert_eq!((locks.totals.enqueues, locks.totals.granted_at_once), (Some(1), Some(0)));
    assert_eq!(locks.totals.unborn_locks, Some(1));
    assert_eq!(locks.objects[0].clients.len(), 2);
}

#[test]
fn losing_lines_loses_figures_and_invents_none() {
    let (text, want) = corpus(300);
    let lines: Vec<&str> = text.lines().collect();
    for seed in 1..=20u64 {
        let mut random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1));
        let share = 2 + random.below(30);
        let kept: String = lines.iter().filter(|_| random.below(share) != 0).map(|line| format!("{line}\n")).collect();
        let totals = locks(&kept).totals;
        assert!(totals.conflicts <= 300, "seed {seed}");
        assert!(totals.true_conflicts.unwrap() <= want.overlap, "seed {seed}");
        assert!(totals.expansion_conflicts.unwrap() <= want.expansion, "seed {seed}");
        assert!(totals.handovers <= 300 && totals.blocked <= 300, "seed {seed}");
    }
}
