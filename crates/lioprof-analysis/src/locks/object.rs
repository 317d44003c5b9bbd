//! One contended object: owners, fights, contention by the kernel's rule, who held what when.

use std::collections::VecDeque;

use lioprof_model::{KernelCount, Symbol};
use lustre_debuglog::{Extent, LockMode};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::parties::Overlap;
use super::rules::Rules;
use crate::cells::Times;
use crate::renumber::renumber_fields;

/// Fights kept per object.
const MAX_EPISODES: usize = 10;
/// Contended intervals kept per object.
const MAX_INTERVALS: usize = 100;
/// Entries kept for an object's timeline, of each kind.
const MAX_TIMELINE: usize = 1_500;

/// What is known of an object.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ObjectLocks {
    pub(crate) conflicts: u64,
    pub(crate) true_conflicts: u64,
    pub(crate) expansion_conflicts: u64,
    pub(crate) unclassified_conflicts: u64,
    pub(crate) clients: FxHashSet<Symbol>,
    pub(crate) wait_us: u64,
    pub(crate) wait: Times,
    pub(crate) owners: Owners,
    pub(crate) contended: Contended,
    pub(crate) kernel: Option<KernelCount>,
    pub(crate) timeline: Track,
}

renumber_fields!(ObjectLocks { clients, owners, timeline } without {
    conflicts, true_conflicts, expansion_conflicts, unclassified_conflicts, wait_us, wait, contended, kernel
});

impl ObjectLocks {
    /// A conflict between two clients, counted once its overlap is known.
    pub(crate) fn conflict(&mut self, holder: Symbol, waiter: Symbol, overlap: Overlap) {
        self.conflicts += 1;
        match overlap {
            Overlap::True => self.true_conflicts += 1,
            Overlap::Expansion => self.expansion_conflicts += 1,
            Overlap::Unknown => self.unclassified_conflicts += 1,
        }
        self.clients.extend([holder, waiter]);
    }

    /// Adds what the kernel's own counter says.
    pub(crate) fn kernel(&mut self, added: u32, window: u32) {
        let count = self.kernel.get_or_insert(KernelCount { added: 0, window_max: 0 });
        count.added += u64::from(added);
        count.window_max = count.window_max.max(u64::from(window));
    }
}

/// A fight: changes of owner in close succession.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fight {
    pub(crate) start_us: i64,
    pub(crate) end_us: i64,
    pub(crate) alternations: u64,
    pub(crate) clients: FxHashSet<Symbol>,
}

renumber_fields!(Fight { clients } without { start_us, end_us, alternations });

/// The succession of owners.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Owners {
    last: Option<(Symbol, bool)>,
    pub(crate) grants: u64,
    pub(crate) alternations: u64,
    current: Option<Fight>,
    fights: Vec<Fight>,
}

renumber_fields!(Owners { last, current, fights } without { grants, alternations });

impl Owners {
    /// The owner before anything is known: the holder of the first conflict.
    pub(crate) fn seed(&mut self, holder: Symbol, mode: LockMode) {
        self.last.get_or_insert((holder, is_exclusive(mode)));
    }

    /// A lock was granted. Shared locks of several clients get along: only a change to or from an
    /// exclusive mode is a change of owner.
    pub(crate) fn grant(&mut self, time_us: i64, client: Symbol, mode: LockMode, rules: &Rules) -> bool {
        let exclusive = is_exclusive(mode);
        let before = self.last.replace((client, exclusive));
        self.grants += 1;
        match before {
            Some((owner, was_exclusive)) if owner != client && (exclusive || was_exclusive) => {
                self.alternate(time_us, owner, client, rules);
                true
            }
            _ => false,
        }
    }

    /// Ownership went from one client to another.
    pub(crate) fn alternate(&mut self, time_us: i64, from: Symbol, to: Symbol, rules: &Rules) {
        self.alternations += 1;
        let goes_on = self.current.as_ref().is_some_and(|fight| time_us - fight.end_us <= rules.ping_pong_gap_us);
        if !goes_on {
            self.close(rules);
        }
        let fight = self.current.get_or_insert_with(|| Fight {
            start_us: time_us,
            end_us: time_us,
            alternations: 0,
            clients: FxHashSet::default(),
        });
        fight.end_us = time_us;
        fight.alternations += 1;
        fight.clients.extend([from, to]);
    }

    /// Ends the current fight and keeps it if it was one.
    pub(crate) fn close(&mut self, rules: &Rules) {
        if let Some(fight) = self.current.take()
            && fight.alternations >= rules.ping_pong_alternations
        {
            self.fights.push(fight);
            self.fights.sort_by_key(|fight| (std::cmp::Reverse(fight.alternations), fight.start_us));
            self.fights.truncate(MAX_EPISODES);
        }
    }

    /// Fights, longest first; complete after [`Self::close`].
    pub(crate) fn fights(&self) -> &[Fight] {
        &self.fights
    }
}

fn is_exclusive(mode: LockMode) -> bool {
    matches!(mode, LockMode::Ex | LockMode::Pw | LockMode::Cw | LockMode::Group)
}

