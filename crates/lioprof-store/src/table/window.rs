//! The request in whose window a line falls: columns that lock events and sent RPCs share.

/// The window of a row that is read back.
macro_rules! read_window {
    ($view:expr, $at:expr) => {{
        let read = || {
            Some(lioprof_model::RpcWindow {
                nid: $view.window_nid.get($at)?,
                client_uuid: $view.window_client_uuid.get($at)?,
                xid: lustre_debuglog::Xid($view.window_xid.get($at)?),
                opcode: lustre_debuglog::Opcode($view.window_opcode.get($at)?),
                job: $view.window_job.get($at),
            })
        };
        read()
    }};
}
pub(crate) use read_window;
