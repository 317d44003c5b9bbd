//! What keys do.

use lioprof_model::Live;
use lioprof_top::{Answer, Key, State, View, plain};

use crate::made::{live, press, screen, target};

fn state() -> State {
    let mut state = State::new(View::Osts);
    state.update(live());
    state
}

/// In which line below the headings each of these is; the verdict above has names of its own.
fn order(screen: &str, words: &[&str]) -> Vec<Option<usize>> {
    words.iter().map(|word| screen.lines().skip(5).position(|line| line.contains(word))).collect()
}

#[test]
fn down_to_the_objects_of_a_client_and_back() {
    let mut state = state();
    press(&mut state, &[Key::Enter]);
    let clients = screen(&mut state, 100, 12);
    assert!(clients.contains("> Clients of fs-OST0001") && clients.contains("10.0.0.2@tcp"), "{clients}");
    press(&mut state, &[Key::Enter]);
    let objects = screen(&mut state, 140, 12);
    assert!(objects.contains("> Objects of fs-OST0001 that 10.0.0.1@tcp uses"), "{objects}");
    assert!(objects.contains("[0x280000400:0x3:0x0]"), "{objects}");
    press(&mut state, &[Key::Enter]);
    assert!(screen(&mut state, 200, 12).contains("> Clients that use [0x280000400:0x3:0x0] of fs-OST0001"));
    press(&mut state, &[Key::Esc, Key::Esc, Key::Esc, Key::Esc]);
    assert!(screen(&mut state, 100, 12).contains("fs-OST0000"));
}

#[test]
fn the_order_is_that_of_the_column() {
    let mut state = state();
    let words = ["fs-OST0000", "fs-OST0001"];
    assert_eq!(order(&screen(&mut state, 100, 12), &words), [Some(1), Some(0)], "most bytes first");
    press(&mut state, &[Key::Right]);
    assert_eq!(order(&screen(&mut state, 100, 12), &words), [Some(0), Some(1)], "by name");
    press(&mut state, &[Key::Char('r')]);
    assert_eq!(order(&screen(&mut state, 100, 12), &words), [Some(1), Some(0)], "reversed");
    press(&mut state, &[Key::Char('r'), Key::Right]);
    assert_eq!(order(&screen(&mut state, 100, 12), &words), [Some(1), Some(0)], "by read MiB/s");
    state.sort_by("WRITES").unwrap();
    let error = state.sort_by("nonsense").unwrap_err().to_string();
    assert!(error.contains("`nonsense`") && error.contains("read MiB/s"), "{error}");
}

#[test]
fn a_filter_is_typed_kept_and_dropped() {
    let mut state = state();
    press(
        &mut state,
        &[Key::Char('/'), Key::Char('0'), Key::Char('0'), Key::Char('0'), Key::Char('1'), Key::Char('x')],
    );
    assert!(screen(&mut state, 100, 12).contains("/0001x_"));
    press(&mut state, &[Key::Backspace, Key::Enter]);
    let filtered = screen(&mut state, 100, 12);
    assert_eq!(order(&filtered, &["fs-OST0001", "fs-OST0000", "others"]), [Some(0), None, None], "{filtered}");
    press(&mut state, &[Key::Esc]);
    assert!(screen(&mut state, 100, 12).contains("fs-OST0000"));
    press(&mut state, &[Key::Char('/'), Key::Char('q'), Key::Esc]);
    assert_eq!(state.key(Key::Char('q')), Answer::Quit);
}

#[test]
fn a_frozen_screen_shows_the_latest_afterwards() {
    let mut state = state();
    press(&mut state, &[Key::Char(' ')]);
    state.update(Live::default());
    let frozen = screen(&mut state, 100, 12);
    assert!(frozen.contains("FROZEN") && frozen.contains("fs-OST0001"), "{frozen}");
    press(&mut state, &[Key::Char(' ')]);
    assert!(!screen(&mut state, 100, 12).contains("fs-OST0001"));
}

#[test]
fn the_selected_row_is_followed_when_the_order_changes() {
    let mut state = state();
    press(&mut state, &[Key::Down]);
    let mut later = live();
    later.targets.rows = vec![target("fs-OST0000", 500.0), target("fs-OST0001", 1.0)];
    state.update(later);
    press(&mut state, &[Key::Enter]);
    assert!(screen(&mut state, 100, 12).contains("> Clients of fs-OST0000"));
}

#[test]
fn a_long_list_scrolls_with_the_selection() {
    let mut many = live();
    many.targets.rows = (0..100u32).map(|at| target(&format!("fs-OST{at:04x}"), f64::from(1000 - at))).collect();
    many.targets.others = None;
    let mut state = State::new(View::Osts);
    state.update(many);
    screen(&mut state, 100, 20);
    press(&mut state, &[Key::End]);
    let end = screen(&mut state, 100, 20);
    assert!(end.contains("fs-OST0063") && end.contains("row 100 of 100") && !end.contains("fs-OST0000"), "{end}");
    press(&mut state, &[Key::PageUp, Key::PageUp]);
    assert!(screen(&mut state, 100, 20).contains("fs-OST0049"));
    press(&mut state, &[Key::Home]);
    assert!(screen(&mut state, 100, 20).contains("fs-OST0000"));
    assert_eq!(plain(&state).lines().filter(|line| line.contains("fs-OST")).count(), 101, "rows, and the verdict");
}
