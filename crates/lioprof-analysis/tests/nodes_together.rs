//! Sums of nodes that are read at once and added up as they come are those of nodes that are read one by one and wait for each other.
#![expect(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

use std::path::PathBuf;
use std::time::Duration;

use lioprof_analysis::{Config, analyze};
use lioprof_model::{Analysis, ClockReading};
use lioprof_testkit::files::{fixture, folders_in};

fn analyzed(captures: &[PathBuf], config: Config) -> Analysis {
    analyze(captures, &config, None).unwrap().analysis
}

#[test]
fn sums_do_not_depend_on_when_they_are_added_up() {
    let mut of_several = 0;
    for capture in folders_in(fixture("captures")) {
        let apart = analyzed(std::slice::from_ref(&capture), Config::default());
        for (threads, nodes_apart) in [(1, 0), (2, 0), (3, 8)] {
            let config = Config { threads, nodes_apart, ..Config::default() };
            assert_eq!(analyzed(std::slice::from_ref(&capture), config), apart, "{} {threads}", capture.display());
        }
        of_several += u32::from(apart.nodes.len() > 1);
    }
    assert!(of_several > 5, "{of_several}");
}

#[test]
fn a_wrong_clock_is_corrected_when_all_have_been_added_up() {
    let capture = [fixture("captures").join("shared_read_all_osts")];
    let true_clocks = analyzed(&capture, Config::default());
    let last_us = 1_000_000 * i64::try_from(Duration::from_secs_f64(true_clocks.window.end).as_secs()).unwrap();
    // As if the second server had been three seconds ahead.
    let reading = |ahead_us| vec![ClockReading { at_us: last_us, ahead_us, error_us: 100 }];
    let clocks = [("server1".to_owned(), reading(0)), ("server2".to_owned(), reading(3_000_000))];
    let config =
        |threads, nodes_apart| Config { clocks: clocks.clone().into(), threads, nodes_apart, ..Config::default() };
    let apart = analyzed(&capture, config(1, 8));
    assert!(apart.nodes.iter().any(|node| node.clock_aligned), "{:?}", apart.nodes);
    for (threads, nodes_apart) in [(1, 1), (2, 1), (2, 8)] {
        assert_eq!(analyzed(&capture, config(threads, nodes_apart)), apart, "{threads} {nodes_apart}");
    }
}
