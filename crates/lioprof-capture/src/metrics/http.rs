//! `/metrics` and `/healthz`.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::expose::{to_prometheus_text, wants_open_metrics};
use super::registry::Metrics;

/// Scrapes at a time; more wait.
const MAX_CONNECTIONS: usize = 8;
/// Longest time for a request and its answer.
const DEADLINE: Duration = Duration::from_secs(10);
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Why there are no metrics.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The port is taken.
    #[error("metrics: {address} is in use by another program: set `talk.metrics` to another address, or to `off`")]
    Taken { address: SocketAddr },
    /// The address cannot be used.
    #[error("metrics: failed to listen on {address}: set `talk.metrics` to another address, or to `off`")]
    Bind { address: SocketAddr, source: io::Error },
}

/// A bound port.
#[derive(Debug)]
pub(crate) struct MetricsServer {
    listener: StdListener,
    address: SocketAddr,
}

impl MetricsServer {
    /// Takes the port.
    pub(crate) fn bind(address: SocketAddr) -> Result<Self, MetricsError> {
        let bound = StdListener::bind(address).and_then(|listener| {
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        match bound {
            Ok((listener, address)) => Ok(Self { listener, address }),
            Err(err) if err.kind() == io::ErrorKind::AddrInUse => Err(MetricsError::Taken { address }),
            Err(source) => Err(MetricsError::Bind { address, source }),
        }
    }

    /// Where it listens: the port that was given, or that the kernel chose for port 0.
    #[cfg(test)]
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until the future is dropped.
    /// Fails if the port cannot be registered with the runtime; later errors concern one scrape only.
    pub(crate) async fn serve(self, metrics: Arc<Metrics>) -> Result<(), MetricsError> {
        let Self { listener, address } = self;
        let listener = TcpListener::from_std(listener).map_err(|source| MetricsError::Bind { address, source })?;
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = JoinSet::new();
        // The semaphore is never closed.
        while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
            while connections.try_join_next().is_some() {}
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(err) => {
                    tracing::warn!(%err, "failed to accept a scrape");
                    sleep(Duration::from_millis(200)).await;
                    continue;
                }
            };
            let metrics = Arc::clone(&metrics);
            connections.spawn(async move {
                let _slot = slot;
                let service = service_fn(|request| {
                    let answer = answer(&request, &metrics);
                    async { Ok::<_, Infallible>(answer) }
                });
                // One scrape per connection: an idle one would hold its place.
                let connection = http1::Builder::new()
                    .keep_alive(false)
                    .timer(TokioTimer::new())
                    .header_read_timeout(DEADLINE)
                    .serve_connection(TokioIo::new(stream), service);
                match timeout(DEADLINE, connection).await {
                    Ok(Ok(())) => {}
                    Ok(Err(err)) => tracing::debug!(%err, "a scrape failed"),
                    Err(_) => tracing::debug!("a scrape took too long"),
                }
            });
        }
        Ok(())
    }
}

fn answer(request: &Request<Incoming>, metrics: &Metrics) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = reply(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "only GET and HEAD\n".to_owned());
        response.headers_mut().insert(ALLOW, hyper::header::HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/metrics" => {
            let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("");
            match metrics.open_metrics() {
                Ok(text) if wants_open_metrics(accept) => reply(StatusCode::OK, OPEN_METRICS, text),
                Ok(text) => reply(StatusCode::OK, TEXT, to_prometheus_text(&text)),
                Err(err) => reply(StatusCode::INTERNAL_SERVER_ERROR, PLAIN, format!("{err}\n")),
            }
        }
        "/healthz" => match metrics.health.trouble() {
            None => reply(StatusCode::OK, PLAIN, "ok\n".to_owned()),
            Some(why) => reply(StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
        },
        "/" => reply(StatusCode::OK, PLAIN, "lioprof: /metrics, /healthz\n".to_owned()),
        _ => reply(StatusCode::NOT_FOUND, PLAIN, "there are /metrics and /healthz\n".to_owned()),
    }
}

fn reply(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}
