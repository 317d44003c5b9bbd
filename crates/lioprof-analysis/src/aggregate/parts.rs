//! Bins and the sample as tables, and back.

use lioprof_model::parts::Keyed;
use lioprof_model::parts::rollup::{FlowKey, LatencyBin, LockBinKey, Mark, ReplayFacts, Rollup, SampleRpc, SeriesKey};
use lioprof_model::parts::sums::NodeSums;
use lioprof_model::{Direction, Merge, Symbol, Symbols};
use lustre_debuglog::{Extent, TargetKind};

use super::entries::{key, kind};
use super::sample::{Sample, SampledRpc};
use super::series::SeriesBins;
use super::sums::Aggregate;
use crate::cells::{Bins, used};
use crate::parts::{BadPart, object_name, object_of, optional_target, target_of};

impl Aggregate {
    /// Adds what needs the order of rows to the rollup of a node.
    pub(crate) fn export(&self, node: &str, symbols: &Symbols, rollup: &mut Rollup) {
        self.series.export(node, symbols, rollup);
        self.sample.export(symbols, rollup);
        self.access.export(node, symbols, rollup);
        self.account.export(node, symbols, rollup);
        self.record.export(node, symbols, rollup);
        rollup.seconds = self.seconds.as_ref().map(|seconds| seconds.rows(symbols)).unwrap_or_default();
    }

    /// Adds what was exported of some nodes. The clock covers their bins already.
    pub(crate) fn import(&mut self, rollup: &Rollup, symbols: &mut Symbols) -> Result<(), BadPart> {
        self.series.import(rollup, symbols)?;
        for mark in &rollup.marks {
            let [node, text] = [&mark.node, &mark.text].map(|text| symbols.intern(text.as_bytes()));
            self.markers.push((mark.time_us, node, text));
        }
        let one_in = rollup.nodes.iter().map(|facts| facts.sample_one_in).max().unwrap_or(1);
        self.sample = Sample::import(&rollup.sample, one_in, symbols)?;
        self.account.import(rollup, symbols)?;
        self.record.import(rollup, symbols)?;
        self.access.import(rollup, symbols)
    }

    /// Its markers.
    pub(crate) fn export_marks(&self, symbols: &Symbols) -> Vec<Mark> {
        let mark = |&(time_us, node, text): &(i64, Symbol, Symbol)| Mark {
            node: symbols.text(node),
            time_us,
            text: symbols.text(text),
        };
        let mut marks: Vec<Mark> = self.markers.iter().map(mark).collect();
        marks.sort();
        marks
    }

    /// RPCs that a node handled and sent.
    pub(crate) fn sums_of(&self, node: Symbol) -> NodeSums {
        self.nodes.get(&node).map(|node| node.sums.clone()).unwrap_or_default()
    }

    /// Its time bins: their width and the first and last one.
    pub(crate) fn bins(&self) -> (i64, Option<(i64, i64)>) {
        (self.series.clock.width_us(), self.series.clock.ends())
    }

    /// Makes room for bins of this width.
    pub(crate) fn cover(&mut self, width_us: i64, bins: Option<(i64, i64)>) {
        self.series.clock.take_on(width_us, bins);
    }

    /// Of requests that are kept for a replay, what is known besides.
    pub(crate) fn replay_facts(&self) -> ReplayFacts {
        self.record.facts()
    }

    /// One in so many reads and writes is in the sample.
    pub(crate) fn sampled_one_in(&self) -> u64 {
        self.sample.one_in()
    }
}

impl SeriesBins {
    fn export(&self, node: &str, symbols: &Symbols, rollup: &mut Rollup) {
        let bin_us = self.clock.width_us();
        for (&node, bins) in &self.nodes {
            let key = SeriesKey { node: symbols.text(node), whole_node: true, bin_us, ..SeriesKey::default() };
            rollup.series.extend(rows(bins, |bin| SeriesKey { bin, ..key.clone() }));
        }
        for (of, bins) in &self.targets {
            let (node, mdt, target) = (symbols.text(of.node), of.mdt(), of.target());
            let key = SeriesKey { node, mdt, target, bin_us, ..SeriesKey::default() };
            rollup.series.extend(rows(bins, |bin| SeriesKey { bin, ..key.clone() }));
        }
        for ((nid, of), flow) in &self.flows {
            let (node, mdt, target) = (symbols.text(of.node), of.mdt(), of.target());
            let key = FlowKey { node, nid: nid.map(|nid| symbols.text(nid)), mdt, target, bin_us, bin: 0 };
            rollup.flows.extend(rows(&flow.bins, |bin| FlowKey { bin, ..key.clone() }));
        }
        for (&(direction, quarter_octave), bins) in &self.latency {
            for (bin, rpcs) in bins.filled() {
                let node = node.to_owned();
                rollup.latency.push(LatencyBin {
                    node,
                    write: direction.is_write(),
                    bin_us,
                    bin,
                    quarter_octave,
                    rpcs,
                });
            }
        }
        for (&(node, target), bins) in &self.locks {
            let key = LockBinKey { node: symbols.text(node), target: target.to_string(), bin_us, bin: 0 };
            rollup.locks.extend(rows(bins, |bin| LockBinKey { bin, ..key.clone() }));
        }
        sort(rollup);
    }

