//! Operations of clients' programs: found in clients' logs, joined to their RPCs and to the servers' rows of these, cut into parts.
//!
//! ```text
//! client's lines ─ threads ─> operations ┐
//! sent RPCs, locks ──── client ──────────┼─ join ─> claims on an operation's time ─ timeline ─> parts
//! servers' rows, lock lines ─ servers ───┘
//! ```
//!
//! Keeps about 200 bytes for each RPC and operation of the interval: `--from` and `--to` bound it.

mod client;
mod join;
mod servers;
mod threads;
mod timeline;

use std::path::PathBuf;
use std::sync::Arc;

use lioprof_model::{ClientEvent, LockEvent, Operations, RowSink, RowStores, RpcRow, SentRpc, Symbol, Symbols};
use rustc_hash::FxHashMap;

use crate::config::Config;
use crate::run::{AnalyzeError, Outcome, analyze_with_clocks};
use client::Client;
use join::Joiner;
use servers::Servers;

/// Finds the operations in logs. The analysis comes along: it has been made to compare the nodes' clocks.
///
/// # Errors
/// If no input could be read at all.
pub fn find_operations(
    inputs: &[PathBuf],
    stores: &dyn RowStores,
    config: &Config,
) -> Result<(Outcome, Operations), AnalyzeError> {
    let mut collector = Collector::default();
    let (outcome, clocks) = analyze_with_clocks(inputs, stores, config, Some(&mut collector))?;
    let Collector { clients, servers, nodes, texts } = collector;
    let operations = Joiner { clients, servers, nodes, clocks }.operations(config, &texts);
    Ok((outcome, operations))
}

/// Keeps what operations are made of.
#[derive(Default)]
struct Collector {
    clients: FxHashMap<Symbol, Client>,
    servers: Servers,
    /// Names of the nodes.
    nodes: FxHashMap<Symbol, Arc<str>>,
    /// NIDs of clients, for the choice of clients.
    texts: FxHashMap<Symbol, String>,
}

impl RowSink for Collector {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.nodes.entry(row.node).or_insert_with(|| symbols.text(row.node).into());
        self.texts.entry(row.nid).or_insert_with(|| symbols.text(row.nid));
        self.servers.rpc(row);
    }

    fn lock_event(&mut self, event: &LockEvent, _: &Symbols) {
        self.servers.lock_event(event);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.nodes.entry(sent.node).or_insert_with(|| symbols.text(sent.node).into());
        self.clients.entry(sent.node).or_default().sent_rpc(sent);
    }

    fn client_event(&mut self, event: &ClientEvent, symbols: &Symbols) {
        self.nodes.entry(event.node).or_insert_with(|| symbols.text(event.node).into());
        self.clients.entry(event.node).or_default().event(event);
    }
}
