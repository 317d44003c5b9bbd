//! The result of an analysis: the layout of `analysis.json`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::baseline::Baseline;
use crate::enqueue_parts::EnqueueParts;
use crate::events::Event;
use crate::failures::Failure;
use crate::faults::ClientFaults;
use crate::findings::{Check, Finding};
use crate::io::Direction;
use crate::io::{Io, ReadWrite, SizeHistogram};
use crate::latency::Distribution;
use crate::locks::{LockEvidence, Locks};
use crate::node_from::{NodeFrom, SeveralServers};
use crate::other_rows::OtherRows;
use crate::phases::RpcPhases;
use crate::row::{SizeEvidence, TargetEvidence};
use crate::selected::Selected;
use crate::series::{RpcSample, Series};
use crate::service_parts::ServiceParts;
use crate::services::{Service, Throttled};
use crate::syncs::SyncTimes;
use crate::target::TargetKindName;
use crate::time_account::TimeAccount;
use crate::under_way::UnderWay;
use crate::units::{percent, plural};
use crate::verdict::Verdict;
use crate::what_if::WhatIf;

/// Everything lioprof knows about a set of captures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// [`crate::SCHEMA`].
    pub schema: String,
    /// Program that made the analysis.
    pub generator: Generator,
    /// Time from the first to the last record that was analyzed.
    pub window: Window,
    /// Which RPCs were counted; left out if all were.
    #[serde(default, skip_serializing_if = "Selected::is_everything")]
    pub selected: Selected,
    /// Reasons to distrust the figures; one sentence each, most important first.
    pub warnings: Vec<String>,
    /// `lctl mark` lines.
    pub markers: Vec<Marker>,
    /// What kernel logs, and console lines of debug logs, tell, in the order of time; those of unknown time come last. Of each kind the
    /// earliest 500 are listed; how many more there are, [`Self::others`] says under `events.KIND`.
    #[serde(default)]
    pub events: Vec<Event>,
    /// Files, directories and streams that were read, one entry per input.
    pub inputs: Vec<Input>,
    /// What is missing from the logs, as far as they show it.
    pub loss: Loss,
    /// Sums over all nodes.
    pub totals: Totals,
    /// Nodes (servers, and clients whose log is an input), by name.
    pub nodes: Vec<Node>,
    /// The targets, by name; only reads and writes whose target is known are in them.
    pub targets: Vec<Target>,
    /// The clients, most bytes first.
    pub clients: Vec<Client>,
    /// Reads and writes per client and target, sorted by NID and target.
    pub flows: Vec<Flow>,
    /// Jobs, most bytes first.
    pub jobs: Vec<Job>,
    /// User, group and project ids, most bytes first (Lustre 2.16 and later).
    pub owners: Vec<Owner>,
    /// Objects with most bytes; if there are more, a last row with `fid: null` sums up the others.
    pub objects: Vec<Object>,
    /// Counts and times per opcode and service.
    pub operations: Vec<Operation>,
    /// RPCs that the servers sent themselves.
    pub sent: Vec<SentRpcs>,
    /// Phases of the RPCs of clients whose log is an input, by client, node and target.
    #[serde(default)]
    pub rpc_phases: Vec<RpcPhases>,
    /// Threads per service and node, by name.
    #[serde(default)]
    pub services: Vec<Service>,
    /// Requests that rules of token bucket filters let through, those that waited for longest first.
    #[serde(default)]
    pub throttled: Vec<Throttled>,
    /// Syncs of OSTs against others of the same server.
    #[serde(default)]
    pub syncs: Vec<SyncTimes>,
    /// Requests that had begun and had not ended when the log ended, oldest first, at most [`crate::MAX_UNDER_WAY`]. How many there are in
    /// all, [`Loss::missing_handled`] says.
    #[serde(default)]
    pub under_way: Vec<UnderWay>,
    /// Requests that ended with an error, most first.
    #[serde(default)]
    pub failures: Vec<Failure>,
    /// Clients with errors, worst first.
    #[serde(default)]
    pub client_faults: Vec<ClientFaults>,
    /// What the OSTs can deliver, where the user said so; `null` otherwise.
    #[serde(default)]
    pub baseline: Option<Baseline>,
    /// Lock contention; `null` if it was switched off.
    #[serde(default)]
    pub locks: Option<Locks>,
    /// Figures per time bin.
    pub series: Series,
    /// A sample of single reads and writes.
    pub sample: RpcSample,
    /// What the service time of reads and writes was made of; empty without mask `net`, and in files of earlier versions.
    #[serde(default)]
    pub service_parts: ServiceParts,
    /// What the time of lock requests was made of; empty if locks were not looked at, and in files of earlier versions.
    #[serde(default)]
    pub enqueue_parts: EnqueueParts,
    /// Where the time of clients went; empty in files of earlier versions.
    #[serde(default)]
    pub time_account: TimeAccount,
    /// How long the same work would have taken with something changed; empty in files of earlier versions.
    #[serde(default)]
    pub what_if: WhatIf,
    /// Access patterns: where in their objects, and when, OST reads and writes took place.
    #[serde(default)]
    pub access: Access,
    /// What all of this says of the system; empty in files of earlier versions.
    #[serde(default)]
    pub verdict: Verdict,
    /// Problems found, worst first.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Every check and its result: problems found, none found, or not enough evidence.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// Rows that lists leave out to bound the size of this file, summed up, by the path of the list; a list that is not here is
    /// complete.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, OtherRows>,
}

