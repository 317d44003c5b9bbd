//! What is written.

use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::*;

/// Collects what is written.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The lines that `work` writes.
fn written(format: LogFormat, work: impl FnOnce(&Repeats)) -> Vec<String> {
    let buffer = Buffer::default();
    let writer = buffer.clone();
    let repeats = Arc::new(Repeats::new(RepeatLimit { messages: 3, per: Duration::from_secs(3600) }));
    let subscriber = subscriber(format, LevelFilter::INFO, move || writer.clone(), &repeats);
    tracing::subscriber::with_default(subscriber, || work(&repeats));
    let bytes = buffer.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

fn speak() {
    let err = io::Error::other("no \"space\"\nleft");
    tracing::info!(segment = 7, path = "/run/a b", err = &err as &(dyn std::error::Error + 'static), "segment lost");
    tracing::debug!("not shown");
}

#[test]
fn logfmt_is_one_line_with_everything() {
    let lines = written(LogFormat::Logfmt, |_| speak());
    assert_eq!(lines.len(), 1);
    let (time, rest) = lines[0].split_once(' ').unwrap();
    assert!(time.starts_with("time=20") && time.ends_with('Z'), "{time}");
    assert_eq!(rest, r#"level=info msg="segment lost" segment=7 path="/run/a b" err="no \"space\"\nleft""#);
}

#[test]
fn json_is_one_object_per_line() {
    let lines = written(LogFormat::Json, |_| speak());
    let json: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!((json["message"].as_str(), json["segment"].as_u64()), (Some("segment lost"), Some(7)));
    assert_eq!(json["level"], "INFO");
}

#[test]
fn people_get_text() {
    let lines = written(LogFormat::Human, |_| speak());
    assert!(lines[0].contains(" INFO segment lost segment=7"), "{lines:?}");
}

#[test]
fn repetitions_are_counted_and_reported_once() {
    let lines = written(LogFormat::Logfmt, |repeats| {
        for n in 0..1000 {
            tracing::warn!(n, "again");
        }
        tracing::warn!("something else");
        repeats.report();
        repeats.report();
    });
    let warnings: Vec<&str> = lines.iter().filter_map(|line| line.split_once(" level=warn ")).map(|it| it.1).collect();
    assert_eq!(warnings.len(), 5, "{lines:?}");
    assert_eq!(warnings[..4], ["msg=again n=0", "msg=again n=1", "msg=again n=2", "msg=\"something else\""]);
    assert!(warnings[4].contains("msg=\"a message was repeated\" left_out=997 level=WARN at="), "{}", warnings[4]);
    assert!(warnings[4].contains("logging/tests.rs:"), "{}", warnings[4]);
}

#[test]
fn formats_by_name() {
    assert_eq!("logfmt".parse(), Ok(LogFormat::Logfmt));
    assert_eq!("json".parse(), Ok(LogFormat::Json));
    assert!("xml".parse::<LogFormat>().unwrap_err().to_string().contains("logfmt"));
}
