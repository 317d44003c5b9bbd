//! The key that pseudonyms are made with.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::kind::Kind;

/// A shorter key could be guessed by trying all.
pub const MIN_KEY_BYTES: usize = 16;
/// Nobody needs a longer one; a log given by mistake should not be taken for one.
const MAX_KEY_BYTES: u64 = 4096;

/// A secret: who has it can find out by trying which name a pseudonym stands for.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("failed to read the key")]
    Read(#[source] io::Error),
    /// It holds too little or too much.
    #[error(
        "a key has {MIN_KEY_BYTES} to {MAX_KEY_BYTES} bytes, this has {0}; make one: head -c 32 /dev/urandom > FILE"
    )]
    Length(u64),
}

impl Key {
    /// A key that nobody knows, and that is forgotten at the end.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn random() -> Result<Self, KeyError> {
        let mut bytes = [0; 32];
        File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).map_err(KeyError::Read)?;
        Ok(Self::of(&bytes))
    }

    /// The key that a file holds: all its bytes, but a line break at its end.
    ///
    /// # Errors
    /// If it cannot be read, or its length is not that of a key.
    pub fn from_file(path: &Path) -> Result<Self, KeyError> {
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_KEY_BYTES + 1).read_to_end(&mut bytes))
            .map_err(KeyError::Read)?;
        let key = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        if key.len() < MIN_KEY_BYTES || bytes.len() as u64 > MAX_KEY_BYTES {
            return Err(KeyError::Length(bytes.len() as u64));
        }
        Ok(Self::of(key))
    }

    fn of(bytes: &[u8]) -> Self {
        Self(Hmac::new_from_slice(bytes).expect("HMAC takes keys of any length"))
    }

    /// 32 bytes that only the key's owner can find out, the same for the same name. `attempt` gives others.
    pub(crate) fn digest(&self, kind: Kind, attempt: u32, name: &[u8]) -> [u8; 32] {
        let mut mac = self.0.clone();
        mac.update(kind.as_str().as_bytes());
        mac.update(&[0]);
        mac.update(&attempt.to_be_bytes());
        mac.update(name);
        mac.finalize().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_file_gives_the_same_digests_with_and_without_its_line_break() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::write(&a, "0123456789abcdef").unwrap();
        std::fs::write(&b, "0123456789abcdef\n").unwrap();
        let digest = |path: &Path| Key::from_file(path).unwrap().digest(Kind::Host, 0, b"oss1");
        assert_eq!(digest(&a), digest(&b));
        assert_ne!(digest(&a), Key::from_file(&a).unwrap().digest(Kind::Word, 0, b"oss1"));
        assert_ne!(digest(&a), Key::random().unwrap().digest(Kind::Host, 0, b"oss1"));
    }

    #[test]
    fn short_and_missing_keys_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let short = dir.path().join("short");
        std::fs::write(&short, "0123456789abcde\n").unwrap();
        let err = Key::from_file(&short).err().unwrap().to_string();
        assert!(err.contains("16") && err.contains("/dev/urandom"), "{err}");
        assert!(matches!(Key::from_file(&dir.path().join("none")), Err(KeyError::Read(_))));
    }
}
