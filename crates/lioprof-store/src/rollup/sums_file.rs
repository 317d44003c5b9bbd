//! A file with the sums of a node: a line of JSON that says what they are of, and the sums, packed.

use std::collections::BTreeSet;
use std::io::Read as _;

use serde::{Deserialize, Serialize};

/// Largest file that is read, and most sums that are unpacked, in bytes: those of a server with a hundred thousand clients have some tens
/// of millions.
pub const MOST_SUMS_BYTES: u64 = 1 << 30;
/// How much is spent on packing: Zstandard's own choice packs sums to a third, and takes a hundredth of the time that making them took.
const LEVEL: i32 = zstd::DEFAULT_COMPRESSION_LEVEL;

/// What sums are of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumsHeader {
    /// What the bytes are: those of another program are not read.
    pub schema: String,
    /// Name of the node whose rows were summed up.
    pub node: String,
    /// The parts that were summed up, by the names of their files.
    pub parts: BTreeSet<String>,
    /// Length of the sums as they were before packing, in bytes.
    bytes: u64,
    /// Their CRC-32.
    crc32: u32,
}

/// The contents of such a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumsFile {
    /// What the sums are of.
    pub header: SumsHeader,
    /// The sums.
    pub sums: Vec<u8>,
}

impl SumsFile {
    /// Of sums that were just made.
    #[must_use]
    pub fn new(schema: &str, node: &str, parts: BTreeSet<String>, sums: Vec<u8>) -> Self {
        let (bytes, crc32) = (sums.len() as u64, crc32fast::hash(&sums));
        Self { header: SumsHeader { schema: schema.to_owned(), node: node.to_owned(), parts, bytes, crc32 }, sums }
    }

    /// The file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut file = serde_json::to_vec(&self.header).expect("a header is plain data");
        file.push(b'\n');
        zstd::stream::copy_encode(self.sums.as_slice(), &mut file, LEVEL).expect("memory has room for them");
        file
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// What was expected and what was found.
    pub fn from_bytes(file: &[u8]) -> Result<Self, String> {
        let end = file
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or("expected a line of JSON and sums behind it, found no line")?;
        let header: SumsHeader =
            serde_json::from_slice(&file[..end]).map_err(|err| format!("expected what sums are of, as JSON: {err}"))?;
        let most = header.bytes.min(MOST_SUMS_BYTES);
        let mut sums = Vec::new();
        let unpacked = zstd::Decoder::with_buffer(&file[end + 1..])
            .and_then(|packed| packed.take(most.saturating_add(1)).read_to_end(&mut sums));
        unpacked.map_err(|err| format!("expected {} bytes of sums, packed: {err}", header.bytes))?;
        if header.bytes != sums.len() as u64 {
            let more = if sums.len() as u64 > most { " or more" } else { "" };
            return Err(format!("expected {} bytes of sums, found {}{more}", header.bytes, sums.len()));
        }
        let crc32 = crc32fast::hash(&sums);
        if header.crc32 != crc32 {
            return Err(format!("expected sums with CRC-32 {:08x}, found {crc32:08x}", header.crc32));
        }
        Ok(Self { header, sums })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_damage_is_told() {
        let file = SumsFile::new("a/1", "oss 1", ["p1".to_owned()].into(), b"sums\nof rows".to_vec());
        let bytes = file.to_bytes();
        assert_eq!(SumsFile::from_bytes(&bytes), Ok(file));
        let told = |bytes: &[u8]| SumsFile::from_bytes(bytes).unwrap_err();
        assert!(told(&bytes[..bytes.len() - 1]).contains("expected 12 bytes of sums, packed"));
        let mut other = bytes.clone();
        let in_data = other.len() - 3;
        other[in_data] ^= 1;
        assert!(told(&other).contains("CRC-32"), "{}", told(&other));
        // What packs well may ask for any amount of memory.
        let zeros = SumsFile::new("a/1", "oss 1", BTreeSet::new(), vec![0; 1 << 20]).to_bytes();
        assert!(zeros.len() < 1_000);
        let line = String::from_utf8_lossy(&zeros).replacen("1048576", "10", 1).find('\n').unwrap();
        let fewer =
            [br#"{"schema":"","node":"","parts":[],"bytes":10,"crc32":0}"#.as_slice(), &zeros[line + 5..]].concat();
        assert_eq!(told(&fewer), "expected 10 bytes of sums, found 11 or more");
        assert!(told(b"PAR1").contains("no line"));
        assert!(told(b"{}\n").contains("as JSON"));
    }
}
