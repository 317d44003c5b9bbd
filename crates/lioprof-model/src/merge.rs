//! Sums that add up, field by field.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

/// A sum to which another one can be added.
pub trait Merge {
    /// Adds what another part has.
    fn merge(&mut self, other: &Self);
}

macro_rules! numbers {
    ($($number:ty)+) => {
        $(impl Merge for $number {
            #[inline]
            fn merge(&mut self, other: &Self) {
                *self = self.saturating_add(*other);
            }
        })+
    };
}

numbers! { u64 u128 i64 }

impl<K: Clone + Ord, V: Merge + Default> Merge for BTreeMap<K, V> {
    fn merge(&mut self, other: &Self) {
        for (key, theirs) in other {
            match self.get_mut(key) {
                Some(mine) => mine.merge(theirs),
                None => self.entry(key.clone()).or_default().merge(theirs),
            }
        }
    }
}

impl<K: Copy + Eq + Hash, V: Merge + Default, S: BuildHasher> Merge for HashMap<K, V, S> {
    fn merge(&mut self, other: &Self) {
        for (key, theirs) in other {
            self.entry(*key).or_default().merge(theirs);
        }
    }
}

impl<T: Copy + Eq + Hash, S: BuildHasher> Merge for HashSet<T, S> {
    fn merge(&mut self, other: &Self) {
        self.extend(other);
    }
}

/// The earlier of two times, one of which may be unknown.
pub fn earliest<T: Copy + Ord>(mine: &mut Option<T>, theirs: &Option<T>) {
    *mine = (*mine).into_iter().chain(*theirs).min();
}

/// The later of two times, one of which may be unknown.
pub fn latest<T: Copy + Ord>(mine: &mut Option<T>, theirs: &Option<T>) {
    *mine = (*mine).max(*theirs);
}

/// Adds the elements of another part's list or set.
pub fn all_of<'a, T: Copy + 'a, C: Extend<T>>(mine: &mut C, theirs: &'a C)
where
    &'a C: IntoIterator<Item = &'a T>,
{
    mine.extend(theirs.into_iter().copied());
}

/// Implements [`Merge`] for a struct, and a method `merge` of the same meaning. All fields have to be named: one that is forgotten does not
/// compile.
///
/// Fields in braces are added by their own [`Merge`]; behind `by` stand those that need something else, with a function of the type
/// `fn(&mut T, &T)`.
///
/// ```
/// use lioprof_model::merge::latest;
///
/// #[derive(Default)]
/// struct Sum {
///     rpcs: u64,
///     last_us: Option<i64>,
/// }
///
/// lioprof_model::merge_fields!(Sum { rpcs } by { last_us: latest });
///
/// let mut sum = Sum { rpcs: 1, last_us: None };
/// sum.merge(&Sum { rpcs: 2, last_us: Some(7) });
/// assert_eq!((sum.rpcs, sum.last_us), (3, Some(7)));
/// ```
#[macro_export]
macro_rules! merge_fields {
    ($sum:ty { $($fields:tt)* } $(by { $($others:tt)* })?) => {
        impl $crate::merge::Merge for $sum {
            #[inline]
            fn merge(&mut self, other: &Self) {
                $crate::merge_fields!(self, other, $sum { $($fields)* } $(by { $($others)* })?);
            }
        }

        impl $sum {
            /// Adds what another part has.
            #[inline]
            pub fn merge(&mut self, other: &Self) {
                $crate::merge::Merge::merge(self, other);
            }
        }
    };
    // Within a `merge` that does more than that.
    ($mine:ident, $theirs:ident, $sum:ty { $($field:ident),* $(,)? } $(by { $($other:ident: $how:expr),* $(,)? })?) => {
        let Self { $($field,)* $($($other,)*)? } = $theirs;
        $($crate::merge::Merge::merge(&mut $mine.$field, $field);)*
        $($($how(&mut $mine.$other, $other);)*)?
    };
}

/// Declares a struct of sums. A field is added to others by being there: nothing else has to name it.
///
/// It is [`Merge`], field by field.
///
/// ```
/// lioprof_model::sums! {
///     /// RPCs.
///     #[derive(Default)]
///     pub struct Sum {
///         /// Of any kind.
///         pub rpcs: u64,
///         /// Bytes moved.
///         pub bytes: u64,
///     }
/// }
///
/// let mut sum = Sum { rpcs: 1, bytes: 10 };
/// sum.merge(&Sum { rpcs: 2, bytes: 5 });
/// assert_eq!((sum.rpcs, sum.bytes), (3, 15));
/// ```
#[macro_export]
macro_rules! sums {
    ($($(#[$meta:meta])* pub struct $sum:ident { $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)+ })+) => {$(
        $(#[$meta])*
        pub struct $sum {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        $crate::merge_fields!($sum { $($field),+ });
    )+};
}
