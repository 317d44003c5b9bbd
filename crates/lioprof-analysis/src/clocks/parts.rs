//! Converts samples of RPCs between nodes to tables and back.

use std::collections::BTreeMap;

use lioprof_model::Symbols;
use lioprof_model::parts::rollup::Exchange;
use lustre_debuglog::Opcode;

use super::sample::{ExchangeSample, Handled, Identity, Sampled, Sent};
use crate::parts::{BadPart, optional_target};

impl ExchangeSample {
    /// The sample as rows of a node.
    pub(crate) fn export(&self, node: &str) -> Vec<Exchange> {
        let symbols = &self.symbols;
        let row = |id: &Identity, nid, one_in| Exchange {
            node: node.to_owned(),
            nid: symbols.text(nid),
            one_in,
            xid: id.xid,
            opcode: id.opcode.0,
            uuid: symbols.text(id.uuid),
            ..Exchange::default()
        };
        let sent = self.sent.iter().map(|Sampled { rpc, nid, one_in }| Exchange {
            sent: true,
            first_us: rpc.sent_us,
            start_us: rpc.sent_us,
            last_us: rpc.answered_us,
            ..row(&rpc.id, *nid, *one_in)
        });
        let handled = self.handled.iter().map(|Sampled { rpc, nid, one_in }| Exchange {
            first_us: rpc.arrival_us,
            start_us: rpc.start_us,
            last_us: rpc.end_us,
            target: rpc.target.map(|target| target.to_string()),
            ..row(&rpc.id, *nid, *one_in)
        });
        sent.chain(handled).collect()
    }

    /// Samples by node, from their rows.
    pub(crate) fn import(rows: &[Exchange]) -> Result<BTreeMap<String, Self>, BadPart> {
        type Lists = (Vec<Sampled<Sent>>, Vec<Sampled<Handled>>);
        let mut symbols = Symbols::default();
        let mut nodes: BTreeMap<String, Lists> = BTreeMap::new();
        for row in rows {
            let (sent, handled) = nodes.entry(row.node.clone()).or_default();
            let id = Identity { xid: row.xid, opcode: Opcode(row.opcode), uuid: symbols.intern(row.uuid.as_bytes()) };
            let (nid, one_in) = (symbols.intern(row.nid.as_bytes()), row.one_in);
            if row.sent {
                sent.push(Sampled { rpc: Sent { id, sent_us: row.first_us, answered_us: row.last_us }, nid, one_in });
            } else {
                let target = optional_target(row.target.as_ref())?;
                let (arrival_us, start_us, end_us) = (row.first_us, row.start_us, row.last_us);
                handled.push(Sampled { rpc: Handled { id, arrival_us, start_us, end_us, target }, nid, one_in });
            }
        }
        let sample = |(sent, handled): Lists| Self::new(sent.into(), handled.into(), &symbols);
        Ok(nodes.into_iter().map(|(node, lists)| (node, sample(lists))).collect())
    }
}
