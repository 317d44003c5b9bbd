//! The table of releases: file, function, line, subsystem and mask of each message.
//!
//! Lines are those of the builds that wrote this project's captures; of messages that these captures lack, an
//! estimate.

use super::{Site, Wording, mask, subsystem};

const fn site(file: &'static str, function: &'static str, line: u32, subsystem: u32, mask: u32) -> Site {
    Site { file, function, line, subsystem, mask }
}

macro_rules! releases {
    ($($(#[$doc:meta])* $name:ident: $file:literal $function:literal | $old_function:literal,
        $line:literal | $old_line:literal, $subsystem:ident, $($mask:ident)|+;)*) => {
        /// Where each message comes from.
        #[derive(Clone, Copy, Debug)]
        pub struct Sites {
            $($(#[$doc])* pub $name: Site,)*
        }

        const SITES_2_17: Sites = Sites {
            $($name: site($file, $function, $line, subsystem::$subsystem, $(mask::$mask)|+),)*
        };
        const SITES_2_15: Sites = Sites {
            $($name: site($file, $old_function, $old_line, subsystem::$subsystem, $(mask::$mask)|+),)*
        };
    };
}

releases! {
    /// `event type .. service ..`: a request arrived.
    event_in: "events.c" "request_in_callback" | "request_in_callback", 294 | 315, RPC, NET;
    /// `peer: ..`: the sender of that request.
    peer: "events.c" "request_in_callback" | "request_in_callback", 339 | 360, RPC, RPCTRACE;
    /// `event type .. desc ..`: a piece of a bulk transfer.
    bulk_event: "events.c" "server_bulk_callback" | "server_bulk_callback", 457 | 474, RPC, NET;
    /// A request of the server's own left.
    sent_event: "events.c" "request_out_callback" | "request_out_callback", 39 | 64, RPC, NET;
    /// The reply to it arrived.
    reply_event: "events.c" "reply_in_callback" | "reply_in_callback", 80 | 105, RPC, NET;
    /// Its reply buffer is free.
    reply_unlink: "events.c" "reply_in_callback" | "reply_in_callback", 102 | 127, RPC, NET;
    /// `unwrap req`.
    unwrap: "service.c" "ptlrpc_server_handle_req_in" | "ptlrpc_server_handle_req_in", 2301 | 2152, RPC, RPCTRACE;
    /// `got req x..`.
    got: "service.c" "ptlrpc_server_handle_req_in" | "ptlrpc_server_handle_req_in", 2366 | 2152, RPC, RPCTRACE;
    /// `finish req`: turned away.
    finish: "service.c" "ptlrpc_server_handle_req_in" | "ptlrpc_server_handle_req_in", 2448 | 2190, RPC, RPCTRACE;
    /// `Found duplicate req in processing`.
    duplicate: "service.c" "ptlrpc_server_request_add" | "ptlrpc_server_request_add", 2053 | 1874, RPC, HA;
    /// `Request being processed`.
    original: "service.c" "ptlrpc_server_request_add" | "ptlrpc_server_request_add", 2055 | 1876, RPC, HA;
    /// `Handling RPC`.
    handling: "service.c" "ptlrpc_server_handle_request" | "ptlrpc_server_handle_request", 2543 | 2315, RPC, RPCTRACE;
    /// `got req ..` without the x.
    got_again: "service.c" "ptlrpc_server_handle_request" | "ptlrpc_server_handle_request", 2563 | 2329, RPC, NET;
    /// `Handled RPC`.
    handled: "service.c" "ptlrpc_server_handle_request" | "ptlrpc_server_handle_request", 2592 | 2354, RPC, RPCTRACE;
    /// `Dropping timed-out request`.
    timed_out: "service.c" "ptlrpc_server_handle_request" | "ptlrpc_server_handle_request", 2527 | 2299, RPC, ERROR;
    /// `Request took longer than estimated`.
    too_long: "service.c" "ptlrpc_server_handle_request" | "ptlrpc_server_handle_request", 2578 | 2340, RPC, WARNING;
    /// `NRS start fifo request`.
    nrs_start: "nrs_fifo.c" "nrs_fifo_req_get" | "nrs_fifo_req_get", 150 | 177, RPC, RPCTRACE;
    /// `NRS stop fifo request`.
    nrs_stop: "nrs_fifo.c" "nrs_fifo_req_stop" | "nrs_fifo_req_stop", 209 | 239, RPC, RPCTRACE;
    /// `Sending RPC`: a request of the server's own.
    sending: "client.c" "ptlrpc_send_new_req" | "ptlrpc_send_new_req", 1913 | 1727, RPC, RPCTRACE;
    /// `set .. going to sleep`.
    set_wait: "client.c" "ptlrpc_set_wait" | "ptlrpc_set_wait", 2714 | 2499, RPC, RPCTRACE;
    /// `Completed RPC`.
    completed: "client.c" "ptlrpc_check_set" | "ptlrpc_check_set", 2406 | 2207, RPC, RPCTRACE;
    /// `Request sent has timed out`.
    expired: "client.c" "ptlrpc_expire_one_request" | "ptlrpc_expire_one_request", 2497 | 2290, RPC, WARNING;
    /// `Setup reply buffer`.
    reply_buffer: "niobuf.c" "ptl_send_rpc" | "ptl_send_rpc", 1094 | 919, RPC, NET;
    /// `Sending N bytes to portal`.
    send_buffer: "niobuf.c" "ptl_send_buf" | "ptl_send_buf", 93 | 85, RPC, NET;
    /// `Transferring N pages N bytes`.
    transfer: "niobuf.c" "ptlrpc_start_bulk_transfer" | "ptlrpc_start_bulk_transfer", 276 | 261, RPC, NET;
    /// `changing import state`.
    import_state: "import.c" "import_set_state_nolock" | "import_set_state_nolock", 62 | 86, RPC, HA;
    /// `operation N on unconnected OST`.
    unconnected: "tgt_handler.c" "tgt_request_handle" | "tgt_request_handle", 806 | 730, CLASS, HA;
    /// `disconnecting export`.
    disconnecting: "genops.c" "class_fail_export" | "class_fail_export", 1633 | 1620, CLASS, HA;
    /// `disconnected export`.
    disconnected: "genops.c" "class_fail_export" | "class_fail_export", 1650 | 1637, CLASS, HA;
    /// `DEBUG MARKER`.
    marker: "debug.c" "libcfs_debug_mark_buffer" | "libcfs_debug_mark_buffer", 653 | 702, UNDEFINED, WARNING | CONSOLE;
    /// `committing for initial connect`.
    new_client: "tgt_lastrcvd.c" "tgt_cb_new_client" | "tgt_cb_new_client", 561 | 539, UNDEFINED, RPCTRACE;
    /// `refresh rw locks`.
    refresh: "ofd_dev.c" "ofd_rw_hpreq_check" | "ofd_rw_hpreq_check", 2708 | 2629, FILTER, RPCTRACE;
    /// `refreshed N locks timeout`.
    refreshed: "ofd_dev.c" "ofd_rw_hpreq_check" | "ofd_rw_hpreq_check", 2715 | 2636, FILTER, DLMTRACE;
    /// `Prolong locks`.
    prolong: "ofd_dev.c" "ofd_prolong_extent_locks" | "ofd_prolong_extent_locks", 2564 | 2488, FILTER, RPCTRACE;
    /// `ocd_connect_flags`.
    connect_flags: "ofd_obd.c" "ofd_parse_connect_data" | "ofd_parse_connect_data", 117 | 146, FILTER, RPCTRACE;
    /// `supports cksum type`.
    connect_cksum: "ofd_obd.c" "ofd_parse_connect_data" | "ofd_parse_connect_data", 216 | 246, FILTER, RPCTRACE;
    /// `get connection from MDS`.
    connect_mds: "ofd_obd.c" "ofd_obd_connect" | "ofd_obd_connect", 384 | 412, FILTER, HA;
    /// `initial LVB size`.
    lvb_init: "ofd_lvb.c" "ofd_lvbo_init" | "ofd_lvbo_init", 148 | 167, FILTER, DLMTRACE;
    /// `updating lvb size` from a glimpse.
    lvb_size: "ofd_lvb.c" "ofd_lvbo_update" | "ofd_lvbo_update", 258 | 276, FILTER, DLMTRACE;
    /// `updating lvb atime` from a glimpse.
    lvb_atime: "ofd_lvb.c" "ofd_lvbo_update" | "ofd_lvbo_update", 270 | 288, FILTER, DLMTRACE;
    /// `updating lvb blocks` from a glimpse.
    lvb_blocks: "ofd_lvb.c" "ofd_lvbo_update" | "ofd_lvbo_update", 282 | 300, FILTER, DLMTRACE;
    /// `updating lvb size from disk`.
    lvb_disk_size: "ofd_lvb.c" "ofd_lvbo_update" | "ofd_lvbo_update", 304 | 322, FILTER, DLMTRACE;
    /// `updating lvb mtime from disk`.
    lvb_disk_mtime: "ofd_lvb.c" "ofd_lvbo_update" | "ofd_lvbo_update", 311 | 329, FILTER, DLMTRACE;
    /// `updating lvb ctime from disk`.
    lvb_disk_ctime: "ofd_lvb.c" "ofd_lvbo_update" | "ofd_lvbo_update", 323 | 341, FILTER, DLMTRACE;
    /// `updating lvb blocks from disk`.
    lvb_disk_blocks: "ofd_lvb.c" "ofd_lvbo_update" | "ofd_lvbo_update", 329 | 347, FILTER, DLMTRACE;
    /// `sending reply` of a request.
    send_reply: "ldlm_lib.c" "target_send_reply_msg" | "target_send_reply_msg", 3390 | 3241, LDLM, NET;
    /// `connection from`.
    connection: "ldlm_lib.c" "target_handle_connect" | "target_handle_connect", 1440 | 1332, LDLM, HA;
    /// `Client .. reconnecting`.
    reconnecting: "ldlm_lib.c" "target_handle_reconnect" | "target_handle_reconnect", 960 | 873, LDLM, WARNING | CONSOLE;
    /// `server-side enqueue handler START`.
    enqueue_start: "ldlm_lockd.c" "ldlm_handle_enqueue" | "ldlm_handle_enqueue0", 1265 | 1248, LDLM, DLMTRACE;
    /// `new lock created`.
    new_lock: "ldlm_lockd.c" "ldlm_handle_enqueue" | "ldlm_handle_enqueue0", 1343 | 1318, LDLM, DLMTRACE;
    /// `server-side enqueue handler, sending reply`.
    enqueue_reply: "ldlm_lockd.c" "ldlm_handle_enqueue" | "ldlm_handle_enqueue0", 1511 | 1482, LDLM, DLMTRACE;
    /// `server-side enqueue handler END`.
    enqueue_end: "ldlm_lockd.c" "ldlm_handle_enqueue" | "ldlm_handle_enqueue0", 1591 | 1564, LDLM, DLMTRACE;
    /// `lock incompatible`.
    incompatible: "ldlm_lock.c" "ldlm_add_bl_work_item" | "ldlm_add_bl_work_item", 687 | 675, LDLM, DLMTRACE;
    /// `add N to` or `contended locks = N`.
    contention: "ldlm_extent.c" "ldlm_update_contention" | "ldlm_check_contention", 405 | 318, LDLM, DLMTRACE;
    /// `About to add this lock`.
    add_lock: "ldlm_resource.c" "ldlm_resource_add_lock" | "ldlm_resource_add_lock", 1750 | 1650, LDLM, DLMTRACE;
    /// `server preparing blocking AST`.
    blocking_ast: "ldlm_lockd.c" "ldlm_server_blocking_ast" | "ldlm_server_blocking_ast", 963 | 953, LDLM, DLMTRACE;
    /// `lock not granted, not sending blocking AST`.
    not_granted: "ldlm_lockd.c" "ldlm_server_blocking_ast" | "ldlm_server_blocking_ast", 948 | 938, LDLM, DLMTRACE;
    /// `adding to wait list`.
    wait_list: "ldlm_lockd.c" "ldlm_add_waiting_lock" | "ldlm_add_waiting_lock", 493 | 487, LDLM, DLMTRACE;
    /// `hpreq cancel/convert lock`.
    hpreq_cancel: "ldlm_lockd.c" "ldlm_cancel_hpreq_check" | "ldlm_cancel_hpreq_check", 2683 | 2638, LDLM, DLMTRACE;
    /// `server-side cancel handler START`.
    cancel_start: "ldlm_lockd.c" "ldlm_request_cancel" | "ldlm_request_cancel", 1746 | 1719, LDLM, DLMTRACE;
    /// `server cancels blocked lock`.
    cancel_blocked: "ldlm_lockd.c" "ldlm_request_cancel" | "ldlm_request_cancel", 1794 | 1769, LDLM, DLMTRACE;
    /// `server-side cancel handler END`.
    cancel_end: "ldlm_lockd.c" "ldlm_request_cancel" | "ldlm_request_cancel", 1808 | 1782, LDLM, DLMTRACE;
    /// `removed` from the wait list.
    removed: "ldlm_lockd.c" "ldlm_del_waiting_lock" | "ldlm_del_waiting_lock", 568 | 562, LDLM, DLMTRACE;
    /// `final lock_put on destroyed lock`.
    lock_put: "ldlm_lock.c" "ldlm_lock_put" | "ldlm_lock_put", 192 | 215, LDLM, DLMTRACE;
    /// `lock granted; sending completion AST`.
    granted: "ldlm_lock.c" "ldlm_add_cp_work_item" | "ldlm_add_cp_work_item", 715 | 704, LDLM, DLMTRACE;
    /// `server preparing completion AST`.
    completion_ast: "ldlm_lockd.c" "ldlm_server_completion_ast" | "ldlm_server_completion_ast", 1082 | 1069, LDLM, DLMTRACE;
    /// `refreshed to Ns.`.
    prolong_one: "ldlm_extent.c" "ldlm_lock_prolong_one" | "ldlm_lock_prolong_one", 791 | 683, LDLM, DLMTRACE;
    /// `refreshed to Ns`.
    refresh_waiting: "ldlm_lockd.c" "ldlm_refresh_waiting_lock" | "ldlm_refresh_waiting_lock", 607 | 601, LDLM, DLMTRACE;
    /// `lock callback timer expired`.
    expired_lock: "ldlm_lockd.c" "expired_lock_main" | "expired_lock_main", 251 | 240, LDLM, ERROR;
    /// `failed to reply to blocking AST`.
    ast_error: "ldlm_lockd.c" "ldlm_handle_ast_error" | "ldlm_handle_ast_error", 719 | 708, LDLM, ERROR;
    /// `No blwi found in queue`.
    bl_idle: "ldlm_lockd.c" "ldlm_bl_get_work" | "ldlm_bl_get_work", 2803 | 2791, LDLM, DLMTRACE;
    /// `added N/N locks to regular blp list`.
    bl_added: "ldlm_lockd.c" "__ldlm_bl_to_thread" | "__ldlm_bl_to_thread", 2187 | 2157, LDLM, DLMTRACE;
    /// `Got N locks of N total in blp`.
    bl_work: "ldlm_lockd.c" "ldlm_bl_get_work" | "ldlm_bl_get_work", 2798 | 2786, LDLM, DLMTRACE;
    /// `ldlm_lock_addref`.
    addref: "ldlm_lock.c" "ldlm_lock_addref_internal_nolock" | "ldlm_lock_addref_internal_nolock", 775 | 766, LDLM, DLMTRACE;
    /// `ldlm_lock_decref`.
    decref: "ldlm_lock.c" "ldlm_lock_decref_internal_nolock" | "ldlm_lock_decref_internal_nolock", 829 | 820, LDLM, DLMTRACE;
    /// `final decref done on CBPENDING lock`.
    final_decref: "ldlm_lock.c" "ldlm_lock_decref_internal" | "ldlm_lock_decref_internal", 885 | 877, LDLM, DLMTRACE;
    /// `client-side local enqueue handler, new lock created`.
    local_lock: "ldlm_request.c" "ldlm_cli_enqueue_local" | "ldlm_cli_enqueue_local", 557 | 528, LDLM, DLMTRACE;
    /// `client blocking AST callback handler`.
    local_callback: "ldlm_lockd.c" "ldlm_handle_bl_callback" | "ldlm_handle_bl_callback", 1907 | 1879, LDLM, DLMTRACE;
    /// `Lock .. already unused, calling callback`.
    local_unused: "ldlm_lockd.c" "ldlm_handle_bl_callback" | "ldlm_handle_bl_callback", 1919 | 1891, LDLM, DLMTRACE;
    /// `already unused, calling ldlm_cli_cancel`.
    local_calling: "ldlm_request.c" "ldlm_blocking_ast_nocheck" | "ldlm_blocking_ast_nocheck", 378 | 364, LDLM, DLMTRACE;
    /// `server-side local cancel`.
    local_cancel: "ldlm_request.c" "ldlm_cli_cancel_local" | "ldlm_cli_cancel_local", 1416 | 1257, LDLM, DLMTRACE;
    /// `client blocking callback handler END`.
    local_end: "ldlm_lockd.c" "ldlm_handle_bl_callback" | "ldlm_handle_bl_callback", 1933 | 1903, LDLM, DLMTRACE;
}

/// Lustre 2.17.57.
pub static V2_17: Wording = Wording {
    release: "2.17.57",
    sites: SITES_2_17,
    has_unwrap: true,
    has_owner: true,
    has_lru: true,
    has_contention_window: true,
    has_prolong_one: true,
    has_local_worker: false,
    has_fid_on_ost: true,
    client_flags: 0x600,
    server_flags: 0x200,
    xid_step: 128,
    bl_job: "ldlm_bl.0",
    ast_timeout_s: 11,
};

/// Lustre 2.15.8.
pub static V2_15: Wording = Wording {
    release: "2.15.8",
    sites: SITES_2_15,
    has_unwrap: false,
    has_owner: false,
    has_lru: false,
    has_contention_window: false,
    has_prolong_one: false,
    has_local_worker: true,
    has_fid_on_ost: false,
    client_flags: 0,
    server_flags: 0,
    xid_step: 64,
    bl_job: "ldlm_bl_01.0",
    ast_timeout_s: 6,
};
