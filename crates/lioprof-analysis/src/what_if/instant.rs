//! Moments in an order that does not depend on chance.

/// A time and a number, which decides between equal times: one integer, because millions of them are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Instant(u128);

impl Instant {
    pub(super) fn new(us: f64, order: u64) -> Self {
        Self(u128::from(ascending(us.to_bits())) << 64 | u128::from(order))
    }

    /// Its time.
    pub(super) fn us(self) -> f64 {
        f64::from_bits(descending(u64::try_from(self.0 >> 64).expect("64 bits are left")))
    }
}

const SIGN: u64 = 1 << 63;

/// Integers that follow on each other as these floating-point numbers do: of negative ones larger bits are smaller numbers.
fn ascending(bits: u64) -> u64 {
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The bits again.
fn descending(number: u64) -> u64 {
    if number & SIGN == 0 { !number } else { number & !SIGN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_in_the_order_of_their_times_then_of_their_numbers() {
        let times = [f64::NEG_INFINITY, -2.5, -f64::MIN_POSITIVE, -0.0, 0.0, 1e-300, 1.0, 1.5, 1e15, f64::INFINITY];
        for (number, one) in times.into_iter().enumerate() {
            assert_eq!(Instant::new(one, 7).us().to_bits(), one.to_bits());
            assert!(Instant::new(one, 7) < Instant::new(one, 8));
            for other in times.into_iter().skip(number + 1) {
                assert!(Instant::new(one, u64::MAX) < Instant::new(other, 0), "{one} {other}");
            }
        }
    }
}