/// Program and version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generator {
    /// `lioprof`.
    pub name: String,
    /// Version of lioprof that made the analysis.
    pub version: String,
}

/// A time span, Unix seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// First moment, Unix seconds.
    pub start: f64,
    /// Last moment, Unix seconds.
    pub end: f64,
    /// `end - start`, seconds.
    pub duration_s: f64,
    /// Seconds of it in which at least one node was traced; `null`: all of it.
    #[serde(default)]
    pub traced_s: Option<f64>,
    /// With `--to`: RPCs that are being handled at its end, and are over only later; `null` without.
    #[serde(default)]
    pub under_way_rpcs: Option<u64>,
    /// Whether `--from` or `--to` chose a part of the time.
    #[serde(default)]
    pub limited: bool,
}

/// A `DEBUG MARKER` line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    /// When the marker was logged, Unix seconds.
    pub time: f64,
    /// Name of the node.
    pub node: String,
    /// Text given to `lctl mark`.
    pub text: String,
}

/// Format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Text, as `lctl debug_file` and `lctl dk` print it.
    Text,
    /// Binary, as the debug daemon and `dump_kernel` write it.
    Binary,
    /// Parquet rows written by `lioprof daemon` or `lioprof export`.
    Parquet,
    /// A kernel log: `dmesg`, syslog, or the journal.
    #[serde(rename = "kernel_log")]
    KernelLog,
}

/// One input file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Path as given or found; `-` is standard input.
    pub path: String,
    /// Name of the node whose log this input is.
    pub node: String,
    /// What told that; `None` for rows, which say it themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_from: Option<NodeFrom>,
    /// Why it holds the logs of several servers, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub several_servers: Option<SeveralServers>,
    /// Format, recognized by content.
    pub format: Format,
    /// `gz`, `zst`, `xz`, `bz2`, or `null`.
    pub compression: Option<String>,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// Records decoded.
    pub records: u64,
    /// Records of a kind that lioprof interprets.
    pub messages: u64,
    /// Records (or lines) that could not be read.
    pub bad_records: u64,
    /// Bytes that belong to no record.
    pub skipped_bytes: u64,
    /// First bad places, at most 20.
    pub bad_places: Vec<BadPlace>,
    /// Known messages that did not parse, by kind.
    pub malformed: BTreeMap<String, u64>,
    /// Records of other kinds, `file:function`, most frequent 20.
    pub other: Vec<OtherRecords>,
    /// Time of the first record, Unix seconds.
    pub first: Option<f64>,
    /// Time of the last record, Unix seconds.
    pub last: Option<f64>,
    /// Lines that did not arrive as they were logged and were repaired, by what had become of them (docs/inputs.md).
    #[serde(default)]
    pub envelope: BTreeMap<String, u64>,
    /// Only if the log has records of rpctrace, and neither the beginning nor the end of a request could be read of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<UnreadRpcs>,
    /// What went wrong with this input, if anything did.
    pub error: Option<String>,
}

/// Records of rpctrace in which no request could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadRpcs {
    /// Number of records of rpctrace.
    pub records: u64,
    /// The first text that should be of the beginning or the end of a request and is not in a form that is known; `null`: there is none.
    pub text: Option<String>,
    /// The word in it that did not fit.
    pub word: Option<String>,
}

/// Why the log does not name the OST of reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyNoTarget {
    /// All of them ended with an error before a line named it.
    Failed,
    /// Somebody picked lines out of the log, and those that name it are not among them.
    Filtered,
    /// The masks were right, and the lines that name it are among those that the capture lost.
    LinesLost,
    /// The masks did not ask for it.
    Masks,
}

