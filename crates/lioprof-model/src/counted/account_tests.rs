//! What is compared with a counter, whatever happens to it and whenever it is read.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::ledger::lost;
use super::*;
use crate::counters::{Count, Reading};
use crate::io::ReadWrite;

fn time(begun_us: i64, ended_us: i64) -> SampleTime {
    SampleTime { begun_us, ended_us }
}

fn parts<C: Counter>(counter: Option<C>) -> Parts<C> {
    counter.map(|counter| (Arc::from("t"), counter)).into_iter().collect()
}

/// An account whose samples are these: number of the stretch, time, what is shown.
fn account<C: Counter>(samples: &[(u64, i64, Option<C>)]) -> Account<C, u64> {
    let (mut account, mut stretch) = (Account::default(), None);
    for &(of, at_us, shown) in samples {
        let begins = stretch.replace(of) != Some(of);
        account.sample(Step { at: time(at_us, at_us + 5), begins, ..Step::default() }, parts(shown));
    }
    account.end();
    account
}

/// Runs: from, to; and what was counted in all of them.
fn runs(samples: &[(u64, i64, Option<u64>)]) -> (Vec<(i64, i64)>, u64) {
    let account = account(samples);
    (account.runs.iter().map(|run| (run.from.begun_us, run.to.begun_us)).collect(), account.counted)
}

#[test]
fn samples_are_joined_as_long_as_the_counter_goes_up() {
    assert_eq!(runs(&[(0, 10, Some(100)), (0, 20, Some(150)), (0, 30, Some(170))]), (vec![(10, 30)], 70));
    // The kernel does not show a counter before its first request.
    assert_eq!(runs(&[(0, 10, None), (0, 20, None), (0, 30, Some(43)), (0, 40, Some(50))]), (vec![(10, 40)], 50));
}

#[test]
fn what_a_cleared_or_vanished_counter_had_is_not_guessed() {
    assert_eq!(
        runs(&[(0, 10, Some(100)), (0, 20, Some(150)), (0, 30, Some(5)), (0, 40, Some(25))]),
        (vec![(10, 20), (30, 40)], 50 + 20)
    );
    // It counts from 0 again when it comes back.
    assert_eq!(
        runs(&[(0, 10, Some(100)), (0, 20, Some(150)), (0, 30, None), (0, 40, Some(5)), (0, 50, Some(6))]),
        (vec![(10, 20), (30, 50)], 50 + 6)
    );
}

#[test]
fn stretches_of_tracing_are_counted_apart() {
    let samples = [(0, 10, Some(100)), (0, 20, Some(150)), (1, 60, Some(900)), (1, 70, Some(910))];
    assert_eq!(runs(&samples), (vec![(10, 20), (60, 70)], 50 + 10));
}

#[test]
fn what_happens_to_counters_is_counted_or_doubted() {
    const S: i64 = 1_000_000;
    let shown = |bytes: u64, start_s: Option<i64>| {
        let count = Count { rpcs: bytes / 10, bytes };
        let rw = ReadWrite { read: count, write: count };
        Some(Reading { rw, operations: 2 * count.rpcs, start_us: start_s.map(|s| s * S) })
    };
    let (old, new) = (Some(0), Some);
    type Case<'a> = (&'a str, &'a [Option<Reading>], u64, Option<Doubt>);
    let cases: &[Case<'_>] = &[
        ("grows", &[shown(100, old), shown(150, old), shown(400, old)], 300, None),
        ("does nothing", &[shown(100, old), shown(100, old)], 0, None),
        ("appears, old version", &[None, shown(70, None), shown(90, None)], 90, None),
        ("appears, new version", &[None, shown(70, new(2)), shown(90, new(2))], 90, None),
        ("seen late", &[None, shown(70, old), shown(90, old)], 20, Some(Doubt::SeenLate)),
        ("cleared, old version", &[shown(100, None), shown(30, None), shown(50, None)], 20, Some(Doubt::Reset)),
        ("cleared, grown above", &[shown(100, old), shown(130, new(2))], 0, Some(Doubt::Reset)),
        ("cleared while it was 0", &[shown(0, old), shown(30, new(2))], 0, Some(Doubt::Reset)),
        ("expires", &[shown(100, old), shown(150, old), None], 50, Some(Doubt::Vanished)),
        ("expires, comes back", &[shown(100, old), None, shown(40, new(3))], 40, Some(Doubt::Vanished)),
    ];
    for (what, shown, bytes, doubt) in cases {
        let samples: Vec<_> = (1..).map(|s| s * S).zip(*shown).map(|(at_us, shown)| (0, at_us, *shown)).collect();
        let account = account(&samples);
        assert_eq!((account.counted.read.bytes, account.doubt), (*bytes, *doubt), "{what}");
        assert_eq!(account.counted.read, account.counted.write, "{what}");
    }
}