/// When an object is contended by the kernel's rule.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Contended {
    recent: VecDeque<i64>,
    pub(crate) intervals: Vec<(i64, i64)>,
}

impl Contended {
    /// A conflict of any kind.
    pub(crate) fn conflict(&mut self, time_us: i64, rules: &Rules) {
        self.recent.push_back(time_us);
        while self.recent.front().is_some_and(|&t| t < time_us - rules.contended_window_us)
            || self.recent.len() > rules.contended_conflicts
        {
            self.recent.pop_front();
        }
        if self.recent.len() < rules.contended_conflicts {
            return;
        }
        let until = time_us + rules.contended_hold_us;
        let room = self.intervals.len() < MAX_INTERVALS;
        match self.intervals.last_mut() {
            Some((_, end)) if time_us <= *end => *end = until,
            _ if room => self.intervals.push((time_us, until)),
            _ => {}
        }
    }
}

/// A lock as a timeline shows it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) client: Symbol,
    pub(crate) mode: LockMode,
    pub(crate) start_us: Option<i64>,
    pub(crate) end_us: Option<i64>,
    pub(crate) granted: Extent,
    pub(crate) requested: Extent,
}

renumber_fields!(Held { client } without { mode, start_us, end_us, granted, requested });

/// A wait as a timeline shows it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Waited {
    pub(crate) client: Symbol,
    pub(crate) start_us: i64,
    pub(crate) end_us: Option<i64>,
    pub(crate) requested: Extent,
}

renumber_fields!(Waited { client } without { start_us, end_us, requested });

/// Who held and waited when; the first part of it if there is much.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Track {
    pub(crate) holds: Vec<Held>,
    pub(crate) waits: Vec<Waited>,
    pub(crate) blocking_asts: Vec<(i64, Symbol)>,
    pub(crate) truncated: bool,
}

renumber_fields!(Track { holds, waits, blocking_asts } without { truncated });

impl Track {
    pub(crate) fn entries(&self) -> usize {
        self.holds.len() + self.waits.len() + self.blocking_asts.len()
    }

    pub(crate) fn hold(&mut self, hold: Held) {
        self.truncated |= !push_limited(&mut self.holds, hold);
    }

    pub(crate) fn wait(&mut self, wait: Waited) {
        self.truncated |= !push_limited(&mut self.waits, wait);
    }

    pub(crate) fn blocking_ast(&mut self, time_us: i64, holder: Symbol) {
        self.truncated |= !push_limited(&mut self.blocking_asts, (time_us, holder));
    }
}

fn push_limited<T>(list: &mut Vec<T>, item: T) -> bool {
    let room = list.len() < MAX_TIMELINE;
    if room {
        list.push(item);
    }
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Symbol = Symbol(1);
    const B: Symbol = Symbol(2);

    #[test]
    fn a_few_hand_overs_are_no_fight() {
        let mut owners = Owners::default();
        for (i, client) in [A, B, A, B].into_iter().enumerate() {
            owners.grant(i64::try_from(i).unwrap() * 1000, client, LockMode::Pw, &Rules::TO_2_17);
        }
        owners.close(&Rules::TO_2_17);
        assert_eq!(owners.alternations, 3);
        assert!(owners.fights().is_empty());
    }

    #[test]
    fn a_fight_ends_with_a_pause() {
        let mut owners = Owners::default();
        for i in 0..40i64 {
            let pause = if i >= 25 { 60_000_000 } else { 0 };
            owners.grant(i * 1000 + pause, if i % 2 == 0 { A } else { B }, LockMode::Pw, &Rules::TO_2_17);
        }
        owners.close(&Rules::TO_2_17);
        assert_eq!(owners.alternations, 39);
        assert_eq!(owners.fights().iter().map(|f| f.alternations).collect::<Vec<_>>(), [24, 15]);
    }

    #[test]
    fn readers_get_along() {
        let mut owners = Owners::default();
        let changed: Vec<bool> = [(A, LockMode::Pr), (B, LockMode::Pr), (A, LockMode::Pw), (B, LockMode::Pr)]
            .into_iter()
            .map(|(client, mode)| owners.grant(0, client, mode, &Rules::TO_2_17))
            .collect();
        assert_eq!(changed, [false, false, true, true]);
    }

    #[test]
    fn contended_by_the_kernels_rule() {
        let mut contended = Contended::default();
        for i in 0..31 {
            contended.conflict(i * 10_000, &Rules::TO_2_17);
        }
        assert!(contended.intervals.is_empty());
        contended.conflict(400_000, &Rules::TO_2_17);
        assert_eq!(contended.intervals, [(400_000, 2_400_000)]);
        contended.conflict(500_000, &Rules::TO_2_17);
        assert_eq!(contended.intervals, [(400_000, 2_500_000)]);
        // 32 conflicts, but not within the window.
        let mut slow = Contended::default();
        for i in 0..100 {
            slow.conflict(i * 100_000, &Rules::TO_2_17);
        }
        assert!(slow.intervals.is_empty());
    }
}
