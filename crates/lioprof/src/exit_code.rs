//! The documented exit codes.

use std::process::ExitCode;

use lioprof_analysis::{Outcome, Selection};
use lioprof_model::Loss;

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// 0: done.
    Success,
    /// 1: done, but with a problem: findings at or above `--fail-on`; a capture that had to end early, or settings or
    /// data that could not be restored or written.
    Failed,
    /// 2: the arguments are wrong, or an input that was asked for could not be read. (clap uses 2, too.)
    Unusable,
    /// 3: everything was read, but more of it is damaged or lost than `--max-loss` allows.
    TooDamaged,
    /// That of the command that `lioprof record` ran.
    #[cfg(feature = "daemon")]
    Command(u8),
}

impl Code {
    /// The exit code of reading: whether all inputs could be used, and whether more than `--max-loss` was lost.
    pub(crate) fn of_reading(outcome: &Outcome, max_loss: f64) -> Self {
        if outcome.has_errors() {
            Self::Unusable
        } else if outcome.damage > max_loss || (max_loss == 0.0 && unknown(&outcome.analysis.loss)) {
            Self::TooDamaged
        } else {
            Self::Success
        }
    }

    /// The same, if the user may have selected what is not there: `is_nothing` says that there is nothing to show. That a server had nothing
    /// to do in some time is an answer.
    pub(crate) fn of_selection(outcome: &Outcome, max_loss: f64, selection: &Selection, is_nothing: bool) -> Self {
        match Self::of_reading(outcome, max_loss) {
            Self::Success if is_nothing && *selection != Selection::default() => Self::Unusable,
            code => code,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(match code {
            Code::Success => 0,
            Code::Failed => 1,
            Code::Unusable => 2,
            Code::TooDamaged => 3,
            #[cfg(feature = "daemon")]
            Code::Command(code) => code,
        })
    }
}

/// Whether an unknown amount is lost.
fn unknown(loss: &Loss) -> bool {
    loss.head_overwritten || (loss.overflowed() && loss.estimated_lost_fraction.is_none())
}
