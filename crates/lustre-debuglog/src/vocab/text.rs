//! Serde for the vocabulary: every type as the string that `Display` writes and `FromStr` reads.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use super::{
    Extent, Fid, JobId, LockCookie, LockMode, LockType, Net, Nid, Opcode, ParseError, ResourceId, TargetKind,
    TargetName, Xid,
};

struct TextVisitor<T>(PhantomData<T>);

impl<T: FromStr<Err = ParseError>> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

macro_rules! serde_as_text {
    ($($type:ty),+ $(,)?) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(TextVisitor(PhantomData))
            }
        }
    )+};
}

serde_as_text!(
    Extent, Fid, JobId, LockCookie, LockMode, LockType, Net, Nid, Opcode, ResourceId, TargetKind, TargetName, Xid,
);

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    use super::*;

    /// Serialises through serde's own serializer into a formatter.
    struct Written<T>(T);

    impl<T: Serialize> fmt::Display for Written<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.serialize(f)
        }
    }

    fn read<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Error> {
        let deserializer: StrDeserializer<'de, Error> = text.into_deserializer();
        T::deserialize(deserializer)
    }

    #[test]
    fn strings_are_what_lustre_prints() {
        assert_eq!(read::<Opcode>("OST_READ"), Ok(Opcode::OST_READ));
        assert_eq!(read::<Xid>("x17"), Ok(Xid(17)));
        assert_eq!(read::<Extent>("0->EOF"), Ok(Extent { start: 0, end: Extent::EOF }));
        assert_eq!(Written(Opcode::OST_READ).to_string(), "OST_READ");
        assert_eq!(Written(LockMode::None).to_string(), "--");
    }

    #[test]
    fn jobs_that_are_not_utf_8_come_back() {
        let job = JobId::from_bytes(b"a\xff\\b");
        let text = Written(&job).to_string();
        assert_eq!(text, r"a\xff\\b");
        assert_eq!(read::<JobId>(&text), Ok(job));
    }

    #[test]
    fn errors_carry_the_vocabulary_message() {
        let error = read::<Fid>("[1:2]").unwrap_err().to_string();
        assert_eq!(error, r#"expected a FID such as [0x200000401:0x5:0x0], found "[1:2]""#);
    }
}
