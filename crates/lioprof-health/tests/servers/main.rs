//! Facts and rules with the files of two real servers (Lustre 2.17.57, `fixtures/servers`), as they were and with something wrong.
#![expect(clippy::unwrap_used, reason = "tests: helpers, too, panic where something is wrong")]

mod rubbish;
mod rules;
mod site;

use lioprof_health::Status;
use site::{Site, T_US};

#[test]
fn the_facts_of_a_real_server() {
    let site = Site::new();
    let facts = site.facts(2);
    assert_eq!(facts.server, "server2");
    assert_eq!(facts.version.known().unwrap(), "2.17.57_62_gc881f8e");
    let targets = facts.targets.known().unwrap();
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["lustre-OST0002", "lustre-OST0003"]);
    let ost = &targets[0];
    assert_eq!(
        (ost.mounted.known(), ost.degraded.known(), ost.read_only.known()),
        (Some(&true), Some(&false), Some(&false))
    );
    assert_eq!(ost.recovery.known().unwrap().status, "COMPLETE");
    let space = ost.space.known().unwrap();
    assert_eq!((space.total_kib, space.available_kib), (5_952_300, 5_021_288));
    assert_eq!((space.inodes, space.free_inodes), (16_512, 16_118));
    let disk = ost.disk_io.known().unwrap();
    assert_eq!(disk.fragments.writes.iter().collect::<Vec<_>>(), [(&1, &39), (&2, &5)]);
    assert_eq!(disk.sizes.reads.iter().collect::<Vec<_>>(), [(&(1 << 20), &3), (&(4 << 20), &2)]);
    let service = facts.services.known().unwrap().iter().find(|service| service.name == "ost.OSS.ost_io").unwrap();
    assert_eq!((service.threads_started.known(), service.threads_max.known()), (Some(&15), Some(&74)));
    assert_eq!(service.policies.known().unwrap(), &[]);
    let lnet = facts.lnet.known().unwrap();
    assert_eq!(lnet.interfaces.len(), 2);
    assert_eq!((lnet.errors, lnet.received, lnet.dropped), (Some(0), Some(4094), Some(2)));
    // Up for 39 minutes, with a few errors of the mounts.
    let log = facts.kernel_log.known().unwrap();
    assert_eq!((log.covers_s, log.cut), (2318, false));
    assert_eq!(log.messages.len(), 1, "{log:?}");
    assert!(
        facts
            .settings
            .iter()
            .any(|it| it.name == "obdfilter.*.brw_size" && it.target == "lustre-OST0003" && it.value == "4")
    );
    assert_eq!(facts.time_us, T_US);
}

#[test]
fn nothing_is_wrong_with_the_real_servers() {
    let report = Site::new().report();
    let wrong: Vec<_> = report.results.iter().filter(|result| result.status < Status::Unknown).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(report.servers, ["server1", "server2"]);
    assert!(report.results.iter().filter(|result| result.status == Status::Ok).count() > 14, "{report:?}");
}

#[test]
fn facts_pass_through_json() {
    let facts = Site::new().facts(1);
    let json = serde_json::to_string(&facts).unwrap();
    assert_eq!(serde_json::from_str::<lioprof_health::ServerFacts>(&json).unwrap(), facts);
    assert!(json.contains(r#""schema":"lioprof.facts/1""#), "{json}");
}
