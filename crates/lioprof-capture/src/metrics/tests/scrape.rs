//! A daemon's metrics on a free port, with known figures, and a small HTTP client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::budget::usage::Usage;
use crate::budget::{Duty, Level};
use crate::metrics::{Callback, Loss, Metrics, MetricsServer};
use crate::status::{State, Status};
use lioprof_model::{Direction, RpcSize};
use tokio::runtime::Runtime;

pub(crate) struct Exporter {
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) address: SocketAddr,
    // Ends the server when it is dropped.
    _runtime: Runtime,
}

impl Exporter {
    pub(crate) fn start() -> Self {
        let metrics = Arc::new(Metrics::default());
        fill(&metrics);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = MetricsServer::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = server.address();
        let shared = Arc::clone(&metrics);
        runtime.spawn(async move { server.serve(shared).await });
        Self { metrics, address, _runtime: runtime }
    }
}

fn fill(metrics: &Metrics) {
    let ost = metrics.target(Some("fs-OST0000"));
    ost.rpc(false, Some(500), Some(250_000));
    ost.rpc(false, Some(2000), Some(250_000));
    ost.rpc(true, None, None);
    ost.io(Direction::Read, RpcSize::Exact(4096));
    ost.io(Direction::Read, RpcSize::Bounded { best: 1024, min: 1, max: 4096 });
    ost.callbacks(Callback::Blocking, 4);
    ost.conflicts(2);
    metrics.target(None).rpc(false, Some(1), Some(1));
    for n in 0..200 {
        metrics.target(Some(&format!("fs-OST{n:04x}"))).conflicts(0);
    }
    metrics.target(Some("evil\"} 1\n")).conflicts(1);
    metrics.decoded(1000, 250_000, 10);
    metrics.segment(100, false);
    metrics.segment(50, true);
    metrics.lost(Loss::NrsGap, 7);
    metrics.files(3, 1 << 20);
    metrics.budget_step();
    metrics.usage(&Usage { cpu: Duration::from_millis(12_500), resident_bytes: 4096, threads: 3 });
    let mut status = Status { state: State::DutyCycled, lag_s: Some(1.5), ..Status::unknown() };
    status.budget.level = Level::DutyCycle(Duty { on_s: 5, period_s: 60 });
    metrics.status(&status);
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }
}

pub(crate) fn get(address: SocketAddr, path: &str, accept: &str) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\naccept: {accept}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Answer { head: head.to_owned(), body: body.to_owned() }
}
