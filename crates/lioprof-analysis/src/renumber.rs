//! From the symbols of one table to those of another one.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use lioprof_model::Symbol;
use lioprof_model::parts::sums::LockPairSums;
use lustre_debuglog::{Opcode, TargetName};
use rustc_hash::FxHashSet;

/// What refers to texts by symbols.
pub(crate) trait Renumber {
    /// Refers to the same texts in another table: `to` has the symbol there of each symbol here.
    fn renumber(&mut self, to: &[Symbol]);
}

impl Renumber for Symbol {
    fn renumber(&mut self, to: &[Symbol]) {
        // Out of range it is only in a file that somebody made by hand.
        *self = to.get(self.0 as usize).copied().unwrap_or(Self(0));
    }
}

macro_rules! without_symbols {
    ($($type:ty)+) => {
        $(impl Renumber for $type {
            fn renumber(&mut self, _: &[Symbol]) {}
        })+
    };
}

// What stands beside symbols in keys, lists and tables.
without_symbols! { bool i64 Opcode TargetName LockPairSums }

macro_rules! tuples {
    ($($($part:ident)+;)+) => {
        $(impl<$($part: Renumber),+> Renumber for ($($part,)+) {
            #[expect(non_snake_case, reason = "parts are named as their types")]
            fn renumber(&mut self, to: &[Symbol]) {
                let ($($part,)+) = self;
                $($part.renumber(to);)+
            }
        })+
    };
}

tuples! {
    A B;
    A B C;
    A B C D;
}

impl<T: Renumber> Renumber for Option<T> {
    fn renumber(&mut self, to: &[Symbol]) {
        self.iter_mut().for_each(|it| it.renumber(to));
    }
}

impl<T: Renumber> Renumber for Vec<T> {
    fn renumber(&mut self, to: &[Symbol]) {
        self.iter_mut().for_each(|it| it.renumber(to));
    }
}

impl<T: Renumber + Eq + Hash> Renumber for FxHashSet<T> {
    fn renumber(&mut self, to: &[Symbol]) {
        *self = std::mem::take(self).into_iter().map(|it| renumbered(it, to)).collect();
    }
}

impl<K: Renumber + Eq + Hash, V: Renumber, S: BuildHasher + Default> Renumber for HashMap<K, V, S> {
    fn renumber(&mut self, to: &[Symbol]) {
        self.values_mut().for_each(|it| it.renumber(to));
        renumber_keys(self, to);
    }
}

/// Of a table whose values have no symbols.
pub(crate) fn renumber_keys<K: Renumber, V, T>(table: &mut T, to: &[Symbol])
where
    T: Default + IntoIterator<Item = (K, V)> + FromIterator<(K, V)>,
{
    *table = std::mem::take(table).into_iter().map(|(key, value)| (renumbered(key, to), value)).collect();
}

fn renumbered<T: Renumber>(mut it: T, to: &[Symbol]) -> T {
    it.renumber(to);
    it
}

/// Implements [`Renumber`] for a struct. All fields have to be named: one that is forgotten does not compile. Behind `keys` stand tables
/// with symbols in their keys only, behind `without` what has none.
macro_rules! renumber_fields {
    ($sum:ty { $($field:ident),* $(,)? } $(keys { $($table:ident),* $(,)? })? $(without { $($plain:ident),* $(,)? })?) => {
        impl $crate::renumber::Renumber for $sum {
            fn renumber(&mut self, to: &[lioprof_model::Symbol]) {
                let Self { $($field,)* $($($table,)*)? $($($plain: _,)*)? } = self;
                $($crate::renumber::Renumber::renumber($field, to);)*
                $($($crate::renumber::renumber_keys($table, to);)*)?
            }
        }
    };
}

pub(crate) use renumber_fields;
