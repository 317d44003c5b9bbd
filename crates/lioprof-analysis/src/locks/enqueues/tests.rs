//! Lock requests with known times, line by line.

use lioprof_model::{EnqueueParts, LockEvent, LockHappening, LockState, LockStep, RpcRow, RpcWindow, Symbols};
use lustre_debuglog::{LockMode, Opcode, ResourceId, Xid};

use super::request::WaitFor::{self, Client, Other};
use super::tracker::EnqueueTracker;

/// The thread that handles the request, and another one.
const OWN: u32 = 7;
const OTHER: u32 = 8;
/// Lock that a request asks for, and one that the server takes for it.
const ASKED: u64 = 0x10;
const LOCAL: u64 = 0x20;

/// A step of a lock: time, thread, step, lock, whether it is granted.
type Line = (i64, u32, LockStep, u64, bool);

/// The request is handled from 1,000 to 2,000 µs after 300 µs in the queue.
fn parts_of(lines: &[Line], wait_for: WaitFor) -> EnqueueParts {
    let mut symbols = Symbols::default();
    let [node, nid, uuid] = ["oss1", "10.0.0.1@tcp", "uuid"].map(|text| symbols.intern(text.as_bytes()));
    let window = RpcWindow { nid, client_uuid: uuid, xid: Xid(5), opcode: Opcode::LDLM_ENQUEUE, job: None };
    let mut tracker = EnqueueTracker::new(&[]);
    let mut row = Some(RpcRow {
        nid,
        client_uuid: uuid,
        xid: Xid(5),
        service_us: Some(1_000),
        total_us: Some(1_300),
        ..RpcRow::made_up(node, Opcode::LDLM_ENQUEUE, 2_000)
    });
    for &(time_us, pid, step, cookie, granted) in lines {
        if time_us > 2_000
            && let Some(row) = row.take()
        {
            tracker.row(&row, true);
        }
        let state = LockState {
            cookie,
            target: "lustre-OST0001".parse().unwrap(),
            resource: ResourceId([1, 0, 0, 0]),
            lock_type: None,
            granted_mode: if granted { LockMode::Pw } else { LockMode::None },
            requested_mode: LockMode::Pw,
            granted: None,
            requested: None,
            nid: (cookie == ASKED).then_some(nid),
        };
        let window = (pid == OWN && time_us <= 2_000).then_some(window);
        let event = LockEvent { node, time_us, pid, window, happening: LockHappening::Lock(step, state) };
        let in_the_way = match step {
            LockStep::Incompatible => Some(wait_for),
            LockStep::BlockingAst => Some(Other),
            _ => None,
        };
        tracker.lock(&event, step, &state, in_the_way);
    }
    if let Some(row) = row {
        tracker.row(&row, true);
    }
    tracker.finish();
    super::finish(&tracker.sums, &symbols)
}

/// Queue, service, waits for other clients' and for other locks; `None`: unknown. The total is their sum.
fn split(lines: &[Line], wait_for: WaitFor) -> Option<[u64; 4]> {
    let parts = parts_of(lines, wait_for);
    let all = &parts.all;
    assert_eq!((all.enqueues, parts.targets.len(), parts.clients.len()), (1, 1, 1));
    assert_eq!((&parts.targets[0].parts, &parts.clients[0].parts), (all, all));
    let sums = all.in_order().map(|(_, part)| part.sum_us);
    assert_eq!(sums.into_iter().sum::<Option<u64>>(), all.total.sum_us);
    (all.unknown == 0).then(|| sums.map(Option::unwrap))
}

const AT_ONCE: [Line; 3] = [
    (1_100, OWN, LockStep::Created, ASKED, false),
    (1_200, OWN, LockStep::Queued, ASKED, true),
    (1_300, OWN, LockStep::Reply, ASKED, true),
];

/// As on an OST: the reply says that the lock has to be waited for.
const AFTER_THE_REPLY: [Line; 5] = [
    (1_100, OWN, LockStep::Created, ASKED, false),
    (1_200, OWN, LockStep::Incompatible, 0x99, true),
    (1_210, OWN, LockStep::Queued, ASKED, false),
    (1_900, OWN, LockStep::Reply, ASKED, false),
    (5_000, OTHER, LockStep::Granted, ASKED, true),
];

/// As on an MDT: the thread waits for a lock of its own, which becomes the client's.
const WITHIN: [Line; 7] = [
    (1_100, OWN, LockStep::Created, ASKED, false),
    (1_190, OWN, LockStep::Incompatible, 0x99, true),
    (1_200, OWN, LockStep::Queued, LOCAL, false),
    (1_700, OTHER, LockStep::Granted, LOCAL, true),
    (1_710, OWN, LockStep::LocalCreated, LOCAL, true),
    (1_800, OWN, LockStep::Freed, ASKED, false),
    (1_900, OWN, LockStep::Reply, LOCAL, true),
];

#[test]
fn a_lock_that_is_granted_at_once() {
    assert_eq!(split(&AT_ONCE, Client), Some([300, 1_000, 0, 0]));
}

#[test]
fn a_wait_goes_on_after_the_reply() {
    // Handled without a wait from 1,000 to 1,210.
    assert_eq!(split(&AFTER_THE_REPLY, Client), Some([300, 210, 3_790, 0]));
    assert_eq!(split(&AFTER_THE_REPLY, Other), Some([300, 210, 0, 3_790]));
    let all = parts_of(&AFTER_THE_REPLY, Client).all;
    assert_eq!((all.waited, all.total.sum_us), (1, Some(4_300)));
}

#[test]
fn a_wait_within_the_handling_is_not_service() {
    assert_eq!(split(&WITHIN, Client), Some([300, 500, 500, 0]));
}

#[test]
fn a_glimpse_gets_no_lock() {
    let lines = [AT_ONCE[0], (1_300, OWN, LockStep::Reply, ASKED, false), (1_310, OWN, LockStep::Freed, ASKED, false)];
    assert_eq!(split(&lines, Client), Some([300, 1_000, 0, 0]));
}

#[test]
fn no_subset_of_the_lines_gives_other_parts() {
    for lines in [&AT_ONCE[..], &AFTER_THE_REPLY, &WITHIN] {
        let whole = split(lines, Client);
        assert!(whole.is_some());
        for missing in 1u32..1 << lines.len() {
            let kept: Vec<Line> =
                lines.iter().enumerate().filter(|(at, _)| missing >> at & 1 == 0).map(|it| *it.1).collect();
            let found = split(&kept, Client);
            assert!(found.is_none() || found == whole, "{kept:?}: {found:?}");
        }
    }
}

#[test]
fn of_several_locks_in_the_way_the_other_clients_counts() {
    let mut lines = AFTER_THE_REPLY.to_vec();
    lines.insert(2, (1_205, OWN, LockStep::BlockingAst, 0x98, true));
    assert_eq!(split(&lines, Client), Some([300, 210, 3_790, 0]));
}

#[test]
fn a_lock_that_is_given_up_or_never_granted_is_unknown() {
    assert_eq!(split(&AFTER_THE_REPLY[..4], Client), None);
    let mut lines = AFTER_THE_REPLY;
    lines[4] = (5_000, OTHER, LockStep::Freed, ASKED, false);
    assert_eq!(split(&lines, Client), None);
}

#[test]
fn without_lock_lines_nothing_is_known_but_the_number() {
    let parts = parts_of(&[], Client);
    assert_eq!((parts.all.enqueues, parts.all.unknown, parts.all.total.us.count), (1, 1, 0));
    assert_eq!((&parts.targets[0].target, parts.targets[0].node.as_str()), (&None, "oss1"));
}
