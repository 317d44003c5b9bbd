//! Each rule fires if something is wrong; `nothing_is_wrong_with_the_real_servers` shows that it does not otherwise.

use lioprof_health::Status::{Critical, Ok, Unknown, Warning};
use lioprof_health::{ClientIo, DiskHistogram, Fact, LastSurvey, Status, SurveyFacts, Watch, judge};

use crate::site::Site;

const OST2: &str = "sys/fs/lustre/obdfilter/lustre-OST0002";
const OST_IO: &str = "sys/fs/lustre/ost/OSS/ost_io";

#[test]
fn health_and_targets() {
    let site = Site::new();
    site.put(2, "sys/fs/lustre/health_check", "device lustre-OST0002 reported unhealthy\nNOT HEALTHY\n");
    site.expect("health", Critical, "server2: device lustre-OST0002 reported unhealthy, NOT HEALTHY");
    let site = Site::new();
    site.change(2, "sys/kernel/debug/lustre/devices", "UP obdfilter lustre-OST0003", "ST obdfilter lustre-OST0003");
    site.expect("targets", Critical, "server2 lustre-OST0003: state ST");
    let site = Site::new();
    site.change(2, "proc/mounts", "svname=lustre-OST0003", "svname=other-OST0003");
    site.expect("targets", Critical, "lustre-OST0003: has a device, but is not in /proc/mounts");
}

#[test]
fn flags_of_targets() {
    let site = Site::new();
    site.put(2, &format!("{OST2}/degraded"), "1\n");
    site.expect("degraded", Warning, "1 of 4 OSTs server2 lustre-OST0002: degraded=1");
    let site = Site::new();
    site.put(1, "sys/fs/lustre/mdt/lustre-MDT0000/readonly", "1\n");
    site.expect("read_only", Critical, "server1 lustre-MDT0000: readonly=1");
}

#[test]
fn recovery_in_all_its_states() {
    let file = "sys/kernel/debug/lustre/obdfilter/lustre-OST0002/recovery_status";
    let site = Site::new();
    site.put(2, file, "status: RECOVERING\nrecovery_start: 1795540856\ntime_remaining: 91\nconnected_clients: 3/8\n");
    site.expect("recovery", Critical, "lustre-OST0002: RECOVERING, 3/8 clients, 91 s left");
    site.put(2, file, "status: WAITING_FOR_CLIENTS\n");
    site.expect("recovery", Critical, "WAITING_FOR_CLIENTS");
    site.put(2, file, "status: INACTIVE\n");
    site.expect("recovery", Ok, "targets in recovery 5 targets");
    site.put(2, file, "");
    site.expect("recovery", Unknown, "4 targets fine, 1 not known");
}

#[test]
fn osts_that_an_mdt_has_lost() {
    let file = "sys/kernel/debug/lustre/lod/lustre-MDT0000-mdtlov/target_obd";
    let site = Site::new();
    // As lod_tgts_seq_show of lod/lproc_lod.c prints it.
    site.put(
        1,
        file,
        "0: lustre-OST0000_UUID ACTIVE\n1: lustre-OST0001_UUID ACTIVE\n2: lustre-OST0002_UUID INACTIVE\n",
    );
    site.expect("mdt_osts", Critical, "server1 lustre-MDT0000: lustre-OST0002 is INACTIVE");
    site.put(1, file, "0: lustre-OST0000_UUID ACTIVE\n");
    site.expect("mdt_osts", Ok, "1 MDT-to-OST connection");
    // An OST that was unmounted stays ACTIVE; lines of a real server, 2.17.57.
    let import = "sys/kernel/debug/lustre/osp/lustre-OST0000-osc-MDT0000/import";
    let text = |state: &str| {
        format!("import:\n    name: lustre-OST0000-osc-MDT0000\n    target: lustre-OST0000_UUID\n    state: {state}\n")
    };
    site.put(1, import, &text("DISCONN"));
    site.expect("mdt_osts", Critical, "server1 lustre-MDT0000: the connection to lustre-OST0000 is DISCONN");
    site.put(1, import, &text("FULL"));
    site.expect("mdt_osts", Ok, "1 MDT-to-OST connection");
}

