//! Numbers on their way into a browser.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lioprof_model::{Distribution, Io};
use serde::{Serialize, Serializer};

/// A count to the last digit: a number, or a string where a browser's numbers would round it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exact(pub(crate) u64);

/// Integers up to here are exact in a double.
const MAX_SAFE: u64 = (1 << 53) - 1;

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 <= MAX_SAFE { serializer.serialize_u64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

/// Numbers to draw: little-endian `f32`, base64. Seven digits in five and a half bytes each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dense(pub(crate) Vec<f64>);

impl Dense {
    /// Whether it need not be written.
    pub(crate) fn is_zero(&self) -> bool {
        self.0.iter().all(|&value| value == 0.0)
    }
}

impl Serialize for Dense {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough to draw")]
        let bytes: Vec<u8> = self.0.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

/// Numbers that need all their digits (times, offsets): little-endian `f64`, base64.
#[derive(Clone, Debug, Default)]
pub(crate) struct Precise(pub(crate) Vec<f64>);

impl Serialize for Precise {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|value| value.to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

/// Amounts for a heat map: to three digits, on a logarithmic scale, two bytes each, little-endian, base64.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rough(pub(crate) Vec<f64>);

/// Steps of [`Rough`] per factor of two: 0.07 % each, and 2^64 fits.
const ROUGH_STEPS: f64 = 1000.0;

impl Serialize for Rough {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let step = |value: f64| (value.max(0.0) + 1.0).log2() * ROUGH_STEPS;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64,000, and saturating")]
        let bytes: Vec<u8> = self.0.iter().flat_map(|&value| (step(value).round() as u16).to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

/// A number as drawn.
#[expect(clippy::cast_precision_loss, reason = "seven digits are enough to draw")]
pub(crate) fn drawn(value: u64) -> f64 {
    value as f64
}

/// `true` as a count.
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Reads or writes: as in the analysis, without what says nothing.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct IoView {
    pub(crate) rpcs: u64,
    #[serde(skip_serializing_if = "is_zero")]
    errors: u64,
    /// `null`: unknown.
    pub(crate) bytes: Option<Exact>,
    /// Bounds, where they are not `bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_min: Option<Exact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_max: Option<Exact>,
    #[serde(skip_serializing_if = "is_zero")]
    bounded_rpcs: u64,
    #[serde(skip_serializing_if = "is_zero")]
    unsized_rpcs: u64,
}

impl From<&Io> for IoView {
    fn from(io: &Io) -> Self {
        let bytes = io.known_bytes();
        let unless_same = |bound: u64| bytes.filter(|&best| best != bound).map(|_| Exact(bound));
        Self {
            rpcs: io.rpcs,
            errors: io.errors,
            bytes: bytes.map(Exact),
            bytes_min: unless_same(io.bytes_min),
            bytes_max: unless_same(io.bytes_max),
            bounded_rpcs: io.bounded_rpcs,
            unsized_rpcs: io.unsized_rpcs,
        }
    }
}

/// Times in microseconds: `[count, mean, p50, p90, p99, max]`.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Times(u64, Option<f64>, Option<u64>, Option<u64>, Option<u64>, Option<u64>);

impl From<&Distribution> for Times {
    fn from(it: &Distribution) -> Self {
        Self(it.count, it.mean, it.p50, it.p90, it.p99, it.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_digit_is_lost() {
        let json = serde_json::to_string(&[Exact(MAX_SAFE), Exact(MAX_SAFE + 1), Exact(u64::MAX)]).unwrap();
        assert_eq!(json, r#"[9007199254740991,"9007199254740992","18446744073709551615"]"#);
    }

    #[test]
    fn unknown_bytes_stay_unknown() {
        let unsized_io = Io { rpcs: 2, unsized_rpcs: 2, ..Io::default() };
        assert_eq!(serde_json::to_value(IoView::from(&unsized_io)).unwrap()["bytes"], serde_json::Value::Null);
        let bounded = Io { rpcs: 1, bytes: 5, bytes_min: 1, bytes_max: 9, bounded_rpcs: 1, ..Io::default() };
        let json = serde_json::to_value(IoView::from(&bounded)).unwrap();
        assert_eq!((&json["bytes"], &json["bytes_min"], &json["bytes_max"]), (&5.into(), &1.into(), &9.into()));
    }
}
