//! Asks a scheduler how many executors it has: a query that is sent to a scheduler without executors waits for ever.

use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::{ClusterError, SchedulerAddress};

type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// A scheduler answers in milliseconds; one that is planning a query on a busy machine may take longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of executors that are registered and alive.
///
/// # Errors
///
/// If nothing answers, or something that is no scheduler.
pub(super) async fn executors(scheduler: &SchedulerAddress) -> Result<usize, ClusterError> {
    let unreachable = |source: AnyError| ClusterError::Unreachable(scheduler.clone(), source);
    match tokio::time::timeout(PATIENCE, ask(scheduler)).await {
        Ok(answer) => answer.map_err(unreachable),
        Err(_) => Err(unreachable(format!("no answer within {} s", PATIENCE.as_secs()).into())),
    }
}

/// `GET /readyz` of the scheduler's port; every Ballista scheduler since 55 has it.
async fn ask(scheduler: &SchedulerAddress) -> Result<usize, AnyError> {
    let authority = format!("{}:{}", scheduler.host(), scheduler.port());
    let stream = TcpStream::connect(&authority).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let request = hyper::Request::get("/readyz").header(hyper::header::HOST, authority).body(Empty::<Bytes>::new())?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = http_body_util::Limited::new(response.into_body(), 4096).collect().await?.to_bytes();
    connection.abort();
    let text = String::from_utf8_lossy(&body);
    registered(&text).ok_or_else(|| {
        format!("not the answer of a Ballista 55 scheduler: HTTP {status}, {:?}", text.trim_end()).into()
    })
}

/// Reads `ready: 2 executors registered` and `not ready: 0/1 executors registered`.
fn registered(text: &str) -> Option<usize> {
    let rest = text.trim_end().strip_suffix(" executors registered")?;
    let count = rest.strip_prefix("ready: ").or_else(|| rest.strip_prefix("not ready: ")?.split('/').next())?;
    count.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::registered;

    #[test]
    fn both_answers_of_a_scheduler_are_read() {
        assert_eq!(registered("ready: 12 executors registered\n"), Some(12));
        assert_eq!(registered("not ready: 3/4 executors registered\n"), Some(3));
        assert_eq!(registered("not ready: 0/1 executors registered\n"), Some(0));
    }

    #[test]
    fn other_answers_are_none() {
        for text in ["", "ok", "ready: many executors registered", "executors registered", "<html>"] {
            assert_eq!(registered(text), None, "{text}");
        }
    }
}
