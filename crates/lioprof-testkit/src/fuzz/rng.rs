//! Random numbers by seed.

use std::ops::Range;

/// Iterations if the environment names no other number.
const ITERATIONS: u64 = 300;

/// Runs `test` once per iteration, or for one in `share`, each with random numbers of its own.
///
/// # Panics
/// If the environment names no number, and where `test` does.
pub fn for_each_seed(share: u64, test: impl Fn(&mut Rng)) {
    let number = |name: &str| {
        std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name}={text}: no number")))
    };
    let first = number("LIOPROF_FUZZ_SEED").unwrap_or(1);
    let count = number("LIOPROF_FUZZ_ITERATIONS").unwrap_or(ITERATIONS).div_ceil(share);
    for seed in first..first + count {
        let told = SeedOnPanic(seed);
        test(&mut Rng(seed));
        drop(told);
    }
}

struct SeedOnPanic(u64);

impl Drop for SeedOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with LIOPROF_FUZZ_SEED={}", self.0);
        }
    }
}

/// Random numbers (SplitMix64): small, and the same for ever.
pub struct Rng(u64);

impl Rng {
    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Less than `limit`.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("it is less than a usize")
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    /// One of these.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A stretch inside `len` bytes, at least one byte long.
    pub(crate) fn stretch(&mut self, len: usize) -> Range<usize> {
        let (a, b) = (self.below(len), self.below(len));
        a.min(b)..a.max(b) + 1
    }
}