/// Which of the lines that each request has a log has, if somebody filtered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filtered {
    /// Beginnings only, `Handling RPC`.
    Starts,
    /// Ends only, `Handled RPC`.
    Ends,
    /// None of their arrival, `peer:` or `got req`: what was looked for, a client, a target or a thread, is not in that line.
    NoArrivals,
}

/// A place in an input that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadPlace {
    /// Byte offset in the decompressed input.
    pub offset: u64,
    /// Number of bytes that were skipped.
    pub bytes: u64,
    /// What was expected there and what was found.
    pub why: String,
}

/// Records that lioprof does not interpret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherRecords {
    /// Source file of the kernel module.
    pub file: String,
    /// Function that logged the records.
    pub function: String,
    /// Number of such records.
    pub records: u64,
}

/// Why pieces of a log are lost: the node lost power or crashed while they were in memory only. A reason of
/// [`Loss::dropped_reasons`], and of the manifests beside the rows.
pub const NEVER_ON_DISK: &str = "the node went down before this was on disk";

/// What a capture lost or cannot tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Requests that a scheduler numbered but whose `NRS start` line is missing, by the best explanation of the holes.
    pub nrs_sequence_gaps: u64,
    /// Requests seen by their `NRS start` line.
    pub nrs_sequence_seen: u64,
    /// `Handling RPC` lines without a `Handled RPC` line (still running at the end, or lost).
    pub missing_handled: u64,
    /// `Handled RPC` lines without a `Handling RPC` line (begun before the log, or lost).
    pub missing_handling: u64,
    /// Reads and writes that were announced but never handled.
    pub never_handled: u64,
    /// Text logs with lines of requests and none of their arrival (`peer:` or `got req`), which rpctrace logs for each (`ptlrpc/events.c`, `service.c`, all versions).
    #[serde(default, skip_serializing_if = "crate::series::is_zero")]
    pub logs_without_arrivals: u64,
    /// Places where a ring was overwritten.
    pub torn_seams: u64,
    /// CPU buffers ("streams") that begin without the `F` flag: earlier records were overwritten, or the flagged
    /// one was filtered out.
    #[serde(default)]
    pub streams_without_head: u64,
    /// Whether an unknown part of the beginning of the capture was overwritten (a seam, or a stream without head and
    /// RPCs that lack a half).
    pub head_overwritten: bool,
    /// Runs of records whose head the kernel discarded (buffer overflow).
    pub discarded_heads: u64,
    /// Records that could not be read.
    pub bad_records: u64,
    /// Pieces of the log that a capture lost before they were read.
    #[serde(default)]
    pub dropped_segments: u64,
    /// Bytes in the pieces counted by `dropped_segments`.
    #[serde(default)]
    pub dropped_segment_bytes: u64,
    /// RPCs whose `Handled RPC` line is in these pieces: they are counted, but not rebuilt.
    #[serde(default)]
    pub dropped_segment_rpcs: u64,
    /// Number of these pieces by reason.
    #[serde(default)]
    pub dropped_reasons: BTreeMap<String, u64>,
    /// Number of times that the kernel reported an overflow of its debug buffer during the capture.
    #[serde(default)]
    pub kernel_overflows: u64,
    /// Parts of a dataset of which rows could not be read: files that are damaged or missing.
    #[serde(default)]
    pub unread_parts: u64,
    /// RPCs in these rows, by the manifests.
    #[serde(default)]
    pub unread_rpcs: u64,
    /// Number of times that the clock went backwards.
    pub clock_steps: u64,
    /// The part of `nrs_sequence_gaps` that is certainly missing.
    #[serde(default)]
    pub nrs_sequence_gaps_min: u64,
    /// `Handled RPC` lines whose `Handling RPC` line and scheduler number are lost; the RPC itself is not.
    #[serde(default)]
    pub lost_starts: u64,
    /// `Handling RPC` lines whose `Handled RPC` line is lost.
    #[serde(default)]
    pub lost_ends: u64,
    /// Best estimate of the share of RPCs lost, 0 to 1; `null` if there is no evidence, or if `head_overwritten`.
    pub estimated_lost_fraction: Option<f64>,
    /// Lower bound of that share; `null` if unknown.
    #[serde(default)]
    pub lost_fraction_min: Option<f64>,
    /// Upper bound of that share; `null` if there is none.
    #[serde(default)]
    pub lost_fraction_max: Option<f64>,
    /// Source of the three shares.
    #[serde(default)]
    pub decided_by: LossEvidence,
    /// How the share was estimated, or why it is unknown: a phrase.
    pub estimate: String,
    /// Requests by the nodes' own counters, per node and service; empty if none were sampled.
    #[serde(default)]
    pub by_service: Vec<ServiceLoss>,
    /// Reads and writes by the nodes' own counters, per node and OST; empty if none were sampled.
    #[serde(default)]
    pub by_target: Vec<TargetLoss>,
}

