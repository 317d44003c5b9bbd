//! One server's log, or several servers'.

use lioprof_model::{RowSink, RpcRow, SeveralServers, Symbol, Symbols, TraceSummary};

use super::super::{Join, RowOutput};
use crate::decode::chunk::decode_text;

#[derive(Default)]
struct Count(usize);

impl RowSink for Count {
    fn rpc(&mut self, _: &RpcRow, _: &Symbols) {
        self.0 += 1;
    }
}

/// A request of a thread: name, pid, when it began and how long it took, in milliseconds.
type Request = (&'static str, u32, u32, u32);

/// The lines of requests in the order of their times, or, if they are `as_given`, one request after the other.
fn join(requests: &[Request], as_given: bool) -> (Option<SeveralServers>, usize, TraceSummary) {
    let mut lines: Vec<(u32, String)> = Vec::new();
    for (xid, &(thread, pid, begin_ms, took_ms)) in requests.iter().enumerate() {
        let ids = format!(
            "req@{xid:016x} pname:cluuid+ref:pid:xid:nid:opc:job {thread}:c1+2:3:x{}:12345-10.0.0.1@tcp:4:ior",
            1000 + xid
        );
        let us = 1000 * took_ms;
        for (ms, text) in [
            (begin_ms, format!("Handling RPC {ids}")),
            (
                begin_ms + took_ms,
                format!("Handled RPC {ids} Request processed in {us}us ({us}us total) trans 0 rc 0/0"),
            ),
        ] {
            let (s, ms_of_s) = (1_700_000_000 + ms / 1000, ms % 1000);
            lines.push((
                ms,
                format!("00000100:00100000:0.0:{s}.{ms_of_s:03}000:0:{pid}:0:(service.c:1:ptlrpc_server_handle_request()) {text}\n"),
            ));
        }
    }
    if !as_given {
        lines.sort_by_key(|(ms, _)| *ms);
    }
    let text: String = lines.into_iter().map(|(_, line)| line).collect();
    let decoded = decode_text(text.as_bytes(), true, false, Vec::new());
    assert_eq!(decoded.events.len(), 2 * requests.len(), "{:?}", decoded.counts.malformed);
    let (mut join, mut rows) = (Join::new(Symbol(0)), Count::default());
    for event in &decoded.events {
        join.event(event, &mut RowOutput { symbols: &decoded.symbols, sink: &mut rows });
    }
    join.finish(&mut RowOutput { symbols: &decoded.symbols, sink: &mut rows });
    (join.several_servers(&decoded.symbols), rows.0, join.summary())
}

const IO: &str = "ll_ost_io00_000";

#[test]
fn two_pids_that_take_turns_are_two_servers() {
    let turns: Vec<Request> = (0..6).map(|n| (IO, 4242 + n % 2 * 909, 100 * n, 10)).collect();
    let (several, rows, summary) = join(&turns, false);
    let several = several.unwrap();
    assert_eq!((several.thread.as_str(), several.pids), (IO, [5151, 4242]));
    assert_eq!(several.to_string(), "thread ll_ost_io00_000 has pids 5151 and 4242 at the same time");
    assert_eq!((rows, summary.loss.of_several_servers, summary.loss.nrs_sequence_seen), (6, 1, 0));
}

#[test]
fn one_log_behind_another_that_goes_back_in_time_is_two_servers() {
    let behind = [(IO, 4242, 0, 10), (IO, 4242, 1000, 10), (IO, 5151, 500, 10), (IO, 5151, 1500, 10)];
    assert_eq!(join(&behind, true).0.unwrap().pids, [4242, 5151]);
}

#[test]
fn a_service_that_was_started_anew_is_one_server() {
    let restarted = [(IO, 4242, 0, 10), (IO, 4242, 1000, 10), (IO, 5151, 2000, 10), (IO, 5151, 3000, 10)];
    assert_eq!(join(&restarted, false).0, None);
    // After a second boot a thread may have the pid of the first one.
    let twice = [(IO, 4242, 0, 10), (IO, 5151, 100_000, 10), (IO, 4242, 200_000, 10), (IO, 5151, 300_000, 10)];
    assert_eq!(join(&twice, false).0, None);
}

#[test]
fn threads_that_are_all_replaced_may_be_those_of_another_server() {
    const OTHER: &str = "ll_ost_io00_001";
    let first = [(IO, 4242, 0, 10), (OTHER, 4243, 1000, 10)];
    let others = [(IO, 5151, 60_000, 10), (OTHER, 5152, 61_000, 10)];
    let several = join(&[first, others].concat(), false).0.unwrap();
    assert_eq!((several.thread.as_str(), several.pids, several.since), (IO, [4242, 5151], Some(1_700_000_060.0)));
    assert!(several.to_string().contains("from 2023-11-14T22:14:20Z on, as all threads have others then"), "{several}");
    // One that goes on is of one server.
    let kept = ("ll_ost_io00_002", 4244, 500, 10);
    let goes_on = ("ll_ost_io00_002", 4244, 62_000, 10);
    assert_eq!(join(&[&first[..], &[kept], &others, &[goes_on]].concat(), false).0, None);
}

#[test]
fn threads_whose_names_the_kernel_cut_are_several() {
    let turns: Vec<Request> = (0..6).map(|n| ("ll_ost_create00", 515 + n % 2, 100 * n, 10)).collect();
    assert_eq!(join(&turns, false).0, None);
}

#[test]
fn a_thread_that_handles_two_requests_at_once_is_two() {
    let at_once: Vec<Request> = (0..8).map(|n| (IO, 4242, 10 * n + n % 2, 15)).collect();
    let (several, rows, summary) = join(&at_once, false);
    let several = several.unwrap();
    assert_eq!((several.pids, several.seen >= 3, rows), ([4242, 4242], true, 8));
    assert_eq!(several.to_string(), "thread ll_ost_io00_000 (pid 4242) handles two requests at the same time");
    // Nothing is missing.
    let loss = &summary.loss;
    assert_eq!((loss.missing_handled, loss.missing_handling, loss.lost_ends, loss.lost_starts), (0, 0, 0, 0));
    // Once or twice may be a torn or repeated line.
    assert_eq!(join(&at_once[..2], false).0, None);
}

#[test]
fn four_servers_with_equal_pids_lose_nothing() {
    let requests: Vec<Request> = (0..40).map(|n| (IO, 4242, 10 * n + n % 4, 25)).collect();
    let (several, rows, summary) = join(&requests, false);
    assert!(several.is_some());
    assert_eq!((rows, summary.loss.missing_handled, summary.loss.missing_handling), (40, 0, 0));
}
