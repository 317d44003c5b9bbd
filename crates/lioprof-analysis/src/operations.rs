//! Operations of clients' programs: found in clients' logs, joined to their RPCs and to the servers' rows of these, cut into parts.
//!
//! ```text
//! client's lines ─ threads ─> operations ┐ <─ infer ─ marks, RPCs
//! sent RPCs, locks ──── client ──────────┼─ join ─> claims on an operation's time ─ timeline ─> parts
//! servers' rows, lock lines ─ servers ───┘
//! ```
//!
//! Keeps roughly 1 kB for each operation and each RPC of the interval, most of it for drawing: `--from` and `--to` bound it.

mod client;
mod infer;
mod join;
mod marks;
mod requests;
mod servers;
mod threads;
mod timeline;
mod walk;

use std::path::PathBuf;
use std::sync::Arc;

use lioprof_model::symbol::shown;
use lioprof_model::{
    ClientEvent, ClientStep, HalfRpc, LockEvent, Operations, RowSink, RowStores, RpcRow, SentRpc, Symbol, Symbols,
};
use rustc_hash::FxHashMap;

use crate::config::{Config, Selection};
use crate::run::{AnalyzeError, Outcome, analyze_with_clocks};
use client::Client;
use join::Joiner;
use servers::Servers;

/// Finds the operations in logs: of the chosen clients, and, if targets, jobs or operation codes are chosen, those with an RPC that fits
/// all of these. The analysis comes along: it has been made to compare the nodes' clocks.
///
/// # Errors
/// If no input could be read at all.
pub fn find_operations(
    inputs: &[PathBuf],
    stores: &dyn RowStores,
    config: &Config,
) -> Result<(Outcome, Operations), AnalyzeError> {
    // An operation needs all of its RPCs, whichever of them it is chosen for.
    let selection = Selection { clients: config.selection.clients.clone(), ..Selection::default() };
    let all = Config { selection, ..config.clone() };
    let mut collector = Collector::default();
    let (outcome, clocks) = analyze_with_clocks(inputs, stores, &all, Some(&mut collector))?;
    let Collector { clients, servers, nodes, texts, names } = collector;
    let joiner = Joiner { clients, servers, nodes, texts, names, clocks, chosen: &config.selection };
    Ok((outcome, joiner.operations()))
}

/// Keeps what operations are made of.
#[derive(Default)]
struct Collector {
    clients: FxHashMap<Symbol, Client>,
    servers: Servers,
    /// Names of the nodes.
    nodes: FxHashMap<Symbol, Arc<str>>,
    /// NIDs of clients, and jobs.
    texts: FxHashMap<Symbol, Arc<str>>,
    /// Names of files, if they were asked for.
    names: FxHashMap<Symbol, Arc<str>>,
}

impl Collector {
    fn text(&mut self, symbol: Symbol, symbols: &Symbols) {
        self.texts.entry(symbol).or_insert_with(|| symbols.text(symbol).into());
    }
}

impl RowSink for Collector {
    fn rpc(&mut self, row: &RpcRow, symbols: &Symbols) {
        self.nodes.entry(row.node).or_insert_with(|| symbols.text(row.node).into());
        self.text(row.nid, symbols);
        if let Some(job) = row.job {
            self.text(job, symbols);
        }
        self.servers.rpc(row);
    }

    fn lock_event(&mut self, event: &LockEvent, _: &Symbols) {
        self.servers.lock_event(event);
    }

    fn sent_rpc(&mut self, sent: &SentRpc, symbols: &Symbols) {
        self.nodes.entry(sent.node).or_insert_with(|| symbols.text(sent.node).into());
        self.clients.entry(sent.node).or_default().sent_rpc(sent);
    }

    fn half_rpc(&mut self, half: &HalfRpc, _: &Symbols) {
        self.servers.half_rpc(half);
    }

    fn client_event(&mut self, event: &ClientEvent, symbols: &Symbols) {
        self.nodes.entry(event.node).or_insert_with(|| symbols.text(event.node).into());
        if let ClientStep::Started { name: Some(name), .. } | ClientStep::Called { name: Some(name), .. } = event.step
            && let Some(text) = name.text
        {
            self.names.entry(text).or_insert_with(|| shown(symbols.bytes(text)).into());
        }
        self.clients.entry(event.node).or_default().event(event);
    }
}