/// Requests that are inside, and at an edge, of one that was handled from `first_us` to `last_us`.
fn placed(account: &Account<u64, u64>, first_us: i64, last_us: i64) -> (u64, u64) {
    let mut account = account.clone();
    if let Some(sum) = account.request(first_us, last_us) {
        *sum += 1;
    }
    account.end();
    (account.inside, account.edge)
}

#[test]
fn a_request_counts_between_the_samples_and_is_in_doubt_while_one_is_taken() {
    let mut both = Account::default();
    let mut sample = |begins, begun_us, ended_us| {
        let step = Step { at: time(begun_us, ended_us), begins, ..Step::default() };
        both.sample(step, parts(Some(7)));
    };
    sample(true, 100, 110);
    sample(false, 200, 220);
    sample(true, 300, 310);
    sample(false, 400, 410);
    sample(false, 500, 510);
    for (what, first_us, last_us, expected) in [
        ("before", 10, 99, (0, 0)),
        ("ends while the first sample is taken", 90, 105, (0, 1)),
        ("begins and ends while it is taken", 103, 104, (0, 1)),
        ("begins before, ends behind it", 90, 150, (0, 1)),
        ("between", 111, 199, (1, 0)),
        ("begins before the last sample, ends while it is taken", 150, 210, (0, 1)),
        ("begins and ends while the last sample is taken", 201, 219, (0, 1)),
        ("longer than the stretch", 90, 230, (0, 1)),
        ("in the pause", 230, 290, (0, 0)),
        ("over the pause", 150, 350, (0, 1)),
        ("at a sample in the middle", 311, 450, (1, 0)),
        ("while tracing goes on", 505, 600, (0, 1)),
        ("after the last sample", 511, 600, (0, 0)),
    ] {
        assert_eq!(placed(&both, first_us, last_us), expected, "{what}");
    }
    assert_eq!(placed(&Account::default(), 1, 2), (0, 0), "no sample yet");
}

#[test]
fn a_client_that_came_and_went_with_its_target_is_not_compared() {
    let mut clients: Accounts<Vec<u8>, u64, u64> = Accounts::default();
    let nobody = || std::iter::empty::<(Vec<u8>, Arc<str>, u64)>();
    clients.sample(Step { at: time(10, 15), begins: true, ..Step::default() }, nobody());
    *clients.request(&b"10.0.0.1@tcp"[..], 20, 30).unwrap() += 1;
    clients.sample(Step { at: time(40, 45), gone: true, ..Step::default() }, nobody());
    clients.end();
    let (name, account) = clients.by_key.iter().next().unwrap();
    assert_eq!((&name[..], account.is_compared(), account.inside), (&b"10.0.0.1@tcp"[..], false, 0));
    assert_eq!(account.doubt, Some(Doubt::Vanished));
}

/// A request: handled from .. to, counted at, and whether its lines are lost.
#[derive(Clone, Copy, Debug)]
struct Request {
    first_us: i64,
    last_us: i64,
    counted_us: i64,
    is_lost: bool,
}

/// A sample: its time, when it read the counter, and when after it somebody clears the counter.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    at: SampleTime,
    read_us: i64,
    clears_us: Option<i64>,
}

fn requests(at_most: usize) -> impl Strategy<Value = Vec<Request>> {
    let request = (0..10_000_i64, 0..2500_i64, 0..=100_i64, prop::bool::weighted(0.1));
    let request = request.prop_map(|(first_us, lasts_us, percent, is_lost)| Request {
        first_us,
        last_us: first_us + lasts_us,
        counted_us: first_us + lasts_us * percent / 100,
        is_lost,
    });
    vec(request, 0..at_most)
}

fn samples(clears: f64) -> impl Strategy<Value = Vec<Sampled>> {
    let sample = (1..2000_i64, 0..200_i64, 0..=100_i64, prop::bool::weighted(clears));
    vec(sample, 2..12).prop_map(|samples| {
        let mut at_us = 0;
        let sampled = samples.into_iter().map(|(after_us, lasts_us, percent, clears)| {
            let begun_us = at_us + after_us;
            at_us = begun_us + lasts_us;
            let read_us = begun_us + lasts_us * percent / 100;
            Sampled { at: time(begun_us, at_us), read_us, clears_us: clears.then_some(at_us) }
        });
        sampled.collect()
    })
}