impl Analysis {
    /// Whether all inputs are kernel logs: of requests they say nothing, so none is missing.
    #[must_use]
    pub fn only_kernel_logs(&self) -> bool {
        !self.inputs.is_empty() && self.inputs.iter().all(|input| input.format == Format::KernelLog)
    }

    /// Why reads and writes name no OST. If every server's log has lines of the lock manager, the masks under which it is logged were on.
    #[must_use]
    pub fn why_no_target(&self) -> WhyNoTarget {
        let unknown = self.totals.unattributed.together();
        let evidence = self.locks.as_ref().map(|locks| locks.evidence);
        if unknown.rpcs > 0 && unknown.errors == unknown.rpcs {
            WhyNoTarget::Failed
        } else if self.filtered().is_some() {
            WhyNoTarget::Filtered
        } else if evidence == Some(LockEvidence::Dlmtrace) && self.loss.is_some() {
            WhyNoTarget::LinesLost
        } else {
            WhyNoTarget::Masks
        }
    }

    /// The names of each server whose logs are taken for several servers'.
    #[must_use]
    pub fn servers_with_several_names(&self) -> Vec<Vec<&str>> {
        let first =
            self.nodes.iter().filter(|node| node.same_server_as.first().is_some_and(|other| *other > node.name));
        first.map(|node| [&node.name].into_iter().chain(&node.same_server_as).map(String::as_str).collect()).collect()
    }

    /// Those first who took most of the servers' time, whatever it was for: in a table that is cut, too, they are in sight. The same time stays
    /// in the order of bytes.
    #[must_use]
    pub fn clients_by_server_time(&self) -> Vec<&Client> {
        let mut clients: Vec<&Client> = self.clients.iter().collect();
        clients.sort_by_key(|client| Reverse(client.server_us()));
        clients
    }

    /// As [`Self::clients_by_server_time`].
    #[must_use]
    pub fn jobs_by_server_time(&self) -> Vec<&Job> {
        let mut jobs: Vec<&Job> = self.jobs.iter().collect();
        jobs.sort_by_key(|job| Reverse(job.server_us()));
        jobs
    }

    /// The longest time that a request waited for a thread, microseconds; 0 if none did.
    #[must_use]
    pub fn longest_queue_us(&self) -> u64 {
        self.operations.iter().filter_map(|operation| operation.latency.queue_us.max).max().unwrap_or(0)
    }

    /// Which of the requests' lines the logs have, if somebody filtered them. An overflow or a crash takes lines of all kinds; that a thread
    /// went on with its next request shows that a missing line was logged. `None` for a part of a log.
    #[must_use]
    pub fn filtered(&self) -> Option<Filtered> {
        let (loss, rpcs) = (&self.loss, self.totals.rpcs);
        if self.window.limited || !self.selected.is_everything() {
            None
        } else if rpcs == 0 && loss.missing_handled > 0 {
            Some(Filtered::Starts)
        } else if rpcs > 0 && loss.missing_handling == rpcs && loss.lost_starts > 0 {
            Some(Filtered::Ends)
        } else if loss.logs_without_arrivals > 0 && (loss.nrs_sequence_gaps > 0 || loss.nrs_sequence_seen == 0) {
            // Of a log from which nothing is missing nothing was filtered that matters.
            Some(Filtered::NoArrivals)
        } else {
            None
        }
    }

    /// A phrase that says what the clients sent; `None` unless all logs are of clients.
    #[must_use]
    pub fn sent_by_clients(&self) -> Option<String> {
        let all_clients = self.nodes.iter().all(|node| node.role == Some(NodeRole::Client));
        if self.nodes.is_empty() || !all_clients {
            return None;
        }
        let sum = |figure: fn(&Node) -> u64| self.nodes.iter().map(figure).sum::<u64>();
        let logs = match self.nodes.len() {
            1 => "this is the log of a client".to_owned(),
            clients => format!("these are the logs of {clients} clients"),
        };
        Some(format!(
            "{logs}: {} sent, including {} and {} of OSTs",
            plural(sum(|node| node.sent_rpcs), "RPC"),
            plural(sum(|node| node.sent_reads), "read"),
            plural(sum(|node| node.sent_writes), "write"),
        ))
    }
}

