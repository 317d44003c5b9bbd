//! Sums that were made of rows elsewhere.

use lioprof_model::latency::latency_bucket_low_us;
use lioprof_model::merge::Subtract;
use lioprof_model::parts::clock_line::ClockLine;
use lioprof_model::parts::of_rows::{Combination, Object, OfRows, Span};
use lioprof_model::parts::rollup::NodeFacts;
use lioprof_model::{Direction, Service, SizeBucket, Symbol, Symbols, TraceSummary};
use lustre_debuglog::message::ObjectName;
use lustre_debuglog::{Fid, Opcode, TargetKind};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as WordError;

use super::combinations::CombinationKey;
use super::entries::{OwnerKey, key};
use super::objects::ObjectSum;
use super::service_parts::PartKey;
use super::services::ServiceSums;
use super::sums::Aggregate;
use crate::cells::quarter_octave;
use crate::parts::{BadPart, target_of};

impl Aggregate {
    /// Adds sums over rows of servers. `clock` puts a node's times on the reference's clock.
    pub(crate) fn import_rows(
        &mut self,
        rows: &OfRows,
        clock: impl Fn(&str) -> Option<ClockLine>,
        symbols: &mut Symbols,
    ) -> Result<(), BadPart> {
        for row in &rows.combinations {
            self.import_combination(row, symbols)?;
        }
        self.take_combinations_apart(symbols);
        for row in &rows.evidence {
            let size = word(&row.size_evidence, "a word for how a size is known")?;
            *self.size_evidence.entry(size).or_default() += row.rpcs;
            let target = word(&row.target_evidence, "a word for how a target is known")?;
            *self.target_evidence.entry(target).or_default() += row.rpcs;
        }
        for row in &rows.target_times {
            let key = key(&row.node, row.target.as_ref(), row.mdt, symbols)?;
            let sum = self.targets.entry(key).or_default().moved.direction(direction(row.opcode)?);
            sum.times.add_bucket(row.span, &row.times);
        }
        for row in &rows.target_sizes {
            let key = key(&row.node, row.target.as_ref(), row.mdt, symbols)?;
            let sum = self.targets.entry(key).or_default().moved.direction(direction(row.opcode)?);
            let le_bytes = 1u64.checked_shl(row.log2_bytes).unwrap_or(1 << 63);
            sum.sizes.add_bucket(SizeBucket { le_bytes, rpcs: row.rpcs, bounded_rpcs: row.bounded_rpcs });
        }
        for row in &rows.part_times {
            let key = PartKey {
                nid: symbols.intern(row.nid.as_bytes()),
                target: key(&row.node, row.target.as_ref(), row.mdt, symbols)?,
                direction: direction(row.opcode)?,
                log2_bytes: row.log2_bytes,
            };
            let line = clock(&row.node);
            self.service_parts.add_bucket(key, row, |us| line.map_or(us, |line| line.there_us(us)));
        }
        for row in &rows.operations {
            let service = thread_of(&row.service, symbols);
            let sum = self.operations.entry((Opcode(row.opcode), service)).or_default();
            sum.rpcs += row.rpcs;
            sum.errors += row.errors;
        }
        for row in &rows.operation_times {
            let service = thread_of(&row.service, symbols);
            let sum = self.operations.entry((Opcode(row.opcode), service)).or_default();
            sum.times.add_bucket(row.span, &row.times);
            if row.span == Span::Total {
                // All times of a bucket are in the same quarter of a factor of two.
                sum.total_histogram.add(quarter_octave(latency_bucket_low_us(row.times.bucket)), row.times.count);
            }
        }
        self.import_objects(rows)?;
        for row in &rows.sent {
            let [node, device, nid] = [&row.node, &row.device, &row.nid].map(|text| symbols.intern(text.as_bytes()));
            self.sent.entry((node, Opcode(row.opcode), device, nid)).or_default().rpcs += row.rpcs;
            self.nodes.entry(node).or_default().count_sent(Opcode(row.opcode), row.rpcs);
        }
        for row in &rows.sent_times {
            let [node, device, nid] = [&row.node, &row.device, &row.nid].map(|text| symbols.intern(text.as_bytes()));
            let sum = self.sent.entry((node, Opcode(row.opcode), device, nid)).or_default();
            row.times.iter().for_each(|bucket| sum.round_trip.add_bucket(bucket));
        }
        for row in &rows.throttles {
            let thread = thread_of(&row.key.service, symbols);
            let service = self.service(thread, symbols);
            self.throttles.import(row, service, clock(&row.key.node), symbols);
        }
        for row in &rows.failures {
            self.failures.import(row, clock(&row.key.node), symbols)?;
        }
        for row in &rows.faults {
            self.faults.import(row, clock(&row.key.node), symbols);
        }
        Ok(())
    }

