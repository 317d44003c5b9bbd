//! Masks as the kernel prints and takes them: sets of names.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Param;

/// The names that are on, including unknown names of other Lustre versions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct MaskSet(BTreeSet<String>);

impl MaskSet {
    /// What a control file shows: names with white space (or commas) between them, `0`, or a number. Also takes `all`.
    pub(crate) fn parse(param: Param, text: &str) -> Self {
        let mut names = BTreeSet::new();
        for token in text.split(|c: char| c.is_whitespace() || c == ',').filter(|token| !token.is_empty()) {
            match number(token) {
                Some(mask) => names.extend(of_bits(param, mask)),
                None if token.eq_ignore_ascii_case("all") => names.extend(of_bits(param, u32::MAX)),
                None => drop(names.insert(token.to_ascii_lowercase())),
            }
        }
        Self(names)
    }

    /// Set of these names.
    pub(crate) fn of(names: &[&str]) -> Self {
        names.iter().map(|&name| name.to_ascii_lowercase()).collect()
    }

    /// Whether no name is on.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names in alphabetic order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Names in both masks.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).cloned().collect())
    }

    /// Names in at least one of the masks.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).cloned().collect())
    }

    /// Names in this mask but not in the other.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).cloned().collect())
    }
}

impl FromIterator<String> for MaskSet {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

impl fmt::Display for MaskSet {
    /// As the kernel prints it: names with a space in between, or `0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("0");
        }
        for (i, name) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}

/// The command that switches bits on and off and leaves the others alone; `None` if there is nothing to do.
///
/// Every name has an operator: up to 2.16 an operator applies to all names that follow, since 2.17 (v2_16_53) to one name
/// only, and a first name without operator would replace the whole mask.
pub(crate) fn relative(on: &MaskSet, off: &MaskSet) -> Option<String> {
    let on = on.iter().map(|name| format!("+{name}"));
    let off = off.iter().map(|name| format!("-{name}"));
    let tokens: Vec<_> = on.chain(off).collect();
    (!tokens.is_empty()).then(|| tokens.join(" "))
}

/// `0`, `-1`, `1048576`, `0x100000`.
fn number(token: &str) -> Option<u32> {
    if let Some(hex) = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
        return u32::from_str_radix(hex, 16).ok();
    }
    token.parse::<u32>().ok().or_else(|| token.parse::<i32>().ok().map(i32::cast_unsigned))
}

fn of_bits(param: Param, mask: u32) -> impl Iterator<Item = String> {
    param.bits().iter().filter(move |(bit, _)| mask & bit != 0).map(|(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Param::{Debug, SubsystemDebug};

    #[test]
    fn reads_what_real_kernels_print() {
        // 2.17.57, bits without a name leave double spaces.
        let text = "undefined mdc mds osc ost class log llite rpc mgmt lnet lnd pinger filter libcfs echo ldlm lov lquota osd lfsck \
                    snapshot  lmv  sec gss  mgc mgs fid fld\n";
        let set = MaskSet::parse(SubsystemDebug, text);
        assert_eq!(set.iter().count(), 29);
        assert!(["fld", "filter"].iter().all(|name| set.iter().any(|on| on == *name)));
        assert_eq!(MaskSet::parse(Debug, "0\n"), MaskSet::default());
        assert_eq!(MaskSet::parse(Debug, ""), MaskSet::default());
        assert_eq!(MaskSet::parse(Debug, "RPCTRACE,NetError  ha"), MaskSet::of(&["ha", "neterror", "rpctrace"]));
        assert_eq!(MaskSet::parse(Debug, "-1"), MaskSet::parse(Debug, "all"));
        assert_eq!(MaskSet::parse(Debug, "0x100200"), MaskSet::of(&["net", "rpctrace"]));
        assert_eq!(MaskSet::parse(Debug, "brandnew").to_string(), "brandnew");
    }

    #[test]
    fn bits_agree_with_the_log_format() {
        use lustre_debuglog::record::{mask, subsystem};
        let bit = |param: Param, name| param.bits().iter().find(|(_, known)| *known == name).map(|(bit, _)| *bit);
        assert_eq!(bit(Debug, "rpctrace"), Some(mask::RPCTRACE));
        assert_eq!(bit(Debug, "dlmtrace"), Some(mask::DLMTRACE));
        assert_eq!(bit(Debug, "net"), Some(mask::NET));
        assert_eq!(bit(SubsystemDebug, "rpc"), Some(subsystem::RPC));
        assert_eq!(bit(SubsystemDebug, "filter"), Some(subsystem::FILTER));
        assert_eq!(bit(SubsystemDebug, "ldlm"), Some(subsystem::LDLM));
    }

    #[test]
    fn every_name_has_its_operator() {
        let change = relative(&MaskSet::of(&["rpctrace", "net"]), &MaskSet::of(&["trace"]));
        assert_eq!(change.as_deref(), Some("+net +rpctrace -trace"));
        assert_eq!(relative(&MaskSet::default(), &MaskSet::default()), None);
    }
}
