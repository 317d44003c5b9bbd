//! Changes of lioprof's to one parameter, by kind.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use super::daemon::DaemonChange;
use super::mask::MaskChange;
use super::outcome::{Foreign, Outcome};
use super::size::SizeChange;
use crate::control::param::Kind;
use crate::control::{Control, ControlError, Param};

/// The change of one parameter: its value before, and lioprof's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Change {
    /// Bits of a mask were switched.
    Mask(MaskChange),
    /// A size was set.
    Size(SizeChange),
    /// The kernel's debug daemon was started.
    Daemon(DaemonChange),
}

impl Change {
    /// Undoes the change as far as it is still lioprof's.
    pub(super) fn put_back(&self, control: &Control, param: Param) -> Result<Outcome, ControlError> {
        match self {
            Self::Mask(mask) => mask.put_back(control, param),
            Self::Size(size) => size.put_back(control, param),
            Self::Daemon(daemon) => daemon.put_back(control),
        }
    }

    /// The value that somebody else has set instead, if so. For bits of a mask see [`MaskChange::still_ours`].
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

/// Reads a change, whose kind follows from the parameter.
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
