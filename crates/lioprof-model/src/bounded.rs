//! An analysis whose size does not depend on the size of the site: what `analysis.json` holds.
//!
//! Long lists keep their largest rows; the others are summed up in [`Analysis::others`], never as a row among clients or jobs, where
//! somebody could take it for one. Bins of long series are joined ([`joined`](crate::series::Series::joined)). Nothing else is left out.

mod account;
mod rows;
mod series;

use crate::analysis::{Analysis, Flow};
use crate::enqueue_parts::EnqueueParts;
use crate::events::Event;
use crate::other_rows::OtherRows;
use crate::service_parts::ServiceParts;
use rows::Cut;

/// Lists that a bounded analysis cuts, by their path in the JSON; names of their complete tables, too.
pub mod lists {
    /// [`crate::Analysis::clients`].
    pub const CLIENTS: &str = "clients";
    /// [`crate::Analysis::flows`].
    pub const FLOWS: &str = "flows";
    /// [`crate::Analysis::jobs`].
    pub const JOBS: &str = "jobs";
    /// [`crate::Analysis::owners`].
    pub const OWNERS: &str = "owners";
    /// [`crate::Analysis::failures`].
    pub const FAILURES: &str = "failures";
    /// [`crate::Analysis::throttled`].
    pub const THROTTLED: &str = "throttled";
    /// [`crate::Analysis::sent`].
    pub const SENT: &str = "sent";
    /// [`crate::Analysis::rpc_phases`].
    pub const RPC_PHASES: &str = "rpc_phases";
    /// [`crate::ServiceParts::clients`].
    pub const SERVICE_PARTS: &str = "service_parts.clients";
    /// [`crate::EnqueueParts::clients`].
    pub const ENQUEUE_PARTS: &str = "enqueue_parts.clients";
}

/// Rows of most lists of clients, jobs and owners.
const MANY: usize = 2_000;
/// Rows of the matrix of clients and targets.
const FLOWS: usize = 10_000;
/// Rows of RPCs that servers sent.
const SENT: usize = 4_000;

impl Analysis {
    /// Whether lists are cut or bins joined. Events are bounded before, and nothing else rests on them.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.others.keys().any(|list| !Event::is_rest(list)) || self.series.joined > 1
    }

    /// The analysis, at most some 50 MB as JSON whatever the number of clients, jobs and bins.
    #[must_use]
    pub fn bounded(&self) -> Self {
        // What is cut already stays so.
        let mut others = self.others.clone();
        let mut cut = Cut(&mut others);
        let (series, locks) = series::bounded(&self.series, self.locks.as_ref());
        // Every field is named here: a new one cannot be forgotten.
        Self {
            schema: self.schema.clone(),
            generator: self.generator.clone(),
            window: self.window,
            selected: self.selected.clone(),
            warnings: self.warnings.clone(),
            markers: self.markers.clone(),
            // Bounded by kind already.
            events: self.events.clone(),
            inputs: self.inputs.clone(),
            loss: self.loss.clone(),
            totals: self.totals.clone(),
            nodes: self.nodes.clone(),
            targets: self.targets.clone(),
            // Most bytes first already, and the sample refers to them by their numbers: the first ones stay.
            clients: cut.rows(
                lists::CLIENTS,
                &self.clients,
                MANY,
                "bytes",
                |_| 0,
                |sum, it| sum.rpcs(it.rpcs).io(&it.read, &it.write),
            ),
            flows: cut.rows(
                lists::FLOWS,
                &self.flows,
                FLOWS,
                "bytes",
                |it: &Flow| it.read.bytes.saturating_add(it.write.bytes),
                |sum, it| sum.io(&it.read, &it.write),
            ),
            jobs: cut.rows(
                lists::JOBS,
                &self.jobs,
                MANY,
                "bytes",
                |_| 0,
                |sum, it| sum.rpcs(it.rpcs).io(&it.read, &it.write),
            ),
            owners: cut.rows(lists::OWNERS, &self.owners, MANY, "bytes", |_| 0, |sum, it| sum.io(&it.read, &it.write)),
            objects: self.objects.clone(),
            operations: self.operations.clone(),
            sent: cut.rows(lists::SENT, &self.sent, SENT, "rpcs", |it| it.rpcs, |sum, it| _ = sum.rpcs(it.rpcs)),
            rpc_phases: cut.rows(
                lists::RPC_PHASES,
                &self.rpc_phases,
                MANY,
                "rpcs",
                |it| it.rpcs,
                |sum, it| _ = sum.rpcs(it.rpcs),
            ),
            services: self.services.clone(),
            syncs: self.syncs.clone(),
            throttled: cut.rows(
                lists::THROTTLED,
                &self.throttled,
                MANY,
                "queue_us",
                |it| it.queue_us,
                |sum, it| _ = sum.rpcs(it.rpcs),
            ),
            under_way: self.under_way.clone(),
            failures: cut.rows(
                lists::FAILURES,
                &self.failures,
                MANY,
                "rpcs",
                |it| it.rpcs,
                |sum, it| _ = sum.rpcs(it.rpcs),
            ),
            client_faults: self.client_faults.clone(),
            baseline: self.baseline.clone(),
            locks,
            series,
            sample: self.sample.clone(),
            service_parts: ServiceParts {
                targets: self.service_parts.targets.clone(),
                servers: self.service_parts.servers.clone(),
                clients: cut.rows(
                    lists::SERVICE_PARTS,
                    &self.service_parts.clients,
                    MANY,
                    "bytes",
                    |it| it.parts.bytes,
                    |sum, it| OtherRows::count(&mut sum.rpcs(it.parts.rpcs).bytes, it.parts.bytes),
                ),
                networks: self.service_parts.networks.clone(),
                sizes: self.service_parts.sizes.clone(),
            },
            enqueue_parts: EnqueueParts {
                all: self.enqueue_parts.all.clone(),
                targets: self.enqueue_parts.targets.clone(),
                clients: cut.rows(
                    lists::ENQUEUE_PARTS,
                    &self.enqueue_parts.clients,
                    MANY,
                    "enqueues",
                    |it| it.parts.enqueues,
                    |sum, it| OtherRows::count(&mut sum.enqueues, it.parts.enqueues),
                ),
            },
            time_account: account::bounded(&self.time_account),
            verdict: self.verdict.clone(),
            what_if: self.what_if.clone(),
            access: self.access.clone(),
            findings: self.findings.clone(),
            checks: self.checks.clone(),
            others,
        }
    }
}

#[cfg(test)]
#[path = "bounded/tests.rs"]
mod tests;