/// Share of lost RPCs from which it is said: the default of the threshold `trace-quality.lost_share`.
pub const NOTED_LOSS: f64 = 0.01;

impl Loss {
    /// That nothing can be said of how much is missing, and why.
    pub fn forget_estimate(&mut self, why: &str) {
        (self.estimated_lost_fraction, self.lost_fraction_min, self.lost_fraction_max) = (None, None, None);
        self.decided_by = LossEvidence::Unknown;
        why.clone_into(&mut self.estimate);
    }

    /// The share of RPCs that is missing, for people: `32.57 %` if counters decide, otherwise `about 20.2 % (20.2 to 20.5 %)`.
    /// `None` if the share is unknown or nothing is missing.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let best = self.estimated_lost_fraction?;
        let (min, max) = (self.lost_fraction_min.unwrap_or(best), self.lost_fraction_max);
        if best <= 0.0 && max.is_none_or(|max| max <= 0.0) {
            return None;
        }
        let about = percent(best, 2);
        let (low, high) = (percent(min, 1), max.map(|max| percent(max, 1)));
        Some(match high {
            Some(high) if best <= 0.0 => format!("up to {high}"),
            Some(high) if low == high && self.decided_by == LossEvidence::Counters => about,
            Some(high) if low == high => format!("about {about}"),
            Some(high) => format!("about {about} ({} to {high})", low.trim_end_matches(" %")),
            None => format!("about {about} (at least {low})"),
        })
    }

    /// The same where there need not be any, in words that stand after `Loss: `.
    #[must_use]
    pub fn how_much(&self) -> String {
        match (self.missing(), self.estimated_lost_fraction) {
            (_, None) => "unknown".to_owned(),
            (None, _) => "no RPC missing".to_owned(),
            (Some(missing), _) => format!("{missing} of the RPCs missing"),
        }
    }

    /// Whether the log or the kernel shows that the debug buffer overflowed.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.discarded_heads + self.kernel_overflows > 0
    }

    /// Number of [`Self::dropped_segments`] that were only in memory when the node went down. How many RPCs they held is unknown:
    /// the numbers of the request schedulers begin anew after a boot.
    #[must_use]
    pub fn never_on_disk(&self) -> u64 {
        self.dropped_reasons.get(NEVER_ON_DISK).copied().unwrap_or(0)
    }

    /// Number of [`Self::dropped_segments`] that the capture daemon gave up or somebody removed.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.dropped_segments.saturating_sub(self.never_on_disk())
    }

    /// Whether `lioprof daemon` captured any of the logs, as far as the losses show: only it samples counters, reads the kernel log
    /// and gives up pieces.
    #[must_use]
    pub fn is_of_daemon(&self) -> bool {
        self.kernel_overflows + self.dropped_segments > 0 || !self.by_service.is_empty() || !self.by_target.is_empty()
    }

    /// Whether there is evidence that any records are missing.
    #[must_use]
    pub fn is_some(&self) -> bool {
        self.overflowed()
            || self.dropped_segments + self.torn_seams + self.unread_parts > 0
            || self.head_overwritten
            || self.estimated_lost_fraction.is_some_and(|lost| lost > 0.0)
    }

    /// Why the capture daemon gave up pieces of the log, in its words; `None` if it gave up none.
    #[must_use]
    pub fn given_up_because(&self) -> Option<String> {
        let reasons = self.dropped_reasons.keys().map(String::as_str);
        let reasons: Vec<&str> = reasons.filter(|&reason| reason != NEVER_ON_DISK).collect();
        (self.given_up() > 0)
            .then(|| if reasons.is_empty() { "decoding could not keep up".to_owned() } else { reasons.join("; ") })
    }
}

/// Source of the estimate of how much is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossEvidence {
    /// There is no evidence.
    #[default]
    Unknown,
    /// The servers' own counters, sampled during the trace.
    Counters,
    /// The sequence numbers of the request schedulers, and RPCs that lack a half.
    Sequence,
    /// The capture daemon's count of RPCs in segments that it gave up.
    GivenUp,
    /// Counters on some nodes, something else on others.
    Mixed,
}

