//! The request in whose window a line falls: columns that lock events and sent RPCs share.

use arrow_array::types::{UInt32Type, UInt64Type};
use lioprof_model::{RpcWindow, Symbol};
use lustre_debuglog::{Opcode, Xid};

use super::view::{OptionalMeanings, OptionalNumbers};

/// Adds the cells of a window.
macro_rules! push_window {
    ($columns:expr, $window:expr, $texts:expr, $symbols:expr) => {{
        let window: Option<&lioprof_model::RpcWindow> = $window;
        $columns.window_nid.push(window.map(|it| $texts.symbol(it.nid, $symbols)));
        $columns.window_client_uuid.push(window.map(|it| $texts.symbol(it.client_uuid, $symbols)));
        $columns.window_xid.push(window.map(|it| it.xid.0));
        $columns.window_opcode.push(window.map(|it| it.opcode.0));
        $columns.window_opcode_name.push(window.map(|it| $texts.opcode(it.opcode)));
        $columns.window_job.push(window.and_then(|it| it.job).map(|job| $texts.symbol(job, $symbols)));
    }};
}
pub(crate) use push_window;

/// Windows read back.
pub(crate) struct Windows {
    pub(crate) nid: OptionalMeanings<Symbol>,
    pub(crate) client_uuid: OptionalMeanings<Symbol>,
    pub(crate) xid: OptionalNumbers<UInt64Type>,
    pub(crate) opcode: OptionalNumbers<UInt32Type>,
    pub(crate) job: OptionalMeanings<Symbol>,
}

/// The windows of a view.
macro_rules! windows {
    ($view:expr, $symbols:expr) => {{
        let mut symbol = |text: &str| $symbols.intern(&$crate::text::decode(text));
        $crate::table::window::Windows {
            nid: $view.window_nid.map(&mut symbol),
            client_uuid: $view.window_client_uuid.map(&mut symbol),
            xid: $view.window_xid.clone(),
            opcode: $view.window_opcode.clone(),
            job: $view.window_job.map(&mut symbol),
        }
    }};
}
pub(crate) use windows;

impl Windows {
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
