//! The budget against a simulated load.

use proptest::prelude::*;

use super::super::Duty;
use super::*;

const LIMITS: Limits = Limits {
    cpu_share: 0.1,
    resident_bytes: 256 << 20,
    queued_bytes: 512 << 20,
    disk_bytes: 10 << 30,
    records_per_s: 100_000.0,
    lag_s: 60.0,
};

fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn pace() -> Pace {
    Pace { settle: secs(20), recover: secs(120), recover_max: secs(3600), retry: secs(600) }
}

/// A daemon whose cost follows its level: `load` is the CPU share at full tracing.
struct Plant {
    budget: Budget,
    now: u64,
    tick: Tick,
    cpu_s: f64,
    records: f64,
    /// Steps taken, with their second.
    steps: Vec<(u64, Transition)>,
    level_since: u64,
}

impl Plant {
    fn new() -> Self {
        Self {
            budget: Budget::new(LIMITS, pace(), Ladder::default()),
            now: 0,
            tick: Tick::default(),
            cpu_s: 0.0,
            records: 0.0,
            steps: Vec::new(),
            level_since: 0,
        }
    }

    /// What full tracing costs is multiplied by this at the present level and second.
    fn factor(&self) -> f64 {
        match self.budget.level() {
            Level::Configured => 1.0,
            Level::WideRotation => 0.9,
            Level::LightProfile => 0.4,
            Level::DutyCycle(duty) if duty.is_on(secs(self.now - self.level_since)) => 0.4,
            _ => 0.0,
        }
    }

    fn second(&mut self, load: f64, change: impl FnOnce(&mut Tick)) {
        self.now += 1;
        self.cpu_s += load * self.factor();
        self.records += load * self.factor() * 100_000.0;
        let uptime = secs(self.now);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive test value")]
        let records = self.records as u64;
        self.tick = Tick { uptime, cpu: Duration::from_secs_f64(self.cpu_s), records, ..self.tick };
        change(&mut self.tick);
        if let Some(step) = self.budget.tick(self.tick) {
            self.steps.push((self.now, step));
            self.level_since = self.now;
        }
    }

    fn seconds(&mut self, count: u64, load: f64) {
        for _ in 0..count {
            self.second(load, |_| {});
        }
    }

    fn path(&self) -> Vec<String> {
        self.steps.iter().map(|(_, step)| step.to.to_string()).collect()
    }
}

#[test]
fn each_load_finds_its_level() {
    // (CPU share at full tracing; the limit is 0.1), level after an hour.
    let cases = [
        (0.02, "as configured"),
        (0.09, "as configured"),
        (0.105, "longer segments"),
        (0.2, "light profile"),
        (0.45, "30 of every 60 s"),
        (0.9, "15 of every 60 s"),
        (2.5, "5 of every 60 s"),
        (9.0, "stopped"),
    ];
    for (load, expected) in cases {
        let mut plant = Plant::new();
        plant.seconds(580, load);
        assert_eq!(plant.budget.level().to_string(), expected, "load {load}: {:?}", plant.path());
    }
}

#[test]
fn what_is_late_once_changes_nothing() {
    let mut plant = Plant::new();
    plant.seconds(80, 0.01);
    for round in 0..10 {
        for _ in 0..15 {
            plant.second(0.01, |tick| tick.lag_s = 80.0);
        }
        plant.second(0.01, |tick| tick.lag_s = 0.0);
        assert!(plant.steps.is_empty(), "round {round}: {:?}", plant.path());
    }
    for _ in 0..20 {
        plant.second(0.01, |tick| tick.lag_s = 80.0);
    }
    assert!(plant.steps.is_empty());
    plant.second(0.01, |tick| tick.lag_s = 80.0);
    assert_eq!(plant.path(), ["longer segments"]);
}

