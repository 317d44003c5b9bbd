//! Something is wrong with a host before anything was changed.

use std::fs;

use lioprof_testkit::sshd::make_key;

use super::site::Site;

/// Refused without a change, and possible without the host.
fn without_the_second(site: &Site, says: &[&str]) {
    let refused = site.record(&["--for", "1s"]).exits(2).says(&["nothing has been changed", "oss2", "--partial"]);
    refused.says(says);
    assert!(!site.output().exists());
    site.is_as_before();
    assert!(site.hosts.iter().all(super::site::Host::is_clean));
    site.record(&["--for", "2s", "--partial"])
        .exits(1)
        .says(&["going on without 1 host", "oss2: took no part"])
        .says(says);
    site.is_as_before();
    let reported = site.reported();
    assert!(reported.len() == 1 && reported[0].0 == "oss1", "{reported:?}");
    let warnings = site.report()["warnings"].to_string();
    assert!(warnings.contains("oss2: took no part"), "{warnings}");
}

#[test]
fn another_version() {
    let site = Site::new(2);
    site.hosts[1].replace_lioprof(
        "#!/bin/sh\necho '{\"schema\":\"lioprof.agent/9\",\"version\":\"9.9.9\",\"rows\":\"lioprof.rows/1\"}'\ncat\n",
    );
    without_the_second(&site, &["lioprof 9.9.9 is there"]);
}

#[test]
fn a_version_that_knows_no_agents() {
    let site = Site::new(2);
    site.hosts[1].replace_lioprof("#!/bin/sh\necho \"error: unrecognized subcommand 'agent'\" >&2\nexit 2\n");
    site.record(&["--for", "1s"]).exits(2).says(&["unrecognized subcommand 'agent'", "--push"]);
    site.is_as_before();
}

#[test]
fn a_wrong_key() {
    let site = Site::new(2);
    let wrong = site.path("wrong");
    make_key(&wrong);
    let config = fs::read_to_string(site.client.config()).unwrap();
    let (before, block) = config.split_once("Host oss2\n").unwrap();
    let [right, wrong] = [&site.client.key(), &wrong].map(|key| key.display().to_string());
    fs::write(site.client.config(), format!("{before}Host oss2\n{}", block.replacen(&right, &wrong, 1))).unwrap();
    without_the_second(&site, &["Permission denied"]);
}

#[test]
fn somebody_elses_debug_daemon() {
    let site = Site::new(2);
    site.hosts[1].node.write("daemon_file", &site.path("theirs.bin").display().to_string());
    let refused = site.record(&["--for", "1s"]).exits(2).says(&["oss2", "debug daemon"]);
    assert!(!refused.stderr.contains("oss1"), "{refused}");
    assert!(!site.hosts[0].is_traced() && site.hosts[0].is_clean());
}

#[test]
fn two_hosts_of_one_name() {
    let site = Site::with(2, |_| vec![("node.name", "\"twin\"")]);
    site.record(&["--for", "1s"]).exits(2).says(&["calls itself `twin`", "node.name"]);
    site.is_as_before();
}
