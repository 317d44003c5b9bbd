//! What people see.

use super::super::*;
use crate::budget::{Resource, Why};

const HOUR_US: i64 = 3_600_000_000;

fn healthy() -> Status {
    let start = 1_795_251_000_000_000;
    Status {
        version: "0.1.0".to_owned(),
        pid: 4242,
        node: "oss03".to_owned(),
        lustre_version: Some("2.15.8".to_owned()),
        targets: vec!["lustre-OST0004".to_owned(), "lustre-OST0005".to_owned()],
        state: State::Tracing,
        since_us: start,
        state_since_us: start,
        now_us: start + HOUR_US + 65_000_000,
        profile: "full".to_owned(),
        masks: serde_json::from_value(serde_json::json!({
            "debug": "ioctl neterror warning error emerg ha config console lfsck rpctrace dlmtrace net",
            "subsystem_debug": "rpc filter ldlm",
            "debug_mb": 400,
        }))
        .unwrap(),
        segments: Segments { decoded: 1234, queued: 2, queued_bytes: 30 << 20, ..Segments::default() },
        totals: Totals {
            records: 250_000_000,
            rpcs: 22_000_000,
            lock_events: 1,
            read_bytes: 5 << 40,
            write_bytes: 1 << 40,
            ..Totals::default()
        },
        rates: Rates { records_per_s: 275_000.4, rpcs_per_s: 2.5, read_bytes_per_s: 2.5e9, ..Rates::default() },
        lag_s: Some(1.25),
        budget: BudgetState {
            figures: Figures { cpu_share: Some(0.081), resident_bytes: 77 << 20, ..Figures::default() },
            ..BudgetState::default()
        },
        files: Files {
            directory: "/var/lib/lioprof".to_owned(),
            written: 13,
            written_bytes: 510 << 20,
            kept_bytes: 3 << 30,
            free_bytes: Some(90 << 30),
        },
        ..Status::unknown()
    }
}

#[test]
fn a_healthy_daemon() {
    let expected = "\
lioprof 0.1.0 on oss03, pid 4242: tracing
  since     2026-11-21T08:50:00Z (1h 1m 5s)
  lustre    2.15.8; lustre-OST0004 lustre-OST0005
  masks     profile full; debug=ioctl neterror warning error emerg ha config
            console lfsck rpctrace dlmtrace net; subsystem_debug=rpc filter
            ldlm; debug_mb=400
  logged    250,000,000 records (275,000/s), 22,000,000 RPCs (2.5/s), 1 lock
            event; lag 1.2 s
  I/O       5.00 TiB read (2.33 GiB/s), 1.00 TiB written (0 B/s)
  segments  1,234 decoded, 2 queued (30.0 MiB)
  loss      none found
  budget    as configured; CPU 8.1 of 25 %, memory 77.0 MiB of 256 MiB
  files     13 files written, 510 MiB; 3.00 GiB kept, 90.0 GiB free in
            /var/lib/lioprof
";
    assert_eq!(healthy().to_string(), expected);
}

#[test]
fn a_daemon_in_trouble_says_so() {
    let start = 1_795_251_000_000_000;
    let mut status = healthy();
    status.state = State::Paused;
    status.state_since_us = status.now_us - 5_000_000;
    status.segments.dropped = 3;
    status.segments.dropped_bytes = 48 << 20;
    status.segments.dropped_from_us = Some(start);
    status.segments.dropped_to_us = Some(start + 9_000_000);
    status.loss = LossAccount {
        discarded_heads: 1,
        nrs_sequence_gaps: 1200,
        bad_records: 2,
        skipped_bytes: 97,
        estimated_lost_fraction: Some(0.0125),
        kernel_overflows: 4,
        ..LossAccount::default()
    };
    let why = Why::Above { resource: Resource::Cpu, of_limit: 1.84 };
    let figures = Figures::default();
    let to = Level::Stopped;
    status.budget.last_step = Some(Transition { time_us: start, from: Level::LightProfile, to, why, figures });
    status.budget.steps = 6;
    status.budget.level = to;
    status.warnings.push("the kernel's log went on without \x1b[31mus".to_owned());
    let text = status.to_string();
    for expected in [
        "paused by the budget for 5s",
        "3 DROPPED (48.0 MiB) from 2026-11-21T08:50:00Z to",
        "1 run of records without head, 1,200 gaps in scheduler numbers, 2 unreadable",
        "records, 97 skipped bytes, 4 buffer overflows in the kernel log, about 1.25 %",
        "light profile -> stopped: CPU time",
        "at 184 % of its limit",
        "  warning   the kernel's log went on without ?[31mus",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted = expected.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(&wanted), "{expected}\n{text}");
    }
}

#[test]
fn what_a_client_sent_is_shown() {
    let totals = Totals { records: 90, sent_rpcs: 1500, sent_reads: 1, sent_writes: 1200, ..Totals::default() };
    let status = Status { totals, rates: Rates { sent_rpcs_per_s: 12.0, ..Rates::default() }, ..healthy() };
    let text = status.to_string();
    let expected = "  sent      1,500 RPCs (12/s), including 1 read and 1,200 writes of OSTs, whose
            sizes are in the OSSs' logs
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn every_kind_of_loss_is_loss() {
    let loss = |loss: LossAccount| {
        let text = Status { loss, ..healthy() }.to_string();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let none = LossAccount::default();
    assert!(loss(none).contains("loss none found"));
    let dropped = LossAccount { dropped_segments: 1, dropped_segment_bytes: 5 << 20, ..none };
    assert!(loss(dropped).contains("loss 1 segment lost unread budget"), "{}", loss(dropped));
    let overflowed = LossAccount { kernel_overflows: 29, ..none };
    assert!(loss(overflowed).contains("loss 29 buffer overflows in the kernel log budget"), "{}", loss(overflowed));
    let missing = Missing { time_us: 1, counted_rpcs: 4000, rpcs: 1306, bytes: 21_446_656 };
    let counted = LossAccount { counters: Some(missing), estimated_lost_fraction: Some(0.0069), ..none };
    let expected = "loss 1,306 of 4,000 reads and writes that the OSTs counted are missing (32.65 %, 20.5 MiB) budget";
    assert!(loss(counted).contains(expected), "{}", loss(counted));
    let all_there = Missing { rpcs: 0, bytes: 0, ..missing };
    let counted = LossAccount { counters: Some(all_there), estimated_lost_fraction: Some(0.0), ..none };
    assert!(loss(counted).contains("loss none found"), "{}", loss(counted));
}

#[test]
fn no_line_is_longer_than_a_terminal() {
    let mut status = healthy();
    status.targets = (0..100).map(|n| format!("verylongfsname-OST{n:04x}")).collect();
    status.warnings = vec!["w ".repeat(300), "unbroken".repeat(40)];
    status.totals.records = u64::MAX;
    for line in status.to_string().lines().chain(Status::unknown().to_string().lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
