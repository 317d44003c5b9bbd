//! The request in whose window a line falls: columns that lock events and sent RPCs share.

use arrow_array::types::{UInt32Type, UInt64Type};
use lioprof_model::{RpcWindow, Symbol, Symbols};
use lustre_debuglog::{Opcode, Xid};

use super::texts::{Text, Texts};
use super::view::{OptionalMeanings, OptionalNumbers, OptionalWords};
use crate::text;

/// The cells of a window.
#[derive(Clone, Copy, Default)]
pub(crate) struct WindowCells {
    pub(crate) nid: Option<Text>,
    pub(crate) client_uuid: Option<Text>,
    pub(crate) xid: Option<u64>,
    pub(crate) opcode: Option<u32>,
    pub(crate) opcode_name: Option<Text>,
    pub(crate) job: Option<Text>,
}

impl WindowCells {
    pub(crate) fn new(window: Option<&RpcWindow>, texts: &mut Texts, symbols: &Symbols) -> Self {
        let Some(window) = window else { return Self::default() };
        Self {
            nid: Some(texts.symbol(window.nid, symbols)),
            client_uuid: Some(texts.symbol(window.client_uuid, symbols)),
            xid: Some(window.xid.0),
            opcode: Some(window.opcode.0),
            opcode_name: Some(texts.opcode(window.opcode)),
            job: window.job.map(|job| texts.symbol(job, symbols)),
        }
    }
}

/// Windows read back.
pub(crate) struct Windows {
    nid: OptionalMeanings<Symbol>,
    client_uuid: OptionalMeanings<Symbol>,
    xid: OptionalNumbers<UInt64Type>,
    opcode: OptionalNumbers<UInt32Type>,
    job: OptionalMeanings<Symbol>,
}

impl Windows {
    pub(crate) fn new(
        nid: &OptionalWords,
        client_uuid: &OptionalWords,
        xid: OptionalNumbers<UInt64Type>,
        opcode: OptionalNumbers<UInt32Type>,
        job: &OptionalWords,
        symbols: &mut Symbols,
    ) -> Self {
        let mut symbol = |text: &str| symbols.intern(&text::decode(text));
        Self {
            nid: nid.map(&mut symbol),
            client_uuid: client_uuid.map(&mut symbol),
            xid,
            opcode,
            job: job.map(&mut symbol),
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<RpcWindow> {
        Some(RpcWindow {
            nid: self.nid.get(at)?,
            client_uuid: self.client_uuid.get(at)?,
            xid: Xid(self.xid.get(at)?),
            opcode: Opcode(self.opcode.get(at)?),
            job: self.job.get(at),
        })
    }
}
