//! Bins and the sample as tables, and back.

use lioprof_model::parts::rollup::{FlowBin, LatencyBin, LockBin, Mark, Rollup, SampleRpc, SeriesBin};
use lioprof_model::{Direction, Io, Symbol, Symbols};
use lustre_debuglog::{Extent, TargetKind};

use super::cells::TargetKey;
use super::finish::object_name;
use super::sample::{Kept, Sample};
use super::seconds::used;
use super::series::{Cell, FlowCell, LockCell, SeriesBins};
use super::sums::Aggregate;
use crate::parts::{BadPart, object_of, optional_target, target_of};

fn kind(mdt: bool) -> TargetKind {
    if mdt { TargetKind::Mdt } else { TargetKind::Ost }
}

/// The key of a target's sums.
pub(super) fn key(node: &str, target: Option<&String>, mdt: bool, symbols: &mut Symbols) -> Result<TargetKey, BadPart> {
    Ok(TargetKey { node: symbols.intern(node.as_bytes()), kind: kind(mdt), name: optional_target(target)? })
}

impl TargetKey {
    pub(super) fn mdt(&self) -> bool {
        self.kind == TargetKind::Mdt
    }

    pub(super) fn target(&self) -> Option<String> {
        self.name.map(|name| name.to_string())
    }
}

impl Aggregate {
    /// Adds what needs the order of rows to the rollup of a node.
    pub(crate) fn export(&self, node: &str, symbols: &Symbols, rollup: &mut Rollup) {
        self.series.export(node, symbols, rollup);
        self.sample.export(symbols, rollup);
        self.access.export(node, symbols, rollup);
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

    /// RPCs handled and sent by a node, its reads and writes.
    pub(crate) fn sums_of(&self, node: Symbol) -> (u64, u64, Io, Io) {
        let Some(sum) = self.nodes.get(&node) else { return (0, 0, Io::default(), Io::default()) };
        (sum.rpcs, sum.sent, sum.io.read.clone(), sum.io.write.clone())
    }

    /// Reads and writes among the RPCs that a node sent.
    pub(crate) fn sent_io_of(&self, node: Symbol) -> (u64, u64) {
        self.nodes.get(&node).map_or((0, 0), |sum| (sum.sent_reads, sum.sent_writes))
    }

    /// Its time bins: their width and the first and last one.
    pub(crate) fn bins(&self) -> (i64, Option<(i64, i64)>) {
        let (first, bins) = self.series.clock.span();
        let last = i64::try_from(bins).ok().filter(|&bins| bins > 0).map(|bins| first + bins - 1);
        (self.series.clock.width_us(), last.map(|last| (first, last)))
    }

    /// Makes room for bins of this width.
    pub(crate) fn cover(&mut self, width_us: i64, bins: Option<(i64, i64)>) {
        self.series.clock.take_on(width_us, bins);
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
            let row = |(bin, cell)| {
                series_bin(
                    SeriesBin { node: symbols.text(node), whole_node: true, bin_us, bin, ..SeriesBin::default() },
                    cell,
                )
            };
            rollup.series.extend(used(bins).map(row));
        }
        for (key, bins) in &self.targets {
            let row = |(bin, cell)| {
                let of = SeriesBin {
                    node: symbols.text(key.node),
                    mdt: key.mdt(),
                    target: key.target(),
                    bin_us,
                    bin,
                    ..SeriesBin::default()
                };
                series_bin(of, cell)
            };
            rollup.series.extend(used(bins).map(row));
        }
        for ((nid, key), flow) in &self.flows {
            rollup.flows.extend(used(&flow.bins).map(|(bin, cell)| FlowBin {
                node: symbols.text(key.node),
                nid: nid.map(|nid| symbols.text(nid)),
                mdt: key.mdt(),
                target: key.target(),
                bin_us,
                bin,
                read_rpcs: cell.read_rpcs,
                write_rpcs: cell.write_rpcs,
            }));
        }
        for (&(direction, bin, quarter_octave), &rpcs) in &self.latency {
            let node = node.to_owned();
            rollup.latency.push(LatencyBin { node, write: direction.is_write(), bin_us, bin, quarter_octave, rpcs });
        }
        for (&(node, target), bins) in &self.locks {
            rollup.locks.extend(used(bins).map(|(bin, cell)| LockBin {
                node: symbols.text(node),
                target: target.to_string(),
                bin_us,
                bin,
                conflicts: cell.conflicts,
                true_conflicts: cell.true_conflicts,
                expansion_conflicts: cell.expansion_conflicts,
                blocking_asts: cell.blocking_asts,
                waiting_us: cell.waiting_us,
            }));
        }
        sort(rollup);
    }

