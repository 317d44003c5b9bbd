//! Access patterns as tables, and back.

use lioprof_model::parts::rollup::{AccessObject, ClientMix, Picture, Rollup, Writer};
use lioprof_model::{MixSum, Symbol, Symbols};

use super::mix;
use super::object::{ObjectSum, Objects, Span};
use super::spread::Pictures;
use super::stream::Small;
use super::sums::AccessSums;
use crate::parts::{BadPart, object_name, object_of, target_of};

impl AccessSums {
    /// Adds everything to the rollup of a node.
    pub(crate) fn export(&self, node: &str, symbols: &Symbols, rollup: &mut Rollup) {
        // Streams of a complete log have ended: nothing more is to come.
        let mut sums = self.clone();
        sums.end_streams();
        sums.objects.export(node, symbols, rollup);
        sums.mixes.export(node, symbols, rollup);
        sums.reads.export(node, false, rollup);
        sums.writes.export(node, true, rollup);
        // By name: the order of hash tables and the numbers of symbols are accidents.
        rollup.access.sort_by(|a, b| (&a.target, &a.object).cmp(&(&b.target, &b.object)));
        rollup.mix.sort_by(|a, b| (&a.nid, &a.target).cmp(&(&b.nid, &b.target)));
        rollup.pictures.sort_by(|a, b| (a.write, a.number, &a.target).cmp(&(b.write, b.number, &b.target)));
    }

    /// Adds the rows of a rollup.
    pub(crate) fn import(&mut self, rollup: &Rollup, symbols: &mut Symbols) -> Result<(), BadPart> {
        self.objects.import(&rollup.access, symbols)?;
        for row in &rollup.mix {
            let nid = symbols.intern(row.nid.as_bytes());
            match &row.target {
                Some(target) => self.mixes.target(nid, target_of(target)?, &row.sum),
                None => self.mixes.clients.entry(nid).or_default().sum.merge(&row.sum),
            }
        }
        self.reads.import(&rollup.pictures, false)?;
        self.writes.import(&rollup.pictures, true)
    }
}

impl Objects {
    fn export(&self, node: &str, symbols: &Symbols, rollup: &mut Rollup) {
        let names =
            |nids: &mut dyn Iterator<Item = Symbol>| -> Vec<String> { nids.map(|nid| symbols.text(nid)).collect() };
        for (&(target, object), sum) in &self.kept {
            let mut writers: Vec<Writer> = sum
                .writers
                .iter()
                .map(|(&nid, span)| Writer {
                    nid: symbols.text(nid),
                    first_us: span.first_us,
                    last_us: span.last_us,
                    first_byte: span.first_byte,
                    last_byte: span.last_byte,
                })
                .collect();
            writers.sort_by(|a, b| a.nid.cmp(&b.nid));
            let mut small_clients = names(&mut sum.small_clients.iter().copied());
            small_clients.sort();
            rollup.access.push(AccessObject {
                node: node.to_owned(),
                target: Some(target.to_string()),
                object: Some(object_name(object)),
                rpcs: sum.rpcs(),
                read: sum.read.clone(),
                write: sum.write.clone(),
                // In the order in which they came: where lists are bounded the first ones count.
                clients: names(&mut sum.clients.iter().copied()),
                jobs: names(&mut sum.jobs.iter().copied()),
                writers,
                first_byte: sum.first_byte,
                last_byte: sum.last_byte,
                small_rpcs: sum.small.rpcs,
                small_first_byte: sum.small.first_byte,
                small_last_byte: sum.small.last_byte,
                small_clients,
            });
        }
        rollup.access.push(AccessObject {
            node: node.to_owned(),
            read: self.other_reads.clone(),
            write: self.other_writes.clone(),
            ..AccessObject::default()
        });
    }

    fn import(&mut self, rows: &[AccessObject], symbols: &mut Symbols) -> Result<(), BadPart> {
        let mut read = Self::default();
        for row in rows {
            let (Some(target), Some(object)) = (&row.target, &row.object) else {
                read.other_reads.merge(&row.read);
                read.other_writes.merge(&row.write);
                continue;
            };
            let mut all = |names: &[String]| -> Vec<Symbol> {
                names.iter().map(|name| symbols.intern(name.as_bytes())).collect()
            };
            let sum = ObjectSum {
                read: row.read.clone(),
                write: row.write.clone(),
                clients: all(&row.clients),
                jobs: all(&row.jobs),
                small_clients: all(&row.small_clients).into_iter().collect(),
                writers: row
                    .writers
                    .iter()
                    .map(|writer| (symbols.intern(writer.nid.as_bytes()), span(writer)))
                    .collect(),
                first_byte: row.first_byte,
                last_byte: row.last_byte,
                small: Small { rpcs: row.small_rpcs, first_byte: row.small_first_byte, last_byte: row.small_last_byte },
            };
            read.put((target_of(target)?, object_of(object)?), sum);
        }
        self.merge(read);
        Ok(())
    }
}

fn span(writer: &Writer) -> Span {
    let Writer { first_us, last_us, first_byte, last_byte, .. } = *writer;
    Span { first_us, last_us, first_byte, last_byte }
}

impl mix::Mixes {
    fn export(&self, node: &str, symbols: &Symbols, rollup: &mut Rollup) {
        let row = |nid: Symbol, target: Option<String>, sum: MixSum| ClientMix {
            node: node.to_owned(),
            nid: symbols.text(nid),
            target,
            sum,
        };
        rollup.mix.extend(self.clients.iter().map(|(&nid, client)| row(nid, None, client.sum)));
        rollup.mix.extend(self.targets.iter().map(|(&(nid, target), sum)| row(nid, Some(target.to_string()), *sum)));
    }
}

impl Pictures {
    fn export(&self, node: &str, write: bool, rollup: &mut Rollup) {
        rollup.pictures.extend(self.taken().map(|(number, target, requests)| Picture {
            node: node.to_owned(),
            write,
            step_us: self.step_us(),
            number,
            target: target.to_string(),
            requests,
        }));
    }

    fn import(&mut self, rows: &[Picture], write: bool) -> Result<(), BadPart> {
        let rows = || rows.iter().filter(|row| row.write == write);
        let mut read = Self::of(rows().map(|row| row.step_us).max().unwrap_or(0));
        for row in rows() {
            // Of those that are closer together, each second, fourth, ... is there in all.
            let every = read.step_us() / row.step_us.max(1);
            if row.number % every.max(1) == 0 {
                read.put(row.number / every.max(1), target_of(&row.target)?, row.requests);
            }
        }
        self.merge(read);
        Ok(())
    }
}
