//! What of the logs was counted.

use serde::{Deserialize, Serialize};

/// Which RPCs were counted, where the user chose some: an empty list selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Selected {
    /// `--client`: NIDs, ranges and patterns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// `--target`: names of targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// `--job`: job ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<String>,
    /// `--opcode`: names of opcodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opcodes: Vec<String>,
}

impl Selected {
    /// Whether nothing was left out.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether RPCs of some clients or jobs alone, or of some kinds, were counted.
    #[must_use]
    pub fn leaves_out_clients(&self) -> bool {
        !(self.clients.is_empty() && self.jobs.is_empty() && self.opcodes.is_empty())
    }

    /// What it is of the log, in a sentence without an end; `None` if it is all.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let locks = if self.leaves_out_clients() { "; locks are those of all clients" } else { "" };
        (!self.is_everything()).then(|| format!("Only {}{locks}", self.options()))
    }

    /// The options that select this, as a user writes them.
    #[must_use]
    pub fn options(&self) -> String {
        let all =
            [("client", &self.clients), ("target", &self.targets), ("job", &self.jobs), ("opcode", &self.opcodes)];
        let options =
            all.into_iter().flat_map(|(name, values)| values.iter().map(move |value| format!("--{name} {value}")));
        options.collect::<Vec<_>>().join(" ")
    }
}
