//! Keys, and what they do.

use crate::level::{Level, View};
use crate::state::State;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// The return key.
    Enter,
    /// Escape.
    Esc,
    /// Backspace.
    Backspace,
    /// The tabulator.
    Tab,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
}

/// What follows from a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Continue,
    /// End.
    Quit,
}

impl State {
    /// Does what a key asks for.
    pub fn key(&mut self, key: Key) -> Answer {
        if self.typing {
            self.type_filter(key);
        } else if self.help {
            // Whatever is pressed, the help has been read.
            self.help = false;
        } else {
            return self.command(key);
        }
        Answer::Continue
    }

    fn type_filter(&mut self, key: Key) {
        match key {
            Key::Char(c) => self.filter.push(c),
            Key::Backspace => drop(self.filter.pop()),
            Key::Enter => self.typing = false,
            Key::Esc => {
                self.filter.clear();
                self.typing = false;
            }
            _ => {}
        }
    }

    fn command(&mut self, key: Key) -> Answer {
        let page = i64::from(self.page);
        match key {
            Key::Char('q') => return Answer::Quit,
            Key::Char('?' | 'h') => self.help = true,
            Key::Char('/') => self.typing = true,
            Key::Char(' ') => self.freeze(),
            Key::Char('r') => self.reverse = !self.reverse,
            Key::Char('<') | Key::Left => self.sort_beside(false),
            Key::Char('>') | Key::Right => self.sort_beside(true),
            Key::Char(c @ '1'..='5') => {
                let number = c as usize - '1' as usize;
                self.show(View::ALL[number]);
            }
            Key::Tab => {
                let at = View::ALL.iter().position(|view| *view == self.view()).unwrap_or(0);
                self.show(View::ALL[(at + 1) % View::ALL.len()]);
            }
            Key::Up | Key::Char('k') => self.select(-1),
            Key::Down | Key::Char('j') => self.select(1),
            Key::PageUp => self.select(-page),
            Key::PageDown => self.select(page),
            Key::Home => self.select(i64::MIN),
            Key::End => self.select(i64::MAX),
            Key::Enter => self.drill_down(),
            Key::Esc | Key::Backspace => self.go_back(),
            Key::Char(_) => {}
        }
        Answer::Continue
    }

    fn drill_down(&mut self) {
        let table = self.table();
        let below: Option<Level> = table.rows.get(self.selected_row(&table)).and_then(|row| row.below.clone());
        if let Some(below) = below {
            self.go_to(below);
        }
    }
}
