//! A daemon in a thread, and clients of all kinds.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lioprof_model::Live;
use lioprof_model::live::LiveServer;
use lioprof_testkit::eventually;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot, watch};

use super::protocol::{ErrorKind, MAX_REQUEST_BYTES, Request};
use super::*;
use crate::status::{State, Status};

const LONG: Duration = Duration::from_secs(60);

/// A daemon that answers marks and flushes, fails to stop, and never answers the mark `hang`.
struct Daemon {
    dir: tempfile::TempDir,
    status: watch::Sender<Arc<Status>>,
    // Ends the server when it is dropped.
    _runtime: Runtime,
}

impl Daemon {
    fn start(limits: ServerLimits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let socket = ControlSocket::bind(&dir.path().join("socket")).unwrap();
        let (status, seen) = watch::channel(Arc::new(Status { node: "oss03".to_owned(), ..Status::unknown() }));
        let (commands, mut wanted) = mpsc::channel::<Command>(1);
        let (end, ended) = oneshot::channel::<()>();
        runtime.spawn(async move { serve(&socket, limits, seen, commands, async { drop(ended.await) }).await });
        runtime.spawn(async move {
            let mut hanging = Vec::new();
            let mut end = Some(end);
            while let Some(command) = wanted.recv().await {
                let (request, answer) = match command {
                    Command::Do { request, answer } => (request, answer),
                    Command::Look(asker) => {
                        let server = LiveServer { name: "oss03".to_owned(), ..LiveServer::default() };
                        drop(asker.send(Ok(Arc::new(Live { servers: vec![server], ..Live::default() }))));
                        continue;
                    }
                };
                let result = match &request {
                    Request::Mark { text } if text == "hang" => {
                        hanging.push(answer);
                        continue;
                    }
                    Request::Mark { text } if text == "then end" => {
                        // As the daemon's main loop would: answer, and leave at once.
                        drop(answer.send(Ok("ended".to_owned())));
                        drop(end.take());
                        continue;
                    }
                    Request::Stop => Err("the mask was changed by somebody else".to_owned()),
                    request => Ok(format!("{request:?}")),
                };
                // A client that left is no reason to end.
                drop(answer.send(result));
            }
        });
        Self { dir, status, _runtime: runtime }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("socket")
    }

    fn client(&self) -> Client {
        Client::new(&self.path(), LONG)
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.path()).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }
}

/// The lines that the daemon sends until it hangs up.
fn lines(stream: UnixStream) -> Vec<String> {
    BufReader::new(stream).lines().map_while(Result::ok).collect()
}

#[test]
fn status_mark_flush_and_a_refusal() {
    let daemon = Daemon::start(ServerLimits::default());
    let client = daemon.client();
    assert_eq!(client.status().unwrap().node, "oss03");
    daemon.status.send_replace(Arc::new(Status { state: State::Tracing, ..Status::unknown() }));
    assert_eq!(client.status().unwrap().state, State::Tracing);
    assert!(client.mark("job 4711 begins").unwrap().contains("job 4711 begins"));
    assert_eq!(client.flush().unwrap(), "Flush");
    let err = client.stop().unwrap_err();
    assert!(matches!(err, ClientError::Refused(ErrorKind::Failed, _)), "{err:?}");
    assert!(err.to_string().contains("somebody else"), "{err}");
    let err = client.mark("two\nlines").unwrap_err();
    assert!(err.to_string().contains("one line"), "{err}");
}

#[test]
fn the_socket_is_for_its_owner_and_goes_with_the_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let socket = ControlSocket::bind(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    drop(socket);
    assert!(!path.exists());
    let err = Client::new(&path, LONG).status().unwrap_err();
    assert!(matches!(err, ClientError::NoDaemon { .. }), "{err:?}");
    assert!(err.to_string().contains("lioprof daemon"), "{err}");
}

#[test]
fn a_dead_daemons_socket_is_replaced_and_a_living_one_refuses() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    // A daemon that was killed leaves its socket, and perhaps one that it was preparing.
    drop(UnixListener::bind(&path).unwrap());
    drop(UnixListener::bind(dir.path().join("socket.new")).unwrap());
    assert!(path.exists());
    let alive = ControlSocket::bind(&path).unwrap();
    let err = ControlSocket::bind(&path).unwrap_err();
    assert!(matches!(err, SocketError::InUse { .. }), "{err:?}");
    assert!(err.to_string().contains("lioprof stop"), "{err}");
    drop(alive);

    // Somebody who listens without a lock is respected, too.
    let other = UnixListener::bind(&path).unwrap();
    assert!(matches!(ControlSocket::bind(&path).unwrap_err(), SocketError::InUse { .. }));
    drop(other);
    drop(ControlSocket::bind(&path).unwrap());
}

