//! Figures as the JSON gives them, by name.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::counters::Counter;

/// Direction in the JSON and counter in the stats files.
pub(crate) const DIRECTIONS: [(&str, &str); 2] = [("read", "read_bytes"), ("write", "write_bytes")];

/// Reads or writes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Io {
    pub(crate) rpcs: u64,
    pub(crate) errors: u64,
    pub(crate) bytes: u64,
    pub(crate) bytes_min: u64,
    pub(crate) bytes_max: u64,
    pub(crate) bounded: u64,
    pub(crate) unsized_: u64,
}

impl Io {
    pub(crate) fn of(value: &Value) -> Option<Self> {
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        // Bytes are null if no RPC could be sized.
        let bytes = |key: &str| match value.get(key) {
            Some(Value::Null) => Some(0),
            other => other.and_then(Value::as_u64),
        };
        Some(Self {
            rpcs: number("rpcs")?,
            errors: number("errors").unwrap_or(0),
            bytes: bytes("bytes")?,
            bytes_min: bytes("bytes_min")?,
            bytes_max: bytes("bytes_max")?,
            bounded: number("bounded_rpcs")?,
            unsized_: number("unsized_rpcs")?,
        })
    }

    /// RPCs that moved bytes: what the servers' byte counters count.
    pub(crate) fn moved(&self) -> u64 {
        self.rpcs - self.errors
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.bounded == 0 && self.unsized_ == 0
    }

    /// Upper bound of the bytes, if there is one.
    pub(crate) fn at_most(&self) -> Option<u64> {
        (self.unsized_ == 0).then_some(self.bytes_max)
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.rpcs += other.rpcs;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.bytes_min += other.bytes_min;
        self.bytes_max += other.bytes_max;
        self.bounded += other.bounded;
        self.unsized_ += other.unsized_;
    }
}

/// The rows of an array of the JSON. It must be there.
#[track_caller]
pub(crate) fn rows<'a>(json: &'a Value, array: &str) -> &'a [Value] {
    json.get(array).and_then(Value::as_array).unwrap_or_else(|| panic!("no array `{array}` in the JSON"))
}

/// A text of a row; `None` if it is null.
pub(crate) fn text<'a>(row: &'a Value, key: &str) -> Option<&'a str> {
    row.get(key).and_then(Value::as_str)
}

pub(crate) fn number(row: &Value, key: &str) -> Option<u64> {
    row.get(key).and_then(Value::as_u64)
}

/// Reads or writes of all rows of an array, summed by a key.
pub(crate) fn io_by<K: Ord>(
    json: &Value,
    array: &str,
    direction: &str,
    key: impl Fn(&Value) -> Option<K>,
) -> BTreeMap<K, Io> {
    let mut out: BTreeMap<K, Io> = BTreeMap::new();
    for row in rows(json, array) {
        if let Some(key) = key(row) {
            let io = row.get(direction).and_then(Io::of).unwrap_or_else(|| panic!("no `{direction}` in {row}"));
            out.entry(key).or_default().merge(&io);
        }
    }
    out
}

/// Name of the target of a row, if it is an OST or unknown (`Some(None)`).
pub(crate) fn ost_or_unknown(row: &Value) -> Option<Option<String>> {
    match text(row, "target") {
        None => Some(None),
        Some(name) => name.contains("-OST").then(|| Some(name.to_owned())),
    }
}

/// RPCs of an operation: by opcode and, if given, the service.
pub(crate) fn operation(json: &Value, opcode: u64, service: impl Fn(&str) -> bool) -> u64 {
    let operations = rows(json, "operations").iter();
    let wanted =
        operations.filter(|row| number(row, "opcode") == Some(opcode) && text(row, "service").is_some_and(&service));
    wanted.filter_map(|row| number(row, "rpcs")).sum()
}

/// One read or write of `sample`.
pub(crate) struct Sampled {
    pub(crate) direction: String,
    pub(crate) nid: String,
    /// `None`: unknown.
    pub(crate) target: Option<String>,
    pub(crate) bytes: Option<u64>,
}

/// All reads and writes, if `sample` holds every one of them.
pub(crate) fn every_rpc(json: &Value) -> Option<Vec<Sampled>> {
    let sample = json.get("sample")?;
    if number(sample, "one_in") != Some(1) {
        return None;
    }
    let name = |array: &str, key: &str, at: u64| {
        text(&rows(json, array)[usize::try_from(at).unwrap()], key).unwrap().to_owned()
    };
    let sampled = rows(sample, "rpcs").iter().map(|row| Sampled {
        direction: text(row, "direction").unwrap().to_owned(),
        nid: name("clients", "nid", number(row, "client").unwrap()),
        target: number(row, "target").map(|at| name("targets", "name", at)),
        bytes: number(row, "bytes"),
    });
    Some(sampled.collect())
}

/// What a stats line would say about these sizes.
pub(crate) fn counted(sizes: impl Iterator<Item = u64>) -> Counter {
    let mut counter = Counter { hist: Some(BTreeMap::new()), ..Counter::default() };
    for bytes in sizes {
        counter.add(bytes);
        *counter.hist.get_or_insert_default().entry(bytes.next_power_of_two()).or_default() += 1;
    }
    counter
}
