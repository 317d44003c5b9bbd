//! The directory in which surveys are kept.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use lioprof_health::{LastSurvey, SurveyFacts};
use lioprof_model::time::utc;

/// Surveys of several servers, by time: `2026-11-24T22-00-35Z_oss01.summary` (for `analyze --baseline`), `.detail` as the script wrote it, and
/// `.json` with the bandwidths by OST.
#[derive(Debug)]
pub(crate) struct SurveyFiles {
    dir: PathBuf,
    time: String,
}

impl SurveyFiles {
    /// Creates the directory. `time_us`: of the surveys that are to be kept.
    pub(crate) fn open(dir: &Path, time_us: i64) -> anyhow::Result<Self> {
        fs::create_dir_all(dir).with_context(|| format!("failed to create directory `{}`", dir.display()))?;
        let time = utc(time_us).to_string();
        let time = time.split('.').next().unwrap_or(&time).trim_end_matches('Z').replace(':', "-");
        Ok(Self { dir: dir.to_owned(), time: format!("{time}Z") })
    }

    /// Keeps a server's survey, and adds the last one with the same settings to it.
    pub(crate) fn keep(&self, server: &str, survey: &mut SurveyFacts) -> anyhow::Result<()> {
        survey.last = self.last(server, &survey.settings)?;
        let kept = SurveyFacts { summary: String::new(), detail: String::new(), last: None, ..survey.clone() };
        let files = [
            ("summary", survey.summary.clone()),
            ("detail", survey.detail.clone()),
            ("json", serde_json::to_string_pretty(&kept)?),
        ];
        for (kind, text) in files {
            let path = self.dir.join(format!("{}_{server}.{kind}", self.time));
            fs::write(&path, text).with_context(|| format!("failed to write `{}`", path.display()))?;
        }
        Ok(())
    }

    fn last(&self, server: &str, settings: &str) -> anyhow::Result<Option<LastSurvey>> {
        let list = || format!("failed to list directory `{}`", self.dir.display());
        let mut names = Vec::new();
        for entry in self.dir.read_dir().with_context(list)? {
            let name = entry.with_context(list)?.file_name().to_string_lossy().into_owned();
            if name.strip_suffix(".json").is_some_and(|stem| stem.split_once('_').is_some_and(|it| it.1 == server)) {
                names.push(name);
            }
        }
        names.sort_unstable();
        for name in names.into_iter().rev() {
            let path = self.dir.join(&name);
            let bytes = fs::read(&path).with_context(|| format!("failed to read `{}`", path.display()))?;
            let survey: SurveyFacts = serde_json::from_slice(&bytes)
                .with_context(|| format!("`{}` is not a survey that lioprof kept; remove it", path.display()))?;
            if survey.settings == settings {
                return Ok(Some(LastSurvey { name, osts: survey.osts }));
            }
        }
        Ok(None)
    }
}
