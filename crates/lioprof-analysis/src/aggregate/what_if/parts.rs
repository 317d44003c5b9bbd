//! Requests that are kept, as a table, and back.

use lioprof_model::Symbols;
use lioprof_model::parts::rollup::{ReplayFacts, ReplayedRpc, Rollup};

use super::super::entries::key;
use super::record::{Kept, Record};
use crate::parts::BadPart;
use crate::what_if::Kind;

impl Record {
    /// What there is besides the requests.
    pub(crate) fn facts(&self) -> ReplayFacts {
        self.facts
    }

    /// Adds the requests to the rollup of a node.
    pub(crate) fn export(&self, node: &str, symbols: &Symbols, rollup: &mut Rollup) {
        let row = |kept: &Kept| {
            let place = self.places[usize::from(kept.place)];
            ReplayedRpc {
                node: node.to_owned(),
                end_us: kept.end_us,
                total_us: kept.total_us,
                service_us: kept.service_us,
                before_us: kept.parts().map(|(before_us, _)| before_us),
                transfer_us: kept.parts().map(|(_, transfer_us)| transfer_us),
                bytes: kept.bytes,
                object: kept.object,
                gapped: kept.gapped,
                nid: symbols.text(kept.client),
                mdt: place.mdt(),
                target: place.target(),
                kind: kept.kind.number(),
            }
        };
        let mut rows: Vec<ReplayedRpc> = self.kept.iter().map(row).collect();
        rows.sort_unstable();
        rollup.replay.extend(rows);
    }

    /// Adds what was exported of some nodes.
    pub(crate) fn import(&mut self, rollup: &Rollup, symbols: &mut Symbols) -> Result<(), BadPart> {
        for facts in rollup.nodes.iter().filter(|facts| !facts.client) {
            self.merge_facts(facts.replay);
        }
        for row in &rollup.replay {
            let kind = Kind::of_number(row.kind)
                .ok_or_else(|| BadPart::new("the number of a kind of request", row.kind.to_string()))?;
            let place = self.place(key(&row.node, row.target.as_ref(), row.mdt, symbols)?);
            let Some(place) = place else { continue };
            let client = symbols.intern(row.nid.as_bytes());
            let kept = Kept::new(row.end_us, u64::from(row.total_us), u64::from(row.service_us), client, place, kind);
            let parts = row.before_us.zip(row.transfer_us);
            self.keep(kept.with_data(row.bytes, row.object, parts).with_gaps(row.gapped));
        }
        self.limit();
        Ok(())
    }
}
