//! Table `counters`: samples of the server's own counters, one number per row.

use super::table;
use super::texts::{Text, Texts};
use super::view::View;

/// One number that the server counts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterSample<'a> {
    /// When it was read, microseconds since the epoch on the node's clock.
    pub time_us: i64,
    /// Where it was read: `obdfilter.stats`, `obdfilter.job_stats`, `disk`, `cpu`.
    pub source: &'a str,
    /// Target, if the counter is one's.
    pub target: Option<&'a str>,
    /// What is counted within the source, if there are several: a NID, a job id, a disk.
    pub entity: Option<&'a str>,
    /// Counter, with the unit in its name where the server has one: `write_bytes.sum`, `busy_us`.
    pub counter: &'a str,
    /// Value. Servers count up in unsigned integers; what is a fraction is given in a smaller unit.
    pub value: u64,
}

table! {
    // Counter by counter: its samples differ by little, or not at all.
    /// Counters as columns.
    CounterColumns, CounterView, "counters", by |rows, row| rows.key(row);

    push(seq: i64, sample: &CounterSample<'_>, texts: &mut Texts) {}

    seq: i64 = Delta bounds => seq,
    time_us: i64 = Delta bounds => sample.time_us,
    source: Text<str> = Dictionary => texts.other(sample.source),
    target: Option<Text<str>> = Dictionary => sample.target.map(|it| texts.other(it)),
    entity: Option<Text<str>> = Dictionary => sample.entity.map(|it| texts.other(it)),
    counter: Text<str> = Dictionary => texts.other(sample.counter),
    value: u64 = Delta => sample.value,
    ; derived:
}

impl CounterColumns {
    fn key(&self, row: usize) -> u64 {
        let (source, target) = (self.source.stored()[row], self.target.stored()[row]);
        let (entity, counter) = (self.entity.stored()[row], self.counter.stored()[row]);
        [source, target, entity, counter]
            .iter()
            .fold(0, |key, text| key << 16 | u64::from(text.unsigned_abs() & 0xffff))
    }
}

impl CounterView {
    pub(crate) fn row(&self, at: usize) -> CounterSample<'_> {
        CounterSample {
            time_us: self.time_us.get(at),
            source: self.source.get(at),
            target: self.target.get(at),
            entity: self.entity.get(at),
            counter: self.counter.get(at),
            value: self.value.get(at),
        }
    }
}
