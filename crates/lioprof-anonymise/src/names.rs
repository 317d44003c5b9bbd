//! The names of the inputs, and the pseudonyms that they get.

mod addresses;
mod pseudonym;
mod table;

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::key::Key;
use crate::kind::Kind;
use crate::piece::Piece;
use table::Table;

/// The names that were found.
#[derive(Debug, Default)]
pub(crate) struct Names(FxHashMap<Kind, FxHashSet<Box<[u8]>>>);

impl Names {
    /// Remembers the name, if it is one.
    pub(crate) fn add_piece(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Name(kind, name) => self.add(kind, name),
            Piece::Unknown(word) => self.add(Kind::Word, word),
            Piece::Plain(_) | Piece::KnownWord(_) | Piece::Spelled(_) => {}
        }
    }

    pub(crate) fn add(&mut self, kind: Kind, name: &[u8]) {
        let names = self.0.entry(kind).or_default();
        if !names.contains(name) {
            names.insert(name.into());
        }
    }

    /// Gives each name a pseudonym. The same key and the same names give the same ones.
    pub(crate) fn into_pseudonyms(self, key: &Key) -> Pseudonyms {
        let sorted: Vec<(Kind, BTreeSet<Box<[u8]>>)> = {
            let mut kinds: Vec<_> =
                self.0.into_iter().map(|(kind, names)| (kind, names.into_iter().collect())).collect();
            kinds.sort_by_key(|(kind, _): &(Kind, BTreeSet<Box<[u8]>>)| *kind);
            kinds
        };
        let originals: FxHashSet<&[u8]> =
            sorted.iter().flat_map(|(_, names)| names.iter().map(|name| &**name)).collect();
        let mut table: FxHashMap<Kind, Table> = FxHashMap::default();
        for (kind, names) in &sorted {
            table.insert(
                *kind,
                match kind {
                    Kind::V4 => addresses::assign(key, names),
                    _ => pseudonym::assign(key, *kind, names, &originals),
                },
            );
        }
        Pseudonyms(table)
    }
}

/// The name that a number may spell: the management service locks the configuration of a file system by a resource whose first word has
/// the bytes of its name (`mgc_name2resid` in `lustre/mgc/mgc_request.c`, 2.5 to 2.17).
pub(crate) fn spelled_name(number: u64) -> Option<String> {
    let bytes = number.to_le_bytes();
    let len = 8 - number.leading_zeros() as usize / 8;
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let name = bytes.get(..len).filter(|name| name.len() > 1 && name.iter().all(is_of_name))?;
    String::from_utf8(name.to_vec()).ok()
}

/// The pseudonym of each name.
#[derive(Debug, Default)]
pub(crate) struct Pseudonyms(FxHashMap<Kind, Table>);

impl Pseudonyms {
    /// The pseudonym of a name that was [added](Names::add) before.
    pub(crate) fn get(&self, kind: Kind, name: &[u8]) -> Option<&[u8]> {
        self.0.get(&kind)?.get(name).map(|pseudonym| &**pseudonym)
    }

    /// The pseudonym of a host, a file system or another word that is called like a word of Lustre's.
    pub(crate) fn of_word(&self, word: &[u8]) -> Option<&[u8]> {
        [Kind::FsName, Kind::Host, Kind::Word].into_iter().find_map(|kind| self.get(kind, word))
    }

    /// The number that spells the pseudonym of the file system whose name `number` spells; `None` if it spells none.
    pub(crate) fn of_number(&self, number: u64) -> Option<u64> {
        let pseudonym = self.get(Kind::FsName, spelled_name(number)?.as_bytes())?;
        let mut bytes = [0; 8];
        bytes.get_mut(..pseudonym.len())?.copy_from_slice(pseudonym);
        Some(u64::from_le_bytes(bytes))
    }

    /// All names with their pseudonyms, sorted.
    pub(crate) fn table(&self) -> Vec<(Kind, &[u8], &[u8])> {
        let mut table: Vec<_> = self
            .0
            .iter()
            .flat_map(|(kind, names)| names.iter().map(|(name, pseudonym)| (*kind, &**name, &**pseudonym)))
            .collect();
        table.sort_unstable();
        table
    }
}
