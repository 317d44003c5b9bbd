//! Sentences of each version, made from the format strings of its source, and from real logs where their version is named so.

use super::{ConsoleEvent, Voice};

const ERROR: Voice = Voice { is_error: true, is_lnet: false };
const REMARK: Voice = Voice { is_error: false, is_lnet: false };

/// Kind, target, client and reason as shown; `-` for what the sentence does not name.
fn told(text: &str, voice: Voice) -> String {
    ConsoleEvent::parse(text.as_bytes(), voice).map_or("nothing".to_owned(), |event| {
        let name = |name: Option<&[u8]>| name.map_or("-".to_owned(), |name| String::from_utf8_lossy(name).into_owned());
        format!("{} {} {} {}", event.kind, name(event.target), name(event.client), event.reason)
    })
}

fn check(cases: &[(&str, &str)], voice: Voice) {
    for (text, expected) in cases {
        assert_eq!(told(text, voice), *expected, "{text}");
        let lines = format!("{text}\n");
        assert_eq!(told(&lines, voice), *expected, "{text}");
    }
}

#[test]
fn evictions_of_all_versions() {
    let timer = "eviction lustre-OST0003 10.0.0.1@tcp did not give a lock back in time: lock callback timer expired after 151 s";
    check(
        &[
            (
                "### lock callback timer expired after 151s: evicting client at 10.0.0.1@tcp  ns: filter-lustre-OST0003_UUID lock: ffff8801cd5be240/0xe9 lrc: 3/0,0 mode: PW/PW res: 7482/0 rrc: 3",
                timer,
            ),
            (
                "### lock callback timer expired after 7s: evicting client at 10.0.0.1@o2ib12  ns: mds-lustre-MDT0000_UUID lock: f",
                "eviction lustre-MDT0000 10.0.0.1@o2ib12 did not give a lock back in time: lock callback timer expired after 7 s",
            ), // 1.8
            // Cut by the kernel's longest line.
            (
                "### lock callback timer expired after 9s: evicting client at fe80::1@tcp  ns: mdt-a-b-MDT0001",
                "eviction a-b-MDT0001 fe80::1@tcp did not give a lock back in time: lock callback timer expired after 9 s",
            ),
            (
                "### client (nid 10.0.0.1@tcp) failed to reply to blocking AST (req status 0 rc -110), evict it ns: filter-lustre-OST0003_UUID lock: 0",
                "eviction lustre-OST0003 10.0.0.1@tcp did not answer a blocking callback for a lock (rc -110)",
            ), // 2.7
            (
                "### client (nid 10.0.0.1@tcp) returned error from glimpse AST (req@00000000f x18 status -5 rc -5), evict it ns: filter-lustre-OST0003_UUID lock: 0",
                "eviction lustre-OST0003 10.0.0.1@tcp answered a glimpse callback for a lock with an error (rc -5)",
            ), // 2.10 to 2.17
            (
                "138-a: lustre-OST0003: A client on nid 10.0.0.1@tcp was evicted due to a lock blocking callback to 10.0.0.1@tcp timed out: rc -107",
                "eviction lustre-OST0003 10.0.0.1@tcp a blocking callback for a lock timed out (rc -107)",
            ), // 1.8
            (
                "138-a: lustre-OST0003: A client on nid 10.0.0.1@tcp was evicted due to a lock completion callback time out: rc -110",
                "eviction lustre-OST0003 10.0.0.1@tcp a completion callback for a lock timed out (rc -110)",
            ), // 2.5 to 2.15
            (
                "lustre-OST0003: A client on nid 10.0.0.1@tcp was evicted due to a lock blocking callback time out: rc -110",
                "eviction lustre-OST0003 10.0.0.1@tcp a blocking callback for a lock timed out (rc -110)",
            ), // 2.16, 2.17
            (
                "lustre-OST0003: haven't heard from client f795f7df-71b6 (at 10.0.0.1@tcp) in 227 seconds. I think it's dead, and I am evicting it.",
                "eviction lustre-OST0003 10.0.0.1@tcp not heard from for 227 s (pinger)",
            ), // 1.8
            (
                "MGS: haven't heard from client f795f7df-71b6 (at 10.0.0.1@tcp) in 50 seconds. I think it's dead, and I am evicting it. exp 00000000f, cur 1 deadline 2 last 3",
                "eviction MGS 10.0.0.1@tcp not heard from for 50 s (pinger)",
            ), // 2.17
            (
                "lustre-MDT0000: evicting f795f7df-71b6 at adminstrative request",
                "eviction lustre-MDT0000 - by administrative request",
            ), // 1.8 to 2.17, so spelt
            (
                "lustre-MDT0000: evicting f795f7df-71b6 (at 10.0.0.1@tcp) by administrative request",
                "eviction lustre-MDT0000 10.0.0.1@tcp by administrative request",
            ),
            (
                "Parent [0x200000401:0x5:0x0] lookup error -2. Evicting client f795 with export 10.0.0.1@tcp.",
                "eviction - 10.0.0.1@tcp Parent [0x200000401:0x5:0x0] lookup error -2.",
            ), // 2.5 to 2.14
            (
                "cannot lookup child [0x200000401:0x5:0x0]: rc = -2; evicting client f795 with export 10.0.0.1@tcp",
                "eviction - 10.0.0.1@tcp cannot lookup child [0x200000401:0x5:0x0]: rc = -2",
            ),
            (
                "@@@ bulk failed: timeout 0(4096), evicting f795@10.0.0.1@tcp\n  req@ffff x1/t0 o37->",
                "eviction - 10.0.0.1@tcp bulk failed: timeout 0(4096), evicting f795@10.0.0.1@tcp",
            ), // 1.8
        ],
        ERROR,
    );
}

