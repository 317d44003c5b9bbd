//! `/dev/kmsg`.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use lioprof_sim::kernel::LustreVersion;
use lioprof_testkit::eventually;
use rustix::io::Errno;

use crate::Server;

const O_NONBLOCK: i32 = 0o4000;

fn open(server: &Server) -> File {
    OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(server.path("dev/kmsg")).unwrap()
}

fn read(file: &mut File) -> Result<String, Errno> {
    let mut line = [0; 8192];
    let len = file.read(&mut line).map_err(|err| Errno::from_io_error(&err).unwrap())?;
    Ok(String::from_utf8(line[..len].to_vec()).unwrap())
}

#[test]
fn each_read_returns_one_line_and_eagain_at_the_end() {
    let server = Server::new(LustreVersion::V2_17);
    let mut file = open(&server);
    assert_eq!(read(&mut file), Err(Errno::AGAIN));
    server.kernel.mark(b"one", 1);
    server.kernel.mark(b"two", 1);
    let line = read(&mut file).unwrap();
    let (head, text) = line.split_once(';').unwrap();
    assert_eq!(text, "Lustre: DEBUG MARKER: one\n");
    let fields: Vec<&str> = head.split(',').collect();
    assert_eq!((fields.len(), fields[0], fields[1], fields[3]), (4, "4", "0", "-"));
    assert!(fields[2].parse::<u64>().is_ok());
    assert!(read(&mut file).unwrap().ends_with(";Lustre: DEBUG MARKER: two\n"));
    assert_eq!(read(&mut file), Err(Errno::AGAIN));
    server.kernel.mark(b"three", 1);
    assert!(read(&mut file).unwrap().starts_with("4,2,"));
    assert_eq!(read(&mut file), Err(Errno::AGAIN));
}

#[test]
fn seeking_goes_to_the_end_and_to_the_oldest_line() {
    let server = Server::new(LustreVersion::V2_17);
    server.kernel.mark(b"one", 1);
    let mut file = open(&server);
    file.seek(SeekFrom::End(0)).unwrap();
    assert_eq!(read(&mut file), Err(Errno::AGAIN));
    server.kernel.mark(b"two", 1);
    assert!(read(&mut file).unwrap().ends_with("two\n"));
    file.seek(SeekFrom::Start(0)).unwrap();
    assert!(read(&mut file).unwrap().ends_with("one\n"));
    assert_eq!(file.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::InvalidInput, "the line does not fit");
}

#[test]
fn a_slow_reader_learns_that_lines_are_gone() {
    let server = Server::new(LustreVersion::V2_17);
    let mut file = open(&server);
    for number in 0..10_000 {
        server.kernel.mark(format!("{number}").as_bytes(), 1);
    }
    assert_eq!(read(&mut file), Err(Errno::PIPE));
    let oldest = read(&mut file).unwrap();
    let number: u64 = oldest.trim_end().rsplit_once(' ').unwrap().1.parse().unwrap();
    assert!(number > 0 && oldest.starts_with(&format!("4,{number},")), "{oldest}");
}

#[test]
fn a_blocking_reader_waits() {
    let server = Server::new(LustreVersion::V2_17);
    let mut file = File::open(server.path("dev/kmsg")).unwrap();
    let interrupted = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            eventually("the reader to wait", || interrupted.load(Ordering::Relaxed) >= 2);
            server.kernel.mark(b"at last", 1);
        });
        let line = loop {
            match read(&mut file) {
                // The tree lets nobody wait for ever in it.
                Err(Errno::INTR) => drop(interrupted.fetch_add(1, Ordering::Relaxed)),
                line => break line.unwrap(),
            }
        };
        assert!(line.ends_with("at last\n"));
    });
}
