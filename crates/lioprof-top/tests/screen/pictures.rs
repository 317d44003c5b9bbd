//! Whole screens.

use lioprof_model::Live;
use lioprof_model::live::LiveServer;
use lioprof_top::{Key, State, View, plain};

use crate::made::{live, press, screen};

fn shown(view: View) -> State {
    let mut state = State::new(view);
    state.update(live());
    state
}

#[test]
fn osts() {
    let expected = "\
lioprof top  oss1  1234 RPCs/s  read 100.0 MiB/s  write 256.0 MiB/s  until 08:43:30 (3 s ago)
08:42:20 to 08:43:20: 2 clients fight over one object of fs-OST0001. There is one more finding.

 1 OSTs   2 clients   3 jobs   4 objects   5 waits
 target      read MiB/s  write MiB/s  reads/s  writes/s  queue ms  q99 ms  serv ms  s99 ms
 fs-OST0001       128.0        256.0     64.0       256      0.04    1.90     2.50       -
 fs-OST0000         6.0         12.0     3.00      12.0      0.04    1.90     2.50       -

 others: 1          3.5          7.0     1.75      7.00         -       -        -       -
q quit  ? help  Enter more  Esc back  / filter  < > sort  r reverse  space freeze
";
    let found = screen(&mut shown(View::Osts), 100, 10);
    assert_eq!(found, expected, "{found}");
}

#[test]
fn a_narrow_screen_has_whole_columns() {
    let found = screen(&mut shown(View::Osts), 40, 9);
    let expected = "\
lioprof top  oss1  1234 RPCs/s  read 100
08:42:20 to 08:43:20: 2 clients fight
over one object of fs-OST0001. There is
 1 OSTs   2 clients   3 jobs   4 objects
 target      read MiB/s  write MiB/s
 fs-OST0001       128.0        256.0
 fs-OST0000         6.0         12.0
 others: 1          3.5          7.0
q quit  ? help  Enter more  Esc back  /
";
    assert_eq!(found, expected, "{found}");
}

#[test]
fn every_view_shows_its_rows() {
    for (view, parts) in [
        (View::Clients, ["client", "10.0.0.2@tcp", "waiting"]),
        (View::Jobs, ["job", "(none)", "256.0"]),
        (View::Objects, ["object", "[0x280000400:0x3:0x0]", "confl/s"]),
        (View::Waits, ["waits", "10.0.0.1@tcp  10.0.0.2@tcp", "4.00"]),
    ] {
        let mut state = shown(view);
        let (found, text) = (screen(&mut state, 120, 12), plain(&state));
        assert!(parts.iter().all(|part| found.contains(part) && text.contains(part)), "{found}\n{text}");
    }
}

#[test]
fn help_covers_the_rows_until_a_key_is_pressed() {
    let mut state = shown(View::Osts);
    press(&mut state, &[Key::Char('?')]);
    let help = screen(&mut state, 110, 30);
    assert!(
        help.contains("reverse the order") && help.contains("Verdicts are of") && !help.contains("read MiB/s"),
        "{help}"
    );
    press(&mut state, &[Key::Char('q')]);
    assert!(screen(&mut state, 110, 30).contains("read MiB/s"));
}

#[test]
fn servers_that_do_not_answer_are_named() {
    let mut state = State::new(View::Osts);
    assert!(screen(&mut state, 80, 10).contains("waiting for the first answer"));
    let lost = Live { servers: vec![LiveServer::unknown("oss2", "no route".to_owned())], ..Live::default() };
    let mut sampled = live();
    sampled.servers[0].state = "duty_cycled".to_owned();
    sampled.servers[0].traced_s = 2.5;
    state.update(Live::of_many([lost, sampled]));
    let found = screen(&mut state, 120, 12);
    assert!(found.contains("2 servers  1234 RPCs/s"), "{found}");
    assert!(found.contains("oss1: duty cycled; 2.50 s of the last 10 s are known [and 1 more]"), "{found}");
    assert!(plain(&state).contains("oss2: no route"));
    let mut late = live();
    late.servers[0].now += 30.0;
    state.update(late);
    assert!(screen(&mut state, 120, 12).contains("oss1: what is shown is 33 s old"));
    state.trouble("the daemon is gone".to_owned());
    assert!(screen(&mut state, 120, 12).contains("the daemon is gone"));
}
