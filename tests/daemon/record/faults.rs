//! Something dies meanwhile.

use lioprof_testkit::{eventually, until};
use rustix::process::Signal;

use super::site::{Site, go_on, wait_for};
use crate::daemon::tmpfs::Tmpfs;

/// Waits until this host's daemon has something to show.
fn has_worked(site: &Site, number: usize) {
    let played = site.hosts[number].node.played();
    until("some more load", || (site.hosts[number].node.played() > played + 500).then_some(()));
}

#[test]
fn the_recorder_is_killed() {
    let site = Site::new(2);
    let recorder = site.start(&["--lease", "3s"]);
    has_worked(&site, 0);
    recorder.signal(Signal::KILL);
    assert_eq!(recorder.ends().0, None);
    // The daemons end by themselves.
    site.wait_as_before();
    // Nothing is lost: all of it is still there.
    site.fetch().exits(0);
    let warnings = site.report()["warnings"].to_string();
    assert!(warnings.contains("killed before its end") && !warnings.contains("no `lctl mark`"), "{warnings}");
    site.is_as_before();
    assert_eq!(site.reported().len(), 2);
    assert!(site.hosts.iter().all(super::site::Host::is_clean));
}

#[test]
fn who_fetches_too_early_is_told_so() {
    let site = Site::new(1);
    let done = site.path("done");
    let recorder = site.start(&["--", "sh", "-c", &wait_for(&done)]);
    has_worked(&site, 0);
    site.fetch().exits(2).says(&["still runs"]);
    assert!(site.hosts[0].is_traced());
    go_on(&done);
    let (code, stderr) = recorder.ends();
    assert_eq!(code, Some(0), "{stderr}");
    // Everything is here: once more is no more.
    site.fetch().exits(0);
}

#[test]
fn a_daemon_is_killed() {
    let site = Site::new(2);
    let done = site.path("done");
    let recorder = site.start(&["--lease", "4s", "--", "sh", "-c", &wait_for(&done)]);
    has_worked(&site, 1);
    site.hosts[1].kill_daemon();
    // Another one takes its place.
    let record = || std::fs::read(site.output().join("record.json")).unwrap_or_default();
    assert!(!record().is_empty());
    eventually("another daemon", || recorder.stderr().contains("another one goes on"));
    has_worked(&site, 1);
    go_on(&done);
    let (code, stderr) = recorder.ends();
    assert_eq!(code, Some(1), "{stderr}");
    site.is_as_before();
    let reported = site.reported();
    assert!(reported.len() == 2 && reported.iter().all(|(_, rpcs)| *rpcs > 50), "{reported:?}");
    let warnings = site.report()["warnings"].to_string();
    assert!(warnings.contains("oss2: its daemon had ended"), "{warnings}");
}

#[test]
fn a_sshd_is_killed() {
    let mut site = Site::new(2);
    let done = site.path("done");
    let recorder = site.start(&["--lease", "6s", "--", "sh", "-c", &wait_for(&done)]);
    has_worked(&site, 1);
    site.hosts[1].kill_sshd();
    // Its daemon ends by its lease. (Where it ended before for want of time, another one may just be starting.)
    eventually("its daemon to end by its lease", || !site.hosts[1].is_traced());
    // It would be told as much of a host whose daemon ended some seconds early.
    std::thread::sleep(std::time::Duration::from_secs(6));
    go_on(&done);
    let (code, stderr) = recorder.ends();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("oss2: did not answer at the end") && stderr.contains("lioprof record fetch"), "{stderr}");
    site.wait_as_before();
    assert_eq!(site.reported(), [("oss1".to_owned(), site.reported()[0].1)]);
    let warnings = site.report()["warnings"].to_string();
    assert!(warnings.contains("oss2: did not answer"), "{warnings}");
    // It comes back, and what it has is fetched.
    site.hosts[1].serve(&site.client);
    site.fetch().exits(1).says(&["oss2: it was traced until", "are not in the data"]);
    assert_eq!(site.reported().len(), 2);
    let warnings = site.report()["warnings"].to_string();
    assert!(warnings.contains("oss2: it was traced until") && !warnings.contains("no `lctl mark`"), "{warnings}");
    assert!(site.hosts.iter().all(super::site::Host::is_clean));
}

#[test]
fn the_network_is_cut_for_a_while() {
    let site = Site::new(2);
    let done = site.path("done");
    let recorder = site.start(&["--lease", "3s", "--rows", "--", "sh", "-c", &wait_for(&done)]);
    has_worked(&site, 1);
    site.hosts[1].cable(false);
    eventually("its daemon to end by its lease", || !site.hosts[1].is_traced());
    site.hosts[1].cable(true);
    eventually("another daemon", || site.hosts[1].is_traced());
    has_worked(&site, 1);
    go_on(&done);
    let (code, stderr) = recorder.ends();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("oss2: ") && stderr.contains("another one goes on"), "{stderr}");
    site.is_as_before();
    assert_eq!(site.reported().len(), 2);
    assert!(site.hosts.iter().all(super::site::Host::is_clean));
}

#[test]
fn a_disk_is_full() {
    let mut site = Site::new(2);
    let _disk = Tmpfs::mount(&site.hosts[1].node.keep(), 65_536);
    // What is mounted now, only a new namespace sees.
    site.hosts[1].kill_sshd();
    site.hosts[1].serve(&site.client);
    let recorder = site.start(&["--lease", "20s"]);
    has_worked(&site, 1);
    // Until there is no room.
    std::fs::write(site.hosts[1].node.keep().join("ballast"), vec![0; 65 << 20]).unwrap_err();
    has_worked(&site, 1);
    recorder.signal(Signal::INT);
    let (code, stderr) = recorder.ends();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("oss2: "), "{stderr}");
    site.is_as_before();
    assert!(site.reported().iter().any(|(node, _)| node == "oss1"));
    // With room again, what was decoded but not written is decoded again and fetched.
    std::fs::remove_file(site.hosts[1].node.keep().join("ballast")).unwrap();
    site.fetch();
    site.is_as_before();
    assert_eq!(site.reported().len(), 2);
}
