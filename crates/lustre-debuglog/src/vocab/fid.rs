//! File and resource identifiers.

use std::fmt;

use super::digits;

/// Sequences of IDIF FIDs: 1, OST index (16 bits), bits 32 to 47 of the object id.
const IDIF: std::ops::RangeInclusive<u64> = 0x1_0000_0000..=0x1_ffff_ffff;

/// A Lustre file identifier, `[0xSEQ:0xOID:0xVER]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fid {
    /// Sequence.
    pub seq: u64,
    /// Object id within the sequence.
    pub oid: u32,
    /// Version, 0 for objects.
    pub ver: u32,
}

impl Fid {
    /// The OST index inside an IDIF FID, the form of OST objects without a sequence of their own
    /// (`FID_SEQ_IDIF` in `lustre_idl.h`); `None` for all other FIDs.
    #[must_use]
    pub fn idif_ost_index(self) -> Option<u16> {
        IDIF.contains(&self.seq).then(|| low_u16(self.seq >> 16))
    }

    /// The LDLM resource of this object on its OST, as `ost_fid_build_resid` builds it: `[seq:oid:0]`,
    /// but `[id:0:0]` for an IDIF FID.
    #[must_use]
    pub fn to_resource(self) -> ResourceId {
        if IDIF.contains(&self.seq) {
            ResourceId([(self.seq & 0xffff) << 32 | u64::from(self.oid), 0, 0, 0])
        } else {
            ResourceId([self.seq, u64::from(self.ver) << 32 | u64::from(self.oid), 0, 0])
        }
    }

    /// Reads `[0xSEQ:0xOID:0xVER]`.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        Self::take(text).and_then(|(fid, rest)| rest.is_empty().then_some(fid))
    }

    /// Reads a FID and returns what follows.
    #[inline]
    pub(crate) fn take(text: &[u8]) -> Option<(Self, &[u8])> {
        let ([seq, oid, ver], rest) = take_words(text)?;
        Some((Self { seq, oid: u32::try_from(oid).ok()?, ver: u32::try_from(ver).ok()? }, rest))
    }
}

impl fmt::Display for Fid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:#x}:{:#x}:{:#x}]", self.seq, self.oid, self.ver)
    }
}

/// An LDLM resource name, `[n0:n1:n2].n3` in hexadecimal.
///
/// To Lustre 2.7 the last word is printed without `0x`; both forms are read, the newer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId(pub [u64; 4]);

impl ResourceId {
    /// The object or file of a resource that names a FID, `[seq:oid:0]`, with any hash in the last word
    /// (`fid_extract_from_res_name`).
    ///
    /// `None` for `[id:0:0]`, an OST object of the old MDT0 sequence: its FID holds the OST index, which
    /// the resource does not; see [`Self::to_ost_fid`].
    #[must_use]
    pub fn to_fid(self) -> Option<Fid> {
        let [seq, object, ..] = self.0;
        (object != 0).then(|| Fid { seq, oid: low_u32(object), ver: low_u32(object >> 32) })
    }

    /// The OST object that this resource names on the OST with the given index: like [`Self::to_fid`],
    /// and for `[id:0:0]` the IDIF FID that the OST prints elsewhere.
    #[must_use]
    pub fn to_ost_fid(self, ost_index: u16) -> Fid {
        let [id, ..] = self.0;
        self.to_fid().unwrap_or(Fid {
            seq: IDIF.start() | u64::from(ost_index) << 16 | (id >> 32 & 0xffff),
            oid: low_u32(id),
            ver: 0,
        })
    }

    /// Reads `[0xN0:0xN1:0xN2].0xN3`.
    #[must_use]
    pub fn parse_bytes(text: &[u8]) -> Option<Self> {
        Self::take(text).and_then(|(resource, rest)| rest.is_empty().then_some(resource))
    }

