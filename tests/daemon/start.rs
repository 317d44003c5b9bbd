//! What keeps a daemon from starting: it says what and where, ends with 2 and changes nothing.

use std::ffi::CStr;
use std::fs;
use std::net::TcpListener;

use rustix::mount::{MountFlags, mount_bind, mount_remount};

use super::fixture::rich;
use super::node::{Keys, Node};
use super::tmpfs::Tmpfs;
use crate::util::lioprof;

/// A daemon that is refused; what it says must contain all of `parts`.
#[track_caller]
fn refused(node: &Node, keys: Keys<'_>, parts: &[&str]) {
    let before = node.settings();
    node.start(keys, &[]).ended().exits(2).says(parts);
    assert_eq!(node.settings(), before);
    assert!(!node.path("keep/journal.json").exists());
}

#[test]
fn errors_of_the_configuration_name_file_line_and_key() {
    let node = Node::playing(&rich().path);
    let before = node.settings();
    let path = node.path("bad.toml");
    let name = path.display().to_string();
    let cases: [(&str, &[&str]); 6] = [
        ("[capture]\nprofle = \"full\"\n", &["line 2", "profle"]),
        ("[capture]\n\nprofile = \"fat\"\n", &["line 3", "profile", "fat"]),
        ("[keep]\ndir = \"relative\"\nfile_mib = 0\n", &["line 2: keep.dir", "line 3: keep.file_mib"]),
        ("[capture]\nrotate = 10\n", &["line 2", "rotate", "\"10s\""]),
        ("[budget\n", &["line 1"]),
        (
            "[capture]\nsegment_mib = 100\nspool_limit_mib = 200\n",
            &["line 3: capture.spool_limit_mib", "400", "capture.segment_mib lowered to 50"],
        ),
    ];
    for (text, parts) in cases {
        fs::write(&path, text).unwrap();
        lioprof(&["daemon", "--config", &name]).exits(2).says(&[&name]).says(parts);
    }
    lioprof(&["daemon", "--config", "/nonexistent/lioprof.toml"]).exits(2).says(&["/nonexistent/lioprof.toml"]);
    lioprof(&["daemon", "--profile", "fat"]).exits(2).says(&["auto, full or light", "fat"]);
    lioprof(&["daemon", "--for", "soon"]).exits(2).says(&["soon"]);
    lioprof(&["daemon", "--until", "tomorrow"]).exits(2).says(&["tomorrow"]);
    assert_eq!(node.settings(), before);
}

#[test]
fn directories_that_cannot_be_written() {
    let node = Node::playing(&rich().path);
    let locked = node.path("locked");
    fs::create_dir(&locked).unwrap();
    let _disk = Tmpfs::mount(&locked, 1024);
    // Root may write everywhere but on a file system that is read-only.
    mount_bind(&locked, &locked).unwrap();
    mount_remount(&locked, MountFlags::BIND | MountFlags::RDONLY, c"" as &CStr).unwrap();
    let below = format!("\"{}\"", locked.join("data").display());
    refused(&node, &[("keep.dir", &below)], &["locked/data"]);
    refused(&node, &[("capture.spool_dir", &below)], &["locked/data"]);
    let there = format!("\"{}\"", locked.display());
    refused(&node, &[("keep.dir", &there)], &["locked"]);
    refused(&node, &[("capture.spool_dir", &there)], &["locked"]);
    // A file where a directory should be.
    let file = node.path("file");
    fs::write(&file, "").unwrap();
    let below = format!("\"{}\"", file.join("x").display());
    refused(&node, &[("keep.dir", &below)], &["file/x"]);
    refused(&node, &[("talk.socket", &below)], &["file"]);
    rustix::mount::unmount(&locked, rustix::mount::UnmountFlags::DETACH).unwrap();
}

#[test]
fn a_disk_without_room() {
    let node = Node::playing(&rich().path);
    let small = node.path("small");
    fs::create_dir(&small).unwrap();
    let _disk = Tmpfs::mount(&small, 8192);
    let dir = format!("\"{}\"", small.display());
    refused(&node, &[("keep.dir", &dir)], &["data directory", "small", "keep.file_mib"]);
    refused(&node, &[("capture.spool_dir", &dir)], &["capture.spool_limit_mib"]);
}

#[test]
fn the_port_of_the_metrics_is_taken() {
    let node = Node::playing(&rich().path);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&node, &[("talk.metrics", &format!("\"{address}\""))], &[&address, "talk.metrics"]);
    drop(taken);
}

#[test]
fn the_socket_is_something_else() {
    let node = Node::playing(&rich().path);
    fs::write(node.socket(), "somebody's notes").unwrap();
    refused(&node, &[], &["socket"]);
    assert_eq!(fs::read_to_string(node.socket()).unwrap(), "somebody's notes");
}

#[test]
fn a_journal_that_cannot_be_read_is_not_thrown_away() {
    let node = Node::playing(&rich().path);
    let journal = node.keep().join("journal.json");
    fs::write(&journal, "rubbish").unwrap();
    let before = node.settings();
    node.start(&[], &[]).ended().exits(2).says(&["journal.json"]);
    assert_eq!(node.settings(), before);
    assert_eq!(fs::read_to_string(&journal).unwrap(), "rubbish");
}