/// Requests of a service by the server's counters, compared with the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServiceLoss {
    /// Name of the node.
    pub node: String,
    /// Service as the counters name it: `ost_io`.
    pub service: String,
    /// Requests between the first and the last sample, by `req_waittime` of the service.
    pub counted_rpcs: u64,
    /// RPCs in the trace of the same time.
    pub seen_rpcs: u64,
    /// Requests under way when a sample at an end was read, or when tracing ended: a difference up to this is no loss.
    pub edge_rpcs: u64,
    /// Number of RPCs lost.
    pub lost_rpcs: u64,
    /// `lost_rpcs` as a share of `counted_rpcs`, 0 to 1.
    pub lost_fraction: f64,
}

/// Reads and writes of an OST by its counters, compared with the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetLoss {
    /// Name of the node.
    pub node: String,
    /// Name of the OST.
    pub target: String,
    /// Reads and writes between the first and the last sample, by `read_bytes` and `write_bytes` of the OST.
    pub counted_rpcs: u64,
    /// Bytes that the server counted for these RPCs.
    pub counted_bytes: u64,
    /// Reads and writes of this OST in the trace of the same time.
    pub seen_rpcs: u64,
    /// Bytes of the RPCs in `seen_rpcs`, as far as their sizes are known.
    pub seen_bytes: u64,
    /// RPCs under way when the first or last sample was read.
    pub edge_rpcs: u64,
    /// Number of RPCs lost if all reads and writes of unknown OST belong to this one.
    pub lost_rpcs_min: u64,
    /// Number of RPCs lost if none of them does.
    pub lost_rpcs_max: u64,
}

/// Sums over all nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// RPCs handled by the nodes' services.
    pub rpcs: u64,
    /// RPCs among these that servers sent (MDT to OST, light-weight connections), recognized by their uuids.
    pub server_rpcs: u64,
    /// RPCs that the nodes sent themselves (lock callbacks, MDT to OST).
    pub sent_rpcs: u64,
    /// OST_READ on OSTs.
    pub read: Io,
    /// OST_WRITE on OSTs.
    pub write: Io,
    /// Data-on-MDT reads (not in `read`).
    pub dom_read: Io,
    /// Data-on-MDT writes (not in `write`).
    pub dom_write: Io,
    /// The part of `read` and `write` whose OST is unknown.
    pub unattributed: ReadWrite,
    /// RPCs resent by clients.
    pub resent_rpcs: u64,
    /// RPCs replayed by clients.
    pub replayed_rpcs: u64,
    /// Requests dropped before they were handled.
    pub dropped_rpcs: u64,
    /// RPCs that the nodes sent and that timed out.
    pub sent_timed_out: u64,
    /// Clients evicted, as reported by lock timers and the pinger.
    pub evictions: u64,
    /// Number of reads and writes by the evidence of their size.
    pub size_evidence: BTreeMap<SizeEvidence, u64>,
    /// Number of reads and writes by the evidence of their target.
    pub target_evidence: BTreeMap<TargetEvidence, u64>,
}

impl Totals {
    /// Reads or writes of OSTs.
    #[must_use]
    pub fn io(&self, direction: Direction) -> &Io {
        direction.pick(&self.read, &self.write)
    }
}

/// A node: a server, or a client whose log is an input.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Name of the node.
    pub name: String,
    /// RPCs it handled.
    pub rpcs: u64,
    /// RPCs it sent.
    pub sent_rpcs: u64,
    /// Requests that the network had brought more than five seconds before the log ended and that no thread had begun with, at least. 0 of a log of
    /// which anything is missing, or a part was chosen.
    #[serde(default, skip_serializing_if = "crate::series::is_zero")]
    pub left_rpcs: u64,
    /// `OST_READ` requests among `sent_rpcs`.
    #[serde(default)]
    pub sent_reads: u64,
    /// `OST_WRITE` requests among `sent_rpcs`.
    #[serde(default)]
    pub sent_writes: u64,
    /// OST_READ.
    pub read: Io,
    /// OST_WRITE.
    pub write: Io,
    /// The part of `read` and `write` whose OST is unknown.
    pub unattributed: ReadWrite,
    /// Time of the first record, Unix seconds.
    pub first: f64,
    /// Time of the last record, Unix seconds.
    pub last: f64,
    /// Traced intervals and estimates, if tracing was on only part of the time; `null` if it was on all the time.
    #[serde(default)]
    pub sampled: Option<Sampled>,
    /// What kind of node it is; `null` if its log does not show it.
    #[serde(default)]
    pub role: Option<NodeRole>,
    /// Its targets, by name.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Reference node for clock offsets; `null` if this node's clock cannot be compared with any other.
    #[serde(default)]
    pub clock_reference: Option<String>,
    /// How far this node's clock is ahead of the reference's in the middle of its log, µs; `null` if unknown.
    #[serde(default)]
    pub clock_offset_us: Option<i64>,
    /// Largest possible error of the offset at any time of the log, µs; `null` if unknown.
    #[serde(default)]
    pub clock_error_us: Option<u64>,
    /// How much faster this node's clock runs than the reference's, microseconds per second; `null` if unknown.
    #[serde(default)]
    pub clock_drift_ppm: Option<f64>,
    /// Largest possible error of the drift, microseconds per second; `null` if unknown.
    #[serde(default)]
    pub clock_drift_error_ppm: Option<f64>,
    /// Whether this node's times were converted to the reference's clock; if not, they are as the node logged them.
    #[serde(default)]
    pub clock_aligned: bool,
    /// RPCs found both in this node's log and in another node's; the two clocks are compared by these.
    #[serde(default)]
    pub pairs: u64,
    /// Nodes whose logs hold the very same RPCs, at the same times: all are one server's, under several names, and what they share is
    /// counted once for each name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_server_as: Vec<String>,
}

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeRole {
    /// A server with MDTs.
    Mds,
    /// A server with OSTs.
    Oss,
    /// A server with both MDTs and OSTs.
    MdsOss,
    /// A server with the MGS only.
    Mgs,
    /// A node without targets that sends RPCs.
    Client,
}

