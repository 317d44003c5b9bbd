//! Reads and writes per object, for the busiest objects.

use lioprof_model::parts::sums::ObjectsSums;
use lioprof_model::{Direction, Io, RpcRow, Symbol};
use lustre_debuglog::TargetName;
use lustre_debuglog::message::ObjectName;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::few::keep_heaviest;
use crate::renumber::{Renumber, renumber_fields};

/// Objects kept. When there are twice as many, those with fewest bytes are summed up as the others; one
/// of them that gets busy later starts anew, so its figures are then a lower bound.
const MAX_OBJECTS: usize = 10_000;
/// Clients counted per object; more are reported as unknown.
const MAX_CLIENTS: usize = 10_000;

/// In order. Most objects have a client or two.
type Few = SmallVec<[Symbol; 4]>;

impl Renumber for Few {
    fn renumber(&mut self, to: &[Symbol]) {
        self.iter_mut().for_each(|it| it.renumber(to));
        self.sort_unstable();
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ObjectSum {
    pub(crate) read: Io,
    pub(crate) write: Io,
    clients: Few,
    writers: Few,
    pub(crate) first_byte: Option<u64>,
    pub(crate) last_byte: Option<u64>,
}

renumber_fields!(ObjectSum { clients, writers } without { read, write, first_byte, last_byte });

impl ObjectSum {
    /// As one of many objects.
    pub(crate) fn alone(&self) -> ObjectsSums {
        ObjectsSums { objects: 1, read: self.read.clone(), write: self.write.clone() }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.read.bytes + self.write.bytes
    }

    pub(crate) fn clients(&self) -> Option<u64> {
        let clients = self.clients.len() as u64;
        (clients < MAX_CLIENTS as u64).then_some(clients)
    }

    pub(crate) fn writers(&self) -> Option<u64> {
        let writers = self.writers.len() as u64;
        (writers < MAX_CLIENTS as u64).then_some(writers)
    }

    fn merge(&mut self, other: Self) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        extend(&mut self.clients, other.clients);
        extend(&mut self.writers, other.writers);
        self.first_byte = self.first_byte.into_iter().chain(other.first_byte).min();
        self.last_byte = self.last_byte.into_iter().chain(other.last_byte).max();
    }
}

fn extend(few: &mut Few, more: impl IntoIterator<Item = Symbol>) {
    for symbol in more {
        if let Err(at) = few.binary_search(&symbol)
            && few.len() < MAX_CLIENTS
        {
            few.insert(at, symbol);
        }
    }
}

pub(crate) type ObjectKey = (TargetName, ObjectName);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Objects {
    pub(crate) kept: FxHashMap<ObjectKey, ObjectSum>,
    pub(crate) others: ObjectsSums,
}

impl Renumber for Objects {
    fn renumber(&mut self, to: &[Symbol]) {
        self.kept.values_mut().for_each(|sum| sum.renumber(to));
    }
}

impl Objects {
    pub(crate) fn add(&mut self, row: &RpcRow, direction: Direction) {
        let (Some(target), Some(object)) = (row.target, row.object) else { return };
        let sum = self.kept.entry((target, object)).or_default();
        extend(&mut sum.clients, [row.nid]);
        match direction {
            Direction::Read => sum.read.add(row.size, row.failed()),
            Direction::Write => {
                extend(&mut sum.writers, [row.nid]);
                sum.write.add(row.size, row.failed());
            }
        }
        if let Some(extent) = row.extent {
            sum.first_byte = Some(sum.first_byte.map_or(extent.start, |first| first.min(extent.start)));
            sum.last_byte = Some(sum.last_byte.map_or(extent.end, |last| last.max(extent.end)));
        }
        if self.kept.len() >= 2 * MAX_OBJECTS {
            self.keep(MAX_OBJECTS);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (key, theirs) in other.kept {
            self.kept.entry(key).or_default().merge(theirs);
        }
        self.others.merge(&other.others);
        if self.kept.len() >= 2 * MAX_OBJECTS {
            self.keep(MAX_OBJECTS);
        }
    }

    /// No more rows of the node will come: keeps as many as can be told of, and no spare room. An object is on one OST, so those that the
    /// other nodes' do not outdo are among them.
    pub(crate) fn keep_little(&mut self) {
        if self.kept.len() > MAX_OBJECTS {
            self.keep(MAX_OBJECTS);
        }
        self.kept.shrink_to_fit();
    }

    /// Keeps the busiest, by bytes, then by name.
    pub(crate) fn keep(&mut self, count: usize) {
        for sum in keep_heaviest(&mut self.kept, count, ObjectSum::bytes) {
            self.others.merge(&sum.alone());
        }
    }
}

/// How an object is shown: its FID, or two words of its resource.
pub(crate) fn object_name(object: ObjectName) -> String {
    match object {
        ObjectName::Fid(fid) => fid.to_string(),
        ObjectName::Resource(first, second) => format!("{first}/{second}"),
    }
}