#[test]
fn room() {
    let all = ["sys/fs/lustre/obdfilter/lustre-OST000", "sys/fs/lustre/osd-ldiskfs/lustre-OST000"];
    let site = Site::new();
    site.put(2, &format!("{OST2}/filesfree"), "100\n");
    site.expect("inodes", Critical, "lustre-OST0002: 0.6 % free (100)");
    let site = Site::new();
    // All alike, so that only the space itself is wrong.
    for (server, ost) in [(1, 0), (1, 1), (2, 2), (2, 3)] {
        site.put(server, &format!("{}{ost}/kbytesavail", all[0]), "500000\n");
    }
    site.expect("space", Warning, "4 OST");
    let site = Site::new();
    site.put(2, &format!("{OST2}/kbytesavail"), "3000000\n");
    site.expect("balance", Warning, "lustre-OST0002");
    site.put(2, &format!("{OST2}/kbytesavail"), "4500000\n");
    site.expect("balance", Ok, "at most");
}

#[test]
fn the_kernel_log() {
    let site = Site::new();
    site.log(2, "Lustre: lustre-OST0002: haven't heard from client f795f7df (at 10.10.0.12@tcp) in 160 seconds. I think it's dead, and I am evicting it. exp 0");
    site.expect("evictions", Warning, "server2: 1 eviction, last at");
    let site = Site::new();
    site.log(1, "LDISKFS-fs error (device vdc): ldiskfs_lookup:1707: inode #2: comm ll_ost: bad");
    site.expect("kernel_severe", Critical, "server1: 1 disk error");
    let site = Site::new();
    site.log(2, "LustreError: 4711:0:(ldlm_lock.c:251:ldlm_lock_put()) ASSERTION( lock->l_resource != NULL ) failed: ");
    site.log(2, "LustreError: 4711:0:(ldlm_lock.c:251:ldlm_lock_put()) LBUG");
    site.expect("kernel_severe", Critical, "server2: 2 LBUGs");
    let site = Site::new();
    (0..12).for_each(|number| site.log(1, &format!("LNetError: 5:0:(lib-move.c:1:f()) no route {number}")));
    site.expect("kernel_errors", Warning, "server1: 12 LNetErrors");
}

#[test]
fn lnet() {
    let nis = "sys/kernel/debug/lnet/nis";
    let site = Site::new();
    site.change(2, nis, "10.10.0.2@tcp                up ", "10.10.0.2@tcp              down ");
    site.expect("lnet_interfaces", Critical, "server2: 10.10.0.2@tcp is down");
    let site = Site::new();
    site.change(
        1,
        "sys/kernel/debug/lnet/peers",
        "10.10.0.12@tcp              1    NA",
        "10.10.0.12@tcp              1  down",
    );
    site.expect("lnet_interfaces", Warning, "server1: peers down: 10.10.0.12@tcp");
    let site = Site::new();
    site.put(2, "sys/kernel/debug/lnet/stats", "0 12 0 4101 4094 0 200 219376256 637407304 0 1040\n");
    site.expect("lnet_drops", Warning, "200 of 4094 messages dropped (4.89 %)");
}

#[test]
fn schedulers_and_threads() {
    let policies = "sys/kernel/debug/lustre/ost/OSS/ost_io/nrs_policies";
    let site = Site::new();
    site.change(2, policies, "name: tbf\n    state: stopped", "name: tbf jobid\n    state: started");
    let rules = "regular_requests:\nCPT 0:\nslow jobid={dd.0} 100, ref 0\ndefault * 10000, ref 0\n";
    site.put(2, "sys/kernel/debug/lustre/ost/OSS/ost_io/nrs_tbf_rule", rules);
    site.expect("nrs", Warning, "server2: ost.OSS.ost_io: tbf jobid with 1 rule: slow jobid={dd.0} 100");
    let site = Site::new();
    site.put(2, &format!("{OST_IO}/threads_started"), "74\n");
    site.expect("threads", Warning, "server2: ost.OSS.ost_io: 74 of 74 threads started");
}