impl NodeRole {
    /// The usual name, such as `OSS`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mds => "MDS",
            Self::Oss => "OSS",
            Self::MdsOss => "MDS and OSS",
            Self::Mgs => "MGS",
            Self::Client => "client",
        }
    }
}

/// A node that was traced only part of the time. All its counts and bytes cover only that part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampled {
    /// Seconds of tracing between first and last record.
    pub traced_s: f64,
    /// Share of the time between first and last record, 0 to 1.
    pub traced_share: f64,
    /// Estimated number of RPCs in all of the time, assuming that it was like the traced part.
    pub estimated_rpcs: f64,
    /// Bytes read, estimated likewise; `null` if more than a tenth of the successful reads are of unknown size.
    pub estimated_read_bytes: Option<f64>,
    /// Bytes written, estimated likewise; `null` if more than a tenth of the successful writes are of unknown size.
    pub estimated_write_bytes: Option<f64>,
    /// Reads and writes of unknown size in the traced time. The estimates assume for each the average size of the others of
    /// its direction.
    #[serde(default)]
    pub unsized_rpcs: u64,
    /// As `estimated_read_bytes`, but without the reads of unknown size.
    #[serde(default)]
    pub estimated_read_bytes_min: f64,
    /// As `estimated_write_bytes`, but without the writes of unknown size.
    #[serde(default)]
    pub estimated_write_bytes_min: f64,
    /// Traced intervals (start, end) in Unix seconds, in order; only the longest if there are more than 1,000.
    #[serde(default)]
    pub traced: Vec<[f64; 2]>,
    /// Number of traced intervals that are not in `traced`.
    #[serde(default)]
    pub traced_omitted: u64,
}

/// An OST, an MDT or the MGS, with all RPCs that name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// `lustre-OST0003`.
    pub name: String,
    /// Node that serves it.
    pub node: String,
    /// OST, MDT or MGS.
    pub kind: TargetKindName,
    /// Successful and failed reads: `OST_READ`.
    pub read: TargetIo,
    /// Successful and failed writes: `OST_WRITE`.
    pub write: TargetIo,
    /// RPCs by opcode, of those whose target is known.
    pub opcodes: BTreeMap<String, u64>,
}

/// Reads or writes of one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetIo {
    /// RPCs and bytes.
    #[serde(flatten)]
    pub io: Io,
    /// Reads and writes by RPC size.
    pub size_hist: SizeHistogram,
    /// Distributions of queue, service and total time.
    pub latency: Latency,
}

/// Queue, service and total time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Arrival to start of handling.
    pub queue_us: Distribution,
    /// Start of handling to end.
    pub service_us: Distribution,
    /// Arrival to end.
    pub total_us: Distribution,
}

/// A client, by NID: all its mounts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Network id of the client.
    pub nid: String,
    /// Client uuids seen with this NID.
    pub uuids: Vec<String>,
    /// Whether a server of the file system uses this NID (MDT to OST, light-weight connections), by its uuids.
    pub server: bool,
    /// RPCs of any kind.
    pub rpcs: u64,
    /// OST_READ.
    pub read: Io,
    /// OST_WRITE.
    pub write: Io,
    /// Targets it read or wrote.
    pub targets: u64,
    /// RPCs by opcode.
    #[serde(default)]
    pub opcodes: BTreeMap<String, u64>,
    /// Service time of these RPCs by opcode, microseconds: what the client took of the servers' threads. RPCs without times add nothing.
    #[serde(default)]
    pub service_us: BTreeMap<String, u64>,
}

