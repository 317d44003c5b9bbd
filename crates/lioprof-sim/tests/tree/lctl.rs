//! The stand-in for `lctl`.

use std::fs;
use std::process::{Command, Output};

use lioprof_sim::kernel::LustreVersion;
use lioprof_sim::tree::FixedStats;

use crate::reader::records;
use crate::{Server, record};

fn lctl(server: &Server, arguments: &[&str]) -> Output {
    Command::new(server.path("bin/lctl")).args(arguments).output().unwrap()
}

fn says(server: &Server, arguments: &[&str]) -> String {
    let output = lctl(server, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_capture_through_lctl_on_every_version() {
    for version in [LustreVersion::V2_10, LustreVersion::V2_15, LustreVersion::V2_17] {
        let server = Server::new(version);
        let file = server.scratch("rpc.bin");
        assert_eq!(says(&server, &["set_param", "debug_mb=200"]), "debug_mb=200\n");
        assert_eq!(says(&server, &["get_param", "debug_mb"]), "debug_mb=201\n");
        assert_eq!(says(&server, &["set_param", "-n", "debug=+rpctrace"]), "");
        assert!(says(&server, &["get_param", "-n", "debug"]).contains(" rpctrace "));
        says(&server, &["debug_daemon", "start", file.to_str().unwrap(), "64"]);
        assert_eq!(says(&server, &["get_param", "-n", "daemon_file"]).trim_end(), file.to_str().unwrap());
        server.kernel.log(&record(1));
        says(&server, &["mark", "a", "marker"]);
        says(&server, &["debug_daemon", "stop"]);
        let texts: Vec<_> = records(&fs::read(&file).unwrap()).into_iter().map(|record| record.text).collect();
        assert_eq!(texts, ["record 1\n", "DEBUG MARKER: a marker\n"], "{version}");
        let limit = "(65536kB max)";
        assert!(server.kernel.kernel_log().texts().iter().any(|line| line.ends_with(limit)), "{version}");
        server.kernel.log(&record(2));
        says(&server, &["clear"]);
        assert_eq!(server.kernel.account().total.pending.records, 0);
        assert!(says(&server, &["dl"]).contains(" UP obdfilter lustre-OST0000 lustre-OST0000_UUID "));
        assert_eq!(says(&server, &["get_param", "-n", "version"]), format!("{}\n", version.full()));
    }
}

#[test]
fn patterns_find_files_of_all_places() {
    let truth = fs::read_to_string(lioprof_testkit::files::capture("masks/server1/truth.txt")).unwrap();
    let server = Server::with_stats(LustreVersion::V2_15, FixedStats::from_get_param(&truth));
    assert_eq!(
        says(&server, &["get_param", "obdfilter.*.num_exports"]),
        "obdfilter.lustre-OST0000.num_exports=4\nobdfilter.lustre-OST0001.num_exports=4\n"
    );
    let nid = says(&server, &["get_param", "obdfilter.lustre-OST0000.exports.10.10.0.11@tcp.stats"]);
    assert!(nid.starts_with("obdfilter.lustre-OST0000.exports.10.10.0.11@tcp.stats=\nsnapshot_time "), "{nid}");
    assert!(says(&server, &["get_param", "-n", "ost.OSS.ost_io.stats"]).contains("ost_write"));
}

#[test]
fn mistakes_are_told() {
    let server = Server::new(LustreVersion::V2_17);
    let fails = |arguments: &[&str], text: &str| {
        let output = lctl(&server, arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && stderr.contains(text), "{arguments:?}: {stderr}");
    };
    fails(&["get_param", "nothing"], "No such file or directory");
    fails(&["set_param", "debug=+nonsense"], "Invalid argument");
    fails(&["debug_daemon", "start", "/tmp/x", "5"], "10-20480");
    fails(&["frobnicate"], "unknown command");
    server.write("sim/ctl", "unload").unwrap();
    fails(&["debug_daemon", "stop"], "not loaded");
}
