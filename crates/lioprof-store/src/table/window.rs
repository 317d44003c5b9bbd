//! The request in whose window a line falls: columns that lock events and sent RPCs share.

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
