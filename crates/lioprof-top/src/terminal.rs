//! The terminal: takes it over, and gives it back whatever happens.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lioprof_model::Live;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::style::force_color_output;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::keys::{Answer, Key};
use crate::screen::draw;
use crate::state::State;

/// Something new to show.
#[derive(Clone, Debug)]
pub enum Update {
    /// What servers do now.
    Live(Box<Live>),
    /// Why that is not known.
    Trouble(String),
}

/// Exit code after a signal that the screen did not heed, as shells have it for SIGHUP.
const ENDED_BY_SIGNAL: i32 = 129;

/// A thread has panicked, and its message is on the terminal that was given back for it.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Held while a frame is drawn, or a panic told: a frame would go over the message.
static DRAWING: Mutex<()> = Mutex::new(());

/// Longest wait for a key: updates come by another way.
const TICK: Duration = Duration::from_millis(100);

/// Draws without colours from now on.
pub fn without_colors() {
    force_color_output(false);
}

/// Shows updates on the whole terminal until the user has seen enough, or a signal asks to end. A panic gives the terminal back, too.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn run(mut state: State, updates: &Receiver<Update>) -> io::Result<()> {
    let end = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP, SIGINT] {
        signal_hook::flag::register(signal, Arc::clone(&end))?;
    }
    let over = Arc::new(AtomicBool::new(false));
    end_surely(Arc::clone(&end), Arc::clone(&over))?;
    let mut terminal = ratatui::try_init()?;
    // The terminal's own hook, which gives it back before the message.
    let tells = std::panic::take_hook();
    let draws = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        // The thread that draws does not wait for itself.
        let drawing = (std::thread::current().id() != draws).then(|| lioprof_model::lock(&DRAWING));
        PANICKED.store(true, Ordering::Relaxed);
        tells(panic);
        drop(drawing);
    }));
    let shown = show(&mut terminal, &mut state, updates, &end);
    over.store(true, Ordering::Relaxed);
    if PANICKED.load(Ordering::Relaxed) {
        // Once more would put the cursor where it was before, and what is said next over the message.
        return shown;
    }
    // The first error says more.
    shown.and(ratatui::try_restore())
}

/// Ends the process after a signal if the screen does not: from a terminal that is gone, reading never returns.
fn end_surely(end: Arc<AtomicBool>, over: Arc<AtomicBool>) -> io::Result<()> {
    let watch = move || {
        while !end.load(Ordering::Relaxed) {
            if over.load(Ordering::Relaxed) {
                return;
            }
            std::thread::sleep(TICK);
        }
        std::thread::sleep(10 * TICK);
        if !over.load(Ordering::Relaxed) {
            ratatui::restore();
            std::process::exit(ENDED_BY_SIGNAL);
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(watch).map(|_| ())
}

fn show(
    terminal: &mut DefaultTerminal,
    state: &mut State,
    updates: &Receiver<Update>,
    end: &AtomicBool,
) -> io::Result<()> {
    let mut is_new = true;
    while !end.load(Ordering::Relaxed) {
        if PANICKED.load(Ordering::Relaxed) {
            return Err(io::Error::other("a thread of it panicked"));
        }
        loop {
            match updates.try_recv() {
                Ok(Update::Live(live)) => state.update(*live),
                Ok(Update::Trouble(why)) => state.trouble(why),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(io::Error::other("nobody asks any more")),
            }
            is_new = true;
        }
        if is_new {
            let drawing = lioprof_model::lock(&DRAWING);
            if !PANICKED.load(Ordering::Relaxed) {
                terminal.draw(|frame| draw(state, frame.area(), frame.buffer_mut()))?;
            }
            drop(drawing);
            is_new = false;
        }
        if event::poll(TICK)? {
            is_new = true;
            if let Event::Key(pressed) = event::read()?
                && let Some(Answer::Quit) = answer(state, pressed)
            {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// `None`: a key that means nothing.
fn answer(state: &mut State, pressed: KeyEvent) -> Option<Answer> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    if pressed.modifiers.contains(KeyModifiers::CONTROL) {
        return (pressed.code == KeyCode::Char('c')).then_some(Answer::Quit);
    }
    let key = match pressed.code {
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    };
    Some(state.key(key))
}
