//! Chance, from a seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

/// The only source of chance in a simulation: the same seed gives the same log on every machine.
pub(crate) struct Rng(ChaCha8Rng);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn pointer(&mut self) -> u32 {
        self.0.next_u32() | 1
    }

    /// 0 .. `end`, exclusive; 0 if that is nothing.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(end);
        u64::try_from(wide >> 64).unwrap_or(0)
    }

    /// `mean`, give or take a half.
    pub(crate) fn about(&mut self, mean: u64) -> u64 {
        mean / 2 + self.below(mean + 1)
    }

    /// True `parts` times in a million.
    pub(crate) fn chance(&mut self, parts: u64) -> bool {
        self.below(1_000_000) < parts
    }
}

/// 36 characters like those of a client's mount.
pub(crate) fn uuid(rng: &mut Rng) -> String {
    let (high, low) = (rng.bits(), rng.bits());
    format!(
        "{:08x}-{:04x}-4{:03x}-9{:03x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_hold() {
        let mut rng = Rng::new(1);
        for _ in 0..1000 {
            assert!(rng.below(7) < 7);
            let about = rng.about(100);
            assert!((50..=150).contains(&about));
        }
        assert_eq!(rng.below(0), 0);
        assert!(!rng.chance(0));
        assert!(rng.chance(1_000_000));
    }
}
