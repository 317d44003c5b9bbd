//! lioprof and somebody else change the settings in any order, and lioprof may be killed anywhere: at the end, whatever
//! lioprof changed is undone and whatever the other changed is there.
//!
//! The expectation is kept by the test itself: a setting has the value that the other gave it last, or the first one.
//! What nobody could tell apart (see the module's text) is not tried.

use std::path::Path;

use proptest::prelude::*;

use super::kill::{Memory, Mortal, restore_from};
use crate::control::profile::Profile;
use crate::control::tests::fake::{FakeKernel, State};
use crate::journal::Session;

const LOG: &str = "/run/lioprof/log";
const THEIRS: &str = "/var/tmp/theirs";
/// rpctrace, dlmtrace, net: what a profile may switch on.
const WANTED: u32 = 0x11_0200;

#[derive(Clone, Copy, Debug)]
enum Action {
    Trace(Profile),
    Pause,
    Look,
    Buffer(u64),
    Daemon,
    End,
    /// The process dies after so many more effects.
    Kill(u32),
    OtherDebug(u32),
    OtherSubsystem(u32),
    OtherBuffer(u64),
    OtherDaemon(bool),
}

fn action() -> impl Strategy<Value = Action> {
    // Bits that have names.
    let debug = prop::sample::select(vec![0_u32, 6, 7, 9, 16, 19, 20, 28]);
    let subsystem = prop::sample::select(vec![1_u32, 2, 8, 10, 13, 16, 31]);
    prop_oneof![
        4 => prop_oneof![Just(Profile::Full), Just(Profile::Light)].prop_map(Action::Trace),
        2 => Just(Action::Pause),
        2 => Just(Action::Look),
        1 => prop::sample::select(vec![40_u64, 80]).prop_map(Action::Buffer),
        1 => Just(Action::Daemon),
        1 => Just(Action::End),
        2 => (0_u32..9).prop_map(Action::Kill),
        6 => debug.prop_map(Action::OtherDebug),
        6 => subsystem.prop_map(Action::OtherSubsystem),
        1 => prop::sample::select(vec![33_u64, 47]).prop_map(Action::OtherBuffer),
        1 => any::<bool>().prop_map(Action::OtherDaemon),
    ]
}

struct World {
    kernel: FakeKernel,
    journal: Memory,
    session: Option<Session>,
    /// What the settings are like without lioprof.
    expected: State,
    /// Bits that the other switched back while lioprof held them and has not looked yet.
    unseen: [u32; 2],
    /// Was lioprof killed, and nothing restored since?
    dead: bool,
}

impl World {
    fn held(&self) -> [u32; 2] {
        let now = self.kernel.state();
        [now.debug ^ self.expected.debug, now.subsystem_debug ^ self.expected.subsystem_debug]
    }

    /// The other flips one bit, so that it can be seen.
    fn flip(&mut self, mask: usize, bit: u32) {
        let bit = 1 << bit;
        let held = self.held()[mask] & bit != 0;
        let lioprof_may_claim_it = mask == 1 || WANTED & bit != 0;
        if self.unseen[mask] & bit != 0 || self.dead && !held && lioprof_may_claim_it {
            return;
        }
        if held {
            self.unseen[mask] |= bit;
        }
        let field = |state: &mut State| {
            let value = if mask == 0 { &mut state.debug } else { &mut state.subsystem_debug };
            *value ^= bit;
            *value & bit
        };
        let mut value = 0;
        self.kernel.other(|state| value = field(state));
        let target = if mask == 0 { &mut self.expected.debug } else { &mut self.expected.subsystem_debug };
        *target = *target & !bit | value;
    }

    fn other(&mut self, change: impl Fn(&mut State)) {
        self.kernel.other(&change);
        change(&mut self.expected);
    }

    /// The living session: after a death a new process starts, restores, and begins.
    fn session(&mut self) -> Option<&mut Session> {
        if self.session.is_none() {
            if self.dead {
                self.restore();
            }
            let store = Box::new(Mortal::new(&self.kernel, self.journal.clone()));
            self.session = Session::begin(self.kernel.control(), store).ok();
        }
        self.session.as_mut()
    }

    fn restore(&mut self) {
        self.kernel.set_life(None);
        assert!(restore_from(&self.kernel, self.journal.clone()).unwrap().is_complete());
        self.dead = false;
        self.unseen = [0; 2];
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::OtherDebug(bit) => return self.flip(0, bit),
            Action::OtherSubsystem(bit) => return self.flip(1, bit),
            Action::OtherBuffer(mib) => return self.other(|state| state.mib_per_cpu = mib),
            Action::OtherDaemon(start) => {
                let path = if start { THEIRS } else { "" };
                return self.other(|state| path.clone_into(&mut state.daemon_file));
            }
            Action::Kill(effects) => {
                if !self.dead {
                    self.kernel.set_life(Some(effects));
                }
                return;
            }
            _ => {}
        }
        let Some(session) = self.session() else { return };
        let looked = match action {
            Action::Trace(profile) => session.trace(profile, None).is_ok(),
            Action::Pause => session.pause().is_ok(),
            Action::Look => session.look().is_ok(),
            Action::Buffer(mib) => {
                drop(session.set_buffer(mib));
                false
            }
            Action::Daemon => {
                drop(session.start_daemon(Path::new(LOG), 64));
                false
            }
            _ => self.session.take().is_some_and(|session| session.end().is_complete()),
        };
        if self.kernel.is_dead() {
            // Dropping it has no effect any more.
            self.session = None;
            self.dead = true;
        } else if looked {
            self.unseen = [0; 2];
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobodys_change_is_lost_and_lioprofs_are_undone(actions in prop::collection::vec(action(), 1..40)) {
        let kernel = FakeKernel::new(4);
        let mut world = World {
            expected: kernel.state(),
            kernel,
            journal: Memory::default(),
            session: None,
            unseen: [0; 2],
            dead: false,
        };
        for &action in &actions {
            world.act(action);
        }
        world.kernel.set_life(None);
        if let Some(session) = world.session.take() {
            prop_assert!(session.end().is_complete());
        }
        world.restore();
        let mut now = world.kernel.state();
        // Nobody can read the size limit; lioprof's stays if somebody else took the daemon over.
        now.daemon_size_mib = world.expected.daemon_size_mib;
        prop_assert_eq!(now, world.expected);
        prop_assert!(world.journal.0.lock().unwrap().is_none());
    }
}
