//! The kernel's settings, for users and for manifests.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Control;
use super::param::{Kind, Param};

/// The known masks and sizes, as text and as numbers. In JSON an object, which may have keys of other versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, Json>")]
pub(crate) struct Values(BTreeMap<Param, Json>);

impl Values {
    /// Reads all settings; one that cannot be read keeps its value.
    pub(crate) fn refresh(&mut self, control: &Control) {
        let value = |param: Param| match param.about().kind {
            Kind::Mask(_) => control.mask(param).ok().map(|mask| mask.to_string().into()),
            Kind::Mib => control.mib(param).ok().map(Json::from),
            Kind::Daemon | Kind::Marker => None,
        };
        self.0.extend(Param::settings().filter_map(|param| Some((param, value(param)?))));
    }

    /// The same with a value for each, `""` or 0.
    pub(crate) fn or_blank(mut self) -> Self {
        for param in Param::settings() {
            let blank = match param.about().kind {
                Kind::Mask(_) => "".into(),
                Kind::Mib => 0.into(),
                Kind::Daemon | Kind::Marker => continue,
            };
            self.0.entry(param).or_insert(blank);
        }
        self
    }

    /// The names in a mask; `None` if unknown.
    pub(crate) fn names(&self, param: Param) -> Option<String> {
        self.0.get(&param)?.as_str().filter(|names| !names.is_empty()).map(str::to_owned)
    }

    /// A size in MiB; `None` if unknown.
    pub(crate) fn mib(&self, param: Param) -> Option<u64> {
        self.0.get(&param)?.as_u64()
    }
}

impl From<BTreeMap<String, Json>> for Values {
    fn from(mut stored: BTreeMap<String, Json>) -> Self {
        Self(Param::settings().filter_map(|param| Some((param, stored.remove(param.name())?))).collect())
    }
}

impl fmt::Display for Values {
    /// `debug=rpctrace; debug_mb=80`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let values: Vec<_> = self.0.iter().map(|(param, json)| format!("{param}={}", value(json))).collect();
        f.write_str(&values.join("; "))
    }
}
