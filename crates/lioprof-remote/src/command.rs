//! A program and its arguments, as one line for the shell of a login.

/// Runs the arguments. ssh keeps 255 for itself.
const RUN: &str = r#""$@"; code=$?; [ "$code" = 255 ] && code=254; exit "$code""#;
/// Before [`RUN`]: puts sudo before the arguments unless the login is root.
const AS_ROOT: &str = r#"[ "$(id -u)" = 0 ] || set -- sudo -n -- "$@"; "#;

/// A program on another host, and its arguments. They arrive as they are, whatever the login's shell (sh, bash, csh, fish).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteCommand {
    arguments: Vec<String>,
    as_root: bool,
}

impl RemoteCommand {
    /// A program without arguments: a name to look for in the login's `PATH`, or a path.
    #[must_use]
    pub fn new(program: impl Into<String>) -> Self {
        Self { arguments: vec![program.into()], as_root: false }
    }

    /// A script for `sh`.
    #[must_use]
    pub fn script(text: impl Into<String>) -> Self {
        Self::new("sh").arg("-c").arg(text)
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// As root: with `sudo -n` if the login is somebody else.
    #[must_use]
    pub fn as_root(mut self) -> Self {
        self.as_root = true;
        self
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }

    /// What the login's shell gets.
    pub(crate) fn line(&self) -> String {
        let script = if self.as_root { format!("{AS_ROOT}{RUN}") } else { RUN.to_owned() };
        let mut line = format!("exec sh -c {} sh", quoted(&script));
        for argument in &self.arguments {
            line.push(' ');
            line.push_str(&quoted(argument));
        }
        line
    }
}

/// In single quotes, in which all shells leave everything as it is but `'` and, in csh, `!`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''").replace('!', r"'\!'"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn said_by_sh(command: &RemoteCommand) -> String {
        let output = Command::new("sh").args(["-c", &command.line()]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        #[test]
        fn arguments_arrive_as_they_are(arguments in prop::collection::vec("[ -~ö\n]{0,20}", 0..4)) {
            let command = RemoteCommand::new("printf").arg("%s|").args(arguments.clone());
            let expected: String = arguments.iter().map(|argument| format!("{argument}|")).collect();
            let expected = if arguments.is_empty() { "|".to_owned() } else { expected };
            prop_assert_eq!(said_by_sh(&command), expected);
        }
    }

    #[test]
    fn commands_leave_255_to_ssh() {
        let code = |script: &str| {
            let line = RemoteCommand::script(script).line();
            Command::new("sh").args(["-c", &line]).status().unwrap().code()
        };
        assert_eq!([code("exit 255"), code("exit 3"), code("exit 0")], [Some(254), Some(3), Some(0)]);
    }

    #[test]
    fn root_needs_no_sudo() {
        let command = RemoteCommand::new("echo").arg("it's").as_root();
        assert!(command.line().contains("sudo -n"));
        if rustix::process::geteuid().is_root() {
            assert_eq!(said_by_sh(&command), "it's\n");
        }
    }
}
