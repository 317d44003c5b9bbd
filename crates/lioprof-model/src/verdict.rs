//! The verdict on an analysis.

use serde::{Deserialize, Serialize};

named! {
    /// What an analysis says of the system: the first of these that is so.
    #[derive(Default)]
    pub enum VerdictState {
        /// Something failed: requests ended with an error, hang, or clients were evicted.
        Failed = "failed",
        /// A cause is found for time that clients lost.
        Cause = "cause",
        /// No problem is found, and the same work would take less time if something were otherwise.
        CouldBeFaster = "could_be_faster",
        /// No cause is found, but something that could be wrong could not be judged.
        #[default]
        CannotTell = "cannot_tell",
        /// All that could be wrong was looked at, and where the clients spend their time is as it should be.
        NoProblem = "no_problem",
    }
}

/// What an analysis says of the system, in one sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// What it comes to.
    pub state: VerdictState,
    /// The same for people, with the figure that decides.
    pub text: String,
    /// Kinds of the findings that it rests on, worst first, each once.
    pub findings: Vec<String>,
}
