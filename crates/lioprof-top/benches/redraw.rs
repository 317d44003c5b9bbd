//! What a screen costs each second, with 1,000 OSTs: reading the answer, sorting, drawing.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use lioprof_model::Live;
use lioprof_model::live::{LiveAccess, LiveFlow, LiveIo, LiveServer, LiveTarget, Top};
use lioprof_top::{Key, State, View, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const OSTS: u32 = 1_000;
/// As many as a daemon sends.
const FLOWS: u32 = 1_000;
const SCREEN: (u16, u16) = (200, 60);

fn live() -> Live {
    let text = |text: String| Some(text);
    let io =
        |number: u32| LiveIo { rpcs_per_s: f64::from(number % 97), bytes_per_s: Some(f64::from(number % 89) * 1e6) };
    let ost = |number: u32| text(format!("scratch-OST{number:04x}"));
    let client = |number: u32| text(format!("10.0.{}.{}@o2ib", number / 250, number % 250));
    let target = |number| LiveTarget {
        target: ost(number),
        server: text(format!("oss{:03}", number / 8)),
        read: io(number),
        write: io(number + 1),
        queue_p99_us: Some(u64::from(number)),
        ..LiveTarget::default()
    };
    let flow =
        |number| LiveFlow { nid: client(number), target: ost(number % OSTS), read: io(number), ..LiveFlow::default() };
    let access = |number| LiveAccess {
        nid: client(number),
        object: text(format!("[0x240000400:{number:#x}:0x0]")),
        target: ost(number % OSTS),
        write: io(number),
        ..LiveAccess::default()
    };
    Live {
        servers: (0..OSTS / 8)
            .map(|number| LiveServer { name: format!("oss{number:03}"), ..LiveServer::default() })
            .collect(),
        targets: Top::new((0..OSTS).map(target).collect(), 2_000),
        flows: Top::new((0..FLOWS).map(flow).collect(), 1_000),
        accesses: Top::new((0..FLOWS).map(access).collect(), 1_000),
        ..Live::default()
    }
}

fn redraw(criterion: &mut Criterion) {
    let answer = serde_json::to_vec(&live()).expect("it is written all the time");
    let mut terminal = Terminal::new(TestBackend::new(SCREEN.0, SCREEN.1)).expect("it only takes memory");
    let mut state = State::new(View::Osts);
    // By another column than the answer's order.
    state.key(Key::Right);
    let mut group = criterion.benchmark_group("1,000 OSTs");
    group.measurement_time(Duration::from_secs(3));
    group.bench_function("answer", |bencher| {
        bencher.iter(|| serde_json::from_slice::<Live>(&answer).expect("it is what was written"));
    });
    group.bench_function("redraw", |bencher| {
        bencher.iter_batched(
            live,
            |live| {
                state.update(live);
                terminal
                    .draw(|frame| draw(&mut state, frame.area(), frame.buffer_mut()))
                    .expect("it only takes memory");
            },
            criterion::BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, redraw);
criterion_main!(benches);
