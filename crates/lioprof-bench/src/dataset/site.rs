//! Who is who in the made-up site.

use lustre_debuglog::{TargetKind, TargetName};

use super::options::DatasetOptions;
use crate::random::mix;

/// File system of all targets.
pub(super) const FS: &str = "lustre";
/// Neighbours that run one job.
pub(super) const CLIENTS_PER_JOB: u32 = 8;
const APPLICATIONS: [&str; 8] = ["vasp", "wrf", "gromacs", "python3", "lammps", "ior", "hmmsearch", "train"];

/// Nodes, targets, clients and jobs.
#[derive(Debug)]
pub(super) struct Site {
    seed: u64,
    nodes: u32,
    clients: u32,
    osts_per_node: u32,
}

impl Site {
    pub(super) fn new(options: &DatasetOptions) -> Self {
        let DatasetOptions { seed, nodes, clients, osts_per_node, .. } = *options;
        Self { seed, nodes, clients, osts_per_node }
    }

    /// Names of equal length, so that they sort by number.
    pub(super) fn node_name(&self, node: u32) -> String {
        let width = (self.nodes - 1).to_string().len();
        format!("oss{node:0width$}")
    }

    pub(super) fn node_nid(node: u32) -> String {
        format!("10.10.{}.{}@o2ib", node / 250, node % 250 + 1)
    }

    pub(super) fn client_nid(client: u32) -> String {
        format!("10.{}.{}.{}@o2ib", 20 + client / 62_500, client / 250 % 250, client % 250 + 1)
    }

    pub(super) fn node_uuid(&self, node: u32) -> String {
        self.uuid(1, node)
    }

    pub(super) fn client_uuid(&self, client: u32) -> String {
        self.uuid(2, client)
    }

    fn uuid(&self, kind: u64, number: u32) -> String {
        let a = mix(self.seed ^ (kind << 60 | u64::from(number)));
        let b = mix(a);
        let (c, d) = (a >> 16 & 0xffff, a & 0xffff);
        format!("{:08x}-{c:04x}-{d:04x}-{:04x}-{:012x}", a >> 32, b >> 48, b & 0xffff_ffff_ffff)
    }

    pub(super) fn jobs(&self) -> u32 {
        (self.clients / CLIENTS_PER_JOB).max(1)
    }

    /// As `%e.%u` makes it.
    pub(super) fn job_name(job: u32) -> String {
        let application = APPLICATIONS[job as usize % APPLICATIONS.len()];
        format!("{application}.{}", Self::uid(job))
    }

    pub(super) fn uid(job: u32) -> u32 {
        20_000 + job
    }

    /// Clients of a job: the first, and how many.
    pub(super) fn clients_of(&self, job: u32) -> (u32, u32) {
        (job * CLIENTS_PER_JOB, CLIENTS_PER_JOB.min(self.clients))
    }

    pub(super) fn osts_of(&self, node: u32) -> impl Iterator<Item = TargetName> {
        (node * self.osts_per_node..(node + 1) * self.osts_per_node).map(|index| target(TargetKind::Ost, index))
    }

    /// Every other node is an MDS, too.
    pub(super) fn mdt_of(pair: u32) -> TargetName {
        target(TargetKind::Mdt, pair)
    }
}

fn target(kind: TargetKind, index: u32) -> TargetName {
    let index = u16::try_from(index).expect("options allow no more targets than Lustre does");
    TargetName::new(FS, kind, index).expect("a name")
}
