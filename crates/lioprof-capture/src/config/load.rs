//! Reads and checks the configuration.

use std::fs;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::check::problems;
use super::{Config, ConfigError};

impl Config {
    /// Reads and checks a file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Self::parse(&text, path)
    }

    /// Checks the text of a file; `path` is for the errors.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let config: Self =
            toml::from_str(text).map_err(|err| ConfigError::Parse { path: path.to_owned(), err: Box::new(err) })?;
        config.check(text, path)?;
        Ok(config)
    }

    /// The socket that a file names, even if the rest of the file is invalid.
    #[must_use]
    pub fn socket_in(path: &Path) -> Option<PathBuf> {
        let text = fs::read_to_string(path).ok()?;
        // A file that is not valid TOML as a whole may be valid up to the error.
        let whole = text.parse::<toml::Table>().ok();
        let table = whole.or_else(|| {
            let talk = text.split_inclusive('\n').skip_while(|line| line.trim() != "[talk]");
            let section = talk.enumerate().take_while(|(at, line)| *at == 0 || !line.trim_start().starts_with('['));
            section.map(|(_, line)| line).collect::<String>().parse().ok()
        })?;
        table.get("talk")?.get("socket")?.as_str().map(PathBuf::from).filter(|socket| socket.is_absolute())
    }

    /// Checks values from other sources, such as options of the command line.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check("", Path::new("configuration with options of the command line"))
    }

    fn check(&self, text: &str, path: &Path) -> Result<(), ConfigError> {
        let mut problems = problems(self);
        if problems.is_empty() {
            return Ok(());
        }
        for problem in &mut problems {
            problem.line = line_of(text, &problem.key);
        }
        problems.sort_by_key(|problem| problem.line);
        Err(ConfigError::Invalid { path: path.to_owned(), problems })
    }
}

/// Line of the value of `section.key`.
fn line_of(text: &str, key: &str) -> Option<usize> {
    let (section, name) = key.split_once('.')?;
    let table = DeTable::parse(text).ok()?;
    let DeValue::Table(section) = table.get_ref().get(section)?.get_ref() else { return None };
    let start = section.get(name)?.span().start;
    Some(text.get(..start)?.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Auto, OrOff, Span};

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(text, Path::new("lioprof.toml"))
    }

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    fn keys(table: &toml::Table, prefix: &str, into: &mut Vec<String>) {
        for (key, value) in table {
            match value {
                toml::Value::Table(inner) => keys(inner, &format!("{prefix}{key}."), into),
                _ => into.push(format!("{prefix}{key}")),
            }
        }
    }

    #[test]
    fn nothing_is_all_defaults_and_they_make_sense() {
        assert_eq!(parse("").unwrap(), Config::default());
    }

    #[test]
    fn the_sample_shows_every_key_with_its_default() {
        let sample = include_str!("../../../../packaging/lioprof.toml");
        assert_eq!(parse(sample).unwrap(), Config::default());
        let (mut shown, mut known) = (Vec::new(), Vec::new());
        keys(&sample.parse().unwrap(), "", &mut shown);
        keys(&toml::Table::try_from(Config::default()).unwrap(), "", &mut known);
        shown.sort();
        known.sort();
        assert_eq!(shown, known);
    }

    #[test]
    fn values_of_all_kinds() {
        let text = "[capture]\nprofile = \"light\"\nbuffer_mib = 640\nfor = \"10m\"\nuntil = \"2026-11-21 18:00:00\"\n\
                    [talk]\nmetrics = \"off\"\n[trigger]\nstart_mib_per_s = 500\n[keep]\nretention = \"off\"\n";
        let config = parse(text).unwrap();
        assert_eq!(config.capture.buffer_mib, Auto::Is(640));
        assert_eq!(config.capture.duration, OrOff::Is(Span::from_secs(600)));
        assert_eq!(config.talk.metrics, OrOff::Off);
        assert!(config.trigger.is_on());
        let OrOff::Is(until) = config.capture.until else { panic!("{config:?}") };
        assert_eq!(until.to_string(), "2026-11-21T18:00:00Z");
        assert_eq!(toml::from_str::<Config>(&toml::to_string(&config).unwrap()).unwrap(), config);
    }

    #[test]
    fn errors_name_line_key_expected_and_found() {
        let text = error("[capture]\nprofil = \"full\"\n");
        assert!(text.contains("lioprof.toml") && text.contains("line 2") && text.contains("profil"), "{text}");
        assert!(text.contains("spool_dir"), "names the keys there are: {text}");
        let text = error("[capture]\nprofile = \"fool\"\n");
        assert!(text.contains("fool") && text.contains("`full`"), "{text}");
        let text = error("[capture]\n\nrotate = \"1 parsec\"\n");
        assert!(text.contains("line 3") && text.contains("1 parsec") && text.contains("\"10s\""), "{text}");
        let text = error("[capture]\nrotate = 5\n");
        assert!(text.contains("number 5") && text.contains("\"10s\""), "{text}");
        let text = error("[talk]\nmetrics = \"localhost\"\n");
        assert!(text.contains("localhost") && text.contains("\"off\""), "{text}");
        let text = error("[budget]\ncpu_percent = -3\n");
        assert!(text.contains("line 2") && text.contains("-3"), "{text}");
    }

    #[test]
    fn all_senseless_values_at_once_with_their_lines() {
        let text = error(
            "[keep]\ndir = \"data\"\n[capture]\nsegment_mib = 4\nspool_limit_mib = 8\n[budget]\nduty_on = \"2m\"\n",
        );
        let expected = "`lioprof.toml` cannot be used:\n  \
            budget.duty_every: expected more than budget.duty_on, \"2m\", found \"1m\"\n  \
            line 2: keep.dir: expected an absolute path, found data\n  \
            line 4: capture.segment_mib: expected 5 to 10240, found 4\n  \
            line 5: capture.spool_limit_mib: expected room for four segments at least, 16 MiB, found 8";
        assert_eq!(text, expected);
        let mut config = Config::default();
        config.budget.memory_mib = 1;
        assert!(config.validate().unwrap_err().to_string().contains("command line"));
    }

    #[test]
    fn rubbish_never_panics() {
        for text in
            ["[", "a", "[capture]\nfor = []\n", "\u{0}", "[keep]\nfile_mib = 99999999999999999999\n", "capture = 3\n"]
        {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }
}