    fn import(&mut self, rollup: &Rollup, symbols: &mut Symbols) -> Result<(), BadPart> {
        let width_us = self.clock.width_us();
        // Widths divide each other, and this one is the largest.
        let bin_of = |bin: i64, bin_us: i64| (bin * bin_us).div_euclid(width_us);
        for row in &rollup.series {
            let bin = bin_of(row.bin, row.bin_us);
            let cell = cell(row);
            if row.whole_node {
                self.nodes.entry(symbols.intern(row.node.as_bytes())).or_default().at(bin).merge(&cell);
            } else {
                let key = key(&row.node, row.target.as_ref(), row.mdt, symbols)?;
                self.targets.entry(key).or_default().at(bin).merge(&cell);
            }
        }
        for row in &rollup.flows {
            let key = key(&row.node, row.target.as_ref(), row.mdt, symbols)?;
            let nid = row.nid.as_ref().map(|nid| symbols.intern(nid.as_bytes()));
            let flow = self.flows.entry((nid, key)).or_default();
            let bin = bin_of(row.bin, row.bin_us);
            flow.rpcs += row.read_rpcs + row.write_rpcs;
            flow.bins.at(bin).merge(&FlowCell { read_rpcs: row.read_rpcs, write_rpcs: row.write_rpcs });
        }
        for row in &rollup.latency {
            let bin = bin_of(row.bin, row.bin_us);
            *self.latency.entry((Direction::new(row.write), bin, row.quarter_octave)).or_default() += row.rpcs;
        }
        for row in &rollup.locks {
            let key = (symbols.intern(row.node.as_bytes()), target_of(&row.target)?);
            let bin = bin_of(row.bin, row.bin_us);
            self.locks.entry(key).or_default().at(bin).merge(&LockCell {
                conflicts: row.conflicts,
                true_conflicts: row.true_conflicts,
                expansion_conflicts: row.expansion_conflicts,
                blocking_asts: row.blocking_asts,
                waiting_us: row.waiting_us,
            });
        }
        self.limit_flows(symbols);
        Ok(())
    }
}

/// The same rows in the same order, whatever the order of hash tables.
fn sort(rollup: &mut Rollup) {
    rollup.series.sort_by(|a, b| (a.whole_node, &a.target, a.mdt, a.bin).cmp(&(b.whole_node, &b.target, b.mdt, b.bin)));
    rollup.flows.sort_by(|a, b| (&a.target, a.mdt, &a.nid, a.bin).cmp(&(&b.target, b.mdt, &b.nid, b.bin)));
    rollup.latency.sort_by_key(|row| (row.write, row.bin, row.quarter_octave));
    rollup.locks.sort_by(|a, b| (&a.target, a.bin).cmp(&(&b.target, b.bin)));
}

fn series_bin(of: SeriesBin, cell: &Cell) -> SeriesBin {
    SeriesBin {
        read_bytes: cell.read_bytes,
        write_bytes: cell.write_bytes,
        read_bounded_bytes: cell.read_bounded_bytes,
        write_bounded_bytes: cell.write_bounded_bytes,
        read_rpcs: cell.read_rpcs,
        write_rpcs: cell.write_rpcs,
        rpcs: cell.rpcs,
        arrived: cell.arrived,
        queued_us: cell.queued_us,
        process_us: cell.process_us,
        total_us: cell.total_us,
        timed: cell.timed,
        ..of
    }
}

fn cell(row: &SeriesBin) -> Cell {
    Cell {
        read_bytes: row.read_bytes,
        write_bytes: row.write_bytes,
        read_bounded_bytes: row.read_bounded_bytes,
        write_bounded_bytes: row.write_bounded_bytes,
        read_rpcs: row.read_rpcs,
        write_rpcs: row.write_rpcs,
        rpcs: row.rpcs,
        arrived: row.arrived,
        queued_us: row.queued_us,
        process_us: row.process_us,
        total_us: row.total_us,
        timed: row.timed,
    }
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
            kept.push(Kept {
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
