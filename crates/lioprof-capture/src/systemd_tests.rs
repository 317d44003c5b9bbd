//! What systemd gets to hear. The process that notifies is this test binary, started again with the environment that
//! systemd would give it: its parts (`child`, `child_alone`) are ignored otherwise.

use std::os::unix::net::UnixDatagram;
use std::process::Command;
use std::time::Duration;

use crate::systemd::Notifier;

#[test]
#[ignore = "started by systemd_hears_of_start_life_and_end"]
fn child() {
    let notifier = Notifier;
    assert_eq!(notifier.watchdog_interval(), Some(Duration::from_secs(15)));
    notifier.ready();
    notifier.status("tracing,\nREADY=0\t25000 records/s");
    notifier.watchdog();
    notifier.stopping(Duration::from_secs(90));
}

#[test]
fn systemd_hears_of_start_life_and_end() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "systemd::tests::child"])
        .env("WATCHDOG_USEC", "30000000")
        .env("NOTIFY_SOCKET", &path)
        .env_remove("WATCHDOG_PID")
        .status()
        .unwrap();
    assert!(status.success());
    let mut heard = Vec::new();
    for _ in 0..4 {
        let mut buffer = [0; 1024];
        let length = socket.recv(&mut buffer).unwrap();
        heard.push(String::from_utf8(buffer[..length].to_vec()).unwrap());
    }
    let expected = [
        "READY=1\n",
        "STATUS=tracing, READY=0 25000 records/s\n",
        "WATCHDOG=1\n",
        "STOPPING=1\nEXTEND_TIMEOUT_USEC=90000000\n",
    ];
    assert_eq!(heard, expected);
}

#[test]
fn without_systemd_nothing_happens() {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "systemd::tests::child_alone"])
        .env_remove("NOTIFY_SOCKET")
        .env_remove("WATCHDOG_USEC")
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
#[ignore = "started by without_systemd_nothing_happens"]
fn child_alone() {
    assert_eq!(Notifier.watchdog_interval(), None);
    Notifier.ready();
    Notifier.stopping(Duration::from_secs(1));
}
