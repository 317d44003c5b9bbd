//! What a killed daemon left is found, whatever its directory; a refused start leaves nothing.

use std::fs;
use std::net::TcpListener;

use lioprof_testkit::files::files_under;

use super::fixture::{assert_kept, rich, speed};
use super::node::Node;
use crate::util::{Run, lioprof};

fn text(run: &Run) -> String {
    String::from_utf8_lossy(&run.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn without_its_directory() {
    let node = Node::playing(&rich().path);
    let other = Node::playing(&rich().path);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    let (pid, root) = (daemon.pid(), node.root().display().to_string());
    daemon.kill();
    let during = node.settings();
    assert!(during.debug.contains("rpctrace"), "{during:?}");

    // Whoever asks knows neither its directory nor its socket.
    let killed = format!("process {pid} was killed while it traced");
    lioprof(&["status", "--root", &root]).exits(2).says(&[&killed, "lioprof daemon --restore"]);
    let elsewhere = node.path("elsewhere").display().to_string();
    let told = text(&lioprof(&["doctor", "--root", &root, "--dir", &elsewhere, "--metrics", "off"]));
    assert!(told.contains(&format!("process {pid} changed settings")), "{told}");
    assert!(told.contains("a lioprof daemon that was killed") && !told.contains("somebody"), "{told}");

    // On another server nothing is left, and nothing is touched here.
    let run = lioprof(&["daemon", "--restore", "--root", &other.root().display().to_string()]).exits(0);
    assert!(text(&run).contains("nothing to restore"), "{run}");
    assert_eq!(node.settings(), during);

    // A mistake in the configuration is no reason to leave the server traced.
    let broken = node.path("broken.toml");
    fs::write(&broken, "[capture]\nbufer_mib = 2\n").unwrap();
    let broken = broken.display().to_string();
    let run = lioprof(&["daemon", "--restore", "--config", &broken, "--root", &root]).exits(0).says(&["bufer_mib"]);
    assert!(text(&run).contains("debug: restored") && text(&run).contains("daemon_file: restored"), "{run}");
    assert_eq!(node.settings(), before);
    let run = lioprof(&["daemon", "--restore", "--root", &root]).exits(0);
    assert!(text(&run).contains("nothing to restore"), "{run}");
}

#[test]
fn by_the_next_start_with_another_directory() {
    let log = rich();
    let node = Node::playing_with(&log.path, &["--speed", &speed(&log, 4.0)]);
    let before = node.settings();
    let daemon = node.daemon(&[]);
    daemon.wait("rows", |status| status["totals"]["rpcs"].as_u64() > Some(0));
    daemon.kill();
    node.wait_played();
    let elsewhere = format!("\"{}\"", node.path("elsewhere").display());
    node.daemon(&[("keep.dir", &elsewhere)]).stop().exits(0).says(&["an earlier daemon was killed"]);
    assert_eq!(node.settings(), before);
    // What was left of the log belongs to the capture that was killed, not to the new one.
    assert!(node.spooled().is_empty());
    assert_kept(&log.name, &node.keep(), &log.path);
    let rows = files_under(node.path("elsewhere")).into_iter().filter(|path| path.to_string_lossy().contains("rpcs"));
    assert_eq!(rows.collect::<Vec<_>>(), [""; 0].map(std::path::PathBuf::from));
    assert!(!node.keep().join("journal.json").exists());
    let pointers = fs::read_dir("/run/lioprof/journals").unwrap();
    let root = node.root().display().to_string();
    let left: Vec<_> = pointers
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap_or_default())
        .filter(|text| text.contains(&root))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn a_running_one_is_found_by_whoever_talks_to_it() {
    let node = Node::playing(&rich().path);
    let daemon = node.daemon(&[]);
    let root = node.root().display().to_string();
    let run = lioprof(&["status", "--json", "--root", &root]).exits(0);
    assert_eq!(run.json()["pid"], daemon.pid());
    let socket = node.socket().display().to_string();
    lioprof(&["daemon", "--restore", "--root", &root]).exits(2).says(&["lioprof stop --socket", &socket]);
    lioprof(&["stop", "--root", &root]).exits(0);
    daemon.ended().exits(0);
    lioprof(&["status", "--root", &root]).exits(2).says(&["no daemon is listening"]);
}

#[test]
fn mistakes_in_the_configuration_do_not_matter_to_whoever_talks_to_it() {
    let node = Node::playing(&rich().path);
    let daemon = node.daemon(&[]);
    let path = node.path("broken.toml");
    let name = path.display().to_string();
    let socket = format!("socket = \"{}\"\n", node.socket().display());
    for broken in [format!("[talk]\n{socket}[keep]\nfile_mb = 3\n"), format!("[budget\ncpu = \n[talk]\n{socket}")] {
        fs::write(&path, broken).unwrap();
        let run =
            lioprof(&["status", "--json", "--config", &name]).exits(0).says(&[&name, "looking for the daemon at"]);
        assert_eq!(run.stderr.matches("TOML parse error").count(), 1, "{run}");
        assert_eq!(run.json()["pid"], daemon.pid());
        lioprof(&["mark", "still there", "--config", &name]).exits(0);
    }
    // With the socket on the command line the file is not looked at.
    let run = lioprof(&["status", "--config", &name, "--socket", &node.socket().display().to_string()]).exits(0);
    assert_eq!(run.stderr, "");
    lioprof(&["stop", "--config", &name]).exits(0);
    daemon.ended().exits(0);
}

#[test]
fn a_refused_start_leaves_no_directory() {
    let node = Node::playing(&rich().path);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("\"{}\"", taken.local_addr().unwrap());
    let new = ["keep", "spool", "talk"].map(|name| format!("\"{}\"", node.path("new").join(name).join("x").display()));
    let places = [("keep.dir", &*new[0]), ("capture.spool_dir", &*new[1]), ("talk.socket", &*new[2])];
    let refusals = [("talk.metrics", &*address), ("capture.spool_limit_mib", "1000000000")];
    for refusal in refusals {
        let keys = [&places[..], &[refusal]].concat();
        node.start(&keys, &[]).ended().exits(2);
        assert!(!node.path("new").exists(), "{refusal:?}: {:?}", files_under(node.path("new")));
    }
    // And one that is not refused makes all of them, for root only.
    let mut daemon = node.start(&places, &[]);
    daemon.socket = node.path("new/talk/x");
    daemon.wait_ready();
    use std::os::unix::fs::PermissionsExt;
    for made in ["new", "new/talk", "new/keep/x", "new/spool/x"] {
        assert_eq!(fs::metadata(node.path(made)).unwrap().permissions().mode() & 0o777, 0o700, "{made}");
    }
    daemon.stop().exits(0);
}

#[test]
fn doctor_checks_what_the_daemon_will_do() {
    let node = Node::playing(&rich().path);
    let (root, path) = (node.root().display().to_string(), |name: &str| node.path(name).display().to_string());
    let new = path("new/run/socket");
    let place = |name| path(&format!("new/{name}"));
    let (dir, spool) = (place("dir"), place("spool"));
    // The limits of the tests' servers: what is free on this machine decides nothing.
    let config = node.config(&[]).display().to_string();
    let base = ["--config", &config, "--root", &root, "--dir", &dir, "--spool", &spool];
    let doctor = |more: &[&str]| lioprof(&[&["doctor"], &base[..], more].concat());
    // On a fresh node no directory is there yet: it is said so, and then it is true.
    doctor(&["--socket", &new, "--metrics", "off"]).exits(0);
    assert!(!node.path("new").exists());
    let file = path("notes");
    fs::write(&file, "somebody's").unwrap();
    let run = doctor(&["--socket", &file, "--metrics", "off"]).exits(1);
    assert!(text(&run).contains("expected a socket or nothing"), "{run}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = doctor(&["--socket", &new, "--metrics", &address]).exits(1);
    assert!(text(&run).contains(&address), "{run}");
    doctor(&["--profile", "fat"]).exits(2);

    node.ctl("unload");
    let run = doctor(&["--socket", &new, "--metrics", "off"]).exits(1);
    let told = text(&run);
    assert!(told.contains("Load the modules first") && !told.contains("mount -t debugfs"), "{told}");
    let run = doctor(&["--socket", &new, "--metrics", "off", "--wait"]).exits(0);
    assert!(text(&run).contains("waits until it is"), "{run}");
}