#[test]
fn servers_that_differ() {
    let site = Site::new();
    site.put(2, &format!("{OST2}/sync_journal"), "1\n");
    site.expect("alike", Warning, "obdfilter.*.sync_journal: 1 on lustre-OST0002; 0 on");
    // An MDS with OSTs and an OSS are of different kinds: their kernels may differ, but not their timeouts.
    let site = Site::new();
    site.put(2, "proc/sys/kernel/osrelease", "6.1.0-57-amd64\n");
    site.expect("alike", Ok, "settings");
    site.put(2, "sys/fs/lustre/timeout", "300\n");
    site.expect("alike", Warning, "timeout: 300 on server2; 100 on server1");
}

#[test]
fn disk_io_in_pieces() {
    let brw = "sys/kernel/debug/lustre/osd-ldiskfs/lustre-OST0002/brw_stats";
    let site = Site::new();
    site.change(
        2,
        brw,
        "39  88  88\n2:\t\t         1  25 100   |    5  11 100",
        "9  88  88\n2:\t\t         1  25 100   |   35  11 100",
    );
    site.expect("disk_io", Warning, "80 % of 44 writes in several disk I/Os");
}

/// The facts of both servers after their OSTs did this much.
fn watched(times: [&[(u64, u64)]; 4]) -> Vec<lioprof_health::ServerFacts> {
    let site = Site::new();
    let mut servers = vec![site.facts(1), site.facts(2)];
    let mut times = times.into_iter();
    for facts in &mut servers {
        let Fact::Known(targets) = &mut facts.targets else { panic!("targets") };
        for target in targets.iter_mut().filter(|target| target.kind == "ost") {
            let writes = times.next().unwrap().iter().copied().collect();
            target.watched =
                Some(Fact::Known(DiskHistogram { watched_ms: 60_000, writes, ..DiskHistogram::default() }));
        }
    }
    servers
}

fn latency(times: [&[(u64, u64)]; 4]) -> (Status, String) {
    let report = judge(watched(times), Vec::new());
    let result = report.results.iter().find(|result| result.id == "disk_latency").unwrap();
    (
        result.status,
        result.details.first().map(|detail| format!("{} {}", detail.target, detail.found)).unwrap_or_default(),
    )
}

#[test]
fn a_disk_that_is_slower_than_its_peers() {
    let usual: &[(u64, u64)] = &[(8, 40), (16, 50), (32, 10)];
    let (status, found) = latency([usual, usual, &[(32, 40), (64, 50), (128, 10)], usual]);
    assert_eq!(status, Warning);
    assert!(found.starts_with("lustre-OST0002 57.6 ms per disk I/O, 4.0 times the other OSTs' 14.4 ms"), "{found}");
    assert_eq!(latency([usual, usual, &[(8, 30), (16, 40), (32, 30)], usual]).0, Ok);
    // A single I/O proves nothing, and none even less.
    assert_eq!(latency([usual, usual, &[(32, 1)], usual]).0, Ok);
    assert_eq!(latency([usual, usual, &[], usual]).0, Unknown);
}

#[test]
fn watching_takes_the_difference() {
    let brw = "sys/kernel/debug/lustre/osd-ldiskfs/lustre-OST0002/brw_stats";
    let site = Site::new();
    let watch = Watch::begin(&site.root(2));
    site.change(2, brw, "|    9  20  31\n32:", "|   19  20  31\n32:");
    let mut facts = site.facts(2);
    watch.end(&mut facts);
    let of = |name: &str| {
        let target = facts.targets.known().unwrap().iter().find(|target| target.name == name).unwrap();
        target.watched.clone().unwrap()
    };
    let times = of("lustre-OST0002");
    assert_eq!(times.known().unwrap().writes.iter().filter(|it| *it.1 > 0).collect::<Vec<_>>(), [(&16, &10)]);
    let watch = Watch::begin(&site.root(2));
    site.put(2, brw, "cleared");
    watch.end(&mut facts);
    let target = &facts.targets.known().unwrap()[0];
    assert!(matches!(&target.watched, Some(Fact::Unknown(why)) if why.contains("cleared")), "{target:?}");
}

