//! Reading logs and rows with a bar, as all commands that analyze do.

use lioprof_analysis::{AnalyzeError, Config, Outcome};

use crate::messages::{self, Verbosity};
use crate::progress::Bar;

/// What `analyze` made of the inputs; `None` if none of them could be read, and then it has been said why.
pub(crate) fn read<T>(
    config: &Config,
    verbosity: Verbosity,
    analyze: impl FnOnce(&Config) -> Result<T, AnalyzeError>,
) -> anyhow::Result<Option<T>> {
    let bar = Bar::start(&config.progress, verbosity);
    let made = analyze(config);
    drop(bar);
    match made {
        Ok(made) => Ok(Some(made)),
        Err(AnalyzeError::NoInput { problems }) => {
            messages::problems(&problems, verbosity);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Says what was wrong with the inputs, and the warnings of the analysis.
pub(crate) fn say(outcome: &Outcome, verbosity: Verbosity) {
    messages::problems(&outcome.problems, verbosity);
    messages::named(&outcome.named, verbosity);
    for warning in &outcome.analysis.warnings {
        messages::note(verbosity, &format!("warning: {warning}"));
    }
}