#[test]
fn a_client_that_was_evicted_says_so() {
    let reason = "This client was evicted by lustre-OST0003; in progress operations using this service will fail.";
    for text in [
        "167-0: This client was evicted by lustre-OST0003; in progress operations using this service will fail.", // 1.8
        "167-0: lustre-OST0003-osc-ffff880008d4e000: This client was evicted by lustre-OST0003; in progress operations using this service will fail.",
        "lustre-OST0003-osc-ffff880008d4e000: This client was evicted by lustre-OST0003; in progress operations using this service will fail.", // 2.16
    ] {
        assert_eq!(told(text, ERROR), format!("evicted lustre-OST0003 - {reason}"), "{text}");
    }
    let text = "Evicted from MGS (at 10.0.0.1@tcp) after server handle changed from 0x1 to 0x2";
    assert_eq!(told(text, REMARK), format!("evicted MGS - {text}"));
}

#[test]
fn requests_and_bulk_transfers() {
    let request = "req@000000002591851d x1883000818125184/t0(0) o104->lustre-OST0002@10.10.0.11@tcp:15/16 lens 328/224 e 0 to 1 dl 1795770463 ref 1 fl Rpc:XQr/0/ffffffff rc 0/-1 job:''";
    let of_client = "req@ffff880f8e5b6850 x1880000000000000/t0(0) o4->26959b68@10.9.8.11@o2ib:0/0 lens 488/448 e 4 to 0 dl 1795600000 ref 1 fl Interpret:/0/0 rc 0/0";
    let to_server = "req@ffff880f8e5b6850 x1880000000000000/t0(0) o3->lustre-OST0001-osc-ffff8800a@10.9.8.2@o2ib:6/4 lens 488/448 e 0 to 1 dl 1795600000 ref 2 fl Rpc:X/0/ffffffff rc 0/-1";
    for (words, of, expected) in [
        (
            "Request sent has timed out for slow reply: [sent 1795770452/real 1795770452]",
            request,
            "request_timeout lustre-OST0002 10.10.0.11@tcp LDLM_BL_CALLBACK: Request sent has timed out for slow reply",
        ),
        (
            "Request sent has failed due to network error: [sent 1/real 1]",
            to_server,
            "request_timeout lustre-OST0001 - OST_READ to 10.9.8.2@o2ib: Request sent has failed due to network error",
        ),
        (
            "timeout on bulk WRITE after 100+0s",
            of_client,
            "bulk_error - 10.9.8.11@o2ib OST_WRITE: timeout on bulk WRITE after 100+0s",
        ),
        (
            "timeout on bulk PUT after 100+0s",
            of_client,
            "bulk_error - 10.9.8.11@o2ib OST_WRITE: timeout on bulk PUT after 100+0s",
        ), // 1.8
        ("network error on bulk READ", of_client, "bulk_error - 10.9.8.11@o2ib OST_WRITE: network error on bulk READ"),
        (
            "truncated bulk READ 0(4096)",
            of_client,
            "bulk_error - 10.9.8.11@o2ib OST_WRITE: truncated bulk READ 0(4096)",
        ),
        ("Reconnect on bulk WRITE", of_client, "bulk_error - 10.9.8.11@o2ib OST_WRITE: Reconnect on bulk WRITE"),
        (
            "bulk WRITE failed: rc = -107",
            of_client,
            "bulk_error - 10.9.8.11@o2ib OST_WRITE: bulk WRITE failed: rc = -107",
        ),
        (
            "Could not add any time (5/-8), not sending early reply",
            of_client,
            "slow_reply - 10.9.8.11@o2ib OST_WRITE: Could not add any time (5/-8), not sending early reply",
        ),
        (
            "Request took longer than estimated (47/4s); client may timeout",
            of_client,
            "slow_reply - 10.9.8.11@o2ib OST_WRITE: Request took longer than estimated (47/4s)",
        ),
        (
            "Dropping timed-out request from 12345-10.9.8.11@o2ib: deadline 30:5s ago\n",
            of_client,
            "slow_reply - 10.9.8.11@o2ib OST_WRITE: Dropping timed-out request from 12345-10.9.8.11@o2ib: deadline 30:5s ago",
        ), // 2.5
    ] {
        assert_eq!(told(&format!("@@@ {words}  {of}"), REMARK), expected, "{words}");
    }
    check(
        &[
            // 1.8, whose description is cut here.
            (
                "@@@ Request x1380 sent from lustre-OST0000 to NID 10.0.0.1@tcp 7s ago has timed out (7s prior to deadline).\n  req@f",
                "request_timeout - - Request x1380 sent from lustre-OST0000 to NID 10.0.0.1@tcp 7s ago has timed out (7s prior to deadline).",
            ),
            (
                "### lock timed out (enqueued at 1795600000, 300s ago), entering recovery for lustre-OST0003_UUID@10.0.0.1@tcp ns: lustre-OST0003-osc-ffff lock: f",
                "request_timeout lustre-OST0003 - lock timed out (enqueued at 1795600000, 300s ago), entering recovery for lustre-OST0003_UUID@10.0.0.1@tcp",
            ),
            (
                "lustre-OST0004: Bulk IO write error with f795 (at 10.9.8.11@o2ib), client will retry: rc = -110",
                "bulk_error lustre-OST0004 10.9.8.11@o2ib Bulk IO write error with f795 (at 10.9.8.11@o2ib), client will retry: rc = -110",
            ),
            (
                "11-0: lustre-OST0003-osc-ffff: operation ost_write to node 10.0.0.2@tcp failed: rc = -28",
                "no_space lustre-OST0003 - operation ost_write to node 10.0.0.2@tcp failed: rc = -28",
            ),
            (
                "11-0: an error occurred while communicating with 10.0.0.2@tcp. The ost_connect operation failed with -16",
                "error - - an error occurred while communicating with 10.0.0.2@tcp. The ost_connect operation failed with -16",
            ), // 1.8
            (
                "11-0: lustre-MDT0000-mdc-ffff: Communicating with 10.0.0.2@tcp, operation mds_connect failed with -16.",
                "error lustre-MDT0000 - Communicating with 10.0.0.2@tcp, operation mds_connect failed with -16.",
            ), // 2.5
        ],
        ERROR,
    );
}