impl Client {
    /// Service time of all its RPCs, microseconds; `None` in an analysis from before it was kept.
    #[must_use]
    pub fn server_us(&self) -> Option<u64> {
        server_us(&self.service_us, self.rpcs)
    }
}

impl Job {
    /// As [`Client::server_us`].
    #[must_use]
    pub fn server_us(&self) -> Option<u64> {
        server_us(&self.service_us, self.rpcs)
    }
}

fn server_us(service_us: &BTreeMap<String, u64>, rpcs: u64) -> Option<u64> {
    (rpcs == 0 || !service_us.is_empty()).then(|| service_us.values().sum())
}

/// What one client did on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Network id of the client.
    pub nid: String,
    /// Name of the target; `null` if unknown.
    pub target: Option<String>,
    /// Name of the node.
    pub node: String,
    /// Successful and failed reads: `OST_READ`.
    pub read: Io,
    /// Successful and failed writes: `OST_WRITE`.
    pub write: Io,
}

/// What was done with one job id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Job id; empty for RPCs without one; `null` if the Lustre version prints none.
    pub job: Option<String>,
    /// RPCs of any kind.
    pub rpcs: u64,
    /// OST_READ.
    pub read: Io,
    /// OST_WRITE.
    pub write: Io,
    /// Number of clients that ran this job.
    pub clients: u64,
    /// Targets it read or wrote.
    pub targets: u64,
    /// RPCs by opcode.
    #[serde(default)]
    pub opcodes: BTreeMap<String, u64>,
    /// As [`Client::service_us`].
    #[serde(default)]
    pub service_us: BTreeMap<String, u64>,
}

/// Reads and writes by owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    /// User id of the process that did the I/O.
    pub uid: u32,
    /// Group id; `null` if the log does not show it.
    pub gid: Option<u32>,
    /// Project id of the object; `null` before Lustre 2.17.
    pub projid: Option<u32>,
    /// Successful and failed reads: `OST_READ`.
    pub read: Io,
    /// Successful and failed writes: `OST_WRITE`.
    pub write: Io,
}

/// An object of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Object {
    /// Name of the target; `null` in the row of the others.
    pub target: Option<String>,
    /// FID, or `seq/oid` as old versions print; `null` in the row of the others.
    pub fid: Option<String>,
    /// Number of objects in this row: 1, or at least how many the row of the others sums up.
    pub objects: u64,
    /// Successful and failed reads: `OST_READ`.
    pub read: Io,
    /// Successful and failed writes: `OST_WRITE`.
    pub write: Io,
    /// Number of clients that used it; `null` in the row of the others.
    pub clients: Option<u64>,
    /// Number of clients that wrote it; `null` in the row of the others.
    pub writers: Option<u64>,
    /// Lowest byte accessed; `null` if unknown.
    pub first_byte: Option<u64>,
    /// Highest byte accessed (inclusive); `null` if unknown.
    pub last_byte: Option<u64>,
}

/// One kind of RPC on one service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// Opcode.
    pub opcode: u32,
    /// Name of the opcode.
    pub name: String,
    /// Name of the service: the thread name without CPT and number, such as `ll_ost_io`.
    pub service: String,
    /// RPCs.
    pub rpcs: u64,
    /// RPCs with a negative status.
    pub errors: u64,
    /// Distributions of queue, service and total time.
    #[serde(flatten)]
    pub latency: Latency,
    /// Total time, histogram for plots: lower edge of the bucket in microseconds, RPCs. Four buckets
    /// per factor of two.
    pub total_hist_us: Vec<(u64, u64)>,
}

/// RPCs that a node sent, by opcode, sending device and destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentRpcs {
    /// Node that sent.
    pub node: String,
    /// Opcode.
    pub opcode: u32,
    /// Name of the opcode.
    pub name: String,
    /// Uuid of the device that sent the RPCs.
    pub device: String,
    /// The target that sends, for lock callbacks; `null` for other devices.
    #[serde(default)]
    pub target: Option<String>,
    /// NID of the destination.
    pub nid: String,
    /// RPCs.
    pub rpcs: u64,
    /// Round trip, from `Sending RPC` to `Completed RPC`.
    pub round_trip_us: Distribution,
}
