//! The sums of a node as a value that stands by itself, and as bytes: kept beside its rows, so that whoever asks for all of them need not
//! read the rows again.

use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::parts::sums::Second;
use lioprof_model::{Symbol, TraceSummary};
use serde::{Deserialize, Serialize};

use crate::clocks::ExchangeSample;
use crate::config::Question;
use crate::interval::Interval;
use crate::partial::Partial;
use crate::renumber::Renumber;

/// What the bytes of [`NodeSums`] are of: the sources of this crate and of its model. Others' bytes are not read, the rows are.
pub const SUMS_SCHEMA: &str = concat!("lioprof.sums/1 ", env!("LIOPROF_SUMS"));

/// The sums of a node's rows, as far as a question asks for them.
#[derive(Serialize, Deserialize)]
pub struct NodeSums {
    pub(crate) node: String,
    pub(crate) question: Question,
    /// What its log holds besides rows, on the node's own clock.
    #[serde(with = "as_json")]
    pub(crate) summary: TraceSummary,
    /// The clock that the sums are on; `None`: the node's own.
    pub(crate) clock: Option<ClockLine>,
    pub(crate) is_client: bool,
    /// The limits of the question, on the clock of the sums.
    pub(crate) interval: Interval,
    pub(crate) warnings: Vec<String>,
    /// On the node's own clock.
    pub(crate) exchanges: ExchangeSample,
    pub(crate) partial: Partial,
    #[serde(skip)]
    pub(crate) seconds: Vec<Second>,
}

impl NodeSums {
    /// The same, of a node that these sums were made of before: whatever clock the rest is on, clocks are compared by what they show
    /// themselves.
    #[must_use]
    pub fn compared_as(self, before: Self) -> Self {
        Self { exchanges: before.exchanges, ..self }
    }

    /// As bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("sums are plain data, and memory has room for them")
    }

    /// From bytes that a program with the same [`SUMS_SCHEMA`] made.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let mut sums: Self =
            postcard::from_bytes(bytes).map_err(|err| format!("expected the sums of a node: {err}"))?;
        let Partial { symbols, aggregate } = &mut sums.partial;
        if symbols.is_empty() {
            return Err("expected the name of a node, found no text".to_owned());
        }
        // Whoever made the bytes may have meant harm: after this all symbols are those of a text.
        let all: Vec<Symbol> = symbols.iter().map(|(symbol, _)| symbol).collect();
        aggregate.renumber(&all);
        aggregate.check()?;
        Ok(sums)
    }

    /// Whether they are of a node, and answer a question.
    #[must_use]
    pub fn answers(&self, node: &str, question: &Question) -> bool {
        self.node == node && self.question == *question
    }

    /// What they answer.
    #[must_use]
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// The node's name.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    /// How many RPCs the node handled.
    #[must_use]
    pub fn rpcs(&self) -> u64 {
        self.partial.aggregate.rpcs()
    }

    /// What was moved in each second, of sums that were just made: bytes do not have it.
    #[must_use]
    pub fn seconds(&self) -> &[Second] {
        &self.seconds
    }
}

/// In bytes that have no names fields cannot be left out, as those of a summary are.
mod as_json {
    use lioprof_model::TraceSummary;
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(summary: &TraceSummary, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(summary).map_err(S::Error::custom)?.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TraceSummary, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