    /// Reads a resource name and returns what follows.
    #[inline]
    pub(crate) fn take(text: &[u8]) -> Option<(Self, &[u8])> {
        let ([n0, n1, n2], rest) = take_words(text)?;
        let (n3, rest) = digits::hex_0x(rest.strip_prefix(b".")?)?;
        Some((Self([n0, n1, n2, n3]), rest))
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [n0, n1, n2, n3] = self.0;
        write!(f, "[{n0:#x}:{n1:#x}:{n2:#x}].{n3:#x}")
    }
}

/// Reads `[0xA:0xB:0xC]`.
#[inline]
fn take_words(text: &[u8]) -> Option<([u64; 3], &[u8])> {
    let (a, rest) = digits::hex_0x(text.strip_prefix(b"[")?)?;
    let (b, rest) = digits::hex_0x(rest.strip_prefix(b":")?)?;
    let (c, rest) = digits::hex_0x(rest.strip_prefix(b":")?)?;
    Some(([a, b, c], rest.strip_prefix(b"]")?))
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is what is asked for")]
const fn low_u32(value: u64) -> u32 {
    value as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the low quarter is what is asked for")]
const fn low_u16(value: u64) -> u16 {
    value as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fid_reads_what_it_prints() {
        let fid = Fid { seq: 0x2_4000_0400, oid: 6, ver: 0 };
        assert_eq!(fid.to_string(), "[0x240000400:0x6:0x0]");
        assert_eq!("[0x240000400:0x6:0x0]".parse(), Ok(fid));
    }

    #[test]
    fn fid_rejects_other_text() {
        for text in
            ["", "[]", "[0x1:0x2]", "[0x1:0x2:0x3", "[0x1:0x2:0x3] ", "[0x1:0x100000000:0x0]", "[0x1:0x2:0x3].0x0"]
        {
            assert!(text.parse::<Fid>().is_err(), "{text}");
        }
    }

    #[test]
    fn idif_holds_the_ost_index() {
        let fid: Fid = "[0x100030000:0x2:0x0]".parse().unwrap();
        assert_eq!(fid.idif_ost_index(), Some(3));
        let high: Fid = "[0x1ffff0001:0x2:0x0]".parse().unwrap();
        assert_eq!(high.idif_ost_index(), Some(0xffff));
        let own_sequence: Fid = "[0x240000400:0x6:0x0]".parse().unwrap();
        assert_eq!(own_sequence.idif_ost_index(), None);
    }

    #[test]
    fn resource_reads_both_forms_of_the_last_word() {
        let resource = ResourceId([0x2_0000_0007, 1, 0, 0xcfd9_2ed6]);
        assert_eq!(resource.to_string(), "[0x200000007:0x1:0x0].0xcfd92ed6");
        assert_eq!("[0x200000007:0x1:0x0].0xcfd92ed6".parse(), Ok(resource));
        assert_eq!("[0x200000007:0x1:0x0].cfd92ed6".parse(), Ok(resource));
        for text in ["", "[0x1:0x2:0x3]", "[0x1:0x2:0x3].", "[0x1:0x2:0x3].0x0 ", "1/2"] {
            assert!(text.parse::<ResourceId>().is_err(), "{text}");
        }
    }

    #[test]
    fn resource_of_an_object_with_its_own_sequence() {
        let fid: Fid = "[0x240000400:0x6:0x0]".parse().unwrap();
        assert_eq!(fid.to_resource().to_string(), "[0x240000400:0x6:0x0].0x0");
        assert_eq!(fid.to_resource().to_fid(), Some(fid));
        assert_eq!(fid.to_resource().to_ost_fid(9), fid);
    }

    #[test]
    fn resource_of_an_idif_object_has_no_ost_index() {
        let fid: Fid = "[0x100030001:0x2:0x0]".parse().unwrap();
        assert_eq!(fid.to_resource().to_string(), "[0x100000002:0x0:0x0].0x0");
        assert_eq!(fid.to_resource().to_fid(), None);
        assert_eq!(fid.to_resource().to_ost_fid(3), fid);
    }
}