/// Both servers surveyed, with these MiB/s of writes by OST; before, OST0001 wrote twice as much as the second figure.
fn surveyed(mib_per_s: [u64; 4]) -> Vec<lioprof_health::ServerFacts> {
    let site = Site::new();
    let mut servers = vec![site.facts(1), site.facts(2)];
    let bandwidths = |mib: u64| [("write".to_owned(), mib << 20), ("read".to_owned(), 500 << 20)].into();
    for (number, facts) in servers.iter_mut().enumerate() {
        let osts = (2 * number..2 * number + 2).map(|ost| (format!("lustre-OST000{ost}"), bandwidths(mib_per_s[ost])));
        facts.survey = Some(Fact::Known(SurveyFacts { osts: osts.collect(), ..SurveyFacts::default() }));
    }
    servers
}

fn of_survey(servers: Vec<lioprof_health::ServerFacts>, id: &str) -> Option<(Status, String)> {
    let report = judge(servers, Vec::new());
    let result = report.results.iter().find(|result| result.id == id)?;
    let detail = result.details.first().map(|it| format!("{} {} {}", it.server, it.target, it.found));
    Some((result.status, detail.unwrap_or_else(|| result.found.clone())))
}

#[test]
fn an_ost_that_delivers_less_than_its_peers() {
    assert_eq!(of_survey(vec![Site::new().facts(1)], "survey_peers"), None);
    let (status, found) = of_survey(surveyed([133, 138, 60, 140]), "survey_peers").unwrap();
    assert_eq!(
        (status, found.as_str()),
        (Warning, "server2 lustre-OST0002 write 60.0 MiB/s, the others 2.3 times as much")
    );
    let fine = of_survey(surveyed([133, 138, 110, 140]), "survey_peers").unwrap();
    assert_eq!(fine, (Ok, "least: write 110 MiB/s on lustre-OST0002".to_owned()));
    let mut servers = surveyed([133, 138, 110, 140]);
    servers[1].survey = Some(Fact::Unknown("not surveyed: clients".to_owned()));
    assert_eq!(of_survey(servers, "survey_peers").unwrap(), (Unknown, "server2  not surveyed: clients".to_owned()));
}

#[test]
fn an_ost_that_delivers_less_than_last_time() {
    let mut servers = surveyed([133, 70, 110, 140]);
    assert_eq!(of_survey(servers.clone(), "survey_last"), None);
    let Some(Fact::Known(survey)) = &mut servers[0].survey else { panic!("survey") };
    let last = |write: u64| ("lustre-OST0001".to_owned(), [("write".to_owned(), write << 20)].into());
    survey.last = Some(LastSurvey { name: "then.json".to_owned(), osts: [last(140)].into() });
    let found = "server1 lustre-OST0001 write 50 % less: 70.0 MiB instead of 140 MiB/s than in then.json".to_owned();
    assert_eq!(of_survey(servers.clone(), "survey_last").unwrap(), (Warning, found));
    let Some(Fact::Known(survey)) = &mut servers[0].survey else { panic!("survey") };
    survey.last = Some(LastSurvey { name: "then.json".to_owned(), osts: [last(80)].into() });
    assert_eq!(of_survey(servers, "survey_last").unwrap().0, Ok);
}

#[test]
fn clients_that_write_are_not_idle() {
    let site = Site::new();
    let stats = "sys/kernel/debug/lustre/obdfilter/lustre-OST0002/stats";
    let counters =
        |writes: u64| format!("snapshot_time 1.0 secs.nsecs\nwrite_bytes {writes} samples [bytes] 1 1 1 1\n");
    site.put(2, stats, &counters(7));
    let before = ClientIo::so_far(&site.root(2)).requests;
    site.put(2, stats, &counters(12));
    assert_eq!(ClientIo::so_far(&site.root(2)).requests - before, 5);
}