#[test]
fn connections_and_recovery() {
    check(
        &[
            (
                "lustre-OST0002: Client 0060dc9f (at 10.10.0.12@tcp) reconnecting",
                "reconnect lustre-OST0002 10.10.0.12@tcp reconnecting",
            ),
            (
                "lustre-OST0002: Client 0060dc9f (at 10.10.0.12@tcp) reconnected, waiting for 3 clients in recovery for 1:20",
                "reconnect lustre-OST0002 10.10.0.12@tcp reconnected, waiting for 3 clients in recovery for 1:20",
            ),
            (
                "lustre-OST0002: Client 0060dc9f (at 10.10.0.12@tcp) refused connection, still busy with 4 references",
                "reconnect lustre-OST0002 10.10.0.12@tcp refused connection, still busy with 4 references",
            ),
            ("lustre-OST0002: 0060dc9f reconnecting", "reconnect lustre-OST0002 - 0060dc9f reconnecting"), // 1.8
            (
                "lustre-OST0002: refuse reconnection from 0060dc9f@10.0.0.1@tcp to 0xffff; still busy with 2 active RPCs",
                "reconnect lustre-OST0002 10.0.0.1@tcp refuse reconnection from 0060dc9f@10.0.0.1@tcp to 0xffff; still busy with 2 active RPCs",
            ),
            (
                "lustre-OST0001-osc-ffff88: Connection to lustre-OST0001 (at 10.0.0.2@tcp) was lost; in progress operations using this service will wait for recovery to complete",
                "reconnect lustre-OST0001 - Connection to lustre-OST0001 (at 10.0.0.2@tcp) was lost",
            ),
            (
                "lustre-OST0001-osc-ffff88: Connection to service lustre-OST0001 via nid 10.0.0.2@tcp was lost; in progress operations using this service will wait for recovery to complete.",
                "reconnect lustre-OST0001 - Connection to service lustre-OST0001 via nid 10.0.0.2@tcp was lost",
            ), // 1.8
            (
                "166-1: MGC10.0.0.2@tcp: Connection to MGS (at 10.0.0.2@tcp) was lost; in progress operations using this service will fail",
                "reconnect MGS - Connection to MGS (at 10.0.0.2@tcp) was lost",
            ),
            (
                "lustre-OST0001-osc-ffff88: Connection restored to lustre-OST0001 (at 10.0.0.2@tcp)",
                "reconnect lustre-OST0001 - Connection restored to lustre-OST0001 (at 10.0.0.2@tcp)",
            ),
            (
                "lustre-OST0001: Connection restored to 0060dc9f (at 10.0.0.1@tcp)",
                "reconnect lustre-OST0001 10.0.0.1@tcp Connection restored to 0060dc9f (at 10.0.0.1@tcp)",
            ), // 2.10 to 2.17, on a server
            (
                "lustre-OST0001: Will be in recovery for at least 2:30, or until 4 clients reconnect",
                "recovery lustre-OST0001 - Will be in recovery for at least 2:30, or until 4 clients reconnect",
            ),
            (
                "lustre-OST0001: Recovery over after 0:25, of 4 clients 3 recovered and 1 was evicted.",
                "recovery lustre-OST0001 - Recovery over after 0:25, of 4 clients 3 recovered and 1 was evicted.",
            ),
            (
                "lustre-OST0001: Recovery period over after 0:25, of 4 clients 3 recovered and 1 was evicted.",
                "recovery lustre-OST0001 - Recovery period over after 0:25, of 4 clients 3 recovered and 1 was evicted.",
            ), // 1.8
            (
                "lustre-OST0001: recovery is timed out, evict stale exports",
                "recovery lustre-OST0001 - recovery is timed out, evict stale exports",
            ),
            (
                "lustre-OST0001: disconnecting 2 stale clients",
                "recovery lustre-OST0001 - disconnecting 2 stale clients",
            ),
            (
                "lustre-MDT0000: Denying connection for new client f795 (at 10.0.0.9@tcp), waiting for 4 known clients (1 recovered, 0 in progress, and 0 evicted) to recover in 1:59",
                "recovery lustre-MDT0000 10.0.0.9@tcp Denying connection for new client f795 (at 10.0.0.9@tcp), waiting for 4 known clients (1 recovered, 0 in progress, and 0 evicted) to recover in 1:59",
            ),
            (
                "lustre-MDT0000: in recovery but waiting for the first client to connect",
                "recovery lustre-MDT0000 - in recovery but waiting for the first client to connect",
            ),
        ],
        REMARK,
    );
}

