//! Names come from logs: nothing in them may reach the terminal as a command, nor upset the screen.

use lioprof_model::Live;
use lioprof_model::live::{
    LiveAccess, LiveClient, LiveFlow, LiveIo, LiveJob, LiveObject, LiveServer, LiveTarget, LiveWait, Top,
};
use lioprof_top::{Key, State, View, plain};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::made::screen;

fn name() -> impl Strategy<Value = Option<String>> {
    let any =
        prop_oneof![".*", "[\u{0}-\u{a0}]{0,50}", Just("\u{1b}[2J\u{9b}31m\u{202e}x".to_owned()), "\\PC{200,300}"];
    proptest::option::weighted(0.9, any)
}

fn figure() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1e12, any::<f64>()]
}

fn io() -> impl Strategy<Value = LiveIo> {
    (figure(), proptest::option::of(figure())).prop_map(|(rpcs_per_s, bytes_per_s)| LiveIo { rpcs_per_s, bytes_per_s })
}

prop_compose! {
    fn any_live()(names in vec(name(), 8), figures in vec(figure(), 4), read in io(), write in io(), count in any::<u64>(), same in any::<bool>()) -> Live {
        let at = |at: usize| names[at % names.len()].clone();
        let other = |at: usize| at.wrapping_mul(usize::from(same) * 3);
        let all = || 0..names.len();
        let target = |n: usize| LiveTarget {
            target: at(n), server: at(other(n)), read, write, queue_p50_us: Some(count), in_flight: figures[0], ..LiveTarget::default()
        };
        let client = |n: usize| LiveClient { nid: at(n), read, write, waiting: figures[1], ..LiveClient::default() };
        let access = |n: usize| LiveAccess { nid: at(n), object: at(n + 1), target: at(other(n)), server: at(n), read, write };
        let text = |n: usize| at(n).unwrap_or_default();
        Live {
            servers: vec![LiveServer {
                name: text(0), state: text(1), now: figures[2], from: figures[3], to: figures[1], error: at(2), ..LiveServer::default()
            }],
            targets: Top::new(all().map(target).collect(), 5),
            clients: Top::new(all().map(client).collect(), 5),
            jobs: Top::new(all().map(|n| LiveJob { job: at(n), read, clients: count, ..LiveJob::default() }).collect(), 5),
            flows: Top::new(all().map(|n| LiveFlow { nid: at(n), target: at(0), server: at(0), read, write }).collect(), 5),
            objects: Top::new(all().map(|n| LiveObject { object: at(n), target: at(0), ..LiveObject::default() }).collect(), 5),
            accesses: Top::new(all().map(access).collect(), 5),
            waits: Top::new(all().map(|n| LiveWait { waiter: at(n), holder: at(0), ..LiveWait::default() }).collect(), 5),
            ..Live::default()
        }
    }
}

fn any_key() -> impl Strategy<Value = Key> {
    let keys = [
        Key::Enter,
        Key::Esc,
        Key::Backspace,
        Key::Tab,
        Key::Up,
        Key::Down,
        Key::Left,
        Key::Right,
        Key::PageUp,
        Key::PageDown,
        Key::Home,
        Key::End,
        Key::Char('/'),
        Key::Char('?'),
        Key::Char(' '),
        Key::Char('r'),
    ];
    prop_oneof![
        proptest::sample::select(keys.to_vec()),
        any::<char>().prop_map(Key::Char),
        proptest::char::range('1', '5').prop_map(Key::Char)
    ]
}

/// No line of these may end a line by itself, or begin a command.
fn is_harmless(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !c.is_control() && !('\u{202a}'..='\u{202e}').contains(&c))
}

proptest! {
    #[test]
    fn nothing_upsets_the_screen(
        lives in vec(any_live(), 1..3), keys in vec(any_key(), 0..20), columns in 1u16..300, lines in 1u16..60,
    ) {
        let mut state = State::new(View::Osts);
        state.update(Live::of_many(lives));
        prop_assert!(is_harmless(&screen(&mut state, columns, lines)));
        for key in keys {
            state.key(key);
            prop_assert!(is_harmless(&screen(&mut state, columns, lines)));
            prop_assert!(is_harmless(&plain(&state)));
        }
    }
}
