//! `FromStr` for the vocabulary: what `parse_bytes` reads, and what errors say was expected.

use std::str::FromStr;

use super::{
    Extent, Fid, JobId, LockCookie, LockMode, LockType, Net, Nid, Opcode, ParseError, ResourceId, TargetKind,
    TargetName, Xid,
};

macro_rules! from_str {
    ($($type:ty: $expected:literal;)+) => {$(
        impl FromStr for $type {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                Self::parse_bytes(text.as_bytes()).ok_or_else(|| ParseError::new($expected, text))
            }
        }
    )+};
}

from_str! {
    Extent: "an extent such as 0->1048575 or 0->EOF";
    Fid: "a FID such as [0x200000401:0x5:0x0]";
    JobId: r"a job id with only \\ and \xHH as escapes";
    LockCookie: "a lock cookie such as 0xb335d27b2acb529d";
    LockMode: "a lock mode such as PW or --";
    LockType: "a lock type: EXT, IBT, FLK or PLN";
    Net: "a network such as tcp or o2ib12";
    Nid: "a NID such as 10.0.0.1@tcp or 2001:db8::1@o2ib1";
    Opcode: "an opcode such as OST_READ, opc_999 or a number";
    ResourceId: "a resource such as [0x2c0000400:0x153:0x0].0x0";
    TargetKind: "OST, MDT or MGS";
    TargetName: "a target such as lustre-OST0003, lustre-MDT0000 or MGS";
    Xid: "an xid such as x1882455793623808";
}
