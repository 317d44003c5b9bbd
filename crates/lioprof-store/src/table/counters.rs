//! Table `counters`: samples of the server's own counters, one number per row.

use super::texts::{Text, Texts};
use super::{Table, order_by, table};

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
    /// Counters as columns.
    CounterColumns, CounterView, "counters";
    seq: i64 = Delta bounds,
    time_us: i64 = Delta bounds,
    source: Text = Dictionary,
    target: Option<Text> = Dictionary,
    entity: Option<Text> = Dictionary,
    counter: Text = Dictionary,
    value: u64 = Delta,
    ; derived:
}

impl Table for CounterColumns {
    const NAME: &'static str = Self::NAME;

    fn specs() -> Vec<super::Spec> {
        Self::specs()
    }

    fn columns(&self) -> Vec<&dyn super::AnyColumn> {
        self.columns()
    }

    fn clear(&mut self) {
        self.clear();
    }

    fn rows(&self) -> usize {
        self.seq.stored().len()
    }

    /// Counter by counter: its samples differ by little, or not at all.
    fn order(&self) -> Vec<u32> {
        let key = |text: i32, shift: u32| u64::from(text.unsigned_abs() & 0xffff) << shift;
        let (sources, targets) = (self.source.stored(), self.target.stored());
        let (entities, counters) = (self.entity.stored(), self.counter.stored());
        order_by(self.rows(), |row| {
            key(sources[row], 48) | key(targets[row], 32) | key(entities[row], 16) | key(counters[row], 0)
        })
    }
}

impl CounterColumns {
    /// Adds a sample.
    pub(crate) fn push(&mut self, seq: i64, sample: &CounterSample<'_>, texts: &mut Texts) {
        self.seq.push(seq);
        self.time_us.push(sample.time_us);
        self.source.push(texts.other(sample.source));
        self.target.push(sample.target.map(|it| texts.other(it)));
        self.entity.push(sample.entity.map(|it| texts.other(it)));
        self.counter.push(texts.other(sample.counter));
        self.value.push(sample.value);
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
