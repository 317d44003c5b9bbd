//! What a selection of clients, jobs, opcodes and times leaves of the account of the time.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

use std::time::Duration;

use lioprof_analysis::{Analysis, Bound, Config, Selection, analyze};
use lioprof_model::{SpentOn, TimeOf};
use lioprof_testkit::files;
use lustre_debuglog::Opcode;

const CLIENTS: [&str; 2] = ["10.10.0.11@tcp", "10.10.0.12@tcp"];

fn selected(selection: Selection) -> Analysis {
    let config = Config { selection, ..Config::default() };
    analyze(&[files::fixture("captures/lock_pingpong_dlm")], &config, None).unwrap().analysis
}

fn of<'a>(all: &'a [TimeOf], name: &str) -> Option<&'a TimeOf> {
    all.iter().find(|it| it.name == name)
}

#[test]
fn waits_of_other_clients_are_not_in_the_account() {
    let whole = selected(Selection::default()).time_account;
    for client in CLIENTS {
        let one = selected(Selection { clients: vec![client.parse().unwrap()], ..Selection::default() }).time_account;
        let wanted = of(&whole.clients, client).unwrap();
        assert!(wanted.us_on(SpentOn::LockWait) > 0, "{wanted:?}");
        let names: Vec<&str> = one.clients.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, [client]);
        // All of the selected clients' time is that of this one. The fewer clients there are, the finer is the time divided.
        for got in [of(&one.clients, client).unwrap(), one.all.as_ref().unwrap()] {
            let (got, wanted) = (got.us_on(SpentOn::LockWait) as f64, wanted.us_on(SpentOn::LockWait) as f64);
            assert!((got / wanted - 1.0).abs() < 0.15, "{client}: {got} of {wanted}");
        }
    }
}

#[test]
fn waits_of_other_jobs_and_of_other_requests_are_not_in_the_account() {
    let none = Selection { jobs: vec!["no.such.job".to_owned()], ..Selection::default() };
    assert_eq!(selected(none).time_account.all, None);
    let writes = Selection { opcodes: vec![Opcode::OST_WRITE], ..Selection::default() };
    assert_eq!(selected(writes).time_account.all.unwrap().us_on(SpentOn::LockWait), 0);
    let enqueues = Selection { opcodes: vec![Opcode::LDLM_ENQUEUE], ..Selection::default() };
    assert!(selected(enqueues).time_account.all.unwrap().us_on(SpentOn::LockWait) > 0);
}

#[test]
fn what_was_under_way_counts_from_the_chosen_time_on() {
    let log = [files::fixture("captures/lock_pingpong_dlm")];
    let from = |from| analyze(&log, &Config { from, ..Config::default() }, None).unwrap().analysis;
    let window = from(None).window;
    let us = |unix_s: f64| i64::try_from((Duration::from_secs_f64(unix_s).as_nanos() + 500) / 1_000).unwrap();
    let [first_us, last_us] = [us(window.start), us(window.end)];
    let mut cut = 0;
    for part in 1..20 {
        let from_us = first_us + (last_us - first_us) * part / 20;
        let Some(all) = from(Some(Bound::Time(from_us))).time_account.all else { continue };
        let begins_us = us(all.first);
        assert!(begins_us >= from_us, "{begins_us} {from_us}");
        assert_eq!(all.spent.iter().map(|spent| spent.us).sum::<u64>(), all.span_us);
        cut += usize::from(begins_us == from_us);
    }
    assert!(cut > 3, "{cut}");
}
