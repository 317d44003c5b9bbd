//! A real terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lioprof_testkit::Patience;

/// A terminal with a shell in it.
pub(crate) struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    pub(crate) fn start(socket: &Path, (columns, lines): (u16, u16)) -> Self {
        let tmux = Self { socket: socket.to_owned() };
        let (columns, lines) = (columns.to_string(), lines.to_string());
        tmux.run(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &lines,
            "env PS1='ready$ ' TERM=screen-256color sh",
        ]);
        tmux.wait("the shell", &["ready$"]);
        tmux
    }

    #[track_caller]
    fn run(&self, args: &[&str]) -> String {
        let output = Command::new("tmux").arg("-S").arg(&self.socket).args(args).env("LC_ALL", "C.UTF-8").output();
        let output = output.expect("tmux is there: scripts/setup installs it");
        assert!(output.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Types a line.
    pub(crate) fn line(&self, text: &str) {
        self.run(&["clear-history"]);
        self.run(&["send-keys", "-l", &format!("clear; {text}")]);
        self.run(&["send-keys", "Enter"]);
    }

    /// Presses keys, as tmux names them.
    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.run(&["send-keys", key]);
        }
    }

    pub(crate) fn resize(&self, columns: u16, lines: u16) {
        self.run(&["resize-window", "-x", &columns.to_string(), "-y", &lines.to_string()]);
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        self.run(&["capture-pane", "-p"])
    }

    /// Process id of what the shell runs.
    pub(crate) fn child(&self) -> i32 {
        let shell = self.run(&["display-message", "-p", "#{pane_pid}"]);
        let shell = shell.trim();
        let children = fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).unwrap();
        children.split_whitespace().next().unwrap_or_else(|| panic!("the shell runs nothing")).parse().unwrap()
    }

    #[track_caller]
    pub(crate) fn wait_screen(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        let patience = Patience::new();
        loop {
            let screen = self.screen();
            if is(&screen) {
                return screen;
            }
            assert!(patience.nap(), "waited in vain for {what}; the screen:\n{screen}");
        }
    }

    /// Waits until all of these are on the screen.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, parts: &[&str]) {
        self.wait_screen(what, |screen| parts.iter().all(|part| screen.contains(part)));
    }

    /// The settings of the terminal, short enough for any screen.
    #[track_caller]
    pub(crate) fn settings(&self) -> String {
        self.line("stty -g | cksum");
        let is_sum = |line: &str| !line.trim().is_empty() && line.bytes().all(|b| b.is_ascii_digit() || b == b' ');
        let screen = self.wait_screen("the settings of the terminal", |screen| screen.lines().any(is_sum));
        screen.lines().find(|line| is_sum(line)).unwrap_or_default().trim().to_owned()
    }

    /// Waits until the shell is back on a screen of its own, with the settings that it had.
    #[track_caller]
    pub(crate) fn wait_restored(&self, settings: &str) {
        self.wait("the shell", &["ready$"]);
        assert_eq!(self.run(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]).trim(), "0 1");
        assert_eq!(self.settings(), settings);
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        drop(Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output());
    }
}