    fn import_combination(&mut self, row: &Combination, symbols: &mut Symbols) -> Result<(), BadPart> {
        let Combination { key: row, sums } = row;
        let target = key(&row.node, row.target.as_ref(), row.mdt, symbols)?;
        if let Some(direction) = Direction::of(Opcode(row.opcode)) {
            self.targets.entry(target).or_default().moved.direction(direction).io.merge(&sums.io);
        }
        let combination = CombinationKey {
            nid: symbols.intern(row.nid.as_bytes()),
            client_uuid: symbols.intern(row.client_uuid.as_bytes()),
            job: row.job.as_ref().map(|job| symbols.intern(job.as_bytes())),
            opcode: Opcode(row.opcode),
            target,
            owner: row.uid.map(|uid| OwnerKey { uid, gid: row.gid, projid: row.projid }),
        };
        if self.combinations.put(combination, sums) {
            self.take_combinations_apart(symbols);
        }
        Ok(())
    }

    fn import_objects(&mut self, rows: &OfRows) -> Result<(), BadPart> {
        let mut others = rows.all_objects.clone();
        for row in &rows.objects {
            let sum = ObjectSum::counted(row);
            others.subtract(&sum.alone());
            self.objects.kept.insert((target_of(&row.target)?, object(row)?), sum);
        }
        self.objects.others.merge(&others);
        Ok(())
    }

    /// Adds what there is once per node: after its rows. `summary` is on the clock that the node's times were put on.
    pub(crate) fn import_facts(
        &mut self,
        facts: &NodeFacts,
        summary: &TraceSummary,
        symbols: &mut Symbols,
    ) -> Result<(), BadPart> {
        let node = symbols.intern(facts.node.as_bytes());
        let sum = self.nodes.entry(node).or_default();
        sum.first_us = sum.first_us.into_iter().chain(summary.first_us).min();
        sum.last_us = sum.last_us.max(summary.last_us);
        sum.traced_us.extend(&summary.traced_us);
        if facts.client {
            sum.client = true;
            sum.sums = facts.sums.clone();
            return Ok(());
        }
        for service in &facts.services {
            let Service { threads, rpcs, queue_us, service_us, held_us, .. } = *service;
            let sums = ServiceSums { threads, rpcs, queue_us, service_us, held_us };
            sum.services.insert(thread_of(&service.service, symbols), sums);
        }
        self.targets_known.extend(summary.targets.iter().map(|&target| (node, target)));
        self.infer_only_target(node, TargetKind::Ost, &summary.pinging_targets);
        self.infer_only_target(node, TargetKind::Mdt, &summary.pinging_targets);
        Ok(())
    }
}

/// A name that a thread of this service could have: sums know services by a thread.
fn thread_of(service: &str, symbols: &mut Symbols) -> Symbol {
    symbols.intern(format!("{service}_0").as_bytes())
}

fn direction(opcode: u32) -> Result<Direction, BadPart> {
    Direction::of(Opcode(opcode)).ok_or_else(|| BadPart::new("the opcode of a read or write", opcode.to_string()))
}

fn word<'de, T: Deserialize<'de>>(text: &'de str, expected: &'static str) -> Result<T, BadPart> {
    let word: serde::de::value::StrDeserializer<'de, WordError> = text.into_deserializer();
    T::deserialize(word).map_err(|_| BadPart::new(expected, text))
}

fn object(row: &Object) -> Result<ObjectName, BadPart> {
    match (row.fid_seq, row.fid_oid, row.fid_ver, row.resource_0, row.resource_1) {
        (Some(seq), Some(oid), Some(ver), _, _) => Ok(ObjectName::Fid(Fid { seq, oid, ver })),
        (.., Some(first), Some(second)) => Ok(ObjectName::Resource(first, second)),
        _ => Err(BadPart::new("the words of a FID or of a resource", format!("{row:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lioprof_model::traffic::service_name;

    #[test]
    fn a_service_keeps_its_name() {
        let mut symbols = Symbols::default();
        for service in ["ll_ost_io", "ptlrpcd_", "ldlm_cb"] {
            let thread = thread_of(service, &mut symbols);
            assert_eq!(service_name(symbols.bytes(thread)), service.as_bytes());
        }
    }

    #[test]
    fn buckets_of_times_lie_in_one_quarter() {
        for us in (0..3000).chain([65_535, 1 << 33, (1 << 33) + 12_345]) {
            let low_us = latency_bucket_low_us(lioprof_model::latency::latency_bucket(us));
            assert_eq!(quarter_octave(low_us), quarter_octave(us), "{us}");
        }
    }
}
