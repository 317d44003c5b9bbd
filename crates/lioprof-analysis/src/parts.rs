//! What tables of parts have in common: names become texts, and texts names again.

use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Fid, TargetName};

/// A value in a table of parts that cannot be: another version wrote it, or the file is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found `{found}`")]
pub struct BadPart {
    expected: &'static str,
    found: String,
}

impl BadPart {
    pub(crate) fn new(expected: &'static str, found: impl Into<String>) -> Self {
        Self { expected, found: found.into() }
    }
}

/// A target by its name.
pub(crate) fn target_of(name: &str) -> Result<TargetName, BadPart> {
    name.parse().map_err(|_| BadPart::new("a target such as lustre-OST0003", name))
}

/// A target that may be unknown.
pub(crate) fn optional_target(name: Option<&String>) -> Result<Option<TargetName>, BadPart> {
    name.map(|name| target_of(name)).transpose()
}

/// An object by its FID, or by two words of its resource.
pub(crate) fn object_of(name: &str) -> Result<ObjectName, BadPart> {
    let bad = || BadPart::new("a FID such as [0x2c0000400:0x153:0x0], or two numbers such as 7/0", name);
    match name.split_once('/') {
        Some((first, second)) => {
            let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
            Ok(ObjectName::Resource(number(first)?, number(second)?))
        }
        None => name.parse::<Fid>().map(ObjectName::Fid).map_err(|_| bad()),
    }
}

/// The text that [`object_of`] understands; also how an object is shown.
pub(crate) fn object_name(object: ObjectName) -> String {
    match object {
        ObjectName::Fid(fid) => fid.to_string(),
        ObjectName::Resource(first, second) => format!("{first}/{second}"),
    }
}
