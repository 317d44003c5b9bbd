//! The bar: on a terminal, if it takes long, and gone in the end.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use lioprof_testkit::files::repository;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// What `indicatif` writes in front of a line that it draws again, and at the end.
const ERASE: &str = "\r\u{1b}[2K";

/// A line of a log, enough for an analysis.
const LOG: &[u8] =
    b"00000001:02000400:3.0F:1600000000.000000:0:2000:0:(debug.c:445:libcfs_debug_mark_buffer()) DEBUG MARKER: x\n";

fn lioprof(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lioprof"));
    command.args(args).env("LC_ALL", "C").env("TERM", "xterm");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command
}

/// A new terminal: the side of the one who sits there, and the side of programs.
fn terminal() -> (File, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap().into_string().unwrap();
    let program = File::options().read(true).write(true).open(Path::new(&name)).unwrap();
    (File::from(person), program)
}

/// Runs a command whose standard error is a terminal; all that is seen there. `feed` gets its standard input and what
/// is seen as it comes.
fn seen(mut command: Command, feed: impl FnOnce(ChildStdin, &mut dyn Iterator<Item = String>)) -> String {
    let (mut person, program) = terminal();
    let mut child = command.stderr(program).spawn().unwrap();
    // The only copies of the program's side are now the child's: reading ends with it.
    drop(command);
    let mut all = String::new();
    let mut pieces = std::iter::from_fn(|| {
        let mut piece = [0; 4096];
        let len = person.read(&mut piece).unwrap_or(0);
        let piece = String::from_utf8_lossy(&piece[..len]).into_owned();
        all.push_str(&piece);
        (len > 0).then_some(piece)
    });
    feed(child.stdin.take().unwrap(), &mut pieces);
    pieces.for_each(drop);
    assert!(child.wait().unwrap().success(), "{all}");
    all
}

#[test]
fn a_bar_comes_if_it_takes_long_and_is_erased() {
    let seen = until_there_is_a_bar();
    let (bar, rest) = seen.rsplit_once(ERASE).unwrap();
    assert!(bar.contains("B/s"), "{seen:?}");
    assert!(!bar.contains("\u{1b}[3"), "colours: {seen:?}");
    // Warnings come below, as if no bar had been.
    assert!(rest.lines().all(|line| line.starts_with("lioprof: ") || line.is_empty()), "{seen:?}");
}

/// A command on a terminal that gets its input until its bar is there; what is seen.
fn until_there_is_a_bar() -> String {
    seen(lioprof(&["analyze", "-"]), |mut stdin, pieces| {
        stdin.write_all(LOG).unwrap();
        while !pieces.next().expect("a bar").contains(" read, ") {}
    })
}

/// Ends after a bar would have come: another command, which began later, has got its own.
fn slow(mut stdin: ChildStdin) {
    stdin.write_all(LOG).unwrap();
    until_there_is_a_bar();
}

#[test]
fn nobody_gets_a_bar_who_wants_quiet() {
    assert_eq!(seen(lioprof(&["analyze", "-", "--quiet"]), |stdin, _| slow(stdin)), "");
}

#[test]
fn a_file_gets_no_bar() {
    let mut command = lioprof(&["analyze", "-"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    slow(child.stdin.take().unwrap());
    let said = child.wait_with_output().unwrap().stderr;
    assert!(!String::from_utf8_lossy(&said).contains(ERASE));
}

#[test]
fn a_bar_counts_the_plots() {
    let dir = tempfile::TempDir::new().unwrap();
    let (input, out) = (repository("fixtures/captures/file_per_process"), dir.path().to_string_lossy().into_owned());
    let args = ["analyze", &*input.to_string_lossy(), "-o", &out, "--plots", "svg"];
    assert!(lioprof(&args).status().unwrap().success());
    // A plot that takes until somebody reads it.
    let plot = dir.path().join("latency.svg");
    fs::remove_file(&plot).unwrap();
    assert!(Command::new("mkfifo").arg(&plot).status().unwrap().success());
    let all = seen(lioprof(&args), |_, pieces| {
        while !pieces.next().expect("a bar").contains("plots: ") {}
        let mut drawn = String::new();
        File::open(&plot).unwrap().read_to_string(&mut drawn).unwrap();
        assert!(drawn.contains("<svg"), "{drawn}");
    });
    assert!(all.contains(" of ") && all.contains(ERASE), "{all:?}");
}
