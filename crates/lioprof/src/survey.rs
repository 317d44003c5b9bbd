//! `obdfilter-survey` of the Lustre I/O kit, on one server: what its OSTs' disks deliver without clients and network.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::Duration;

use lioprof_health::{ClientIo, Fact, ServerFacts, SurveyFacts, TargetFacts, parse_survey};
use lioprof_model::units::{human_bytes, plural};

/// The script of lustre-iokit.
const PROGRAM: &str = "obdfilter-survey";
/// Its variables that may be set (obdfilter-survey of Lustre 2.17); where it writes and which OSTs it drives is not for others to say.
const VARIABLES: [&str; 7] = ["size", "rszlo", "rszhi", "nobjlo", "nobjhi", "thrlo", "thrhi"];
/// MiB that it writes per OST unless told.
const USUAL_SIZE_MIB: u64 = 16_384;
/// Twice what it writes has to be free: the OST is not to be filled for a measurement.
const ROOM: u64 = 2;

/// Variables of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SurveySettings {
    values: Vec<(String, u64)>,
}

impl SurveySettings {
    /// MiB that are written to each OST.
    pub(crate) fn size_mib(&self) -> u64 {
        self.values.iter().find(|(name, _)| name == "size").map_or(USUAL_SIZE_MIB, |(_, mib)| *mib)
    }
}

impl FromStr for SurveySettings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = |word: &str| {
            let (name, number) = word.split_once('=')?;
            let number = number.parse().ok().filter(|number| (1..=1 << 30).contains(number))?;
            VARIABLES.contains(&name).then(|| (name.to_owned(), number))
        };
        let expected = |word: &str| {
            format!("expected NAME=NUMBER with a name of {}, such as size=1024; found `{word}`", VARIABLES.join(", "))
        };
        let values = text.split_whitespace().map(|word| value(word).ok_or_else(|| expected(word)));
        Ok(Self { values: values.collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for SurveySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.values.iter().map(|(name, number)| format!("{name}={number}")).collect();
        f.write_str(&words.join(" "))
    }
}

/// When a server is not surveyed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caution {
    /// Survey though clients read and write.
    pub(crate) under_load: bool,
    /// Time for which they have to be idle.
    pub(crate) idle: Duration,
}

/// Surveys this server; unknown is why it was not.
pub(crate) fn of_this_server(
    root: &Path,
    facts: &ServerFacts,
    settings: &SurveySettings,
    caution: Caution,
) -> Fact<SurveyFacts> {
    let made = refusal(root, facts, settings, caution).map_or_else(|| run(settings), Err);
    made.map_or_else(Fact::Unknown, Fact::Known)
}

/// Why it should not be surveyed now.
fn refusal(root: &Path, facts: &ServerFacts, settings: &SurveySettings, caution: Caution) -> Option<String> {
    let osts: Vec<&TargetFacts> = osts(facts).collect();
    if osts.is_empty() {
        return Some("there is no OST to survey".to_owned());
    }
    let needed_kib = settings.size_mib().saturating_mul(1024).saturating_mul(ROOM);
    for ost in osts {
        if let Fact::Known(space) = &ost.space
            && space.available_kib < needed_kib
        {
            let (free, written) =
                (space.available_kib.saturating_mul(1024), settings.size_mib().saturating_mul(1 << 20));
            let (free, written) = (human_bytes(free), human_bytes(written));
            return Some(format!(
                "not surveyed: {} has {free} free, and {written} are written to it; set a smaller size",
                ost.name
            ));
        }
    }
    if caution.under_load {
        return None;
    }
    let before = ClientIo::so_far(root);
    std::thread::sleep(caution.idle);
    let requests = ClientIo::so_far(root).requests.saturating_sub(before.requests);
    (requests > 0).then(|| {
        format!(
            "not surveyed: clients made {} of its OSTs within {}; wait until they are idle, or --survey-under-load",
            plural(requests, "read or write").replace("read or writes", "reads and writes"),
            humantime::format_duration(caution.idle)
        )
    })
}

/// The OSTs of a server.
pub(crate) fn osts(facts: &ServerFacts) -> impl Iterator<Item = &TargetFacts> {
    facts.targets.known().into_iter().flatten().filter(|target| target.kind == "ost")
}

fn run(settings: &SurveySettings) -> Result<SurveyFacts, String> {
    let dir = tempfile::Builder::new().prefix("lioprof-survey-").tempdir();
    let dir =
        dir.map_err(|err| format!("not surveyed: failed to create a directory for the survey's output: {err}"))?;
    let mut command = Command::new(PROGRAM);
    command.env("case", "disk").env("rslt", dir.path().join("survey"));
    command.envs(settings.values.iter().map(|(name, number)| (name, number.to_string())));
    command.stdin(Stdio::null());
    let output = command.output().map_err(|err| match err.kind() {
        io::ErrorKind::NotFound => format!("not surveyed: there is no command `{PROGRAM}`; install lustre-iokit"),
        _ => format!("not surveyed: failed to start `{PROGRAM}`: {err}"),
    })?;
    let read = |kind: &str| fs::read(dir.path().join(format!("survey.{kind}"))).unwrap_or_default();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (summary, detail) = (text(read("summary")), text(read("detail")));
    let osts = parse_survey(&detail);
    if osts.is_empty() {
        let said = [text(output.stderr), summary, text(output.stdout)];
        let last = said.iter().find_map(|text| text.lines().rfind(|line| !line.trim().is_empty()));
        return Err(format!(
            "`{PROGRAM}` measured nothing ({}): {}",
            output.status,
            last.unwrap_or("it said nothing").trim()
        ));
    }
    Ok(SurveyFacts { settings: settings.to_string(), summary, detail, osts, last: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_the_scripts_own() {
        let settings: SurveySettings = "size=64 thrhi=2".parse().unwrap();
        assert_eq!((settings.size_mib(), settings.to_string().as_str()), (64, "size=64 thrhi=2"));
        assert_eq!("".parse::<SurveySettings>().unwrap().size_mib(), USUAL_SIZE_MIB);
        for bad in ["size", "size=", "size=0", "size=x", "rslt=1", "size=1;reboot", "case=2"] {
            assert!(bad.parse::<SurveySettings>().unwrap_err().contains("size=1024"), "{bad}");
        }
    }
}
