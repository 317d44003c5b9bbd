//! Single RPCs, thinned to a number that a page can show.

use lioprof_model::doubts::shown;
use lioprof_model::{Analysis, SampledRpc};

/// RPCs with sound times, evenly thinned.
#[derive(Debug)]
pub(crate) struct Thinned<'a> {
    pub(crate) rpcs: Vec<&'a SampledRpc>,
    /// One in this many RPCs of the capture is left.
    one_in: u64,
}

/// Whether an RPC can be placed on a time axis.
pub(crate) fn sound(rpc: &SampledRpc) -> bool {
    rpc.arrival.is_finite() && rpc.end.is_finite() && rpc.end >= rpc.arrival
}

impl<'a> Thinned<'a> {
    /// Keeps every n-th of `rpcs`, at most `most`.
    pub(crate) fn new(analysis: &Analysis, rpcs: Vec<&'a SampledRpc>, most: usize) -> Self {
        let every = rpcs.len().div_ceil(most.max(1)).max(1);
        let one_in = analysis.sample.one_in.max(1).saturating_mul(every as u64);
        Self { rpcs: rpcs.into_iter().step_by(every).collect(), one_in }
    }

    /// `1 in 64 RPCs shown`, or that all are.
    pub(crate) fn describe(&self) -> String {
        shown(self.one_in)
    }
}

/// Name of a client of the sample.
pub(crate) fn client_name(analysis: &Analysis, client: u32) -> String {
    match analysis.clients.get(client as usize) {
        Some(client) => client.nid.clone(),
        None => format!("client {client}"),
    }
}