#[test]
fn people_see_rates_from_the_second_second_on() {
    let mut plant = Plant::new();
    plant.seconds(1, 1.0);
    assert_eq!(plant.budget.figures_so_far().cpu_share, None);
    // Far above the limit: the first step comes soon.
    while plant.steps.is_empty() {
        plant.seconds(1, 1.0);
        let (judged, shown) = (plant.budget.figures(), plant.budget.figures_so_far());
        let share = shown.cpu_share.unwrap();
        assert!((share - 1.0).abs() < 1e-6 && shown.records_per_s.is_some(), "{shown:?}");
        assert!(judged.cpu_share.is_none_or(|judged| (judged - share).abs() < 1e-6), "{judged:?}");
    }
    assert_eq!(plant.budget.figures().cpu_share, None, "nothing is known of the new level");
    // What it costs now.
    plant.seconds(1, 1.0);
    let share = plant.budget.figures_so_far().cpu_share.unwrap();
    assert!((share - 0.9).abs() < 1e-6, "{share}");
}

#[test]
fn steps_are_taken_in_order_and_say_why() {
    let mut plant = Plant::new();
    plant.seconds(1000, 9.0);
    let expected = [
        "longer segments",
        "light profile",
        "30 of every 60 s",
        "15 of every 60 s",
        "5 of every 60 s",
        "stopped",
        "5 of every 60 s", // A trial after ten minutes,
        "stopped",         // which fails.
    ];
    assert_eq!(plant.path(), expected[..plant.steps.len()]);
    assert!(plant.steps.len() >= 6);
    let (_, first) = plant.steps[0];
    assert!(matches!(first.why, Why::Above { resource: Resource::Cpu | Resource::RecordRate, .. }), "{first:?}");
    assert!(first.to_string().contains("of its limit"), "{first}");
    assert!(first.figures.cpu_share.is_some_and(|share| share > 8.9));
}

#[test]
fn each_resource_counts() {
    type Change = fn(&mut Tick);
    let cases: [(Resource, Change); 4] = [
        (Resource::ResidentMemory, |tick| tick.resident_bytes = 300 << 20),
        (Resource::QueuedSegments, |tick| tick.queued_bytes = 600 << 20),
        (Resource::Lag, |tick| tick.lag_s = 61.0),
        (Resource::RecordRate, |tick| tick.records = tick.uptime.as_secs() * 120_000),
    ];
    for (expected, change) in cases {
        let mut plant = Plant::new();
        for _ in 0..60 {
            plant.second(0.0, change);
        }
        let (second, step) = plant.steps[0];
        assert!(matches!(step.why, Why::Above { resource, .. } if resource == expected), "{expected}: {step:?}");
        assert!(second >= 20, "{expected}: the limit may be passed for a moment");
        assert_eq!(step.to, Level::WideRotation);
    }
}

#[test]
fn a_short_peak_is_borne() {
    let mut plant = Plant::new();
    plant.seconds(100, 0.05);
    plant.seconds(5, 0.2);
    plant.seconds(100, 0.05);
    assert_eq!(plant.steps, []);
}

#[test]
fn a_full_disk_stops_at_once_and_tracing_comes_back_when_there_is_room() {
    let mut plant = Plant::new();
    plant.second(0.01, |_| {});
    plant.second(0.01, |tick| tick.disk_bytes = 10 << 30);
    assert_eq!(plant.path(), ["stopped"]);
    plant.seconds(2000, 0.01);
    assert_eq!(plant.budget.level(), Level::Stopped, "still full");
    plant.second(0.01, |tick| tick.disk_bytes = 1 << 30);
    plant.seconds(3000, 0.01);
    assert_eq!(plant.budget.level(), Level::Configured, "{:?}", plant.path());
}

#[test]
fn memory_far_above_its_limit_stops_at_once() {
    let mut plant = Plant::new();
    plant.second(0.01, |tick| tick.resident_bytes = 400 << 20);
    assert_eq!(plant.path(), ["stopped"]);
}

#[test]
fn calm_brings_everything_back_step_by_step() {
    let mut plant = Plant::new();
    plant.seconds(400, 2.5);
    assert_eq!(plant.budget.level().to_string(), "5 of every 60 s");
    plant.seconds(3600, 0.02);
    assert_eq!(plant.budget.level(), Level::Configured, "{:?}", plant.path());
    let ups: Vec<u64> = plant.steps.iter().map(|(second, _)| *second).filter(|second| *second > 400).collect();
    assert_eq!(ups.len(), 5);
    assert!(ups.windows(2).all(|pair| pair[1] - pair[0] >= 120), "{ups:?}");
}

