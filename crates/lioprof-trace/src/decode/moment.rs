//! When something was logged, also if the clock was set back meanwhile.

/// A point in the order of logging: all of an epoch comes after all of the one before it, whatever the clock said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// How often the clock had been set back.
    pub(crate) epoch: u32,
    /// What the clock said, microseconds since the epoch of Unix.
    pub(crate) time_us: i64,
}

impl Moment {
    /// Before everything.
    pub(crate) const MIN: Self = Self { epoch: 0, time_us: i64::MIN };
    /// After everything.
    pub(crate) const MAX: Self = Self { epoch: u32::MAX, time_us: i64::MAX };

    /// In the same order as moments, as one number: comparing that takes no branch.
    #[inline]
    pub(crate) fn order(self) -> u128 {
        u128::from(self.epoch) << 64 | u128::from(self.time_us.cast_unsigned() ^ 1 << 63)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_has_the_order_of_the_moments() {
        let times = [i64::MIN, -1, 0, 1, i64::MAX];
        let moments: Vec<Moment> =
            [0, 1, u32::MAX].into_iter().flat_map(|epoch| times.map(|time_us| Moment { epoch, time_us })).collect();
        assert!(moments.is_sorted());
        assert!(moments.windows(2).all(|two| two[0].order() < two[1].order()));
    }
}
