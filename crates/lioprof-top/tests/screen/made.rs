//! Servers that are made up, and screens as text.

use lioprof_model::live::{
    LiveAccess, LiveClient, LiveFlow, LiveIo, LiveJob, LiveObject, LiveServer, LiveTarget, LiveVerdict, LiveWait, Top,
};
use lioprof_model::{Live, Severity, TargetKindName};
use lioprof_top::{Key, State, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn io(rpcs_per_s: f64, mib_per_s: f64) -> LiveIo {
    LiveIo { rpcs_per_s, bytes_per_s: Some(mib_per_s * 1024.0 * 1024.0) }
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

pub(crate) fn target(name: &str, mib_per_s: f64) -> LiveTarget {
    LiveTarget {
        target: text(name),
        server: text("oss1"),
        kind: Some(TargetKindName::Ost),
        rpcs_per_s: mib_per_s + 3.0,
        read: io(mib_per_s / 4.0, mib_per_s / 2.0),
        write: io(mib_per_s, mib_per_s),
        queue_p50_us: Some(40),
        queue_p99_us: Some(1900),
        service_p50_us: Some(2500),
        service_p99_us: None,
        in_flight: 3.25,
        conflicts_per_s: 0.0,
        clients: 2,
    }
}

/// A server with three OSTs.
pub(crate) fn live() -> Live {
    let flow = |nid: &str, mib_per_s: f64| LiveFlow {
        nid: text(nid),
        target: text("fs-OST0001"),
        server: text("oss1"),
        read: io(0.0, 0.0),
        write: io(mib_per_s, mib_per_s),
    };
    let clients = [("10.0.0.1@tcp", 200.0), ("10.0.0.2@tcp", 56.0)];
    Live {
        servers: vec![LiveServer {
            name: "oss1".to_owned(),
            now: 1_795_250_613.0,
            state: "tracing".to_owned(),
            from: 1_795_250_600.0,
            to: 1_795_250_610.0,
            traced_s: 10.0,
            rpcs_per_s: 1234.5,
            read: io(10.0, 100.0),
            write: io(20.0, 256.0),
            verdict: Some(LiveVerdict {
                from: 1_795_250_540.0,
                to: 1_795_250_600.0,
                text: "2 clients fight over one object of fs-OST0001. There is one more finding.".to_owned(),
                severity: Some(Severity::Critical),
                findings: Vec::new(),
            }),
            error: None,
        }],
        targets: Top::new(vec![target("fs-OST0000", 12.0), target("fs-OST0001", 256.0), target("fs-OST0002", 7.0)], 2),
        clients: Top::new(
            clients
                .map(|(nid, mib_per_s)| LiveClient {
                    nid: text(nid),
                    write: io(mib_per_s, mib_per_s),
                    targets: 1,
                    conflicts_per_s: 4.0,
                    waiting: 0.5,
                    ..LiveClient::default()
                })
                .to_vec(),
            Live::MOST_ROWS,
        ),
        jobs: Top::new(
            vec![LiveJob { job: text(""), clients: 2, write: io(256.0, 256.0), ..LiveJob::default() }],
            Live::MOST_ROWS,
        ),
        flows: Top::new(clients.map(|(nid, mib_per_s)| flow(nid, mib_per_s)).to_vec(), Live::MOST_PAIRS),
        objects: Top::new(
            vec![LiveObject {
                object: text("[0x280000400:0x3:0x0]"),
                target: text("fs-OST0001"),
                server: text("oss1"),
                write: io(256.0, 256.0),
                clients: 2,
                conflicts_per_s: 4.0,
                ..LiveObject::default()
            }],
            Live::MOST_ROWS,
        ),
        accesses: Top::new(
            vec![LiveAccess {
                nid: text("10.0.0.1@tcp"),
                object: text("[0x280000400:0x3:0x0]"),
                target: text("fs-OST0001"),
                server: text("oss1"),
                write: io(200.0, 200.0),
                ..LiveAccess::default()
            }],
            Live::MOST_PAIRS,
        ),
        waits: Top::new(
            vec![LiveWait {
                waiter: text("10.0.0.1@tcp"),
                holder: text("10.0.0.2@tcp"),
                target: text("fs-OST0001"),
                server: text("oss1"),
                conflicts_per_s: 4.0,
            }],
            Live::MOST_ROWS,
        ),
        ..Live::default()
    }
}

/// The screen as lines, without blanks at their ends.
pub(crate) fn screen(state: &mut State, columns: u16, lines: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| draw(state, frame.area(), frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y: u16| -> String { (0..columns).map(|x| buffer[(x, y)].symbol()).collect() };
    (0..lines).map(|y| line(y).trim_end().to_owned() + "\n").collect()
}

pub(crate) fn press(state: &mut State, keys: &[Key]) {
    for key in keys {
        state.key(*key);
    }
}