#[test]
fn failed_trials_become_rare() {
    let mut plant = Plant::new();
    plant.seconds(24 * 3600, 9.0);
    let trials = plant.steps.iter().filter(|(_, step)| matches!(step.why, Why::Retry { .. })).count();
    assert!((3..=30).contains(&trials), "{trials} trials in a day");
}

/// A minute of load, and the odd other figure.
#[derive(Clone, Copy, Debug)]
struct Minute {
    load: f64,
    resident_mib: u64,
    queued_mib: u64,
    disk_gib: u64,
    lag_s: f64,
}

fn minute() -> impl Strategy<Value = Minute> {
    (0.0..12.0_f64, 0..500_u64, 0..1500_u64, 0..12_u64, 0.0..200.0_f64, any::<[bool; 4]>()).prop_map(
        |(load, resident, queued, disk, lag, odd)| Minute {
            load,
            resident_mib: if odd[0] { resident } else { 50 },
            queued_mib: if odd[1] { queued } else { 0 },
            disk_gib: if odd[2] { disk } else { 1 },
            lag_s: if odd[3] { lag } else { 1.0 },
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever happens: a step at a time (stops excepted), no step up without the calm, none down without the wait.
    #[test]
    fn never_oscillates_faster_than_the_pace(minutes in prop::collection::vec(minute(), 1..90)) {
        let mut plant = Plant::new();
        for minute in minutes {
            for _ in 0..60 {
                plant.second(minute.load, |tick| {
                    tick.resident_bytes = minute.resident_mib << 20;
                    tick.queued_bytes = minute.queued_mib << 20;
                    tick.disk_bytes = minute.disk_gib << 30;
                    tick.lag_s = minute.lag_s;
                });
            }
        }
        let ladder = Ladder::default();
        let index = |level: Level| ladder.levels.iter().position(|&it| it == level).unwrap();
        let mut last = 0;
        for (second, step) in &plant.steps {
            let (from, to) = (index(step.from), index(step.to));
            let (at_least, jump) = match step.why {
                Why::Calm { .. } => (120, false),
                Why::Retry { .. } => (600, false),
                Why::Above { resource: Resource::Disk, of_limit } if of_limit >= 1.0 => (0, true),
                Why::Above { resource: Resource::ResidentMemory, of_limit } if of_limit >= 1.5 => (0, true),
                Why::Above { of_limit, .. } => {
                    let settle = step.from.duty().map_or(20, |duty| u64::from(duty.period_s));
                    (if of_limit >= 2.0 { settle / 4 } else { settle }, false)
                }
            };
            prop_assert!(second - last >= at_least, "{step:?} after {} s", second - last);
            prop_assert!(jump && to == ladder.last() || from.abs_diff(to) == 1, "{step:?}");
            let up = matches!(step.why, Why::Calm { .. } | Why::Retry { .. });
            prop_assert_eq!(up, to < from);
            last = *second;
        }
    }

    /// Under any steady load the cost comes down below the limit, and stays there but for rare trials.
    #[test]
    fn the_limit_holds(load in 0.0..30.0_f64) {
        let mut plant = Plant::new();
        plant.seconds(600, load);
        let before = plant.cpu_s;
        plant.seconds(6 * 3600, load);
        let average = (plant.cpu_s - before) / (6.0 * 3600.0);
        prop_assert!(average <= LIMITS.cpu_share * 1.1, "average {average} at {load}: {:?}", plant.path());
        // A second step up soon after a failed one would show here.
        prop_assert!(plant.steps.len() <= 40, "{} steps", plant.steps.len());
    }
}

#[test]
fn a_ladder_without_duty_goes_from_light_to_stop() {
    let mut budget = Budget::new(LIMITS, pace(), Ladder::new(true, &[]));
    let mut path = Vec::new();
    for s in 0..200 {
        let tick = Tick { uptime: secs(s), cpu: secs(s), ..Tick::default() };
        path.extend(budget.tick(tick).map(|step| step.to));
    }
    assert_eq!(path, [Level::WideRotation, Level::LightProfile, Level::Stopped]);
    assert_eq!(Ladder::new(true, &[Duty { on_s: 60, period_s: 60 }]).levels.len(), 4);
}