#[test]
fn threads_and_space() {
    check(
        &[
            (
                "Service thread pid 84931 was inactive for 200.22s. The thread might be hung, or it might only be slow",
                "hung_thread - - Service thread pid 84931 was inactive for 200.22s",
            ), // 1.8 to 2.12
            (
                "ll_ost00_004: service thread pid 6208 was inactive for 60.273 seconds. The thread might be hung",
                "hung_thread - - ll_ost00_004: service thread pid 6208 was inactive for 60.273 seconds",
            ), // 2.14 to 2.17
            (
                "ll_ost00_004: service thread pid 6208 completed after 107.223s. This likely indicates the system was overloaded (too many service threads, or not enough hardware resources).",
                "slow_reply - - ll_ost00_004: service thread pid 6208 completed after 107.223s",
            ),
            (
                "'ldlm_cbd' is processing requests too slowly, client may timeout. Late by 2s, missed 1 early replies",
                "slow_reply - - 'ldlm_cbd' is processing requests too slowly, client may timeout. Late by 2s, missed 1 early replies",
            ), // 2.16
            (
                "lustre-OST0001: failed to start transaction due to ENOSPC: rc = -28",
                "no_space lustre-OST0001 - lustre-OST0001: failed to start transaction due to ENOSPC: rc = -28",
            ),
            ("wanted to write 3835 but wrote -28", "no_space - - wanted to write 3835 but wrote -28"),
            (
                "*** setting obd lustre-OST0001 device 'sdb' read-only ***",
                "target_failed - - *** setting obd lustre-OST0001 device 'sdb' read-only ***",
            ), // 1.8
            (
                "A connection with 10.0.0.1@tcp (10.0.0.1:988) timed out; the network or node may be down.",
                "lnet_error - 10.0.0.1@tcp A connection with 10.0.0.1@tcp (10.0.0.1:988) timed out; the network or node may be down.",
            ),
        ],
        REMARK,
    );
}