/// What the kernel shows at each sample, and since when: a counter that was cleared may be above its old value again.
fn shown(samples: &[Sampled], requests: &[Request]) -> Vec<Reading> {
    let mut since_us = i64::MIN;
    let shown = samples.iter().map(|sample| {
        let counted = requests.iter().filter(|it| since_us < it.counted_us && it.counted_us <= sample.read_us).count();
        let read = Count { rpcs: counted as u64, bytes: 0 };
        let reading =
            Reading { rw: ReadWrite { read, ..ReadWrite::default() }, start_us: Some(since_us), ..Reading::default() };
        since_us = sample.clears_us.unwrap_or(since_us);
        reading
    });
    shown.collect()
}

/// All samples, then all requests; or each request so much after its end, but no sample before the requests that end before it.
fn entered(samples: &[Sampled], requests: &[Request], late_us: Option<i64>) -> Account<Reading, u64> {
    let mut account = Account::default();
    let mut left: Vec<&Request> = requests.iter().filter(|request| !request.is_lost).collect();
    left.sort_by_key(|request| request.last_us);
    let mut enter = |account: &mut Account<Reading, u64>, before_us: i64| {
        let now = left.partition_point(|request| request.last_us < before_us);
        for request in left.drain(..now) {
            if let Some(sum) = account.request(request.first_us, request.last_us) {
                *sum += 1;
            }
        }
    };
    for (at, (sample, shown)) in samples.iter().zip(shown(samples, requests)).enumerate() {
        if let Some(late_us) = late_us {
            enter(&mut account, sample.at.begun_us - late_us);
        }
        account.sample(Step { at: sample.at, begins: at == 0, ..Step::default() }, parts(Some(shown)));
    }
    if late_us.is_none() {
        account.end();
    }
    enter(&mut account, i64::MAX);
    account.end();
    account
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the times of samples and requests, and whoever clears the counter: it lies between the certain and the possible.
    #[test]
    fn bounds_hold(samples in samples(0.2), requests in requests(60)) {
        let account = entered(&samples, &requests, None);
        let (counted, inside, edge) = (account.counted.read.rpcs, account.inside, account.edge);
        let lost_rpcs = requests.iter().filter(|request| request.is_lost).count() as u64;
        prop_assert!(inside <= counted && counted <= inside + edge + lost_rpcs, "{inside} {counted} {edge} {lost_rpcs}");
        prop_assert!(lost(counted - inside, edge) <= lost_rpcs + edge.div_ceil(2));
        if lost_rpcs == 0 {
            prop_assert_eq!(lost(counted - inside, edge), 0);
        }
    }

    /// The daemon enters requests as they come, the analysis when all samples are known.
    #[test]
    fn the_order_makes_no_difference(samples in samples(0.2), requests in requests(40), late_us in 0..3000_i64) {
        let (before, after) = (entered(&samples, &requests, Some(late_us)), entered(&samples, &requests, None));
        prop_assert_eq!((before.counted, before.inside, before.edge, before.doubt), (after.counted, after.inside, after.edge, after.doubt));
        prop_assert_eq!(before.runs, after.runs);
    }

    /// All intervals together are the whole, however many samples cut it; and no request is there twice.
    #[test]
    fn samples_between_change_nothing(samples in samples(0.0), requests in requests(40)) {
        let (first, last) = (samples[0], samples[samples.len() - 1]);
        let (all, two) = (entered(&samples, &requests, None), entered(&[first, last], &requests, None));
        prop_assert_eq!((all.counted, all.inside, all.edge), (two.counted, two.inside, two.edge));
        let of_interval = |request: &&Request| {
            !request.is_lost && request.last_us >= first.at.begun_us && request.first_us <= last.at.ended_us
        };
        prop_assert_eq!(all.inside + all.edge, requests.iter().filter(of_interval).count() as u64);
        // Each pair of samples alone: what was counted adds up, and each has its own edges.
        let pairs: Vec<_> = samples.windows(2).map(|pair| entered(pair, &requests, None)).collect();
        prop_assert_eq!(pairs.iter().map(|pair| pair.counted.read.rpcs).sum::<u64>(), all.counted.read.rpcs);
        prop_assert!(pairs.iter().map(|pair| pair.inside).sum::<u64>() <= all.inside);
    }
}
