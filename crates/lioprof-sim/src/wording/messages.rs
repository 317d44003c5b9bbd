//! The table of messages: text, file, function, line, subsystem and mask of each.
//!
//! Where two releases differ in a function or line, 2.17.57 stands first and 2.15.8 behind the bar. Lines are those of the
//! builds that wrote this project's captures; of messages that these captures lack, an estimate; 0 where a release has no
//! such message.

use std::io::Write as _;

use super::Site;
use super::client_lock::ClientLock;
use super::lock::Lock;
use super::notation::{Extent, Fid};
use super::request::{Handled, Request, Rpc};
use super::tbf::TbfClass;
use crate::bits::{mask, subsystem};

/// Of one or two values the last one.
macro_rules! older {
    ($new:literal) => {
        $new
    };
    ($new:literal $old:literal) => {
        $old
    };
}

/// For each message a place in [`Sites`], and a function that appends the text to a record's.
macro_rules! messages {
    ($($(#[doc = $doc:literal])* $name:ident($($value:ident: $type:ty),*): $text:literal,
        $file:literal $function:literal $(| $old_function:literal)? $line:literal | $old_line:literal,
        $subsystem:ident, $($mask:ident)|+;)*) => {
        /// Where each message comes from.
        #[derive(Clone, Copy, Debug)]
        pub struct Sites {
            $(#[doc = concat!("`", $text, "`")] pub $name: Site,)*
        }

        pub(super) const SITES_2_17: Sites = Sites {
            $($name: Site {
                file: $file,
                function: $function,
                line: $line,
                subsystem: subsystem::$subsystem,
                mask: $(mask::$mask)|+,
            },)*
        };
        pub(super) const SITES_2_15: Sites = Sites {
            $($name: Site {
                function: older!($function $($old_function)?),
                line: $old_line,
                ..SITES_2_17.$name
            },)*
        };

        /// The messages.
        pub mod text {
            use super::*;

            $($(#[doc = $doc])* #[doc = concat!("\n`", $text, "`")]
            pub fn $name(line: &mut Vec<u8>, $($value: $type),*) {
                writeln!(line, $text).unwrap_or_default();
            })*
        }
    };
}

messages! {
    /// LNet put a request into a buffer of the service.
    event_in(service: &str): "event type 2, status 0, service {service}",
        "events.c" "request_in_callback" 294 | 315, RPC, NET;
    /// The sender of that request.
    peer(nid: &str): "peer: 12345-{nid} (source: 12345-{nid})",
        "events.c" "request_in_callback" 339 | 360, RPC, RPCTRACE;
    /// A piece of a bulk transfer: 5 sent, 4 acknowledged, 3 arrived.
    bulk_event(event: u32, descriptor: u32): "event type {event}, status 0, desc {descriptor:016x}",
        "events.c" "server_bulk_callback" 457 | 474, RPC, NET;
    /// A request of the server's own left.
    sent_event(request: Request<'_>): "@@@ type 5, status 0  {request}",
        "events.c" "request_out_callback" 39 | 64, RPC, NET;
    /// The reply to it arrived.
    reply_event(event: u32, request: Request<'_>): "@@@ type {event}, status 0  {request}",
        "events.c" "reply_in_callback" 80 | 105, RPC, NET;
    /// Its reply buffer is free.
    reply_unlink(request: Request<'_>): "@@@ unlink  {request}",
        "events.c" "reply_in_callback" 102 | 127, RPC, NET;
    /// Since 2.15.62.
    unwrap(xid: u64): "unwrap req x{xid}",
        "service.c" "ptlrpc_server_handle_req_in" 2301 | 0, RPC, RPCTRACE;
    got(xid: u64): "got req x{xid}",
        "service.c" "ptlrpc_server_handle_req_in" 2366 | 2152, RPC, RPCTRACE;
    /// Turned away.
    finish(xid: u64): "finish req x{xid}",
        "service.c" "ptlrpc_server_handle_req_in" 2448 | 0, RPC, RPCTRACE;
    /// The same request came again while it is being handled.
    duplicate(request: Request<'_>): "@@@ Found duplicate req in processing  {request}",
        "service.c" "ptlrpc_server_request_add" 2053 | 1874, RPC, HA;
    /// The one that is being handled.
    original(request: Request<'_>): "@@@ Request being processed  {request}",
        "service.c" "ptlrpc_server_request_add" 2055 | 1876, RPC, HA;
    handling(handling: Rpc<'_>): "Handling RPC {handling}",
        "service.c" "ptlrpc_server_handle_request" 2543 | 2315, RPC, RPCTRACE;
    got_again(xid: u64): "got req {xid}",
        "service.c" "ptlrpc_server_handle_request" 2563 | 2329, RPC, NET;
    handled(handling: Rpc<'_>, end: Handled): "Handled RPC {handling} {end}",
        "service.c" "ptlrpc_server_handle_request" 2592 | 2354, RPC, RPCTRACE;
    /// A request stayed in the queue beyond its deadline.
    timed_out(nid: &str, allowed_s: u64, late_s: u64, request: Request<'_>):
        "@@@ Dropping timed-out request from 12345-{nid}: deadline {allowed_s}/{late_s}s ago  {request}",
        "service.c" "ptlrpc_server_handle_request" 2527 | 2299, RPC, ERROR;
    /// A request took longer than its sender waits.
    too_long(allowed_s: u64, late_s: u64, request: Request<'_>):
        "@@@ Request took longer than estimated ({allowed_s}/{late_s}s); client may timeout  {request}",
        "service.c" "ptlrpc_server_handle_request" 2578 | 2340, RPC, WARNING;
    /// The scheduler hands out a request.
    nrs_start(nid: &str, sequence: u64): "NRS start fifo request from 12345-{nid}, seq: {sequence}",
        "nrs_fifo.c" "nrs_fifo_req_get" 150 | 177, RPC, RPCTRACE;
    /// The request is done.
    nrs_stop(nid: &str, sequence: u64): "NRS stop fifo request from 12345-{nid}, seq: {sequence}",
        "nrs_fifo.c" "nrs_fifo_req_stop" 209 | 239, RPC, RPCTRACE;
    /// A token bucket filter puts a request into the queue of its class ..
    tbf_enqueues(class: TbfClass<'_>): "{class}",
        "nrs_tbf.c" "nrs_tbf_req_add" 2372 | 3199, RPC, RPCTRACE;
    /// .. hands it out ..
    tbf_dequeues(class: TbfClass<'_>): "{class}",
        "nrs_tbf.c" "nrs_tbf_req_get" 2296 | 3117, RPC, RPCTRACE;
    /// .. and hears that it is done.
    tbf_stop(nid: &str, sequence: u64): "NRS stop tbf request from 12345-{nid}, seq: {sequence}",
        "nrs_tbf.c" "nrs_tbf_req_stop" 2425 | 3258, RPC, RPCTRACE;
    /// A request that was delayed is done.
    delay_stop(nid: &str, waited_s: u64, request: Request<'_>):
        "@@@ NRS: finished delayed request from 12345-{nid} after {waited_s}s  {request}",
        "nrs_delay.c" "nrs_delay_req_stop" 294 | 322, RPC, RPCTRACE;
    sending(sent: Rpc<'_>): "Sending RPC {sent}",
        "client.c" "ptlrpc_send_new_req" 1913 | 1727, RPC, RPCTRACE;
    /// The sender waits for its requests.
    set_wait(set: u32, seconds: u32): "set {set:016x} going to sleep for {seconds} seconds",
        "client.c" "ptlrpc_set_wait" 2714 | 2499, RPC, RPCTRACE;
    completed(sent: Rpc<'_>): "Completed RPC {sent}",
        "client.c" "ptlrpc_check_set" 2406 | 2207, RPC, RPCTRACE;
    /// A callback got no reply.
    expired(sent_s: u64, request: Request<'_>):
        "@@@ Request sent has timed out for slow reply: [sent {sent_s}/real {sent_s}]  {request}",
        "client.c" "ptlrpc_expire_one_request" 2497 | 2290, RPC, WARNING;
    /// A request of the server's own gets room for its reply.
    reply_buffer(bytes: u64, xid: u64, portal: u32): "Setup reply buffer: {bytes} bytes, xid {xid}, portal {portal}",
        "niobuf.c" "ptl_send_rpc" 1094 | 919, RPC, NET;
    /// A message leaves.
    send_buffer(bytes: u64, portal: u32, xid: u64, offset: u32):
        "Sending {bytes} bytes to portal {portal}, xid {xid}, offset {offset}",
        "niobuf.c" "ptl_send_buf" 93 | 85, RPC, NET;
    /// A bulk transfer begins: the exact bytes of the request.
    transfer(pages: u64, bytes: u64, nid: &str, first_mbits: u64, last_mbits: u64):
        "Transferring {pages} pages {bytes} bytes via portal 8 id 12345-{nid} mbits {first_mbits:#x}-{last_mbits:#x}",
        "niobuf.c" "ptlrpc_start_bulk_transfer" 276 | 261, RPC, NET;
    /// The reverse import of a client changes state.
    import_state(import: u32, from: &str, to: &str): "{import:016x}  : changing import state from {from} to {to}",
        "import.c" "import_set_state_nolock" 62 | 86, RPC, HA;
    /// An evicted client goes on as if it were not.
    unconnected(opcode: u16, nid: &str): "operation {opcode} on unconnected OST from 12345-{nid}",
        "tgt_handler.c" "tgt_request_handle" 806 | 730, CLASS, HA;
    /// The export of an evicted client goes away.
    disconnecting(export: u32, uuid: &str): "disconnecting export {export:016x}/{uuid}",
        "genops.c" "class_fail_export" 1633 | 1620, CLASS, HA;
    disconnected(export: u32, uuid: &str): "disconnected export {export:016x}/{uuid}",
        "genops.c" "class_fail_export" 1650 | 1637, CLASS, HA;
    /// What an administrator wrote with `lctl mark`.
    marker(text: &str): "DEBUG MARKER: {text}",
        "debug.c" "libcfs_debug_mark_buffer" 653 | 702, UNDEFINED, WARNING | CONSOLE;
    /// A connection is on disk.
    new_client(target: &str, uuid: &str): "{target}: committing for initial connect of {uuid}",
        "tgt_lastrcvd.c" "tgt_cb_new_client" 561 | 539, UNDEFINED, RPCTRACE;
    /// The object and extent of a read or write.
    refresh(target: &str, thread: &str, fid: Fid, extent: Extent, request: Request<'_>):
        "@@@ {target} {thread}: refresh rw locks for {fid} ({extent})  {request}",
        "ofd_dev.c" "ofd_rw_hpreq_check" 2708 | 2629, FILTER, RPCTRACE;
    /// How many locks that prolonged.
    refreshed(target: &str, locks: u64, pointer: u32):
        "{target}: refreshed {locks} locks timeout for req {pointer:016x}",
        "ofd_dev.c" "ofd_rw_hpreq_check" 2715 | 2636, FILTER, DLMTRACE;
    /// The extent again.
    prolong(pointer: u32, xid: u64, extent: Extent): "Prolong locks for req {pointer:016x} with x{xid} ext({extent})",
        "ofd_dev.c" "ofd_prolong_extent_locks" 2564 | 2488, FILTER, RPCTRACE;
    /// What a client asked for when it connected.
    connect_flags(target: &str, uuid: &str, export: u32, index: u32):
        "{target}: cli {uuid}/{export:016x} ocd_connect_flags: 0xa0467af2e3640038 ocd_version: 211393e ocd_grant: \
         8437760 ocd_index: {index:x} ocd_group 0",
        "ofd_obd.c" "ofd_parse_connect_data" 117 | 146, FILTER, RPCTRACE;
    connect_cksum(target: &str): "{target}: cli <unknown> supports cksum type 32, return 32",
        "ofd_obd.c" "ofd_parse_connect_data" 216 | 246, FILTER, RPCTRACE;
    connect_mds(target: &str): "{target}: get connection from MDS 0",
        "ofd_obd.c" "ofd_obd_connect" 384 | 412, FILTER, HA;
    /// What the OST knows about an object when its first lock is made.
    lvb_init(fid: Fid, size_bytes: u64, mtime_s: u64, blocks: u64):
        "res: {fid} initial LVB size: {size_bytes}, mtime: {mtime_s:#x}, atime: 0x0, ctime: {mtime_s:#x}, blocks: \
         {blocks:#x}",
        "ofd_lvb.c" "ofd_lvbo_init" 148 | 167, FILTER, DLMTRACE;
    /// A glimpse told it.
    lvb_size(fid: Fid, old: u64, new: u64): "res: {fid} updating lvb size: {old} -> {new}",
        "ofd_lvb.c" "ofd_lvbo_update" 258 | 276, FILTER, DLMTRACE;
    lvb_atime(fid: Fid, old: u64, new: u64): "res: {fid} updating lvb atime: {old} -> {new}",
        "ofd_lvb.c" "ofd_lvbo_update" 270 | 288, FILTER, DLMTRACE;
    lvb_blocks(fid: Fid, old: u64, new: u64): "res: {fid} updating lvb blocks: {old} -> {new}",
        "ofd_lvb.c" "ofd_lvbo_update" 282 | 300, FILTER, DLMTRACE;
    /// What the disk has.
    lvb_disk_size(fid: Fid, old: u64, new: u64): "res: {fid} updating lvb size from disk: {old} -> {new}",
        "ofd_lvb.c" "ofd_lvbo_update" 304 | 322, FILTER, DLMTRACE;
    lvb_disk_mtime(fid: Fid, old: u64, new: u64): "res: {fid} updating lvb mtime from disk: {old} -> {new}",
        "ofd_lvb.c" "ofd_lvbo_update" 311 | 329, FILTER, DLMTRACE;
    lvb_disk_ctime(fid: Fid, old: u64, new: u64): "res: {fid} updating lvb ctime from disk: {old} -> {new}",
        "ofd_lvb.c" "ofd_lvbo_update" 323 | 341, FILTER, DLMTRACE;
    lvb_disk_blocks(fid: Fid, old: u64, new: u64): "res: {fid} updating lvb blocks from disk: {old} -> {new}",
        "ofd_lvb.c" "ofd_lvbo_update" 329 | 347, FILTER, DLMTRACE;
    send_reply(request: Request<'_>): "@@@ sending reply  {request}",
        "ldlm_lib.c" "target_send_reply_msg" 3390 | 3241, LDLM, NET;
    /// A client connects, for the first time or again.
    connection(target: &str, uuid: &str, nid: &str, export: u32, uptime_s: u64, last_s: u64):
        "{target}: connection from {uuid}@{nid} t0 exp {export:016x} cur {uptime_s} last {last_s}",
        "ldlm_lib.c" "target_handle_connect" 1440 | 1332, LDLM, HA;
    /// A client whose connection the server still has.
    reconnecting(target: &str, uuid: &str, nid: &str): "{target}: Client {uuid} (at {nid}) reconnecting",
        "ldlm_lib.c" "target_handle_reconnect" 960 | 873, LDLM, WARNING | CONSOLE;
    enqueue_start(): "### server-side enqueue handler START",
        "ldlm_lockd.c" "ldlm_handle_enqueue" | "ldlm_handle_enqueue0" 1265 | 1248, LDLM, DLMTRACE;
    new_lock(lock: Lock<'_>): "### server-side enqueue handler, new lock created {lock}",
        "ldlm_lockd.c" "ldlm_handle_enqueue" | "ldlm_handle_enqueue0" 1343 | 1318, LDLM, DLMTRACE;
    enqueue_reply(err: u32, lock: Lock<'_>):
        "### server-side enqueue handler, sending reply (err={err}, rc=0) {lock}",
        "ldlm_lockd.c" "ldlm_handle_enqueue" | "ldlm_handle_enqueue0" 1511 | 1482, LDLM, DLMTRACE;
    enqueue_end(pointer: u32): "### server-side enqueue handler END (lock {pointer:016x}, rc 0)",
        "ldlm_lockd.c" "ldlm_handle_enqueue" | "ldlm_handle_enqueue0" 1591 | 1564, LDLM, DLMTRACE;
    incompatible(lock: Lock<'_>): "### lock incompatible; sending blocking AST. {lock}",
        "ldlm_lock.c" "ldlm_add_bl_work_item" 687 | 675, LDLM, DLMTRACE;
    /// How many locks a list holds against the one being enqueued, since 2.17.55; `contended` before.
    contention(conflicts: u64, resource: Fid, since_s: u64, current: u64, previous: u64):
        "add {conflicts} to {resource}.0x0 since={since_s}s v=({current} {previous})",
        "ldlm_extent.c" "ldlm_update_contention" 405 | 0, LDLM, DLMTRACE;
    contended(conflicts: u64): "contended locks = {conflicts}",
        "ldlm_extent.c" "ldlm_check_contention" 0 | 318, LDLM, DLMTRACE;
    add_lock(lock: Lock<'_>): "### About to add this lock {lock}",
        "ldlm_resource.c" "ldlm_resource_add_lock" 1750 | 1650, LDLM, DLMTRACE;
    blocking_ast(lock: Lock<'_>): "### server preparing blocking AST {lock}",
        "ldlm_lockd.c" "ldlm_server_blocking_ast" 963 | 953, LDLM, DLMTRACE;
    not_granted(lock: Lock<'_>): "### lock not granted, not sending blocking AST {lock}",
        "ldlm_lockd.c" "ldlm_server_blocking_ast" 948 | 938, LDLM, DLMTRACE;
    wait_list(timeout_s: u64, lock: Lock<'_>): "### adding to wait list(timeout: {timeout_s}, AT: on) {lock}",
        "ldlm_lockd.c" "ldlm_add_waiting_lock" 493 | 487, LDLM, DLMTRACE;
    hpreq_cancel(lock: Lock<'_>): "### hpreq cancel/convert lock {lock}",
        "ldlm_lockd.c" "ldlm_cancel_hpreq_check" 2683 | 2638, LDLM, DLMTRACE;
    cancel_start(locks: u64): "### server-side cancel handler START: {locks} locks, starting at 0",
        "ldlm_lockd.c" "ldlm_request_cancel" 1746 | 1719, LDLM, DLMTRACE;
    cancel_blocked(held_s: u64, lock: Lock<'_>): "### server cancels blocked lock after {held_s}s {lock}",
        "ldlm_lockd.c" "ldlm_request_cancel" 1794 | 1769, LDLM, DLMTRACE;
    cancel_end(): "### server-side cancel handler END",
        "ldlm_lockd.c" "ldlm_request_cancel" 1808 | 1782, LDLM, DLMTRACE;
    /// From the wait list.
    removed(lock: Lock<'_>): "### removed {lock}",
        "ldlm_lockd.c" "ldlm_del_waiting_lock" 568 | 562, LDLM, DLMTRACE;
    lock_put(lock: Lock<'_>): "### final lock_put on destroyed lock, freeing it. {lock}",
        "ldlm_lock.c" "ldlm_lock_put" 192 | 215, LDLM, DLMTRACE;
    granted(lock: Lock<'_>): "### lock granted; sending completion AST. {lock}",
        "ldlm_lock.c" "ldlm_add_cp_work_item" 715 | 704, LDLM, DLMTRACE;
    completion_ast(lock: Lock<'_>): "### server preparing completion AST {lock}",
        "ldlm_lockd.c" "ldlm_server_completion_ast" 1082 | 1069, LDLM, DLMTRACE;
    /// Since 2.17.57: the extent code has a line of its own.
    prolong_one(timeout_s: u64, lock: Lock<'_>): "### refreshed to {timeout_s}s.  {lock}",
        "ldlm_extent.c" "ldlm_lock_prolong_one" 791 | 0, LDLM, DLMTRACE;
    refresh_waiting(timeout_s: u64, lock: Lock<'_>): "### refreshed to {timeout_s}s {lock}",
        "ldlm_lockd.c" "ldlm_refresh_waiting_lock" 607 | 601, LDLM, DLMTRACE;
    /// A client did not give back a lock in time.
    expired_lock(waited_s: u64, nid: &str, lock: Lock<'_>):
        "### lock callback timer expired after {waited_s}s: evicting client at {nid}  {lock}",
        "ldlm_lockd.c" "expired_lock_main" 251 | 240, LDLM, ERROR;
    /// A client did not answer a blocking AST.
    ast_error(nid: &str, pointer: u32, xid: u64, lock: Lock<'_>):
        "### client (nid {nid}) failed to reply to blocking AST (req@{pointer:016x} x{xid} status 0 rc -110), evict \
         it {lock}",
        "ldlm_lockd.c" "ldlm_handle_ast_error" 719 | 708, LDLM, ERROR;
    bl_idle(): "No blwi found in queue (no bl locks in queue)",
        "ldlm_lockd.c" "ldlm_bl_get_work" 2803 | 2791, LDLM, DLMTRACE;
    bl_added(): "added 1/1 locks to regular blp list, 1 blwis in pool",
        "ldlm_lockd.c" "__ldlm_bl_to_thread" 2187 | 2157, LDLM, DLMTRACE;
    bl_work(): "Got 1 locks of 1 total in blp.  (0 blwis in pool)",
        "ldlm_lockd.c" "ldlm_bl_get_work" 2798 | 2786, LDLM, DLMTRACE;
    addref(mode: &str, lock: Lock<'_>): "### ldlm_lock_addref({mode}) {lock}",
        "ldlm_lock.c" "ldlm_lock_addref_internal_nolock" 775 | 766, LDLM, DLMTRACE;
    decref(mode: &str, lock: Lock<'_>): "### ldlm_lock_decref({mode}) {lock}",
        "ldlm_lock.c" "ldlm_lock_decref_internal_nolock" 829 | 820, LDLM, DLMTRACE;
    final_decref(lock: Lock<'_>): "### final decref done on CBPENDING lock {lock}",
        "ldlm_lock.c" "ldlm_lock_decref_internal" 885 | 877, LDLM, DLMTRACE;
    local_lock(lock: Lock<'_>): "### client-side local enqueue handler, new lock created {lock}",
        "ldlm_request.c" "ldlm_cli_enqueue_local" 557 | 528, LDLM, DLMTRACE;
    local_callback(lock: Lock<'_>): "### client blocking AST callback handler {lock}",
        "ldlm_lockd.c" "ldlm_handle_bl_callback" 1907 | 1879, LDLM, DLMTRACE;
    /// A local lock's callback finds it unused. All local locks have the same callback.
    local_unused(pointer: u32): "Lock {pointer:016x} already unused, calling callback (00000000dc3634d4)",
        "ldlm_lockd.c" "ldlm_handle_bl_callback" 1919 | 1891, LDLM, DLMTRACE;
    local_calling(lock: Lock<'_>): "### already unused, calling ldlm_cli_cancel {lock}",
        "ldlm_request.c" "ldlm_blocking_ast_nocheck" 378 | 364, LDLM, DLMTRACE;
    local_cancel(lock: Lock<'_>): "### server-side local cancel {lock}",
        "ldlm_request.c" "ldlm_cli_cancel_local" 1416 | 1257, LDLM, DLMTRACE;
    local_end(lock: Lock<'_>): "### client blocking callback handler END {lock}",
        "ldlm_lockd.c" "ldlm_handle_bl_callback" 1933 | 1903, LDLM, DLMTRACE;
    /// On a client, as all that follow: a read or write begins. Since 2.15.58.
    read_start(name: &str, fid: Fid, offset: u64, bytes: u64): "START file {name}:{fid}, ppos: {offset}, count: {bytes}",
        "file.c" "do_file_read_iter" 2480 | 0, LLITE, VFSTRACE | IOTRACE;
    write_start(name: &str, fid: Fid, offset: u64, bytes: u64): "START file {name}:{fid}, ppos: {offset}, count: {bytes}",
        "file.c" "do_file_write_iter" 2647 | 0, LLITE, VFSTRACE | IOTRACE;
    /// It has ended: the position behind it, and what is left.
    read_end(name: &str, fid: Fid, end: u64, rc: u64): "COMPLETED: file {name}:{fid}, ppos: {end}, count: 0, rc = {rc}",
        "file.c" "do_file_read_iter" 2545 | 0, LLITE, IOTRACE;
    write_end(name: &str, fid: Fid, end: u64, rc: u64): "COMPLETED: file {name}:{fid}, ppos: {end}, count: 0, rc = {rc}",
        "file.c" "do_file_write_iter" 2729 | 0, LLITE, IOTRACE;
    /// The same to 2.15.
    old_read_start(name: &str, fid: Fid, offset: u64, bytes: u64): "file {name}:{fid}, ppos: {offset}, count: {bytes}",
        "file.c" "ll_file_read_iter" 0 | 2025, LLITE, VFSTRACE | IOTRACE;
    old_write_start(name: &str, fid: Fid, offset: u64, bytes: u64): "file {name}:{fid}, ppos: {offset}, count: {bytes}",
        "file.c" "ll_file_write_iter" 0 | 2177, LLITE, VFSTRACE | IOTRACE;
    old_read_end(name: &str, fid: Fid, end: u64): "COMPLETED: file {name}:{fid}, ppos: {end}, count: 0",
        "file.c" "ll_file_read_iter" 0 | 2095, LLITE, IOTRACE;
    old_write_end(name: &str, fid: Fid, end: u64): "COMPLETED: file {name}:{fid}, ppos: {end}, count: 0",
        "file.c" "ll_file_write_iter" 0 | 2244, LLITE, IOTRACE;
    /// Since 2.15.62, as the ends of all that follow.
    open_start(name: &str, fid: Fid, inode: u32): "START file {name}:{fid}({inode:016x}), flags 100002",
        "file.c" "ll_file_open" 1087 | 0, LLITE, VFSTRACE | IOTRACE;
    open_end(name: &str, fid: Fid, inode: u32): "COMPLETED file {name}:{fid}({inode:016x}), flags 100002, rc = 0",
        "file.c" "ll_file_open" 1326 | 0, LLITE, IOTRACE;
    /// To 2.15 an open and a close have one line each.
    old_open(fid: Fid, inode: u32): "VFS Op:inode={fid}({inode:016x}), flags 100002",
        "file.c" "ll_file_open" 0 | 836, LLITE, VFSTRACE;
    close_start(name: &str, fid: Fid, inode: u32): "START file {name}:{fid}({inode:016x}), flags 100002",
        "file.c" "ll_file_release" 476 | 0, LLITE, VFSTRACE | IOTRACE;
    close_end(name: &str, fid: Fid, inode: u32): "COMPLETED file {name}:{fid}({inode:016x}), flags 100002, rc = 0",
        "file.c" "ll_file_release" 520 | 0, LLITE, IOTRACE;
    old_close(fid: Fid, inode: u32): "VFS Op:inode={fid}({inode:016x})",
        "file.c" "ll_file_release" 0 | 409, LLITE, VFSTRACE;
    /// Since 2.17.55.
    fsync_start(name: &str, fid: Fid):
        "START file: name={name}, fid={fid}, start=0, end=9223372036854775807, datasync=0, need_sync 1/1",
        "file.c" "ll_fsync" 5379 | 0, LLITE, VFSTRACE | IOTRACE;
    fsync_end(name: &str, fid: Fid):
        "COMPLETED file: name={name}, fid={fid}, start=0, end=9223372036854775807, datasync=0, rc=0",
        "file.c" "ll_fsync" 5434 | 0, LLITE, IOTRACE;
    old_fsync(fid: Fid, inode: u32): "VFS Op:inode={fid}({inode:016x}), start 0, end 9223372036854775807, datasync 0",
        "file.c" "ll_fsync" 0 | 4707, LLITE, VFSTRACE;
    stat_start(name: &str, fid: Fid, inode: u32):
        "START file {name}:{fid}({inode:016x}), request_mask 2047, flags 0, foreign 0",
        "file.c" "ll_getattr_dentry" 6292 | 0, LLITE, VFSTRACE | IOTRACE;
    stat_end(name: &str, fid: Fid, inode: u32):
        "COMPLETED file {name}:{fid}({inode:016x}), request_mask 2047, flags 0, foreign 0",
        "file.c" "ll_getattr_dentry" 6477 | 0, LLITE, IOTRACE;
    /// Steps along a path.
    revalidate(fid: Fid, inode: u32, name: &str): "VFS Op:inode={fid}({inode:016x}),name={name}",
        "file.c" "ll_inode_revalidate" 6189 | 5226, LLITE, VFSTRACE;
    permission(fid: Fid, inode: u32, mode: u32, access: u32):
        "VFS Op:inode={fid}({inode:016x}), inode mode {mode:x} mask {access:o}",
        "file.c" "ll_inode_permission" 6670 | 5660, LLITE, VFSTRACE;
    dentry(name: &str): "VFS Op:name={name}, flags=17",
        "dcache.c" "ll_revalidate_dentry" 275 | 308, LLITE, VFSTRACE;
    /// It has no end line.
    unlink(name: &str, dir: Fid, inode: u32): "VFS Op:name={name}, dir={dir}({inode:016x})",
        "namei.c" "ll_unlink" 2417 | 2019, LLITE, VFSTRACE;
    /// A bulk RPC is put together: the object's bytes ..
    brw(pointer: u32, sequence: u64, id: u64, first: u64, end: u64):
        "brw rpc {pointer:016x} - object {sequence:#x}:{id} offset {first}<>{end}",
        "osc_request.c" "osc_brw_prep_request" 1998 | 1942, OSC, RPCTRACE;
    /// .. and the file's.
    built(fid: Fid, pages: u64, what: &str, first: u64, end: u64, flights: u64):
        "{fid}: {pages} {what} pages, start {first}, end {end}, now 0r/{flights}w/0d in flight",
        "osc_request.c" "osc_build_rpc" 2983 | 0, OSC, IOTRACE;
    old_built(fid: Fid, pages: u64, what: &str, first: u64, end: u64, flights: u64):
        "{fid}: {pages} {what} pages, start {first}, end {end}, now 0r/{flights}w in flight",
        "osc_request.c" "osc_build_rpc" 0 | 2808, OSC, IOTRACE;
    /// A thread asks for a lock ..
    asking(flags: u64, lock: ClientLock<'_>): "### client-side enqueue START, flags {flags:#x} {lock}",
        "ldlm_request.c" "ldlm_cli_enqueue" 1106 | 1025, LDLM, DLMTRACE;
    /// .. and has it ..
    has_lock(lock: ClientLock<'_>): "### client-side enqueue END {lock}",
        "ldlm_request.c" "ldlm_cli_enqueue_fini" 841 | 796, LDLM, DLMTRACE;
    /// .. or only what it wanted to know.
    aborted(lock: ClientLock<'_>): "### client-side enqueue END (ABORTED) {lock}",
        "ldlm_request.c" "ldlm_cli_enqueue_fini" 687 | 640, LDLM, DLMTRACE;
}
