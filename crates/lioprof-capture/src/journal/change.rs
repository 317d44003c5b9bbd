//! What lioprof did to one parameter, by kind.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use super::daemon::DaemonChange;
use super::foreign::Foreign;
use super::mask::MaskChange;
use super::outcome::Outcome;
use super::size::SizeChange;
use crate::control::param::Kind;
use crate::control::{Control, ControlError, Param};

/// The value before and lioprof's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Change {
    /// Of bits of a mask.
    Mask(MaskChange),
    /// Of a size.
    Size(SizeChange),
    /// The kernel's debug daemon was started.
    Daemon(DaemonChange),
}

impl Change {
    /// Undoes what is still lioprof's.
    pub(super) fn put_back(&self, control: &Control, param: Param) -> Result<Outcome, ControlError> {
        match self {
            Self::Mask(mask) => mask.put_back(control, param),
            Self::Size(size) => size.put_back(control, param),
            Self::Daemon(daemon) => daemon.put_back(control),
        }
    }

    /// What somebody else has put in its place. Bits of a mask are looked at one by one, see [`MaskChange::still_ours`].
    pub(super) fn replaced(&self, control: &Control, param: Param) -> Result<Option<Foreign>, ControlError> {
        Ok(match self {
            Self::Mask(_) => None,
            Self::Size(size) => {
                let theirs = Some(control.mib(param)?).filter(|mib| !size.is_ours(*mib));
                theirs.map(|mib| Foreign::Setting(format!("{param}: {mib}")))
            }
            Self::Daemon(daemon) => {
                Some(control.daemon_file()?).filter(|path| path.as_ref() != Some(&daemon.path)).map(Foreign::Daemon)
            }
        })
    }
}

/// The parameter says of which kind its change is.
pub(super) fn stored<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<Param, Change>, D::Error> {
    let stored = BTreeMap::<Param, Json>::deserialize(from)?;
    let change = |(param, json): (Param, Json)| {
        let change = match param.about().kind {
            Kind::Mask(_) => serde_json::from_value(json).map(Change::Mask),
            Kind::Mib => serde_json::from_value(json).map(Change::Size),
            Kind::Daemon => serde_json::from_value(json).map(Change::Daemon),
            Kind::Marker => Err(serde_json::Error::custom(format!("`{param}` cannot be changed"))),
        };
        change.map(|change| (param, change)).map_err(D::Error::custom)
    };
    stored.into_iter().map(change).collect()
}
