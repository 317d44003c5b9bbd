//! Target names.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::digits;
use super::words::words;

words! {
    /// What a target is.
    TargetKind;
    /// Object storage target.
    Ost = "OST",
    /// Metadata target.
    Mdt = "MDT",
    /// The management service (`MGS`).
    Mgs = "MGS",
}

/// A target's name, `FSNAME-OST0003`, `FSNAME-MDT0000` or `MGS`.
///
/// Small and `Copy`: file system names have at most eight characters (`LUSTRE_MAXFSNAME`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TargetName {
    /// ASCII, zero-padded.
    pub(crate) fsname: [u8; 8],
    pub(crate) kind: TargetKind,
    pub(crate) index: u16,
}

/// In two words: names are looked up for every RPC, and an array of bytes would be hashed with its length, byte by byte.
impl Hash for TargetName {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from_le_bytes(self.fsname));
        state.write_u32(u32::from(self.index) << 8 | self.kind as u32);
    }
}

impl TargetName {
    /// The management service.
    pub const MGS: Self = Self { fsname: [0; 8], kind: TargetKind::Mgs, index: 0 };

    /// The target with this index in the file system `fsname`; `None` if that is not a possible name of
    /// a file system. For [`TargetKind::Mgs`] name and index are ignored.
    #[must_use]
    pub fn new(fsname: &str, kind: TargetKind, index: u16) -> Option<Self> {
        match kind {
            TargetKind::Mgs => Some(Self::MGS),
            _ => Some(Self { fsname: pack_fsname(fsname.as_bytes())?, kind, index }),
        }
    }

    /// Name of the file system, empty for the MGS.
    #[must_use]
    pub fn fsname(&self) -> &str {
        let len = self.fsname.iter().position(|byte| *byte == 0).unwrap_or(self.fsname.len());
        // Packed from ASCII only.
        self.fsname.get(..len).and_then(|name| str::from_utf8(name).ok()).unwrap_or_default()
    }

    /// What the target is.
    #[must_use]
    pub const fn kind(&self) -> TargetKind {
        self.kind
    }

    /// Index of the OST or MDT in its file system, 0 for the MGS.
    #[must_use]
    pub const fn index(&self) -> u16 {
        self.index
    }

    /// Reads a target's name or uuid: `lustre-OST0003`, `lustre-MDT0000_UUID`, `MGS`.
    #[must_use]
    #[inline]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        let name = text.strip_suffix(b"_UUID").unwrap_or(text);
        // FSNAME, then eight bytes such as `-OST0003`.
        let Some((fsname, rest)) = name.len().checked_sub(8).map(|at| name.split_at(at)) else {
            return (text == b"MGS").then_some(Self::MGS);
        };
        let (kind, index) = match rest {
            [b'-', b'O', b'S', b'T', index @ ..] => (TargetKind::Ost, index),
            [b'-', b'M', b'D', b'T', index @ ..] => (TargetKind::Mdt, index),
            _ => return None,
        };
        let (index, b"") = digits::hex(index)? else { return None };
        Some(Self { fsname: pack_fsname(fsname)?, kind, index: u16::try_from(index).ok()? })
    }

    /// Reads the name of a server's LDLM namespace: `filter-lustre-OST0003_UUID`,
    /// `mdt-lustre-MDT0000_UUID`, `MGS`.
    ///
    /// `None` for namespaces in which this node is the client, such as `lustre-OST0003-osc-MDT0000`.
    #[must_use]
    #[inline]
    pub fn from_namespace(namespace: &[u8]) -> Option<Self> {
        let (uuid, kind) = if let Some(uuid) = namespace.strip_prefix(b"filter-") {
            (uuid, TargetKind::Ost)
        } else if let Some(uuid) = namespace.strip_prefix(b"mdt-") {
            (uuid, TargetKind::Mdt)
        } else {
            return (namespace == b"MGS").then_some(Self::MGS);
        };
        Self::parse_bytes(uuid).filter(|target| target.kind == kind)
    }
}

/// Lustre allows letters, digits, `_` and `-` in the names of file systems.
#[inline]
fn pack_fsname(name: &[u8]) -> Option<[u8; 8]> {
    let mut packed = [0; 8];
    if name.is_empty() || name.len() > packed.len() {
        return None;
    }
    for (to, from) in packed.iter_mut().zip(name) {
        if !from.is_ascii_alphanumeric() && !matches!(from, b'_' | b'-') {
            return None;
        }
        *to = *from;
    }
    Some(packed)
}

impl fmt::Display for TargetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TargetKind::Mgs => f.pad("MGS"),
            kind => write!(f, "{}-{kind}{:04x}", self.fsname(), self.index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_uuids() {
        for text in ["lustre-OST0003", "lustre-OST0003_UUID"] {
            let target: TargetName = text.parse().unwrap();
            assert_eq!(target.fsname(), "lustre");
            assert_eq!(target.kind(), TargetKind::Ost);
            assert_eq!(target.index(), 3);
            assert_eq!(target.to_string(), "lustre-OST0003");
            assert_eq!(TargetName::new("lustre", TargetKind::Ost, 3), Some(target));
        }
        let target: TargetName = "my-fs_01-MDTabcd".parse().unwrap();
        assert_eq!((target.fsname(), target.kind(), target.index()), ("my-fs_01", TargetKind::Mdt, 0xabcd));
    }

    #[test]
    fn mgs_has_no_file_system() {
        assert_eq!("MGS".parse(), Ok(TargetName::MGS));
        assert_eq!(TargetName::MGS.to_string(), "MGS");
        assert_eq!(TargetName::MGS.fsname(), "");
        assert_eq!(TargetName::new("", TargetKind::Mgs, 0), Some(TargetName::MGS));
    }

    #[test]
    fn rejects_other_text() {
        for text in [
            "",
            "MG",
            "OST0003",
            "-OST0003",
            "lustre-OST003",
            "lustre-OST00g3",
            "lustre-XST0003",
            "toolongname-OST0003",
            "a b-OST0003",
            "lustre-OST0003-osc-MDT0000",
            "lustre-MDT0000-mdtlov_UUID",
        ] {
            assert!(text.parse::<TargetName>().is_err(), "{text}");
        }
        assert_eq!(TargetName::new("", TargetKind::Ost, 0), None);
    }

    #[test]
    fn namespaces_of_servers() {
        assert_eq!(TargetName::from_namespace(b"filter-lustre-OST0003_UUID"), "lustre-OST0003".parse().ok());
        assert_eq!(TargetName::from_namespace(b"mdt-lustre-MDT0000_UUID"), "lustre-MDT0000".parse().ok());
        assert_eq!(TargetName::from_namespace(b"MGS"), Some(TargetName::MGS));
        for namespace in [&b"lustre-OST0003-osc-MDT0000"[..], b"lustre-OST0003", b"??", b"filter-lustre-MDT0000_UUID"] {
            assert_eq!(TargetName::from_namespace(namespace), None);
        }
    }

    #[test]
    fn kinds_read_what_they_print() {
        for kind in [TargetKind::Ost, TargetKind::Mdt, TargetKind::Mgs] {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert!("ost".parse::<TargetKind>().is_err());
    }
}