    fn import(&mut self, rollup: &Rollup, symbols: &mut Symbols) -> Result<(), BadPart> {
        let width_us = self.clock.width_us();
        // Widths divide each other, and this one is the largest.
        let bin_of = |bin: i64, bin_us: i64| (bin * bin_us).div_euclid(width_us);
        for Keyed { key: of, sums } in &rollup.series {
            let bin = bin_of(of.bin, of.bin_us);
            if of.whole_node {
                self.nodes.entry(symbols.intern(of.node.as_bytes())).or_default().at(bin).merge(sums);
            } else {
                let key = key(&of.node, of.target.as_ref(), of.mdt, symbols)?;
                self.targets.entry(key).or_default().at(bin).merge(sums);
            }
        }
        for Keyed { key: of, sums } in &rollup.flows {
            let key = key(&of.node, of.target.as_ref(), of.mdt, symbols)?;
            let nid = of.nid.as_ref().map(|nid| symbols.intern(nid.as_bytes()));
            let flow = self.flows.entry((nid, key)).or_default();
            flow.rpcs += sums.read_rpcs + sums.write_rpcs;
            flow.bins.at(bin_of(of.bin, of.bin_us)).merge(sums);
        }
        for row in &rollup.latency {
            let bin = bin_of(row.bin, row.bin_us);
            *self.latency.entry((Direction::new(row.write), row.quarter_octave)).or_default().at(bin) += row.rpcs;
        }
        for Keyed { key: of, sums } in &rollup.locks {
            let key = (symbols.intern(of.node.as_bytes()), target_of(&of.target)?);
            self.locks.entry(key).or_default().at(bin_of(of.bin, of.bin_us)).merge(sums);
        }
        self.limit_flows(symbols);
        Ok(())
    }
}

/// Rows of the bins in which something happened.
fn rows<K, S: Merge + Clone + Default + PartialEq>(
    bins: &Bins<S>,
    key: impl Fn(i64) -> K,
) -> impl Iterator<Item = Keyed<K, S>> {
    used(bins).map(move |(bin, sums)| Keyed { key: key(bin), sums: sums.clone() })
}

/// The same rows in the same order, whatever the order of hash tables.
fn sort(rollup: &mut Rollup) {
    rollup.series.sort_by(|Keyed { key: a, .. }, Keyed { key: b, .. }| {
        (a.whole_node, &a.target, a.mdt, a.bin).cmp(&(b.whole_node, &b.target, b.mdt, b.bin))
    });
    rollup.flows.sort_by(|Keyed { key: a, .. }, Keyed { key: b, .. }| {
        (&a.target, a.mdt, &a.nid, a.bin).cmp(&(&b.target, b.mdt, &b.nid, b.bin))
    });
    rollup.latency.sort_by_key(|row| (row.write, row.bin, row.quarter_octave));
    rollup.locks.sort_by(|a, b| (&a.key.target, a.key.bin).cmp(&(&b.key.target, b.key.bin)));
}

impl Sample {
    fn export(&self, symbols: &Symbols, rollup: &mut Rollup) {
        rollup.sample.extend(self.kept.iter().map(|kept| SampleRpc {
            node: symbols.text(kept.node),
            hash: kept.hash,
            nid: symbols.text(kept.nid),
            xid: kept.xid,
            mdt: kept.kind == TargetKind::Mdt,
            write: kept.direction.is_write(),
            arrival_us: kept.arrival_us,
            start_us: kept.start_us,
            end_us: kept.end_us,
            target: kept.target.map(|target| target.to_string()),
            object: kept.object.map(object_name),
            first_byte: kept.extent.map(|extent| extent.start),
            last_byte: kept.extent.map(|extent| extent.end),
            bytes: kept.bytes,
        }));
    }

    fn import(rows: &[SampleRpc], one_in: u64, symbols: &mut Symbols) -> Result<Self, BadPart> {
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            kept.push(SampledRpc {
                hash: row.hash,
                node: symbols.intern(row.node.as_bytes()),
                nid: symbols.intern(row.nid.as_bytes()),
                xid: row.xid,
                kind: kind(row.mdt),
                direction: Direction::new(row.write),
                arrival_us: row.arrival_us,
                start_us: row.start_us,
                end_us: row.end_us,
                target: optional_target(row.target.as_ref())?,
                object: row.object.as_deref().map(object_of).transpose()?,
                extent: row.first_byte.zip(row.last_byte).map(|(start, end)| Extent { start, end }),
                bytes: row.bytes,
            });
        }
        Ok(Self::new(one_in.max(1).ilog2(), kept))
    }
}