#[test]
fn a_daemon_does_not_remove_the_socket_of_its_successor() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let first = ControlSocket::bind(&path).unwrap();
    // Somebody cleans the directory, and a second daemon starts.
    fs::remove_file(&path).unwrap();
    fs::remove_file(dir.path().join("socket.lock")).unwrap();
    let second = ControlSocket::bind(&path).unwrap();
    drop(first);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists());
}

#[test]
fn paths_that_cannot_be_sockets() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "precious").unwrap();
    assert!(matches!(ControlSocket::bind(&file).unwrap_err(), SocketError::NotASocket { .. }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    let long = dir.path().join("x".repeat(104));
    assert!(matches!(ControlSocket::bind(&long).unwrap_err(), SocketError::TooLong { .. }));
    let nowhere = ControlSocket::bind(Path::new("/nonexistent/dir/socket")).unwrap_err();
    assert!(nowhere.to_string().contains("/nonexistent/dir/socket.lock"), "{nowhere}");
}

#[test]
fn rubbish_gets_an_error_and_the_daemon_lives() {
    let daemon = Daemon::start(ServerLimits::default());
    let rubbish: [&[u8]; 5] = [b"\0\0\0\n", b"GET / HTTP/1.1\n", b"{}\n", b"\xff\xfe\xfd\n", b"\n"];
    for bytes in rubbish {
        let mut stream = daemon.connect();
        stream.write_all(bytes).unwrap();
        // The connection survives: a proper request follows.
        stream.write_all(b"{\"v\":1,\"command\":\"flush\"}").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let replies = lines(stream);
        assert_eq!(replies.len(), 2, "{replies:?}");
        assert!(replies[0].contains("bad_request"), "{replies:?}");
        assert!(replies[1].contains("done"), "{replies:?}");
    }
    // A line without end, and clients that leave in the middle.
    let mut stream = daemon.connect();
    stream.write_all(&vec![b'x'; MAX_REQUEST_BYTES]).unwrap();
    let replies = lines(stream);
    assert!(replies.len() == 1 && replies[0].contains("bytes with its line break"), "{replies:?}");
    for _ in 0..50 {
        let mut stream = daemon.connect();
        // So many at once may be too many: then it is refused.
        let _sent_or_refused = stream.write_all(b"{\"v\":1,\"comm");
    }
    eventually("an answer", || daemon.client().status().is_ok());
}

#[test]
fn the_last_reply_is_sent_before_the_end() {
    for _ in 0..20 {
        let daemon = Daemon::start(ServerLimits { request: LONG, ..ServerLimits::default() });
        let idle = daemon.connect();
        assert_eq!(daemon.client().mark("then end").unwrap(), "ended");
        // A client that said nothing does not hold the daemon back, and the socket goes with it.
        assert_eq!(lines(idle), Vec::<String>::new());
        eventually("the socket to go", || !daemon.path().exists());
    }
}

#[test]
fn too_many_clients_are_told_so_and_slots_come_back() {
    let daemon = Daemon::start(ServerLimits { clients: 2, request: LONG, ..ServerLimits::default() });
    let mut held = vec![daemon.connect(), daemon.connect()];
    for stream in &mut held {
        // Once it is answered, the daemon has accepted it.
        stream.write_all(b"{\"v\":1,\"command\":\"flush\"}\n").unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
    }
    let err = daemon.client().status().unwrap_err();
    assert!(matches!(err, ClientError::Refused(ErrorKind::Busy, _)), "{err:?}");
    drop(held);
    eventually("an answer", || daemon.client().status().is_ok());
}

#[test]
fn slow_clients_and_slow_commands_time_out() {
    let short = Duration::from_millis(50);
    let daemon = Daemon::start(ServerLimits { request: short, command: short, ..ServerLimits::default() });
    let mut stream = daemon.connect();
    stream.write_all(b"{\"v\":").unwrap();
    let replies = lines(stream);
    assert!(replies.len() == 1 && replies[0].contains("timeout"), "{replies:?}");

    let err = daemon.client().mark("hang").unwrap_err();
    assert!(matches!(err, ClientError::Refused(ErrorKind::Timeout, _)), "{err:?}");

    // A daemon that accepts and says nothing.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let _mute = UnixListener::bind(&path).unwrap();
    let err = Client::new(&path, short).status().unwrap_err();
    assert!(matches!(err, ClientError::Timeout { .. }), "{err:?}");
}

#[test]
fn something_else_on_the_socket_is_no_daemon() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    for (sends, expected) in [("hello\n", "hello"), ("", "end of the connection"), ("{\"v\":1", "a cut line")] {
        let server = listener.try_clone().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = String::new();
            BufReader::new(&stream).read_line(&mut request).unwrap();
            stream.write_all(sends.as_bytes()).unwrap();
        });
        let err = Client::new(&path, LONG).flush().unwrap_err();
        assert!(matches!(err, ClientError::Protocol { .. }), "{err:?}");
        assert!(err.to_string().contains(expected), "{err}");
        thread.join().unwrap();
    }
}