#[test]
fn errors_of_other_wordings_and_remarks() {
    for (text, voice, expected) in [
        (
            "lustre-OST0000: unrecognized cmd: rc = -25",
            ERROR,
            "error lustre-OST0000 - lustre-OST0000: unrecognized cmd: rc = -25",
        ),
        (
            "lustre-OST0000: cannot write: rc = -28",
            ERROR,
            "no_space lustre-OST0000 - lustre-OST0000: cannot write: rc = -28",
        ),
        (
            "lustre-OST0000: cannot write: rc = -280",
            ERROR,
            "error lustre-OST0000 - lustre-OST0000: cannot write: rc = -280",
        ),
        ("lustre-OST0000: unrecognized cmd: rc = -25", REMARK, "nothing"),
        (
            "no route to 10.0.0.7@o2ib",
            Voice { is_error: true, is_lnet: true },
            "lnet_error - 10.0.0.7@o2ib no route to 10.0.0.7@o2ib",
        ),
        ("ASSERTION( x ) failed: ", ERROR, "lbug - - ASSERTION( x ) failed:"),
        ("DEBUG MARKER: PHASE eviction EVICT was evicted", ERROR, "nothing"),
        ("MGS: evicting all exports of obd", REMARK, "nothing"),
        ("Skipped 3 previous similar messages", REMARK, "nothing"),
        (
            "lustre-OST0000: Imperative Recovery enabled, recovery window shrunk from 300-900 down to 150-900",
            REMARK,
            "nothing",
        ),
        ("", ERROR, "nothing"),
    ] {
        assert_eq!(told(text, voice), expected, "{text}");
    }
}

#[test]
fn sentences_of_the_kernel() {
    for (text, kind) in [
        ("INFO: task ll_ost_io00_001:1234 blocked for more than 120 seconds.", Some("hung_thread")),
        ("LDISKFS-fs error (device vdb): ldiskfs_lookup: bad inode", Some("target_failed")),
        ("LDISKFS-fs (vdb): Remounting filesystem read-only", Some("target_failed")),
        (
            "WARNING: Pool 'ost0' has encountered an uncorrectable I/O failure and has been suspended.",
            Some("target_failed"),
        ),
        ("blk_update_request: I/O error, dev sdb, sector 1", Some("target_failed")),
        ("eth0: link up", None),
    ] {
        let found = ConsoleEvent::parse_of_kernel(text.as_bytes());
        assert_eq!(found.map(|event| event.kind.as_str()), kind, "{text}");
    }
}

#[test]
fn every_prefix_of_a_sentence_is_read_or_left() {
    let text = "### lock callback timer expired after 151s: evicting client at 10.0.0.1@tcp  ns: filter-lustre-OST0003_UUID lock: ffff";
    for len in 1..text.len() {
        // Whatever is cut, an error stays an event.
        assert!(ConsoleEvent::parse(&text.as_bytes()[..len], ERROR).is_some(), "{len}");
    }
}

#[test]
fn reasons_are_short_and_of_one_line() {
    let text = format!("lustre-OST0000: {}\nmore\x07", "\x1bx".repeat(300));
    let event = ConsoleEvent::parse(text.as_bytes(), ERROR).unwrap();
    let reason = event.reason.to_string();
    assert!(reason.is_ascii() && !reason.contains(|c: char| c.is_control()) && reason.len() < 1000, "{reason}");
    assert!(reason.ends_with(".."), "{reason}");
}
