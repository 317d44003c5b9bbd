//! Pseudonyms that keep the form of a name.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;

use rustc_hash::FxHashSet;

use super::table::Table;
use crate::key::Key;
use crate::kind::Kind;

/// Without vowels and `y`, so that no words come out, without `l`, and without hexadecimal digits: eight of them before a colon are a
/// record's first number, which damage may put where a name was.
const LETTERS: &[u8; 15] = b"ghjkmnpqrstvwxz";
/// More attempts than any set of names needs that fits into memory.
const ATTEMPTS: u32 = 1000;

/// Gives each name a pseudonym that no other has, and that is no name itself.
pub(super) fn assign(key: &Key, kind: Kind, names: &BTreeSet<Box<[u8]>>, originals: &FxHashSet<&[u8]>) -> Table {
    let mut table = Table::default();
    let mut taken: FxHashSet<Box<[u8]>> = FxHashSet::default();
    for (rank, name) in names.iter().enumerate() {
        if stays(kind, name) {
            table.insert(name.clone(), name.clone());
            continue;
        }
        let attempts = (0..ATTEMPTS).map(|attempt| candidate(kind, name, &key.digest(kind, attempt, name)));
        let mut attempts = attempts
            .map(|pseudonym| if kind == Kind::Host { ranked(rank, names.len(), &pseudonym) } else { pseudonym });
        let is_free = |pseudonym: &[u8]| !taken.contains(pseudonym) && !originals.contains(pseudonym);
        // What is tried in vain a thousand times has a number longer than any other.
        let pseudonym = attempts.find(|pseudonym| is_free(pseudonym)).unwrap_or_else(|| longer(kind, taken.len()));
        taken.insert(pseudonym.clone());
        table.insert(name.clone(), pseudonym);
    }
    table
}

/// Root, no project, no owner, no address: these are nobody's.
fn stays(kind: Kind, name: &[u8]) -> bool {
    match kind {
        Kind::Uid | Kind::Gid | Kind::Projid => name.iter().all(|byte| *byte == b'0') || name == b"4294967295",
        Kind::V6 => matches!(name, b"::" | b"::1"),
        _ => false,
    }
}

fn candidate(kind: Kind, name: &[u8], digest: &[u8; 32]) -> Box<[u8]> {
    match kind {
        Kind::Uuid => uuid(digest),
        Kind::V6 => v6(name, digest).unwrap_or_else(|| letters("w", 9, digest)),
        Kind::Uid | Kind::Gid | Kind::Projid | Kind::NidNumber => {
            (100_000 + number(digest) % 900_000).to_string().into_bytes().into()
        }
        Kind::JobNumber => {
            // As many digits as before, eighteen at most.
            let places = u32::try_from(name.len().clamp(4, 18)).unwrap_or(18);
            let lowest = 10_u64.pow(places - 1);
            (lowest + number(digest) % (9 * lowest)).to_string().into_bytes().into()
        }
        Kind::FsName => letters("fs", 6, digest),
        Kind::Host => letters("", 7, digest),
        // A process has a name of 15 bytes at most, a job one of 31.
        Kind::Program => letters("p", 9, digest),
        Kind::File => letters("file", 9, digest),
        Kind::Mark => letters("mark", 9, digest),
        Kind::Word | Kind::V4 => letters("w", 9, digest),
    }
}

/// Hosts keep their order: where several are alike, an analysis takes the first one, as for the clock that all others follow.
fn ranked(rank: usize, hosts: usize, random: &[u8]) -> Box<[u8]> {
    let width = hosts.to_string().len().max(2);
    let mut name = format!("host{:0width$}", rank + 1).into_bytes();
    name.extend_from_slice(random);
    name.into()
}

fn longer(kind: Kind, taken: usize) -> Box<[u8]> {
    match kind {
        Kind::Uid | Kind::Gid | Kind::Projid | Kind::NidNumber => 1_000_000 + taken,
        _ => taken,
    }
    .to_string()
    .into_bytes()
    .into()
}

fn number(digest: &[u8; 32]) -> u64 {
    digest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

fn letters(prefix: &str, count: usize, digest: &[u8; 32]) -> Box<[u8]> {
    let random = digest.iter().take(count).map(|byte| LETTERS[usize::from(*byte) % LETTERS.len()]);
    prefix.bytes().chain(random).collect()
}

/// Version 4, as clients make them.
fn uuid(digest: &[u8; 32]) -> Box<[u8]> {
    let mut text = Vec::with_capacity(36);
    for (at, byte) in digest.iter().take(16).enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push(b'-');
        }
        let byte = match at {
            6 => byte & 0x0f | 0x40,
            8 => byte & 0x3f | 0x80,
            _ => *byte,
        };
        text.extend_from_slice(format!("{byte:02x}").as_bytes());
    }
    text.into()
}

/// The same /64.
fn v6(name: &[u8], digest: &[u8; 32]) -> Option<Box<[u8]>> {
    let address: Ipv6Addr = std::str::from_utf8(name).ok()?.parse().ok()?;
    let mut octets = address.octets();
    octets[8..].copy_from_slice(&digest[..8]);
    Some(Ipv6Addr::from(octets).to_string().into_bytes().into())
}
